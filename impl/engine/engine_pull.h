// Engine: long transfers that this side copies out of the peer's memory by itself (PullsMemory<T>).
//
// Only the process that the bytes are for copies them, always into its own memory: nobody writes into a peer's memory
// from outside, so a peer that is stopped, however long, changes nothing after it goes on.
//
// What is pulled may have been taken back meanwhile, and then what came is not what was meant. Who takes memory back
// says so before it is used for anything else; who pulls looks for that after the last byte (transport.h, pull and
// still_granted), and throws away what came.
//   - The source of a message or write stays until its answer has come. The transport fails the pull when the sender's
//     endpoint has been closed.
//   - A region that a read was granted may be closed at any time (Engine::revoke). The read is then asked for again, in
//     frames, and the target looks the key up again.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_PULL_H
#define SELVAGE_IMPL_ENGINE_ENGINE_PULL_H

#include "impl/engine/engine_respond.h"

namespace selvage::impl {

// The application's memory for the peer to pull; returns how many ranges, 0 when it cannot.
template <Transport T, bool Locked>
size_t Engine<T, Locked>::put_sources(Peer& peer, const Transmit& op, Writer& writer) {
    if constexpr (PullsMemory<T>) {
        if (!transport_.offers(peer, op.length)) return 0;
        for (uint32_t i = 0; i < op.range_count; ++i) writer.put(local_range(op.ranges[i]));
        return op.range_count;
    } else {
        static_cast<void>(peer), static_cast<void>(op), static_cast<void>(writer);
        return 0;
    }
}

// A transport that can do without measures how long it takes.
template <Transport T, bool Locked>
inline void Engine<T, Locked>::came_in_parts(Peer& peer, size_t length) {
    if constexpr (PullsMemory<T>) {
        transport_.came_in_parts(peer, length);
    } else {
        static_cast<void>(peer), static_cast<void>(length);
    }
}

// All of some ranges of the peer's memory into ranges of this side's, of the same length together. 0, or a negative
// errno; then some of it may have come.
template <Transport T, bool Locked>
int Engine<T, Locked>::pull(Peer& peer, const LocalRange* sources, size_t source_count, const iovec* ranges,
                            size_t range_count, uint64_t length) {
    iovec remote[kRangesMax];
    iovec local[Resolved::kPieces];
    for (size_t i = 0; i < source_count; ++i) remote[i] = range_of(sources[i]);
    const size_t local_count = slice(ranges, range_count, 0, length, local);
    // A receive may have less room than the message has bytes.
    iovec used[kRangesMax];
    const size_t used_count = slice(remote, source_count, 0, length, used);
    return transport_.pull(peer, used, used_count, local, local_count);
}

// False: it has to come in segments.
template <Transport T, bool Locked>
bool Engine<T, Locked>::fetch_pulled(Peer& peer, Receive& receive, const LocalRange* sources, size_t count) {
    if (pull(peer, sources, count, receive.ranges, receive.range_count, receive.wanted)) return false;
    transport_.came_pulled(peer, receive.wanted);
    reply(peer, receive.message.reply_id, 0);
    finish_receive(&receive, 0);
    return true;
}

// `epoch`: of the grant. What cannot be pulled, or was taken back, is asked for again, in frames.
template <Transport T, bool Locked>
void Engine<T, Locked>::pull_read(Peer& peer, Transmit& op, const LocalRange* sources, size_t count, uint64_t epoch) {
    const bool pulled =
        transport_.can_pull(peer) && pull(peer, sources, count, op.ranges, op.range_count, op.length) == 0;
    if (pulled && transport_.still_granted(peer, epoch)) {
        transport_.came_pulled(peer, op.length);
        op.offset = op.length;
        return read_placed(op, 0);
    }
    this->count(peer, Stat::kInFrames);
    op.header.flags |= kFrameInParts;
    respond(peer, op.header, op.prefix);
}

// The bytes of an announced write. 0 or a positive errno: kPullFailed when the initiator is to send them.
template <Transport T, bool Locked>
int Engine<T, Locked>::pull_write(Peer& peer, const PeerState::Write& write, const LocalRange* sources, size_t count,
                                  const Resolved& memory) {
    if (!transport_.can_pull(peer) || pull(peer, sources, count, memory.pieces, memory.count, write.length)) {
        this->count(peer, Stat::kInFrames);
        return kPullFailed;
    }
    transport_.came_pulled(peer, write.length);
    return 0;
}

// The target could not pull a write. It is sent in segments, unless that would put it behind what was posted after it
// and has been sent, where the endpoint's order does not allow that.
template <Transport T, bool Locked>
void Engine<T, Locked>::resend_write(Peer& peer, Transmit& op) {
    PeerState& state = *op.peer;
    count(peer, Stat::kInFrames);
    if (options_.ordered_after_writes && transport_.frames_sent(peer) != op.mark) return fail(op, FI_EIO);
    const size_t sources = op.header.word[2] * sizeof(LocalRange);
    op.prefix_size -= static_cast<uint32_t>(sources);
    op.header.size -= static_cast<uint32_t>(sources);
    op.header.word[2] = 0;
    op.way = Transmit::Way::kSegments;
    op.enter(Transmit::Stage::kQueued);
    op.offset = 0;
    state.sending.unsent = &op;  // those behind it that were sent are passed over (transmit)
    refresh(state);
}

}  // namespace selvage::impl

#endif
