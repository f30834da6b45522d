// Engine: transfers that are announced, and those of them that one call pulls together (PullsMemory<T>).
//
// A message or write that is announced, or a read that is granted, is pulled when its announcement is delivered. If
// another one of the same peer is there behind it, both are, by one call (pull_batch.h), when the last of them has been
// delivered: nothing else is delivered in between, so what follows them follows their bytes, and they complete in the
// order in which they came. A peer that changes a frame while it is read changes its own order alone: what is still
// gathered when progress returns is pulled then. If the call fails, each is pulled by itself, and goes its own way.
#pragma once

#include "impl/base/create.h"
#include "impl/engine/engine_atomics.h"

namespace selvage::impl {

// A message, or the announcement of one, as its header tells.
inline Arrival arrival_of(const Header& header) {
    const auto op = static_cast<FrameOp>(header.op);
    return {.tagged = op == FrameOp::Tagged || op == FrameOp::TaggedRts,
            .frame_flags = header.flags,
            .tag = header.word[0],
            .data = header.word[1],
            .reply_id = header.word[2],
            .length = header.size};
}

template <Transport T, bool Locked>
class EngineAnnouncements : public EngineAtomics<T, Locked> {
    using Base = EngineAtomics<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::announced, Base::collective_, Base::collective_announced, Base::context_, Base::count_stat,
        Base::eager_max, Base::endpoint_, Base::options_, Base::receive_placed, Base::state_in, Base::transport_;
    // From EnginePeers.
    using Base::drop, Base::state_of;
    // From EngineResponder.
    using Base::respond;
    // From EnginePull.
    using Base::fetch_pulled, Base::pull_alone, Base::pull_measured, Base::pull_message;
    // From EngineDirect.
    using Base::fetch_direct, Base::place_directly;
    // From EngineSender.
    using Base::answered, Base::set_due;
    // From EngineRmaTarget.
    using Base::check_commit, Base::on_hmem, Base::resolve, Base::write_done, Base::write_failed, Base::write_placed;
    // From EngineRma.
    using Base::on_read_grant, Base::read_pulled;

    ~EngineAnnouncements() { free(batch_); }

    [[gnu::noinline]] void on_announcement(Peer& peer, const Header& header, const std::byte* payload) {
        if constexpr (PullsMemory<T>) {
            if (!batch_) batch_ = create<PullBatch>();
            Header next;
            const bool more =
                transport_.has_next(peer, header.size, &next) && is_announcement(static_cast<FrameOp>(next.op));
            gathers_ = batch_ && (more || has_pulls());
            deliver_announcement(peer, header, payload);
            gathers_ = false;
            if (!has_pulls()) return;
            if (more) return set_due();
            finish_pulls();
        } else {
            deliver_announcement(peer, header, payload);
        }
    }

    void finish_pulls() {
        if (has_pulls()) [[unlikely]]
            finish_gathered();
    }
    [[gnu::noinline]] void finish_gathered() {
        const PullBatch batch = *batch_;
        batch_->clear();
        Peer& peer = static_cast<Peer&>(batch.peer());
        const bool pulled = pull_together(peer, batch);
        for (const PendingPull& pending : batch) {
            switch (pending.kind) {
                case PendingPull::Kind::Message:
                    finish_message(peer, pending, pulled);
                    break;
                case PendingPull::Kind::Write:
                    finish_write(peer, pending, pulled);
                    break;
                case PendingPull::Kind::Read:
                    finish_read(peer, pending, pulled);
                    break;
            }
        }
    }

    // The peer is down, and all of its operations end: their memory is the application's again.
    void forget_pulls(Peer& peer) {
        if (has_pulls() && &batch_->peer() == &peer) batch_->clear();
    }

    // An announced message has its receive: by one copy out of the sender's memory if that works, or by the devices,
    // else in segments.
    void fetch(PeerBase& base, Receive* receive, const LocalRange* ranges, size_t count) final {
        Peer& peer = static_cast<Peer&>(base);
        if (count && receive->wanted && fetch_pulled(peer, *receive, ranges, count)) return;
        fetch_otherwise(peer, receive, ranges);
    }

    bool gather(Peer& peer, const PendingPull& pending) final {
        if constexpr (PullsMemory<T>) {
            const uint64_t length = pending.source.length;
            if (gathers_ && length && length <= PullBatch::kEachMost && transport_.can_pull(peer)) {
                if (!batch_->has_room(peer, length)) finish_pulls();
                batch_->add(peer, pending);
                return true;
            }
        }
        finish_pulls();
        return false;
    }

private:
    bool has_pulls() const { return batch_ && !batch_->is_empty(); }

    void deliver_announcement(Peer& peer, const Header& header, const std::byte* payload) {
        switch (static_cast<FrameOp>(header.op)) {
            case FrameOp::WriteRts:
                return on_write_announce(peer, header, payload);
            case FrameOp::ReadGrant:
                return on_read_grant(peer, header, payload);
            case FrameOp::CollectiveRts:
                return on_collective_announce(peer, header, payload);
            default:
                return on_announce(peer, header, payload);
        }
    }

    // False: nothing is known of what came.
    bool pull_together(Peer& peer, const PullBatch& batch) {
        if constexpr (PullsMemory<T>) {
            if (batch.size() < 2 || !transport_.can_pull(peer)) return false;
            iovec sources[PullBatch::kMost], destinations[PullBatch::kMost];
            size_t count = 0;
            for (const PendingPull& pending : batch) {
                sources[count] = range_of(pending.source);
                destinations[count++] = pending.destination;
            }
            if (transport_.pull(peer, sources, count, destinations, count)) return false;
            transport_.came_pulled(peer, batch.bytes(), count);
            return true;
        } else {
            static_cast<void>(peer), static_cast<void>(batch);
            return false;
        }
    }

    void finish_message(Peer& peer, const PendingPull& pending, bool pulled) {
        Receive* receive = context_->receives.find(pending.id);
        if (!receive || receive->owner != this || receive->peer != state_in(peer) || receive->finished) return;
        if (pulled) return receive_placed(receive, true);
        if (!pull_message(peer, *receive, &pending.source, 1)) fetch_otherwise(peer, receive, &pending.source);
    }

    // It can't be pulled.
    void fetch_otherwise(Peer& peer, Receive* receive, const LocalRange* ranges) {
        if (!receive->wanted) return receive_placed(receive, true);
        if (!(receive->flags & kForBuffer) && fetch_direct(peer, *receive, ranges)) return;
        clear(peer, *receive);
        if ((receive->message.frame_flags & kFrameExported) && receive->cleared) count_stat(peer, Stat::InFrames);
    }

    // The length and the ranges are in the payload.
    bool read_announcement(const Header& header, const std::byte* payload, Arrival* message,
                           LocalRange (&ranges)[kRangesMax]) {
        PayloadReader reader(payload, header.size);
        uint64_t total;
        const bool valid = message->reply_id && header.aux <= kRangesMax && reader.take(&message->length) &&
                           reader.take(ranges, header.aux) && !reader.left() &&
                           sum_lengths(ranges, header.aux, &total) && (!header.aux || total == message->length);
        if (!valid || !(header.flags & kFrameExported)) return valid;
        return NativeRma<T> && header.aux == 2 && !ranges[1].length;
    }

    void on_announce(Peer& peer, const Header& header, const std::byte* payload) {
        Arrival message = arrival_of(header);
        LocalRange ranges[kRangesMax];
        bool valid = options_.may_receive && read_announcement(header, payload, &message, ranges);
        if (header.flags & kFrameCharged)
            valid = valid && PullsMemory<T> && header.aux && message.length <= eager_max(peer);
        if (!valid) return drop(peer, kBrokenProtocol);
        if (!announced(message, peer, ranges, header.aux)) drop(peer, FI_ENOMEM);
    }

    void on_collective_announce(Peer& peer, const Header& header, const std::byte* payload) {
        Arrival message = arrival_of(header);
        message.tagged = true;
        LocalRange ranges[kRangesMax];
        const bool valid =
            collective_ && read_announcement(header, payload, &message, ranges) && !(header.flags & kFrameCharged);
        if (!valid) return drop(peer, kBrokenProtocol);
        if (!collective_announced(message, peer, ranges, header.aux)) drop(peer, FI_ENOMEM);
    }

    void on_write_announce(Peer& peer, const Header& header, const std::byte* payload) {
        PeerState* state = state_of(peer);
        if (!state) return drop(peer, FI_ENOMEM);
        auto& write = state->write;
        PayloadReader reader(payload, header.size);
        const uint64_t source_count = header.word[2];
        LocalRange sources[kRangesMax];
        uint64_t total;
        write.data = 0;
        const bool valid =
            !(write.open && !write.error) && header.aux && header.aux <= kRangesMax && source_count <= kRangesMax &&
            (!(header.flags & kFrameHasData) || reader.take(&write.data)) && reader.take(write.targets, header.aux) &&
            reader.take(sources, source_count) && !reader.left() && sum_lengths(write.targets, header.aux, &total) &&
            total == header.word[1] && total && sum_lengths(sources, source_count, &total) &&
            (!source_count || total == header.word[1]);
        if (!valid) return drop(peer, kBrokenProtocol);
        write.open = !source_count;
        write.frame_flags = header.flags;
        write.reply_id = header.word[0];
        write.length = header.word[1];
        write.offset = 0;
        write.target_count = header.aux;
        Resolved memory;
        write.error = resolve(write.targets, write.target_count, FI_REMOTE_WRITE, &memory);
        if (!write.error && (header.flags & kFrameCommit)) write.error = check_commit(memory);
        if (!write.error && source_count) {
            if constexpr (PullsMemory<T>) {
                if (gather_write(peer, write, sources, source_count, memory)) return;
                write.error = pull_write(peer, write, sources, source_count, memory);
            } else {
                write.error = FI_EIO;
            }
        }
        if (write.error) return write_failed(peer, header.word[0], header.flags, write.error);
        if (source_count) write_placed(peer, write);
    }

    // It is pulled with what follows it: one range to one place, of which nothing but its bytes is asked.
    bool gather_write(Peer& peer, const PeerState::Write& write, const LocalRange* sources, size_t count,
                      const Resolved& memory) {
        const bool plain = count == 1 && memory.count == 1 && write.target_count == 1 && !on_hmem(memory) &&
                           !(write.frame_flags & kFrameCommit);
        return gather(peer, {.kind = PendingPull::Kind::Write,
                             .frame_flags = write.frame_flags,
                             .source = {.address = sources[0].address, .length = plain ? write.length : 0},
                             .destination = plain ? memory.pieces[0] : iovec{},
                             .id = write.reply_id,
                             .data = write.data,
                             .target = write.targets[0]});
    }

    // The bytes of an announced write. 0 or a positive errno: kPullFailed when the initiator is to send them.
    int pull_write(Peer& peer, const PeerState::Write& write, const LocalRange* sources, size_t count,
                   const Resolved& memory) {
        if (on_hmem(memory)) return pull_to_hmem(peer, write, sources, count);
        if (pull_measured(peer, sources, count, memory.pieces, memory.count, write.length)) return 0;
        count_stat(peer, Stat::InFrames);
        return kPullFailed;
    }

    // The same by way of a copy.
    int pull_to_hmem(Peer& peer, const PeerState::Write& write, const LocalRange* sources, size_t count) {
        std::byte* copy = context_->copies.take(write.length);
        const iovec range = range_of(copy, write.length);
        const bool pulled = copy && pull_measured(peer, sources, count, &range, 1, write.length);
        int error = pulled ? 0 : kPullFailed;
        if (error) {
            count_stat(peer, Stat::InFrames);
        } else {
            error = write_hmem_targets(*endpoint_->domain, write.targets, write.target_count, 0, copy, write.length);
        }
        context_->copies.give(copy);
        return error;
    }

    void finish_write(Peer& peer, const PendingPull& write, bool pulled) {
        if constexpr (PullsMemory<T>) {
            if (!pulled && !pull_alone(peer, write)) {
                count_stat(peer, Stat::InFrames);
                return write_failed(peer, write.id, write.frame_flags, kPullFailed);
            }
        }
        const Header header{.size = 0, .op = 0, .flags = write.frame_flags, .aux = 0, .word = {write.id, 0, 0}};
        write_done(peer, header, &write.target, 1, write.source.length, write.data);
    }

    void finish_read(Peer& peer, const PendingPull& read, bool pulled) {
        if constexpr (PullsMemory<T>) {
            Transmit* op = answered(peer, read.id);
            if (!op || op->stage != Transmit::Stage::Awaiting) return;
            read_pulled(peer, *op, read.epoch, pulled || pull_alone(peer, read));
        }
    }

    // The sender is to send it.
    void clear(Peer& peer, Receive& receive) {
        const bool first_bytes = (receive.flags & kForBuffer) && receive.wanted < receive.message.length;
        receive.cleared = (receive.flags & kForBuffer) || !place_directly(peer, receive);
        const Header header{.size = 0,
                            .op = static_cast<uint8_t>(FrameOp::Cts),
                            .flags = first_bytes         ? kFrameFirstBytes
                                     : receive.placement ? kFrameDirect
                                                         : uint8_t{0},
                            .aux = 0,
                            .word = {receive.message.reply_id, Pool<Receive>::id(&receive), receive.wanted}};
        respond(peer, header, nullptr);
    }

    PullBatch* batch_ = nullptr;  // from the first announcement on; malloc'ed. Without memory nothing is gathered
    bool gathers_ = false;        // an announcement is being delivered
};

}  // namespace selvage::impl
