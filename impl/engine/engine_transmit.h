// Engine: the sender. Operations leave in the order of posting; announced messages follow in segments by turns; answers
// to the peer (engine_respond.h) go before both.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_TRANSMIT_H
#define SELVAGE_IMPL_ENGINE_ENGINE_TRANSMIT_H

#include <algorithm>

#include "impl/engine/engine_core.h"

namespace selvage::impl {

// What an operation is to the application when it completes.
inline uint64_t completion_flags(const Transmit& op) {
    switch (op.kind) {
        case Transmit::Kind::kMessage:
            return FI_SEND | FI_MSG;
        case Transmit::Kind::kTagged:
            return FI_SEND | FI_TAGGED;
        case Transmit::Kind::kWrite:
            return FI_WRITE | FI_RMA;
        case Transmit::Kind::kRead:
            return FI_READ | FI_RMA;
        case Transmit::Kind::kAtomic:
            return FI_ATOMIC | (op.fetches ? FI_READ : FI_WRITE);
    }
    return 0;
}
inline CounterSlot counter_slot(const Transmit& op) {
    switch (op.kind) {
        case Transmit::Kind::kMessage:
        case Transmit::Kind::kTagged:
            return kSlotSend;
        case Transmit::Kind::kWrite:
            return kSlotWrite;
        case Transmit::Kind::kRead:
            return kSlotRead;
        case Transmit::Kind::kAtomic:
            return op.fetches ? kSlotRead : kSlotWrite;
    }
    return kSlotSend;
}

// Where the bytes go that a read or an atomic returns.
inline const iovec* destination(const Transmit& op, size_t* count) {
    const bool read = op.kind == Transmit::Kind::kRead;
    *count = read ? op.range_count : op.result_count;
    return read ? op.ranges : op.results;
}

// The shortest path: a message that fits into one frame goes to a peer that is ready. 1 when it cannot be done at once.
template <Transport T, bool Locked>
template <FrameOp Op>
inline ssize_t Engine<T, Locked>::send_at_once(const void* bytes, size_t size, fi_addr_t to, uint64_t tag,
                                               uint64_t data, uint8_t frame_flags) {
    if (size > kAtOnceMax) [[unlikely]]
        return 1;
    Guard guard(*this);
    if (!try_send<Op>(bytes, size, to, tag, data, frame_flags, false)) return 1;
    reports.count(kSlotSend);  // no entry tells of it
    return 0;
}

template <Transport T, bool Locked>
template <FrameOp Op>
inline bool Engine<T, Locked>::try_send(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data,
                                        uint8_t frame_flags, bool more) {
    Peer* peer = known_peer(to);
    if (!peer || !peer->may_send(units_of(size))) [[unlikely]]
        return false;
    const iovec range = range_of(bytes, size);
    const Header header{.size = static_cast<uint32_t>(size),
                        .op = static_cast<uint8_t>(Op),
                        .flags = frame_flags,
                        .aux = 0,
                        .word = {tag, data, 0}};
    const Frame frame{.header = header, .payload = &range, .count = 1, .token = nullptr, .more = more};
    if (transport_.send(*peer, frame) != SendResult::kDone) return false;
    peer->spend(units_of(size));
    return true;
}

template <Transport T, bool Locked>
template <FrameOp Op>
inline ssize_t Engine<T, Locked>::send_one(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data,
                                           uint8_t frame_flags, void* context, uint64_t flags) {
    if constexpr (kInlines) {
        if (size <= T::kInlineMax && (flags & (kUnusual | FI_COMPLETION)) == FI_COMPLETION) [[likely]] {
            CompletionQueue& queue = *reports.transmit;
            Peer* peer = known_peer(to);
            if (peer && peer->may_send(1) && queue.ring.size() < queue.size && transport_.takes_inline(*peer))
                [[likely]] {
                const uint64_t first = size | uint64_t{static_cast<uint8_t>(Op)} << 32 | uint64_t{frame_flags} << 40;
                transport_.send_inline(*peer, first, tag, data, 0, bytes, size);
                queue.ring.push_at_hand({.context = context,
                                         .flags = FI_SEND | (Op == FrameOp::kTagged ? FI_TAGGED : FI_MSG),
                                         .length = 0,
                                         .buffer = nullptr,
                                         .data = 0,
                                         .tag = 0,
                                         .source = FI_ADDR_NOTAVAIL});
                peer->spend(1);
                if (T::owner_sleeps(*peer) || queue.wait.wanted() || reports.counters[kSlotSend]) [[unlikely]]
                    return sent_inline(*peer);
                return 0;
            }
        }
    }
    // Without a way of its own for the shortest, this is the shortest way.
    if constexpr (kInlines) return send_other<Op>(bytes, size, to, tag, data, frame_flags, context, flags);
    return send_plain<Op>(bytes, size, to, tag, data, frame_flags, context, flags);
}

template <Transport T, bool Locked>
[[gnu::noinline]] ssize_t Engine<T, Locked>::sent_inline(Peer& peer) {
    if constexpr (kInlines) {
        if (T::owner_sleeps(peer)) transport_.wake_owner(peer);
        reports.transmit->wait.signal_if_wanted();
        reports.count(kSlotSend);
    }
    return 0;
}

template <Transport T, bool Locked>
template <FrameOp Op>
inline ssize_t Engine<T, Locked>::send_plain(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data,
                                             uint8_t frame_flags, void* context, uint64_t flags) {
    if (!(flags & kUnusual) && size <= kAtOnceMax) [[likely]] {
        Guard guard(*this);
        if (may_complete(flags) && try_send<Op>(bytes, size, to, tag, data, frame_flags, flags & FI_MORE)) [[likely]] {
            reports.transmitted(flags, FI_SEND | (Op == FrameOp::kTagged ? FI_TAGGED : FI_MSG), kSlotSend, context);
            return 0;
        }
    }
    return send_range(Op, bytes, size, to, tag, data, frame_flags, context, flags);
}

template <Transport T, bool Locked>
template <FrameOp Op>
[[gnu::flatten, gnu::noinline]] ssize_t Engine<T, Locked>::send_other(const void* bytes, size_t size, fi_addr_t to,
                                                                      uint64_t tag, uint64_t data, uint8_t frame_flags,
                                                                      void* context, uint64_t flags) {
    return send_plain<Op>(bytes, size, to, tag, data, frame_flags, context, flags);
}

template <Transport T, bool Locked>
[[gnu::noinline]] ssize_t Engine<T, Locked>::send_range(FrameOp op, const void* bytes, size_t size, fi_addr_t to,
                                                        uint64_t tag, uint64_t data, uint8_t frame_flags, void* context,
                                                        uint64_t flags) {
    const iovec range = range_of(bytes, size);
    return send({.op = op,
                 .ranges = &range,
                 .count = 1,
                 .to = to,
                 .tag = tag,
                 .data = data,
                 .has_data = (frame_flags & kFrameHasData) != 0,
                 .context = context,
                 .flags = flags});
}

template <Transport T, bool Locked>
inline bool Engine<T, Locked>::may_complete(uint64_t flags) const {
    return !(options_.bounded && (flags & FI_COMPLETION)) || reports.transmit->room();
}

template <Transport T, bool Locked>
ssize_t Engine<T, Locked>::check_flags(uint64_t flags, size_t size) const {
    constexpr uint64_t kKnown = FI_FENCE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_INJECT | FI_TRANSMIT_COMPLETE |
                                FI_INJECT_COMPLETE | FI_COMPLETION | FI_MORE | FI_REMOTE_CQ_DATA;
    if (flags & ~kKnown) return -FI_EBADFLAGS;
    if (size > options_.message_max) return -FI_EMSGSIZE;
    return (flags & FI_INJECT) && size > options_.inject_max ? -FI_EMSGSIZE : 0;
}

template <Transport T, bool Locked>
ssize_t Engine<T, Locked>::begin_transmit(Peer& peer, Transmit::Kind kind, void* context, uint64_t flags, size_t length,
                                          Transmit** out) {
    PeerState* state = state_of(peer);
    if (!state) return -FI_ENOMEM;
    Transmit* op = transmits_.take();
    if (!op) return -FI_EAGAIN;
    op->begin(kind, state, flags, context);
    op->begin_bytes(length);
    *out = op;
    return 0;
}

// The source of an operation: the application's memory, or a copy of it (FI_INJECT).
template <Transport T, bool Locked>
bool Engine<T, Locked>::take_ranges(Transmit& op, const iovec* ranges, size_t count, bool copied) {
    if (copied && op.length) {
        std::byte* bounce = bounces_.at(op.index);
        if (!bounce) return false;
        gather(ranges, count, 0, bounce, op.length);
        op.ranges[0] = range_of(bounce, op.length);
        op.range_count = 1;
        return true;
    }
    for (size_t i = 0; i < count; ++i) op.ranges[i] = ranges[i];
    op.range_count = static_cast<uint32_t>(count);
    return true;
}

template <Transport T, bool Locked>
ssize_t Engine<T, Locked>::send(const SendRequest& request) {
    size_t length;
    if (request.count > options_.iov_max || (request.count && !request.ranges)) return -FI_EINVAL;
    if (!total_of(request.ranges, request.count, &length)) return -FI_EMSGSIZE;
    const ssize_t invalid = check_flags(request.flags, length);
    if (invalid) return invalid;
    constexpr uint64_t kAnswered =
        FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | (DeliversWhenSent<T> ? 0 : FI_TRANSMIT_COMPLETE);
    const bool tagged = request.op == FrameOp::kTagged;
    const bool answered = request.flags & kAnswered;
    Header header{.size = static_cast<uint32_t>(length),
                  .op = static_cast<uint8_t>(request.op),
                  .flags = static_cast<uint8_t>(request.has_data ? kFrameHasData : 0),
                  .aux = 0,
                  .word = {request.tag, request.data, 0}};

    Guard guard(*this);
    if (!may_complete(request.flags)) return -FI_EAGAIN;
    Peer* peer;
    int error = look_up(request.to, &peer);
    if (error) return error;
    const bool ready = !peer->state || !state_in(*peer)->busy;
    const bool whole = length <= T::kEagerMax && peer->units_left() >= units_of(length);
    if (ready && whole && !answered && !(request.flags & FI_FENCE) && length <= kAtOnceMax) {
        const Frame frame{.header = header,
                          .payload = request.ranges,
                          .count = request.count,
                          .token = nullptr,
                          .more = (request.flags & FI_MORE) != 0};
        SendResult result = transport_.send(*peer, frame);
        if (result == SendResult::kDown) {
            // Perhaps there is another one behind the address by now.
            peers_.forget();
            error = look_up(request.to, &peer);
            if (error) return error;
            result = transport_.send(*peer, frame);
            if (result == SendResult::kDown) return -FI_ENOTCONN;
        }
        if (result == SendResult::kDone) {
            peer->spend(units_of(length));
            reports.transmitted(request.flags, FI_SEND | (tagged ? FI_TAGGED : FI_MSG), kSlotSend, request.context);
            return 0;
        }
        if (PeerState* state = state_of(*peer)) state->blocked = true;
    }

    Transmit* op;
    const auto kind = tagged ? Transmit::Kind::kTagged : Transmit::Kind::kMessage;
    const ssize_t full = begin_transmit(*peer, kind, request.context, request.flags, length, &op);
    if (full) return full;
    if (!take_ranges(*op, request.ranges, request.count, request.flags & FI_INJECT)) {
        transmits_.give(op);
        return -FI_EAGAIN;
    }
    if (whole) peer->spend(units_of(length));
    op->expects_answer = answered || !whole;
    if (op->expects_answer) header.word[2] = transmits_.id(op);
    if (request.flags & FI_MATCH_COMPLETE) header.flags |= kFrameOnMatch;
    if (!whole) {
        if (length <= T::kEagerMax) count(*peer, Stat::kAnnouncedShort);
        op->way = Transmit::Way::kRts;
        header.op = static_cast<uint8_t>(tagged ? FrameOp::kTaggedRts : FrameOp::kMessageRts);
        Writer writer(op->prefix);
        writer.put(uint64_t{length});
        if (!plan_long(request, *op, header, writer)) {
            header.aux = static_cast<uint16_t>(put_sources(*peer, *op, writer));
        }
        op->prefix_size = static_cast<uint32_t>(writer.size());
        header.size = op->prefix_size;
    }
    op->header = header;
    return post(*op);
}

template <Transport T, bool Locked>
ssize_t Engine<T, Locked>::post(Transmit& op) {
    PeerState& state = *op.peer;
    state.sending.operations.append(&op);
    if (!state.sending.unsent) state.sending.unsent = &op;
    if (!state.blocked) drain(state);
    refresh(state);
    return 0;
}

template <Transport T, bool Locked>
auto Engine<T, Locked>::transmit(Peer& peer, PeerState& state, Transmit& op) -> Step {
    if (op.is_sent()) {  // it failed while it waited
        state.sending.unsent = op.next;
        return Step::kSent;
    }
    if ((op.flags & FI_FENCE) && state.sending.operations.first() != &op) return Step::kWait;
    if (!within_budget(state, op)) return Step::kWait;
    const bool writes = op.kind == Transmit::Kind::kWrite || op.kind == Transmit::Kind::kAtomic;
    if (writes && options_.ordered_writes && state.sending.large_reads) return Step::kWait;
    if (goes_direct(peer, op)) {
        // The peer's engine does what it is asked for later than its device.
        if (options_.ordered_accesses && state.sending.relayed) return Step::kWait;
        const AccessResult result = send_direct(peer, op);
        if (result == AccessResult::kAgain) return Step::kBlocked;
        if (result == AccessResult::kDown) return Step::kDown;
        op.direct = result == AccessResult::kPosted;
    }
    const Step step = op.way == Transmit::Way::kDirect     ? Step::kSent
                      : op.way == Transmit::Way::kSegments ? send_segments(peer, op)
                                                           : send_whole(peer, op, (op.flags & FI_MORE) || op.next);
    if (step != Step::kSent) return step;
    op.enter(op.expects_answer ? Transmit::Stage::kAwaiting : Transmit::Stage::kAnswered);
    charge(state, op);
    if constexpr (NativeRma<T>) {
        op.relayed = op.way != Transmit::Way::kDirect && (writes || op.kind == Transmit::Kind::kRead);
        state.sending.relayed += op.relayed;
    }
    if constexpr (PullsMemory<T>) op.mark = transport_.frames_sent(peer);
    if (op.large) ++state.sending.large_reads;
    state.sending.unsent = op.next;
    finish_if_answered(op);
    return step;
}

template <Transport T, bool Locked>
auto Engine<T, Locked>::send_whole(Peer& peer, Transmit& op, bool more) -> Step {
    iovec pieces[1 + 2 * kRangesMax];
    size_t count = 0;
    if (op.prefix_size) pieces[count++] = range_of(op.prefix, op.prefix_size);
    if (op.way == Transmit::Way::kWhole && op.kind != Transmit::Kind::kRead) {
        for (uint32_t i = 0; i < op.range_count; ++i) pieces[count++] = op.ranges[i];
        for (uint32_t i = 0; i < op.compare_count; ++i) pieces[count++] = op.compare[i];
    }
    if constexpr (NativeRma<T>) {
        if (op.header.flags & kFrameDirect) transport_.announce(peer);
    }
    const Frame frame{.header = op.header, .payload = pieces, .count = count, .token = token_of(op), .more = more};
    return sent_as(op, transport_.send(peer, frame));
}

template <Transport T, bool Locked>
auto Engine<T, Locked>::sent_as(Transmit& op, SendResult result) -> Step {
    switch (result) {
        case SendResult::kHeld:
            ++op.held;
            return Step::kSent;
        case SendResult::kDone:
            return Step::kSent;
        case SendResult::kAgain:
            return Step::kBlocked;
        case SendResult::kDown:
            return Step::kDown;
    }
    return Step::kDown;
}

// A write that does not fit into one frame and is not pulled: its announcement, then its bytes, without a pause, so
// that later operations come after it.
template <Transport T, bool Locked>
auto Engine<T, Locked>::send_segments(Peer& peer, Transmit& op) -> Step {
    if (op.stage == Transmit::Stage::kQueued) {
        const iovec prefix = range_of(op.prefix, op.prefix_size);
        const Frame frame{.header = op.header, .payload = &prefix, .count = 1, .token = token_of(op), .more = true};
        const Step step = sent_as(op, transport_.send(peer, frame));
        if (step != Step::kSent) return step;
        op.enter(Transmit::Stage::kStarted);
    }
    while (op.offset < op.length) {
        const Step step = send_segment(peer, op, FrameOp::kWriteSegment, op.header.word[0], op.length);
        if (step != Step::kSent) return step;
    }
    return Step::kSent;
}

template <Transport T, bool Locked>
auto Engine<T, Locked>::send_segment(Peer& peer, Transmit& op, FrameOp kind, uint64_t id, uint64_t end) -> Step {
    const uint64_t size = std::min<uint64_t>(end - op.offset, T::kFrameMax);
    const Header header{.size = static_cast<uint32_t>(size),
                        .op = static_cast<uint8_t>(kind),
                        .flags = 0,
                        .aux = 0,
                        .word = {id, op.offset, 0}};
    iovec pieces[kRangesMax];
    const size_t count = slice(op.ranges, op.range_count, op.offset, size, pieces);
    const Frame frame{
        .header = header, .payload = pieces, .count = count, .token = token_of(op), .more = op.offset + size < end};
    const Step step = sent_as(op, transport_.send(peer, frame));
    if (step == Step::kSent) op.offset += size;
    return step;
}

// One segment of the message whose turn it is.
template <Transport T, bool Locked>
auto Engine<T, Locked>::send_stream_segment(Peer& peer, PeerState& state) -> Step {
    Transmit& op = *state.sending.streams.first();
    const Step step = send_segment(peer, op, FrameOp::kSegment, op.receive_id, op.wanted);
    if (step != Step::kSent) return step;
    const bool ended = op.offset == op.wanted;
    if (!ended && !op.next_stream) return step;
    state.sending.streams.remove(&op);
    if (!ended) state.sending.streams.append(&op);
    return step;
}

// Sends until everything is sent, the transport has no room, or something must be waited for.
template <Transport T, bool Locked>
void Engine<T, Locked>::drain(PeerState& state) {
    Peer& peer = peer_of(state);
    int budget = kStreamBudget;
    Step step = send_responses(peer, state) ? Step::kSent : Step::kBlocked;
    while (step == Step::kSent && state.sending.unsent) step = transmit(peer, state, *state.sending.unsent);
    if (step == Step::kWait) step = Step::kSent;
    while (step == Step::kSent && !state.sending.streams.empty() && budget-- > 0)
        step = send_stream_segment(peer, state);
    state.blocked = step == Step::kBlocked;
    set_working(state, step == Step::kSent && !state.sending.streams.empty());
    refresh(state);
}

// Everything of the operation that is still to come has come.
template <Transport T, bool Locked>
void Engine<T, Locked>::finish_if_answered(Transmit& op) {
    if (op.stage == Transmit::Stage::kAnswered && !op.held) finish(op);
}

// By the peer, or by the device.
template <Transport T, bool Locked>
void Engine<T, Locked>::acknowledged(Transmit& op) {
    op.enter(Transmit::Stage::kAnswered);
    finish_if_answered(op);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::finish(Transmit& op) {
    PeerState& state = *op.peer;
    op.enter(Transmit::Stage::kFinished);
    if (op.large) --state.sending.large_reads;
    if (op.asked) refund(state, op);
    state.sending.relayed -= op.relayed;
    op.relayed = false;
    if (!options_.strict) {
        retire(op);
    } else {
        while (state.sending.operations.first() && state.sending.operations.first()->is_finished())
            retire(*state.sending.operations.first());
    }
    refresh(state);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::retire(Transmit& op) {
    op.peer->sending.operations.remove(&op);
    if (op.error) {
        reports.transmit_failed(completion_flags(op), counter_slot(op), op.context, op.error);
    } else {
        reports.transmitted(op.flags, completion_flags(op), counter_slot(op), op.context);
    }
    release_mr(op);
    transmits_.give(&op);
}

// Ends an operation with an error, wherever it stands. Bytes that the transport still reads are waited for.
template <Transport T, bool Locked>
void Engine<T, Locked>::fail(Transmit& op, int error) {
    PeerState& state = *op.peer;
    if (op.is_finished()) return;
    if (!op.error) op.error = error;
    if (op.stage == Transmit::Stage::kStreaming) state.sending.streams.remove(&op);
    if (!op.is_sent()) {
        // It may stand anywhere among those that were not sent.
        if (state.sending.unsent == &op) state.sending.unsent = op.next;
        const bool message = op.kind == Transmit::Kind::kMessage || op.kind == Transmit::Kind::kTagged;
        if (message && op.way == Transmit::Way::kWhole) {
            state.peer->regain(units_of(op.length));
        }
        op.large = false;
    }
    if (op.stage != Transmit::Stage::kAnswered) op.enter(Transmit::Stage::kAnswered);
    finish_if_answered(op);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::sent(Peer&, void* token, int error) {
    Transmit* op = transmits_.find(reinterpret_cast<uintptr_t>(token));
    if (!op || !op->held) return;
    --op->held;
    if (error && !op->error) op->error = error;
    PeerState& state = *op->peer;
    finish_if_answered(*op);
    resume(state);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::room(Peer& peer) {
    PeerState* state = state_in(peer);
    if (!state) return;
    state->blocked = false;
    if (!state->responses.empty() || state->sending.unsent || !state->sending.streams.empty()) drain(*state);
}

// Peers whose streams used up their share of the last look.
template <Transport T, bool Locked>
void Engine<T, Locked>::work() {
    PeerState* last = working_.last();
    for (PeerState* state = working_.first(); state;) {
        PeerState* next = state == last ? nullptr : state->next_working;
        state->blocked ? set_working(*state, false) : drain(*state);
        state = next;
    }
}

}  // namespace selvage::impl

#endif
