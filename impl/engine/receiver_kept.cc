// See receiver.h: messages that are kept for a peer, up to what it may make this side keep (window.h), and what becomes
// of them when it is lost.
#include <algorithm>

#include "impl/config/log.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {
namespace {

// It was to be notified, and its sender is down before all that it needs was fetched. Nobody knows of it.
bool is_lost(const Unexpected& message) {
    using Buffering = Unexpected::Buffering;
    const bool awaited = message.buffering == Buffering::Queued || message.buffering == Buffering::Filling;
    return awaited && message.announced && !message.fetched;
}

}  // namespace

Unexpected* Receiver::make_unexpected(Pool<Unexpected>& pool, const Arrival& message, PeerBase& peer, bool announced,
                                      uint32_t* held, uint32_t most) {
    const auto units = announced ? 1U : static_cast<uint32_t>(units_of(message.length));
    if (units > most - *held) {
        over_budget_ = true;
        return nullptr;
    }
    Unexpected* unexpected = pool.take();
    if (!unexpected) return nullptr;
    *held += units;
    unexpected->announced = announced;
    unexpected->claimed = false;
    unexpected->fetched = false;
    unexpected->buffering = Unexpected::Buffering::None;
    unexpected->budget = 0;
    unexpected->range_count = 0;
    unexpected->error = 0;
    unexpected->owner = this;
    unexpected->peer = &peer;
    unexpected->message = message;
    unexpected->heap = nullptr;
    return unexpected;
}

// As make_unexpected().
Unexpected* Receiver::keep(const Arrival& message, PeerBase& peer, bool announced) {
    PeerState* state = state_of(peer);
    if (!state) return nullptr;
    const bool as_announced = announced || is_uncharged(message);
    uint32_t& held = as_announced ? state->receiving.announcements : state->receiving.unexpected_units;
    const uint32_t most = as_announced ? state->receiving.announcements_most : peer.window();
    Unexpected* unexpected = make_unexpected(context_->unexpected, message, peer, announced, &held, most);
    if (!unexpected) return nullptr;
    count_unexpected(state, *unexpected, true);
    count_stat(peer, Stat::Unexpected);
    if (as_announced && held * 4 >= most * 3) widen_announcements(*state);
    return unexpected;
}

// `state`: of the peer, unless it is down.
void Receiver::count_unexpected(PeerState* state, const Unexpected& message, bool added) {
    const uint64_t one = added ? 1 : ~uint64_t{0};
    for (StatRecord* record : {stat_, state ? state->stat : nullptr}) {
        if (!record) continue;
        if (message.announced) {
            add_stat(record, Stat::Announcements, one);
            continue;
        }
        add_stat(record, Stat::KeptMessages, one);
        add_stat(record, Stat::KeptBytes, one * message.message.length);
        raise_stat(record, Stat::KeptBytesMost, record->get(Stat::KeptBytes));
    }
}

// What was kept of a message is needed no more.
void Receiver::let_go(Unexpected* unexpected) {
    count_unexpected(unexpected->peer ? static_cast<PeerState*>(unexpected->peer->state) : nullptr, *unexpected, false);
    if (PeerBase* peer = unexpected->peer) {
        PeerState& state = *static_cast<PeerState*>(peer->state);  // made by keep(), there until the peer is down
        const Arrival& message = unexpected->message;
        const bool as_announced = unexpected->announced || is_uncharged(message);
        if (as_announced) {
            --state.receiving.announcements;
        } else {
            state.receiving.unexpected_units -= static_cast<uint32_t>(units_of(message.length));
        }
        if (!as_announced || is_charged(message)) taken(*peer, message.length);
    } else if (!unexpected->announced) {
        const auto units = static_cast<uint32_t>(units_of(unexpected->message.length));
        orphan_units_ -= units;
        shared_units_ -= units;
    }
    free_unexpected(unexpected);
}

void Receiver::free_unexpected(Unexpected* unexpected) {
    using Buffering = Unexpected::Buffering;
    BufferedReceives& buffered = context_->buffered;
    if (unexpected->buffering == Buffering::Queued || unexpected->buffering == Buffering::Filling)
        buffered.queue.remove(unexpected);
    buffered.used -= unexpected->budget;
    free(unexpected->heap);
    context_->unexpected.give(unexpected);
}

void Receiver::forget_peer(PeerBase& peer) {
    if (auto* state = static_cast<PeerState*>(peer.state)) {
        shared_units_ -= state->receiving.announcements_most - kAnnouncementsFirst;
        state->receiving.announcements_most = kAnnouncementsFirst;
    }
    size_t discarded = 0;
    context_->unexpected.for_each_taken([&](Unexpected* unexpected) {
        if (unexpected->peer != &peer) return;
        unexpected->message.from = address_of(peer);
        unexpected->peer = nullptr;
        if (is_lost(*unexpected)) return buffering_failed(unexpected, FI_ECONNRESET);
        if (unexpected->announced && unexpected->claimed && !unexpected->fetched) unexpected->error = FI_ECONNRESET;
        if (unexpected->announced ? unexpected->claimed : keep_orphan(*unexpected)) return;
        discarded += !unexpected->announced;
        count_unexpected(nullptr, *unexpected, false);
        context_->match.forget(unexpected);
        free_unexpected(unexpected);
    });
    if (context_->buffered.on) notify_buffered(*context_);
    if (!discarded) return;
    count_stat(peer, Stat::OverBudget);
    if (!log_turn(&orphans_logged_)) return;
    log(FI_LOG_WARN, FI_LOG_EP_DATA,
        "%zu messages of a lost peer are discarded: more than %u MiB wait for receives whose senders are gone",
        discarded, static_cast<unsigned>(kOrphanUnits * kUnitBytes >> 20));
}

// A whole message stays though its peer is lost. The application holds one that it has claimed.
bool Receiver::keep_orphan(const Unexpected& unexpected) {
    const auto units = static_cast<uint32_t>(units_of(unexpected.message.length));
    if (!unexpected.claimed && orphan_units_ + units > kOrphanUnits) return false;
    orphan_units_ += units;
    shared_units_ += units;
    return true;
}

uint32_t Receiver::take_shared(uint32_t size, uint32_t most) {
    const uint32_t left = kSharedUnits - std::min(shared_units_, kSharedUnits);
    const uint32_t growth = std::min({size, most - size, left}) & ~3U;
    shared_units_ += growth;
    return growth;
}

uint16_t Receiver::widen_window(PeerBase& peer) {
    const uint32_t growth = take_shared(peer.window(), window_most());
    peer.set_window(static_cast<uint16_t>(peer.window() + growth));
    return static_cast<uint16_t>(growth);
}

void Receiver::widen_announcements(PeerState& state) {
    const uint32_t growth = take_shared(state.receiving.announcements_most, kAnnouncementsMost);
    state.receiving.announcements_most += growth;
    if (growth) allow_announcements(*state.peer, growth);
}

void Receiver::reset_window(PeerBase& peer) {
    shared_units_ -= static_cast<uint32_t>(peer.window() - kWindowFirst);
    peer.set_window(kWindowFirst);
    peer.ahead = kWindowFirst;
    peer.owed = 0;
}

}  // namespace selvage::impl
