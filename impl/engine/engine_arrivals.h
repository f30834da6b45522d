// Engine: what arrives. Each frame is checked against what this side knows; one that does not fit drops its peer.
#pragma once

#include "impl/engine/engine_announcements.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineArrivals : public EngineAnnouncements<T, Locked> {
    using Base = EngineAnnouncements<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::announced, Base::arrived, Base::collective_, Base::collective_arrived, Base::collective_taken,
        Base::context_, Base::fetching, Base::kErrnoMax, Base::match, Base::match_collective, Base::options_,
        Base::peer_of, Base::receive_placed, Base::reports, Base::state_in, Base::taken;
    // From EnginePeers.
    using Base::drop, Base::state_of;
    // From EnginePull.
    using Base::came_in_parts;
    // From EngineDirect.
    using Base::fetched, Base::send_long;
    // From EngineCollectives.
    using Base::on_abort;
    // From EngineSender.
    using Base::acknowledged, Base::answered, Base::fail, Base::resume, Base::transmits_;
    // From EngineRmaTarget.
    using Base::access_failed, Base::begin_write, Base::begin_write_segment, Base::event, Base::on_read, Base::on_write,
        Base::on_write_segment, Base::write_done, Base::write_segment_placed;
    // From EngineRma.
    using Base::expected_read, Base::on_read_reply, Base::on_write_grant, Base::read_placed, Base::resend_write,
        Base::write_answered;
    // From EngineAnnouncements.
    using Base::on_announcement;
    // From EngineAtomics.
    using Base::on_atomic;

public:
    // Nearly every frame is a short message: that one is looked for where the transport has the frame.
    [[gnu::always_inline]] void deliver(Peer& peer, const Header& header, const std::byte* payload) {
        const auto op = static_cast<FrameOp>(header.op);
        if (op == FrameOp::Tagged || op == FrameOp::Message) [[likely]] {
            on_message(peer, header, payload);
        } else {
            deliver_other(peer, header, payload);
        }
    }

    // Of a long frame that was delivered: parts are counted when the last has come.
    [[gnu::noinline]] void came_whole(Peer& peer, const Header& header) {
        const auto op = static_cast<FrameOp>(header.op);
        if (op == FrameOp::Message || op == FrameOp::Tagged || op == FrameOp::Write) came_in_parts(peer, header.size);
    }

    bool begin(Peer& peer, const Header& header, Placement* placement) {
        PeerState* state = state_of(peer);
        if (!state) return false;
        placement->token = nullptr;
        switch (static_cast<FrameOp>(header.op)) {
            case FrameOp::Message:
            case FrameOp::Tagged: {
                Arrival message = arrival_of(header);
                if (!options_.may_receive) return false;
                Receive* receive = match(message, peer);
                constexpr uint64_t kBounced = FI_MULTI_RECV | kOnHmem;
                if (!receive || (receive->flags & kBounced) || receive->capacity < header.size) break;
                context_->match.unpost(receive);
                bool open;
                receive = fetching(receive, message, *state, &open);
                state->placing.kind = PlacementKind::Message;
                state->placing.id = Pool<Receive>::id(receive);
                placement->count = slice(receive->ranges, receive->range_count, 0, header.size, placement->ranges);
                return true;
            }
            case FrameOp::Collective: {
                Arrival message = arrival_of(header);
                Receive* receive = collective_ ? match_collective(message, peer) : nullptr;
                if (!receive || receive->capacity < header.size) break;
                bool open;
                receive = fetching(receive, message, *state, &open);
                state->placing.kind = PlacementKind::Collective;
                state->placing.id = Pool<Receive>::id(receive);
                placement->count = slice(receive->ranges, receive->range_count, 0, header.size, placement->ranges);
                return true;
            }
            case FrameOp::Segment: {
                Receive* receive = expected_segment(peer, header);
                if (!receive) return false;
                state->placing.kind = PlacementKind::Segment;
                state->placing.id = header.word[0];
                placement->count =
                    slice(receive->ranges, receive->range_count, receive->received, header.size, placement->ranges);
                return true;
            }
            case FrameOp::ReadReply: {
                Transmit* op = expected_read(peer, header);
                if (!op) return false;
                state->placing.kind = PlacementKind::ReadReply;
                state->placing.id = header.word[0];
                size_t count;
                const iovec* ranges = destination(*op, &count);
                placement->count = slice(ranges, count, op->offset, header.size, placement->ranges);
                return true;
            }
            case FrameOp::Write:
                if (begin_write(peer, *state, header, placement)) return true;
                break;
            case FrameOp::WriteSegment:
                if (begin_write_segment(*state, header, placement)) return true;
                break;
            default:
                break;
        }
        return begin_bounce(peer, header, placement);
    }

    void end(Peer& peer, const Header& header, Placement*, int error) {
        PeerState* state = state_in(peer);
        if (!state) return;
        const PlacementKind kind = state->placing.kind;
        state->placing.kind = PlacementKind::None;
        state->placing.region_count = 0;
        if (error) return;  // Sink::down follows and ends what was under way
        switch (kind) {
            case PlacementKind::None:
                return;
            case PlacementKind::Bounce:
                came_in_parts(peer, header.size);
                return deliver(peer, header, state->placing.bounce);
            case PlacementKind::Message: {
                came_in_parts(peer, header.size);
                Receive* receive = context_->receives.find(state->placing.id);
                if (!receive) return;
                receive_placed(receive, receive->message.reply_id);
                if (!(header.flags & kFrameUncharged)) taken(peer, header.size);
                return;
            }
            case PlacementKind::Collective: {
                Receive* receive = context_->receives.find(state->placing.id);
                if (!receive) return;
                receive_placed(receive, false);
                collective_taken(peer, header.size);
                return;
            }
            case PlacementKind::Segment: {
                Receive* receive = context_->receives.find(state->placing.id);
                if (receive) segment_placed(*receive, header.size);
                return;
            }
            case PlacementKind::ReadReply: {
                Transmit* op = transmits_.find(state->placing.id);
                if (op) read_placed(*op, header.size);
                return;
            }
            case PlacementKind::Write: {
                const Target target{.address = header.word[1], .length = header.size, .key = header.word[2]};
                return write_done(peer, header, &target, 1, header.size, 0);
            }
            case PlacementKind::WriteSegment:
                return write_segment_placed(peer, *state, header.size);
            case PlacementKind::LostWrite:
                return access_failed(peer, header.word[0], FI_ENOKEY, false);
        }
    }

    void accessed(Peer& peer, void* token, int error) {
        const auto id = reinterpret_cast<uintptr_t>(token);
        if (id & kFetchToken) return fetched(peer, id & ~kFetchToken, error);
        Transmit* op = transmits_.find(reinterpret_cast<uintptr_t>(token));
        if (!op || op->way != Transmit::Way::Direct || op->peer != state_in(peer) || op->is_finished()) return;
        PeerState& state = *op->peer;
        if (error) {
            fail(*op, error);
        } else {
            acknowledged(*op);
        }
        resume(state);
    }

    void wrote(Peer& peer, uint64_t length, uint64_t data) {
        event(peer, kSlotRemoteWrite, FI_RMA | FI_REMOTE_WRITE, length, data, true);
    }

private:
    [[gnu::noinline]] void deliver_other(Peer& peer, const Header& header, const std::byte* payload) {
        switch (static_cast<FrameOp>(header.op)) {
            case FrameOp::Message:
            case FrameOp::Tagged:
                return;  // deliver()
            case FrameOp::MessageRts:
            case FrameOp::TaggedRts:
            case FrameOp::CollectiveRts:
            case FrameOp::WriteRts:
            case FrameOp::ReadGrant:
                return on_announcement(peer, header, payload);
            case FrameOp::Cts:
                return on_clear(peer, header);
            case FrameOp::Segment:
                return on_segment(peer, header, payload);
            case FrameOp::Ack:
                return on_done(peer, header);
            case FrameOp::Write:
                return on_write(peer, header, payload);
            case FrameOp::WriteSegment:
                return on_write_segment(peer, header, payload);
            case FrameOp::Read:
                return on_read(peer, header, payload);
            case FrameOp::ReadReply:
                return on_read_reply(peer, header, payload);
            case FrameOp::Atomic:
                return on_atomic(peer, header, payload);
            case FrameOp::Credit:
                return on_credit(peer, header);
            case FrameOp::Collective:
                return on_collective(peer, header, payload);
            case FrameOp::CollectiveAbort:
                return on_abort(peer, header);
            case FrameOp::WriteGrant:
                return on_write_grant(peer, header, payload);
        }
        drop(peer, kBrokenProtocol);
    }

    // Flattened: the matching, the copy and the completion of a short message are one function.
    [[gnu::flatten]] void on_message(Peer& peer, const Header& header, const std::byte* payload) {
        Arrival message = arrival_of(header);
        if (!options_.may_receive) [[unlikely]]
            return drop(peer, kBrokenProtocol);
        if (!arrived(message, payload, peer)) [[unlikely]]
            drop(peer, is_broken(message) ? kBrokenProtocol : FI_ENOMEM);
    }

    [[gnu::noinline]] void on_collective(Peer& peer, const Header& header, const std::byte* payload) {
        Arrival message = arrival_of(header);
        message.tagged = true;
        if (!collective_ || message.reply_id) return drop(peer, kBrokenProtocol);
        if (!collective_arrived(message, payload, peer)) drop(peer, FI_ENOMEM);
    }

    [[gnu::noinline]] void on_clear(Peer& peer, const Header& header) {
        Transmit* op = answered(peer, header.word[0]);
        const bool valid = op && op->way == Transmit::Way::Rts && op->stage == Transmit::Stage::Awaiting &&
                           !op->wanted && !header.size && (is_message(*op) || op->kind == Transmit::Kind::Collective) &&
                           header.word[2] && header.word[2] <= op->length;
        if (!valid) return drop(peer, kBrokenProtocol);
        op->receive_id = header.word[1];
        op->wanted = header.word[2];
        op->first_bytes = header.flags & kFrameFirstBytes;
        PeerState& state = *op->peer;
        if (!(header.flags & kFrameDirect) || op->first_bytes) {
            state.sending.streams.append(op);
        } else if (!send_long(peer, *op)) {
            return drop(peer, kBrokenProtocol);
        }
        resume(state);
    }

    [[gnu::noinline]] void on_segment(Peer& peer, const Header& header, const std::byte* payload) {
        Receive* receive = expected_segment(peer, header);
        if (!receive) return drop(peer, kBrokenProtocol);
        scatter(receive->ranges, receive->range_count, receive->received, payload, header.size);
        segment_placed(*receive, header.size);
    }

    // Flattened: the end of an operation and its completion are one function.
    [[gnu::flatten]] void on_done(Peer& peer, const Header& header) {
        const uint64_t error = header.word[1];
        if (header.size || error > static_cast<uint64_t>(kErrnoMax)) return drop(peer, kBrokenProtocol);
        PeerState* state = state_in(peer);
        if (!header.word[0]) {
            // Something failed that is otherwise not answered.
            if (!state || !state->sending.quiet || !error) return drop(peer, kBrokenProtocol);
            --state->sending.quiet;
            const bool atomic = header.flags & kFrameAtomic;
            reports.transmit_failed((atomic ? FI_ATOMIC : FI_RMA) | FI_WRITE, kSlotWrite, reports.endpoint_context,
                                    static_cast<int>(error));
            return;
        }
        Transmit* op = answered(peer, header.word[0]);
        // Before its end only an announced write can be answered, and only with an error.
        if (!op || (op->stage == Transmit::Stage::Started && !error)) return drop(peer, kBrokenProtocol);
        // A message that the peer cleared is done when all of it was sent.
        if (op->stage == Transmit::Stage::Streaming && !error) return drop(peer, kBrokenProtocol);
        // What a read or an atomic returns comes in other frames.
        const bool fetches = op->kind == Transmit::Kind::Read || op->fetches;
        if (fetches && !error) return drop(peer, kBrokenProtocol);
        if (error == kPullFailed && op->kind == Transmit::Kind::Write && op->way == Transmit::Way::Rts) {
            if constexpr (PullsMemory<T>) resend_write(peer, *op);
        } else if (error) {
            fail(*op, static_cast<int>(error));
        } else {
            if constexpr (PullsMemory<T>) {
                if (op->measured) write_answered(peer, *op);
            }
            acknowledged(*op);
        }
        resume(*state);
    }

    // Writes with data wait for units.
    [[gnu::noinline]] void on_credit(Peer& peer, const Header& header) {
        const uint64_t units = header.word[0], announcements = header.word[1], collective = header.word[2];
        PeerState* state = state_in(peer);
        const bool valid = !header.size && (units || announcements || collective) &&
                           collective <= (state ? kCollectiveUnits - state->collective.left : 0) &&
                           units <= static_cast<uint64_t>(kWindowLimit - peer.units_left()) &&
                           announcements <= (state ? kAnnouncementsMost - state->sending.may_announce : 0);
        if (!valid) return drop(peer, kBrokenProtocol);
        peer.regain(static_cast<int>(units));
        if (!state) return;
        state->sending.may_announce += static_cast<uint32_t>(announcements);
        state->collective.left += static_cast<uint32_t>(collective);
        resume(*state);
    }

    Receive* expected_segment(Peer& peer, const Header& header) {
        Receive* receive = context_->receives.find(header.word[0]);
        const bool valid = receive && receive->owner == this && receive->peer == state_in(peer) && !receive->finished &&
                           receive->cleared && header.size && header.word[1] == receive->received &&
                           header.size <= receive->wanted - receive->received;
        return valid ? receive : nullptr;
    }

    void segment_placed(Receive& receive, uint32_t size) {
        receive.received += size;
        if (receive.received < receive.wanted) return;
        came_in_parts(peer_of(*receive.peer), receive.wanted);
        receive_placed(&receive, true);
    }

    bool begin_bounce(Peer& peer, const Header& header, Placement* placement) {
        PeerState* state = state_of(peer);
        if (!state || header.size > T::kFrameMax) return false;
        if (!state->placing.bounce) state->placing.bounce = static_cast<std::byte*>(malloc(T::kFrameMax));
        if (!state->placing.bounce) return false;
        state->placing.kind = PlacementKind::Bounce;
        placement->ranges[0] = range_of(state->placing.bounce, header.size);
        placement->count = 1;
        return true;
    }
};

}  // namespace selvage::impl
