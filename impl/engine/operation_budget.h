// What an operation of this side will make the peer keep (window.h), apart from messages that travel whole: charged
// when it is sent and refunded when it is finished. Until there is room it waits, and what was posted after it waits
// behind it. Of each sort one operation always passes. The sender calls it, with the engine's lock.
#pragma once

#include "impl/engine/peer_state.h"

namespace selvage::impl {

inline bool is_message(const Transmit& op) {
    return op.kind == Transmit::Kind::Message || op.kind == Transmit::Kind::Tagged;
}
// It is charged to the announcements.
inline bool is_announced_message(const Transmit& op) {
    return is_message(op) && (op.way == Transmit::Way::Rts || (op.header.flags & kFrameUncharged));
}
// Units were spent on it when it was posted.
inline bool has_units(const Transmit& op) {
    return is_message(op) && (op.way == Transmit::Way::Whole ? !(op.header.flags & kFrameUncharged)
                                                             : (op.header.flags & kFrameCharged) != 0);
}
// The peer's engine copies what it answers.
inline bool asks_for_copy(const Transmit& op) {
    return op.way != Transmit::Way::Direct && ((op.kind == Transmit::Kind::Read && !op.large) || op.fetches);
}
inline bool takes_unit(const Transmit& op) {
    return op.kind == Transmit::Kind::Write && (op.header.flags & kFrameHasData);
}

inline bool within_budget(const PeerState& state, const Transmit& op) {
    if (is_announced_message(op)) return state.sending.announced < state.sending.may_announce;
    if (asks_for_copy(op))
        return !state.sending.asked_bytes || state.sending.asked_bytes + op.length <= kAskedBytesMost;
    return !takes_unit(op) || state.peer->units_left() > 0;
}

inline void charge(PeerState& state, Transmit& op) {
    if (is_announced_message(op)) {
        op.asked = 1;
        ++state.sending.announced;
    } else if (asks_for_copy(op)) {
        op.asked = static_cast<uint32_t>(op.length);
        state.sending.asked_bytes += op.asked;
    } else if (takes_unit(op)) {
        state.peer->spend(1);
    }
}

inline void refund(PeerState& state, Transmit& op) {
    is_announced_message(op) ? state.sending.announced -= op.asked : state.sending.asked_bytes -= op.asked;
    op.asked = 0;
}

}  // namespace selvage::impl
