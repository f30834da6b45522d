// See receiver.h and collective_receives.h: messages of collectives meet their receives.
#include <algorithm>

#include "impl/engine/collective_receives.h"
#include "impl/engine/memory.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {
namespace {

MemberStep& step_of(void* context) { return static_cast<MemberStep&>(InternalOperation::of(context)); }

void give_back(CollectiveReceives& collective, Unexpected* message) {
    collective.blocks.give(message->heap, message->message.length);
    collective.unexpected.give(message);
}

}  // namespace

void Receiver::unpost_collective(Receive* receive) {
    collective_->match.unpost(receive);
    --collective_->posted;
}

// Counts what the peer may send again.
void Receiver::collective_taken(PeerBase& peer, uint64_t length) {
    PeerState& state = *static_cast<PeerState*>(peer.state);
    state.collective.owed += static_cast<uint32_t>(units_of(length));
    if (state.collective.owed < kCollectiveCredit) return;
    give_collective_credit(peer, state.collective.owed);
    state.collective.owed = 0;
}

// Where the message is as long as it has to be, nothing is left but to say so.
void Receiver::place_collective(Receive* receive, const Arrival& message, const std::byte* payload, PeerBase& peer) {
    if (message.length != receive->capacity || receive->range_count != 1) [[unlikely]] {
        place(receive, message, payload, &peer);
        return;
    }
    copy_short(receive->ranges[0].iov_base, payload, message.length);
    unpost_collective(receive);
    MemberStep& step = step_of(receive->context);
    context_->give_plain(receive);
    step.arrived(message.data, message.length);
}

bool Receiver::collective_arrived(Arrival& message, const std::byte* payload, PeerBase& peer) {
    if (!peer.state && !state_of(peer)) return false;
    if (short_arrived(message, payload, peer)) return true;
    if (Receive* receive = match_collective(message, peer)) {
        place_collective(receive, message, payload, peer);
        collective_taken(peer, message.length);
        return true;
    }
    if (refuse_collective(message, &peer)) {
        collective_taken(peer, message.length);
        return true;
    }
    Unexpected* unexpected = keep_collective(message, peer, false);
    if (!unexpected) return false;
    if (!unexpected->copy_payload(payload, [&](size_t size) { return collective_->blocks.take(size); })) {
        collective_->unexpected.give(unexpected);
        return false;
    }
    collective_->match.keep(unexpected);
    return true;
}

bool Receiver::refuse_collective(const Arrival& message, PeerBase* peer) {
    const Collectives::Refusal refusal = collective_->executor.refusal(message.tag, message.data);
    if (!refusal.error) return false;
    if (message.reply_id) {
        reply(*peer, message.reply_id, refusal.error);
    } else if (peer) {
        abort_collective(*peer, refusal.group, Collectives::sequence_of(message.data), refusal.error);
    }
    return true;
}

bool Receiver::collective_announced(Arrival& message, PeerBase& peer, const LocalRange* ranges, size_t count) {
    if (!state_of(peer)) return false;
    if (Receive* receive = match_collective(message, peer)) {
        place_announced(receive, message, peer, ranges, count);
        return true;
    }
    if (refuse_collective(message, &peer)) return true;
    Unexpected* unexpected = keep_collective(message, peer, true);
    if (!unexpected) return false;
    unexpected->range_count = static_cast<uint16_t>(count);
    memcpy(unexpected->ranges, ranges, count * sizeof *ranges);
    collective_->match.keep(unexpected);
    return true;
}

Receive* Receiver::match_collective(Arrival& message, PeerBase& peer) {
    message.from = current_address(peer);
    bool refuses;
    MemberAddress* member = collective_->executor.member_of(message.tag, &refuses);
    if (member && member->queue.waiting) post_waiting(*member, message.tag);
    return collective_->match.find_posted(true, message.tag, [&] { return message.from; });
}

// As make_unexpected().
Unexpected* Receiver::keep_collective(const Arrival& message, PeerBase& peer, bool announced) {
    PeerState& state = *static_cast<PeerState*>(peer.state);
    uint32_t& held = announced ? state.collective.announced : state.collective.kept;
    const uint32_t most = announced ? kCollectiveAnnouncements : kCollectiveUnits;
    return make_unexpected(collective_->unexpected, message, peer, announced, &held, most);
}

// It is in no queue any more.
void Receiver::let_go_collective(Unexpected* unexpected) {
    if (PeerBase* peer = unexpected->peer) {
        PeerState& state = *static_cast<PeerState*>(peer->state);
        if (unexpected->announced) {
            --state.collective.announced;
        } else {
            state.collective.kept -= static_cast<uint32_t>(units_of(unexpected->message.length));
            collective_taken(*peer, unexpected->message.length);
        }
    } else {
        collective_orphan_units_ -= static_cast<uint32_t>(units_of(unexpected->message.length));
    }
    give_back(*collective_, unexpected);
}

int Receiver::post_collective(const ReceiveRequest& request, bool lost) {
    const auto from_source = [&](Unexpected* message) { return source_of(message) == request.source; };
    Unexpected* unexpected = collective_->match.keeps(true)
                                 ? collective_->match.find_unexpected(true, request.tag, 0, from_source)
                                 : nullptr;
    if (!unexpected && lost) return -FI_ENOTCONN;
    if (unexpected && !unexpected->announced && unexpected->message.length == request.ranges[0].iov_len) [[likely]] {
        copy_short(request.ranges[0].iov_base, unexpected->payload(), request.ranges[0].iov_len);
        collective_->match.forget(unexpected);
        const uint64_t data = unexpected->message.data;
        let_go_collective(unexpected);
        step_of(request.context).arrived(data, request.ranges[0].iov_len);
        return 0;
    }
    Receive* receive = context_->make(request, request.ranges[0].iov_len);
    if (!receive) return -FI_ENOMEM;
    receive->flags |= FI_COLLECTIVE;
    if (!unexpected) {
        collective_->match.post(receive);
        ++collective_->posted;
        return 0;
    }
    collective_->match.forget(unexpected);
    const Arrival message = unexpected->message;
    if (unexpected->announced) {
        place_announced(receive, message, *unexpected->peer, unexpected->ranges, unexpected->range_count);
    } else {
        place(receive, message, unexpected->payload(), unexpected->peer);
    }
    let_go_collective(unexpected);
    return 0;
}

bool Receiver::withdraw_collective(const void* context) {
    Receive* found = collective_->match.search_posted([&](const Receive* r) { return r->context == context; });
    if (!found) return false;
    unpost_collective(found);
    context_->give(found);
    return true;
}

void Receiver::discard_collective() {
    collective_->executor.for_each_member([&](const Group& group, MemberAddress& member) {
        if (group.error && member.queue.first) drop_short(member, group.id, group.failed_from, group.error);
    });
    collective_->unexpected.for_each_taken([&](Unexpected* unexpected) {
        if (!refuse_collective(unexpected->message, unexpected->peer)) return;
        collective_->match.forget(unexpected);
        let_go_collective(unexpected);
    });
}

// Whole messages stay for their receives, as far as orphans may; the members learn that the sender is lost.
void Receiver::lose_collective_peer(PeerBase& peer, int error) {
    const fi_addr_t source = current_address(peer);
    collective_->unexpected.for_each_taken([&](Unexpected* unexpected) {
        if (unexpected->peer != &peer) return;
        // Of an announced message the length is the peer's word, and may be no number of units.
        const auto units = unexpected->announced ? 0U : static_cast<uint32_t>(units_of(unexpected->message.length));
        if (!unexpected->announced && collective_orphan_units_ + units <= kOrphanUnits) {
            unexpected->message.from = source;
            unexpected->peer = nullptr;
            collective_orphan_units_ += units;
            return;
        }
        collective_->match.forget(unexpected);
        give_back(*collective_, unexpected);
    });
    collective_->executor.for_each_member([&](const Group&, MemberAddress& member) {
        if (member.queue.peer == &peer) member.queue.peer = nullptr;
    });
    collective_->executor.lost(source, error);
}

void Receiver::close_collective() {
    if (!collective_) return;
    collective_->unexpected.for_each_taken([&](Unexpected* unexpected) { free(unexpected->heap); });
    destroy(collective_);
    collective_ = nullptr;
}

}  // namespace selvage::impl
