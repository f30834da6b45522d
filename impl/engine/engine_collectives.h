// Engine: messages between the members of collective groups (collective/member_messages.h).
//
// They go before the application's operations that wait for the same peer, and are in no order with them: a window that
// is full of messages without a receive, or a context that is full of operations, is not in their way.
#pragma once

#include "impl/engine/collective_receives.h"
#include "impl/engine/engine_messages.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineCollectives : public EngineMessages<T, Locked>, private MemberMessages {
    using Base = EngineMessages<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::av_, Base::collective_, Base::current_address, Base::discard_collective, Base::eager_max,
        Base::kAtOnceMax, Base::kInlines, Base::peer_of, Base::peers_, Base::post_collective, Base::refresh,
        Base::reports, Base::state_in, Base::transport_, Base::withdraw_collective;
    // From EnginePeers.
    using Base::address_of, Base::drop, Base::look_up, Base::state_of;
    // From EngineResponder.
    using Base::respond;
    // From EnginePull.
    using Base::offers, Base::put_sources;
    // From EngineDirect.
    using Base::plan_long;
    // From EngineSender.
    using Base::begin_transmit, Base::has_first, Base::may_complete, Base::post_first, Base::refuse, Base::set_due,
        Base::states_, Base::take_ranges, Base::transmits_;

public:
    Collectives* collectives() final { return collective_ ? &collective_->executor : nullptr; }

protected:
    // 0 or -FI_ENOMEM.
    int open_collectives(Endpoint& endpoint) {
        if (!(endpoint.caps & FI_COLLECTIVE)) return 0;
        void* block = malloc(sizeof(CollectiveReceives));
        if (block) collective_ = new (block) CollectiveReceives(endpoint, *this);
        return block ? 0 : -FI_ENOMEM;
    }

    [[gnu::noinline]] void on_abort(Peer& peer, const Header& header) {
        const uint64_t sequence = header.word[1], error = header.word[2];
        const bool valid = collective_ && !header.size && sequence <= UINT32_MAX && error && error <= kErrnoMost;
        if (!valid) return drop(peer, kBrokenProtocol);
        collective_->executor.aborted(header.word[0], current_address(peer), static_cast<uint32_t>(sequence),
                                      static_cast<int>(error));
    }

    bool advance_collectives() { return collective_ && collective_->executor.advance(); }
    bool has_collective_work() const { return collective_ && collective_->executor.has_work(); }

    void give_collective_credit(PeerBase& peer, uint32_t units) final {
        const Header header{
            .size = 0, .op = static_cast<uint8_t>(FrameOp::Credit), .flags = 0, .aux = 0, .word = {0, 0, units}};
        respond(static_cast<Peer&>(peer), header, nullptr);
    }

    void abort_collective(PeerBase& peer, uint64_t group, uint32_t sequence, int error) final {
        const Header header{.size = 0,
                            .op = static_cast<uint8_t>(FrameOp::CollectiveAbort),
                            .flags = 0,
                            .aux = 0,
                            .word = {group, sequence, static_cast<uint64_t>(error)}};
        respond(static_cast<Peer&>(peer), header, nullptr);
    }

private:
    bool is_ready(PeerState& state) const { return !state.blocked && state.responses.empty() && !has_first(state); }

    static constexpr uint64_t kErrnoMost = 4095;
    // Longer ones are announced, so that no member is ahead by much. To ask first costs a member that shares its
    // processor with others some turns.
    static constexpr size_t kEagerMost = 64u << 10;
    static_assert(3 * units_of(kEagerMost) <= int{kCollectiveUnits}, "some may be on their way");

    bool send_short(const MemberAddress& member, uint64_t tag, uint64_t data, const void* bytes, size_t size) final {
        static_assert(units_of(ShortMessage::kBytesMost) == 1);
        Peer* peer;
        if (look_up(member.address, &peer)) [[unlikely]]
            return false;
        PeerState* state = state_in(*peer);
        if (!state || !is_ready(*state) || !state->collective.left) [[unlikely]]
            return false;
        if constexpr (kInlines) {
            if (size <= T::kInlineMax && transport_.takes_inline(*peer)) [[likely]] {
                --state->collective.left;
                const uint64_t first = size | uint64_t{static_cast<uint8_t>(FrameOp::Collective)} << 32;
                transport_.send_inline(*peer, first, tag, data, 0, bytes, size);
                if (T::owner_sleeps(*peer)) [[unlikely]]
                    transport_.wake_owner(*peer);
                return true;
            }
        }
        if (size > std::min(eager_max(*peer), kAtOnceMax) || offers(*peer, size)) return false;
        return send_whole(*peer, *state, header_of(tag, data, size), range_of(bytes, size)) == SendResult::Done;
    }

    int send_to(const MemberAddress& member, uint64_t tag, uint64_t data, const void* bytes, size_t size,
                MemberStep& step) final {
        Peer* peer;
        const int error = look_up(member.address, &peer);
        if (error) return error;
        PeerState* state = state_of(*peer);
        if (!state) return -FI_ENOMEM;
        const bool ready = is_ready(*state);
        const iovec range = range_of(bytes, size);
        Header header = header_of(tag, data, size);
        const auto units = static_cast<uint32_t>(units_of(size));
        const bool whole =
            size <= std::min(eager_max(*peer), kEagerMost) && units <= state->collective.left && !offers(*peer, size);
        if (whole && size <= kAtOnceMax && ready) {
            const SendResult result = send_whole(*peer, *state, header, range);
            if (result == SendResult::Down) return -FI_ENOTCONN;
            if (result == SendResult::Done) {
                step.sent();
                return 0;
            }
        }
        Transmit* op;
        const ssize_t full =
            begin_transmit(*peer, Transmit::Kind::Collective, step.as_context(), FI_TRIGGER, size, &op);
        if (full) return static_cast<int>(full);
        static_cast<void>(take_ranges(*op, &range, size ? 1 : 0, false));
        if (whole) {
            state->collective.left -= units;
        } else {
            announce(*peer, *op, header);
        }
        op->header = header;
        post_first(*op);
        return 0;
    }

    static Header header_of(uint64_t tag, uint64_t data, size_t size) {
        return {.size = static_cast<uint32_t>(size),
                .op = static_cast<uint8_t>(FrameOp::Collective),
                .flags = 0,
                .aux = 0,
                .word = {tag, data, 0}};
    }

    // A message that has its units and that nothing is before.
    [[gnu::noinline]] SendResult send_whole(Peer& peer, PeerState& state, const Header& header, const iovec& range) {
        const Frame frame{.header = header, .payload = &range, .count = 1, .token = nullptr, .more = false};
        const SendResult result = transport_.send(peer, frame);
        if (result == SendResult::Done) state.collective.left -= static_cast<uint32_t>(units_of(header.size));
        if (result == SendResult::Again) state.blocked = true;
        return result;
    }

    void announce(Peer& peer, Transmit& op, Header& header) {
        op.expects_answer = true;
        op.way = Transmit::Way::Rts;
        header.word[2] = transmits_.id(&op);
        header.op = static_cast<uint8_t>(FrameOp::CollectiveRts);
        PayloadWriter writer(op.prefix);
        writer.put(op.length);
        const SendRequest request{.op = FrameOp::Collective,
                                  .ranges = op.ranges,
                                  .count = op.range_count,
                                  .to = 0,
                                  .tag = 0,
                                  .data = 0,
                                  .has_data = false,
                                  .context = nullptr,
                                  .flags = 0};
        if (!op.length || !plan_long(request, op, header, writer)) {
            header.aux = static_cast<uint16_t>(offers(peer, op.length) ? put_sources(op, writer) : 0);
        }
        op.prefix_size = static_cast<uint32_t>(writer.size());
        header.size = op.prefix_size;
    }

    // Asks for the peer, so that its end is noticed here.
    int receive_from(MemberAddress& member, uint64_t tag, void* bytes, size_t size, bool lost, MemberStep& step) final {
        if (!lost) {
            Peer* peer;
            const int error = look_up(member.address, &peer);
            if (error) return error;
        }
        if (!lost && this->await_short(member, bytes, size, tag, step)) return 0;
        const iovec range = range_of(bytes, size);
        return post_collective(request_of(range, member, tag, step), lost);
    }

    void take_short(MemberAddress& member, void* bytes) final { this->take_first_short(member, bytes); }
    void discard_short(MemberAddress& member, uint64_t group) final {
        this->drop_short(member, group, 0, FI_ECANCELED);
    }

    bool withdraw(MemberStep& step) final { return withdraw_collective(step.as_context()); }

    void redirect(MemberStep& step, InternalOperation& instead) final {
        for (PeerState* state = states_.first(); state; state = state->next) {
            for (Transmit* op = state->sending.operations.first(); op; op = op->next) {
                if (op->context == step.as_context()) op->context = instead.as_context();
            }
        }
    }

    void discard_refused() final { discard_collective(); }

    int send_abort(const MemberAddress& member, uint64_t group, uint32_t sequence, int error) final {
        Peer* peer;
        const int unreachable = look_up(member.address, &peer);
        if (!unreachable) abort_collective(*peer, group, sequence, error);
        return unreachable;
    }

    bool join_is_over() final {
        this->unshare();
        return this->for_joins_;
    }
    void request_advance() final { set_due(); }
    bool may_report(uint64_t flags) final { return Base::may_complete(flags); }
    void report_collective(void* context, uint64_t flags, int error) final {
        if (error) return reports.transmit_failed(FI_COLLECTIVE, kSlotWrite, context, error);
        reports.transmitted(flags, FI_COLLECTIVE, kSlotWrite, context);
    }
};

}  // namespace selvage::impl
