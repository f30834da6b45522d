// Engine: the budgets of window.h, apart from those of messages that travel whole.
//
// As initiator: what an operation will make the peer keep is charged when it is sent and refunded when it is finished;
// until there is room it waits, and what was posted after it waits behind it. Of each kind one operation always passes.
// As target: entries in the completion queue that no receive accounts for. The queue is read in order, so when it holds
// fewer entries than there are such units, the oldest of them have been read: those of lost peers count as the oldest.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_BUDGET_H
#define SELVAGE_IMPL_ENGINE_ENGINE_BUDGET_H

#include "impl/engine/engine_control.h"

namespace selvage::impl {

inline bool is_announced_message(const Transmit& op) {
    return op.way == Transmit::Way::kRts && (op.kind == Transmit::Kind::kMessage || op.kind == Transmit::Kind::kTagged);
}
// The peer's engine copies what it answers.
inline bool asks_for_copy(const Transmit& op) {
    return op.way != Transmit::Way::kDirect && ((op.kind == Transmit::Kind::kRead && !op.large) || op.fetches);
}
inline bool takes_unit(const Transmit& op) {
    return op.kind == Transmit::Kind::kWrite && (op.header.flags & kFrameHasData);
}

template <Transport T, bool Locked>
bool Engine<T, Locked>::within_budget(const PeerState& state, const Transmit& op) {
    if (is_announced_message(op)) return state.announced < state.may_announce;
    if (asks_for_copy(op)) return !state.asked_bytes || state.asked_bytes + op.length <= kAskedBytesMost;
    return !takes_unit(op) || state.peer->units_left() > 0;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::charge(PeerState& state, Transmit& op) {
    if (is_announced_message(op)) {
        op.asked = 1;
        ++state.announced;
    } else if (asks_for_copy(op)) {
        op.asked = static_cast<uint32_t>(op.length);
        state.asked_bytes += op.asked;
    } else if (takes_unit(op)) {
        state.peer->spend(1);
    }
}

template <Transport T, bool Locked>
void Engine<T, Locked>::refund(PeerState& state, Transmit& op) {
    is_announced_message(op) ? state.announced -= op.asked : state.asked_bytes -= op.asked;
    op.asked = 0;
}

// The peer causes an entry in the receive queue: it has its unit back once the application has read that. False: it has
// sent more than it may, or memory is short.
template <Transport T, bool Locked>
bool Engine<T, Locked>::keep_unread(PeerBase& peer) {
    PeerState* state = state_of(peer);
    if (!state) return false;
    over_budget_ = state->unexpected_units + state->unread_units >= peer.window() || orphan_entries_ >= kOrphanUnits;
    if (over_budget_) return false;
    if (!state->unread_units++) unread_.append(state);
    ++unread_units_;
    return true;
}

template <Transport T, bool Locked>
[[gnu::noinline]] void Engine<T, Locked>::return_units() {
    const size_t unread = reports.receive->ring.size();
    if (unread_units_ > unread) {
        const uint32_t units = std::min(orphan_entries_, static_cast<uint32_t>(unread_units_ - unread));
        orphan_entries_ -= units;
        unread_units_ -= units;
    }
    while (unread_units_ > unread) {
        const auto read = static_cast<uint32_t>(unread_units_ - unread);
        PeerState& state = *unread_.first();
        const auto units = std::min(state.unread_units, read);
        state.unread_units -= units;
        unread_units_ -= units;
        if (!state.unread_units) unread_.remove(&state);
        PeerBase& peer = *state.peer;
        peer.owed = static_cast<uint16_t>(peer.owed + units);
        if (peer.owed >= peer.credit_at) give_credit(peer);
    }
}

template <Transport T, bool Locked>
void Engine<T, Locked>::forget_unread(PeerState& state) {
    if (state.unread_units) unread_.remove(&state);
    orphan_entries_ += state.unread_units;
    state.unread_units = 0;
}

}  // namespace selvage::impl

#endif
