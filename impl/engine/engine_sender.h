// Engine: the sender. Operations leave in the order of posting; announced messages follow in segments by turns; answers
// to the peer (engine_responder.h) go before both.
#pragma once

#include "impl/engine/bounce_buffers.h"
#include "impl/engine/engine_staging.h"
#include "impl/engine/operation_budget.h"

namespace selvage::impl {

// What an operation is to the application when it completes.
inline uint64_t completion_flags(const Transmit& op) {
    switch (op.kind) {
        case Transmit::Kind::Message:
            return FI_SEND | FI_MSG;
        case Transmit::Kind::Tagged:
            return FI_SEND | FI_TAGGED;
        case Transmit::Kind::Write:
            return FI_WRITE | FI_RMA;
        case Transmit::Kind::Read:
            return FI_READ | FI_RMA;
        case Transmit::Kind::Atomic:
            return FI_ATOMIC | (op.fetches ? FI_READ : FI_WRITE);
        case Transmit::Kind::Collective:
            return FI_COLLECTIVE;
    }
    return 0;
}
inline CounterSlot counter_slot(const Transmit& op) {
    switch (op.kind) {
        case Transmit::Kind::Message:
        case Transmit::Kind::Tagged:
            return kSlotSend;
        case Transmit::Kind::Write:
        case Transmit::Kind::Collective:
            return kSlotWrite;
        case Transmit::Kind::Read:
            return kSlotRead;
        case Transmit::Kind::Atomic:
            return op.fetches ? kSlotRead : kSlotWrite;
    }
    return kSlotSend;
}

// Where the bytes go that a read or an atomic returns.
inline const iovec* destination(const Transmit& op, size_t* count) {
    const bool read = op.kind == Transmit::Kind::Read;
    *count = read ? op.range_count : op.result_count;
    return read ? op.ranges : op.results;
}

template <Transport T, bool Locked>
class EngineSender : public EngineStaging<T, Locked> {
    using Base = EngineStaging<T, Locked>;

protected:
    using typename Base::Peer;
    using typename Base::Step;
    // From EngineBase and Receiver.
    using Base::frame_max, Base::kStreamBudget, Base::kStreamTurn, Base::options_, Base::peer_of, Base::refresh,
        Base::reports, Base::state_in, Base::transport_;
    // From EnginePeers.
    using Base::state_of;
    // From EngineResponder.
    using Base::send_responses;
    // From EngineDirect.
    using Base::goes_direct, Base::send_direct, Base::token_of;
    // From EngineStaging.
    using Base::kStages, Base::release_buffers;

public:
    void sent(Peer&, void* token, int error) {
        Transmit* op = transmits_.find(reinterpret_cast<uintptr_t>(token));
        if (!op || !op->held) return;
        --op->held;
        if (error && !op->error) op->error = error;
        PeerState& state = *op->peer;
        finish_if_answered(*op);
        resume(state);
    }

    void room(Peer& peer) {
        PeerState* state = state_in(peer);
        if (!state) return;
        state->blocked = false;
        if (!state->responses.empty() || state->sending.unsent || !state->sending.streams.empty()) drain(*state);
    }

protected:
    bool may_complete(uint64_t flags) const {
        return !(options_.bounded && (flags & FI_COMPLETION)) || reports.transmit->room();
    }

    ssize_t check_flags(uint64_t flags, size_t size) const {
        constexpr uint64_t kKnown = FI_FENCE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_INJECT |
                                    FI_TRANSMIT_COMPLETE | FI_INJECT_COMPLETE | FI_COMPLETION | FI_MORE |
                                    FI_REMOTE_CQ_DATA | FI_TRIGGER;
        if (flags & ~kKnown) return -FI_EBADFLAGS;
        if (size > options_.message_max) return -FI_EMSGSIZE;
        return (flags & FI_INJECT) && size > options_.inject_max ? -FI_EMSGSIZE : 0;
    }

    [[gnu::noinline]] ssize_t begin_transmit(Peer& peer, Transmit::Kind kind, void* context, uint64_t flags,
                                             size_t length, Transmit** out) {
        PeerState* state = state_of(peer);
        if (!state) return -FI_ENOMEM;
        Transmit* op = kind == Transmit::Kind::Collective ? transmits_.take_beyond() : transmits_.take();
        if (!op) return -FI_EAGAIN;
        op->begin(kind, state, flags, context);
        op->begin_bytes(length);
        if constexpr (kStages) op->staging = nullptr;
        *out = op;
        return 0;
    }

    // The source of an operation: the application's memory, or a copy of it (FI_INJECT).
    [[gnu::noinline]] bool take_ranges(Transmit& op, const iovec* ranges, size_t count, bool copied) {
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

    // An operation that was begun and is not posted.
    ssize_t refuse(Transmit& op, ssize_t error) {
        release_buffers(op);
        transmits_.give(&op);
        return error;
    }

    [[gnu::noinline]] ssize_t post(Transmit& op) {
        PeerState& state = *op.peer;
        state.sending.operations.append(&op);
        if (!state.sending.unsent) state.sending.unsent = &op;
        if (!state.blocked) drain(state);
        refresh(state);
        return 0;
    }

    // Before all that was not begun, behind others that came this way.
    void post_first(Transmit& op) {
        PeerState& state = *op.peer;
        Transmit* const unsent = state.sending.unsent;
        if (!unsent) {
            post(op);
            return;
        }
        Transmit* position = unsent->previous;
        for (Transmit* o = unsent; o && (o->kind == op.kind || o->stage == Transmit::Stage::Started); o = o->next) {
            position = o;
        }
        if (position == unsent->previous) state.sending.unsent = &op;
        state.sending.operations.insert_after(position, &op);
        if (!state.blocked) drain(state);
        refresh(state);
    }
    // Some that came this way wait.
    static bool has_first(const PeerState& state) {
        const Transmit* op = state.sending.unsent;
        if (op && op->stage == Transmit::Stage::Started) op = op->next;
        return op && op->kind == Transmit::Kind::Collective;
    }

    void resume(PeerState& state) {
        if (!state.blocked && (state.sending.unsent || !state.sending.streams.empty())) drain(state);
    }

    // Sends until everything is sent, the transport has no room, or something must be waited for.
    [[gnu::noinline]] void drain(PeerState& state) {
        Peer& peer = peer_of(state);
        int budget = kStreamBudget;
        Step step = send_responses(peer, state) ? Step::Sent : Step::Blocked;
        while (step == Step::Sent && state.sending.unsent) step = transmit(peer, state, *state.sending.unsent);
        if (step == Step::Wait) step = Step::Sent;
        while (step == Step::Sent && !state.sending.streams.empty() && budget-- > 0)
            step = send_stream_segment(peer, state);
        state.blocked = step == Step::Blocked;
        set_working(state, step == Step::Sent && !state.sending.streams.empty());
        refresh(state);
    }

    // Peers whose streams used up their share of the last look.
    void work() {
        due_ = false;
        PeerState* last = working_.last();
        for (PeerState* state = working_.first(); state;) {
            PeerState* next = state == last ? nullptr : state->next_working;
            state->blocked ? set_working(*state, false) : drain(*state);
            state = next;
        }
        due_ |= !working_.empty();
    }
    // The next progress has more to do than what arrives.
    void set_due() { due_ = true; }

    void set_working(PeerState& state, bool working) {
        if (state.working == working) return;
        state.working = working;
        working ? working_.append(&state) : working_.remove(&state);
        due_ |= working;
    }

    // The operation of this side that a peer speaks of.
    Transmit* answered(Peer& peer, uint64_t id) {
        Transmit* op = transmits_.find(id);
        const bool asked = op && op->peer == state_in(peer) && op->expects_answer && op->way != Transmit::Way::Direct;
        return asked && op->is_under_way() ? op : nullptr;
    }

    // By the peer, or by the device.
    void acknowledged(Transmit& op) {
        op.enter(Transmit::Stage::Answered);
        finish_if_answered(op);
    }

    // Ends an operation with an error, wherever it stands. Bytes that the transport still reads are waited for.
    [[gnu::noinline]] void fail(Transmit& op, int error) {
        PeerState& state = *op.peer;
        if (op.is_finished()) return;
        if (!op.error) op.error = error;
        if (op.stage == Transmit::Stage::Streaming) state.sending.streams.remove(&op);
        if (!op.is_sent()) {
            // It may stand anywhere among those that were not sent.
            if (state.sending.unsent == &op) state.sending.unsent = op.next;
            if (has_units(op)) state.peer->regain(units_of(op.length));
            op.large = false;
        }
        if (op.stage != Transmit::Stage::Answered) op.enter(Transmit::Stage::Answered);
        finish_if_answered(op);
    }

    Pool<Transmit> transmits_;
    BounceBuffers bounces_;
    List<PeerState, &PeerState::next_working, &PeerState::previous_working> working_;
    bool due_ = false;  // work() and what comes after it are to be called

private:
    Step transmit(Peer& peer, PeerState& state, Transmit& op) {
        if (op.is_sent()) {  // it failed while it waited
            state.sending.unsent = op.next;
            return Step::Sent;
        }
        if ((op.flags & FI_FENCE) && state.sending.operations.first() != &op) return Step::Wait;
        if (!within_budget(state, op)) return Step::Wait;
        const bool writes = op.kind == Transmit::Kind::Write || op.kind == Transmit::Kind::Atomic;
        if (writes && options_.ordered_writes && state.sending.large_reads) return Step::Wait;
        if (goes_direct(peer, op)) {
            // The peer's engine does what it is asked for later than its device.
            if (options_.ordered_accesses && state.sending.relayed) return Step::Wait;
            const AccessResult result = send_direct(peer, op);
            if (result == AccessResult::Again) return Step::Blocked;
            if (result == AccessResult::Down) return Step::Down;
            op.direct = result == AccessResult::Posted;
        }
        const Step step = op.way == Transmit::Way::Direct     ? Step::Sent
                          : op.way == Transmit::Way::Segments ? send_segments(peer, op)
                                                              : send_whole(peer, op, has_more(op));
        if (step != Step::Sent) return step;
        op.enter(op.expects_answer ? Transmit::Stage::Awaiting : Transmit::Stage::Answered);
        charge(state, op);
        if constexpr (NativeRma<T>) {
            op.relayed = op.way != Transmit::Way::Direct && (writes || op.kind == Transmit::Kind::Read);
            state.sending.relayed += op.relayed;
        }
        if constexpr (PullsMemory<T>) op.mark = transport_.frames_sent(peer);
        if (op.large) ++state.sending.large_reads;
        state.sending.unsent = op.next;
        finish_if_answered(op);
        return step;
    }

    static bool has_more(const Transmit& op) {
        return (op.flags & FI_MORE) || (op.next && op.kind != Transmit::Kind::Collective);
    }

    Step send_whole(Peer& peer, Transmit& op, bool more) {
        iovec pieces[1 + 2 * kRangesMax];
        size_t count = 0;
        if (op.prefix_size) pieces[count++] = range_of(op.prefix, op.prefix_size);
        if (op.way == Transmit::Way::Whole && op.kind != Transmit::Kind::Read) {
            for (uint32_t i = 0; i < op.range_count; ++i) pieces[count++] = op.ranges[i];
            for (uint32_t i = 0; i < op.compare_count; ++i) pieces[count++] = op.compare[i];
        }
        if constexpr (NativeRma<T>) {
            if (op.header.flags & kFrameDirect) transport_.announce(peer);
        }
        const Frame frame{.header = op.header, .payload = pieces, .count = count, .token = token_of(op), .more = more};
        return sent_as(op, transport_.send(peer, frame));
    }

    Step sent_as(Transmit& op, SendResult result) {
        switch (result) {
            case SendResult::Held:
                ++op.held;
                return Step::Sent;
            case SendResult::Done:
                return Step::Sent;
            case SendResult::Again:
                return Step::Blocked;
            case SendResult::Down:
                return Step::Down;
        }
        return Step::Down;
    }

    // A write that does not fit into one frame and is not pulled: its announcement, then its bytes, without a pause, so
    // that later operations come after it.
    Step send_segments(Peer& peer, Transmit& op) {
        if (op.stage == Transmit::Stage::Queued) {
            const iovec prefix = range_of(op.prefix, op.prefix_size);
            const Frame frame{.header = op.header, .payload = &prefix, .count = 1, .token = token_of(op), .more = true};
            const Step step = sent_as(op, transport_.send(peer, frame));
            if (step != Step::Sent) return step;
            op.enter(Transmit::Stage::Started);
        }
        while (op.offset < op.length) {
            const Step step = send_segment(peer, op, FrameOp::WriteSegment, op.header.word[0], op.length);
            if (step != Step::Sent) return step;
        }
        return Step::Sent;
    }

    [[gnu::noinline]] Step send_segment(Peer& peer, Transmit& op, FrameOp kind, uint64_t id, uint64_t end) {
        const uint64_t size = std::min<uint64_t>(end - op.offset, frame_max(peer));
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
        if (step == Step::Sent) op.offset += size;
        return step;
    }

    // One segment of the message whose turn it is. A turn is kStreamTurn bytes: messages that end one after another are
    // answered while others are on their way, where those that end together leave a long link empty until then.
    Step send_stream_segment(Peer& peer, PeerState& state) {
        Transmit& op = *state.sending.streams.first();
        const uint64_t before = op.offset / kStreamTurn;
        const Step step = send_segment(peer, op, FrameOp::Segment, op.receive_id, op.wanted);
        if (step != Step::Sent) return step;
        const bool ended = op.offset == op.wanted;
        if (!ended && (!op.next_stream || op.offset / kStreamTurn == before)) return step;
        state.sending.streams.remove(&op);
        if (!ended) {
            state.sending.streams.append(&op);
        } else if (op.first_bytes) {
            op.first_bytes = false;
            op.offset = op.wanted = 0;
        }
        return step;
    }

    // Everything of the operation that is still to come has come.
    void finish_if_answered(Transmit& op) {
        if (op.stage == Transmit::Stage::Answered && !op.held) finish(op);
    }

    void finish(Transmit& op) {
        PeerState& state = *op.peer;
        op.enter(Transmit::Stage::Finished);
        if (op.large) --state.sending.large_reads;
        if (op.asked) refund(state, op);
        state.sending.relayed -= op.relayed;
        op.relayed = false;
        if (!options_.strict || op.kind == Transmit::Kind::Collective) {
            retire(op);
        } else {
            while (state.sending.operations.first() && state.sending.operations.first()->is_finished())
                retire(*state.sending.operations.first());
        }
        refresh(state);
    }

    void retire(Transmit& op) {
        op.peer->sending.operations.remove(&op);
        if (op.error) {
            report_failed(op);
        } else {
            reports.transmitted(op.flags, completion_flags(op), counter_slot(op), op.context);
        }
        release_buffers(op);
        transmits_.give(&op);
    }
    [[gnu::noinline]] void report_failed(const Transmit& op) {
        const uint64_t flags = completion_flags(op) | (op.flags & FI_TRIGGER);
        reports.transmit_failed(flags, counter_slot(op), op.context, op.error);
    }
};

}  // namespace selvage::impl
