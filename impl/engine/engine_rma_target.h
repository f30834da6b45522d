// Engine: the target of reads and writes of registered memory.
//
// Key, bounds and permission of every range are checked before a byte of it is touched, and again for each segment,
// since a region may be closed meanwhile. A short read is copied when it is asked for; for a longer one the target
// grants its memory to be pulled, or streams it.
#pragma once

#include "impl/engine/engine_collectives.h"
#include "impl/engine/hmem_targets.h"
#include "impl/engine/persistent_targets.h"
#include "impl/engine/unread_entries.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineRmaTarget : public EngineCollectives<T, Locked> {
    using Base = EngineCollectives<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::context_, Base::count_stat, Base::copy_short, Base::endpoint_, Base::kSnapshotMax, Base::options_,
        Base::over_budget_, Base::peer_of, Base::reported, Base::reports, Base::sources_, Base::state_in, Base::taken,
        Base::transport_;
    // From EnginePeers.
    using Base::address_of, Base::drop, Base::state_of;
    // From EngineResponder.
    using Base::give_credit, Base::hmem_window_, Base::reply, Base::reply_in_parts, Base::reply_with, Base::respond;
    // From EnginePull.
    using Base::came_in_parts, Base::offers;
    // From EngineSender.
    using Base::drain;
    // From EngineStaging.
    using Base::kStages;

    static constexpr uint8_t kUnusualWrite = kFrameHasData | kFrameCommit | kFrameStanding;

    // The usual one has one target, in one piece of memory.
    [[gnu::noinline]] void on_write(Peer& peer, const Header& header, const std::byte* payload) {
        if (!header.aux && !(header.flags & kUnusualWrite) && !options_.rma_events &&
            (options_.access_caps & FI_REMOTE_WRITE)) [[likely]] {
            const Target target{.address = header.word[1], .length = header.size, .key = header.word[2]};
            if (std::byte* at = resolve_piece(*endpoint_->domain, options_.domain_locked, target, FI_REMOTE_WRITE))
                [[likely]] {
                copy_short(at, payload, header.size);
                if (header.word[0]) reply(peer, header.word[0], 0);
                return;
            }
        }
        on_other_write(peer, header, payload);
    }

    [[gnu::noinline]] void on_write_segment(Peer& peer, const Header& header, const std::byte* payload) {
        PeerState* state = state_in(peer);
        Resolved memory;
        iovec pieces[Resolved::kPieces];
        size_t count;
        if (!state || !write_part(*state, header, &memory, pieces, &count)) return drop(peer, kBrokenProtocol);
        auto& write = state->write;
        if (!write.error && on_hmem(memory)) {
            write.error = write_hmem_targets(*endpoint_->domain, write.targets, write.target_count, write.offset,
                                             payload, header.size);
            if (write.error) write_failed(peer, write.reply_id, write.frame_flags, write.error);
        } else if (!write.error) {
            scatter(pieces, count, 0, payload, header.size);
        }
        write_segment_placed(peer, *state, header.size);
    }

    [[gnu::noinline]] void on_read(Peer& peer, const Header& header, const std::byte* payload) {
        PayloadReader reader(payload, header.size);
        Target targets[kRangesMax];
        uint64_t total;
        const bool valid = header.word[0] && header.aux && header.aux <= kRangesMax &&
                           reader.take(targets, header.aux) && !reader.left() &&
                           sum_lengths(targets, header.aux, &total) && total == header.word[1];
        if (!valid) return drop(peer, kBrokenProtocol);
        // Before the key is looked up.
        uint64_t epoch = 0;
        if constexpr (PullsMemory<T>) epoch = transport_.grant_epoch();
        Resolved memory;
        const int error = resolve(targets, header.aux, FI_REMOTE_READ, &memory);
        if (error) return access_failed(peer, header.word[0], error, false);
        if (!(header.flags & kFrameInParts)) event(peer, kSlotRemoteRead, 0, 0, 0, false);  // or it was counted
        Header answer{.size = static_cast<uint32_t>(total),
                      .op = static_cast<uint8_t>(FrameOp::ReadReply),
                      .flags = 0,
                      .aux = 0,
                      .word = {header.word[0], 0, 0}};
        static_cast<void>(epoch);
        if constexpr (PullsMemory<T>) {
            if (!(header.flags & kFrameInParts) && memory.count <= kRangesMax && !on_hmem(memory)) {
                const bool stands = (header.flags & kFrameStanding) && header.aux == 1 && may_stand(memory);
                if (offers(peer, total) || stands) return grant_read(peer, answer, memory, epoch, stands);
            }
        }
        if (total <= kSnapshotMax) {
            if (on_hmem(memory)) return reply_from_hmem(peer, answer, targets, header.aux);
            return reply_with(peer, answer, memory.pieces, memory.count);
        }
        answer.size = 0;
        if (!reply_in_parts(peer, answer, targets, header.aux, total)) return;
        PeerState& state = *state_in(peer);
        if (!state.blocked) drain(state);
    }

    // The region is one piece, and nobody counts here how often it is accessed.
    bool may_stand(const Resolved& memory) const {
        return memory.region_count == 1 && memory.regions[0]->range_count == 1 && !options_.rma_events;
    }
    StandingGrant standing(const MemoryRegion& region) const {
        constexpr uint64_t kAccesses = FI_REMOTE_READ | FI_REMOTE_WRITE;
        return {.address = region.base,
                .length = region.length,
                .at = local_range(region.ranges[0]).address,
                .access = region.access & options_.access_caps & kAccesses};
    }

    void grant_read(Peer& peer, Header& answer, const Resolved& memory, uint64_t epoch, bool stands) {
        std::byte payload[kRangesMax * sizeof(LocalRange) + sizeof(StandingGrant)];
        PayloadWriter writer(payload);
        for (size_t i = 0; i < memory.count; ++i) writer.put(local_range(memory.pieces[i]));
        LocalRange granted = local_range(memory.pieces[0]);
        if (stands) {
            granted = local_range(memory.regions[0]->ranges[0]);
            put_standing(peer, memory, writer);
            answer.flags = kFrameStanding;
        }
        answer.op = static_cast<uint8_t>(FrameOp::ReadGrant);
        answer.aux = static_cast<uint16_t>(memory.count);
        answer.word[1] = epoch;
        answer.size = static_cast<uint32_t>(writer.size());
        if (PeerState* state = state_of(peer)) state->granting.add(epoch, granted);
        respond(peer, answer, payload);
    }

    void put_standing(Peer& peer, const Resolved& memory, PayloadWriter& writer) {
        const StandingGrant grant = standing(*memory.regions[0]);
        if (grant.access & FI_REMOTE_WRITE) transport_.grants_writes(peer);
        writer.put(grant);
    }

    // A write that asks for it is answered with a grant of its region. False: it is to be answered without.
    bool grant_write([[maybe_unused]] Peer& peer, [[maybe_unused]] uint64_t reply_id,
                     [[maybe_unused]] const Target& target) {
        if constexpr (PullsMemory<T>) {
            const uint64_t epoch = transport_.grant_epoch();  // before the key is looked up
            Resolved memory;
            if (resolve(&target, 1, FI_REMOTE_WRITE, &memory) || on_hmem(memory) || !may_stand(memory)) return false;
            std::byte payload[sizeof(StandingGrant)];
            PayloadWriter writer(payload);
            put_standing(peer, memory, writer);
            const Header answer{.size = static_cast<uint32_t>(writer.size()),
                                .op = static_cast<uint8_t>(FrameOp::WriteGrant),
                                .flags = 0,
                                .aux = 0,
                                .word = {reply_id, epoch, 0}};
            respond(peer, answer, payload);
            return true;
        }
        return false;
    }

    bool begin_write(Peer& peer, PeerState& state, const Header& header, Placement* placement) {
        static_cast<void>(peer);
        if (header.aux || (header.flags & kUnusualWrite)) return false;
        const Target target{.address = header.word[1], .length = header.size, .key = header.word[2]};
        Resolved memory;
        if (resolve(&target, 1, FI_REMOTE_WRITE, &memory) || memory.count > Placement::kRanges) return false;
        if (on_hmem(memory)) return false;
        state.placing.kind = PlacementKind::Write;
        placement->count = memory.count;
        std::copy_n(memory.pieces, memory.count, placement->ranges);
        place_in(state, memory);
        return true;
    }

    bool begin_write_segment(PeerState& state, const Header& header, Placement* placement) {
        Resolved memory;
        iovec pieces[Resolved::kPieces];
        size_t count;
        if (!write_part(state, header, &memory, pieces, &count) || !count || count > Placement::kRanges) return false;
        state.placing.kind = PlacementKind::WriteSegment;
        placement->count = count;
        std::copy_n(pieces, count, placement->ranges);
        place_in(state, memory);
        return true;
    }

    [[gnu::noinline]] void write_done(Peer& peer, const Header& header, const Target* targets, size_t count,
                                      uint64_t length, uint64_t data) {
        if (options_.rma_events) count_region_writes(*endpoint_->domain, options_.domain_locked, targets, count);
        event(peer, kSlotRemoteWrite, FI_RMA | FI_REMOTE_WRITE, length, data, header.flags & kFrameHasData);
        if (!header.word[0]) return;
        if ((header.flags & kFrameStanding) && count == 1 && grant_write(peer, header.word[0], targets[0])) return;
        reply(peer, header.word[0], 0);
    }

    void write_segment_placed(Peer& peer, PeerState& state, uint32_t size) {
        auto& write = state.write;
        write.offset += size;
        if (write.offset < write.length) return;
        write.open = false;
        if (write.error) return;
        came_in_parts(peer, write.length);
        write_placed(peer, write);
    }

    void access_failed(Peer& peer, uint64_t reply_id, int error, bool atomic) {
        const Header header{.size = 0,
                            .op = static_cast<uint8_t>(FrameOp::Ack),
                            .flags = atomic ? kFrameAtomic : uint8_t{0},
                            .aux = 0,
                            .word = {reply_id, static_cast<uint64_t>(error), 0}};
        respond(peer, header, nullptr);
    }

    // A write that is in pieces on its way into the region. Its frame is received to the end, and forgotten.
    void revoke_placement(Peer& peer, PeerState& state) {
        if constexpr (DiscardsPlacements<T>) transport_.discard_placement(peer);
        state.placing.region_count = 0;
        if (state.placing.kind == PlacementKind::Write) {
            state.placing.kind = PlacementKind::LostWrite;
        } else if (!state.write.error) {
            state.write.error = FI_ENOKEY;
            write_failed(peer, state.write.reply_id, state.write.frame_flags, FI_ENOKEY);
        }
    }

    int resolve(const Target* targets, size_t count, uint64_t access, Resolved* out) {
        if ((options_.access_caps & access) != access) return FI_EACCES;
        const int error = resolve_targets(*endpoint_->domain, options_.domain_locked, targets, count, access, out);
        if constexpr (kStages) {
            out->on_hmem = error == FI_EACCES;
            if (!out->on_hmem) return error;
            out->count = out->region_count = 0;
            return check_hmem_targets(*endpoint_->domain, targets, count, access);
        }
        return error;
    }
    // What resolve() found is a device's.
    static bool on_hmem([[maybe_unused]] const Resolved& memory) {
        if constexpr (kStages) return memory.on_hmem;
        return false;
    }

    // Whether FI_COMMIT_COMPLETE can be kept there: 0 or a positive fabric errno.
    static int check_commit(const Resolved& memory) { return on_hmem(memory) ? FI_EINVAL : check_persistent(memory); }

    // What the target's application learns of an access.
    void event(Peer& peer, CounterSlot slot, uint64_t flags, uint64_t length, uint64_t data, bool entry) {
        if (options_.rma_events) reports.count(slot);
        if (!entry) return;
        if (options_.data_takes_receive) [[unlikely]]
            return take_receive(peer, data);
        if (!reports.receive) return taken(peer, 0);
        if (!keep_unread(peer)) return drop(peer, kBrokenProtocol);
        reports.receive->write({.context = nullptr,
                                .flags = flags | FI_REMOTE_CQ_DATA,
                                .length = length,
                                .buffer = nullptr,
                                .data = data,
                                .tag = 0,
                                .source = sources_ ? reported(address_of(peer)) : FI_ADDR_NOTAVAIL});
    }

    // With FI_RX_CQ_DATA: the data come as those of a message without bytes would.
    [[gnu::noinline, gnu::cold]] void take_receive(Peer& peer, uint64_t data) {
        Arrival message{.frame_flags = kFrameHasData, .data = data};
        if (!this->arrived(message, nullptr, peer)) drop(peer, FI_ENOMEM);
    }

    [[gnu::noinline]] void return_units() {
        unread_.shrink_to(reports.receive->ring.size(), [this](PeerBase& peer, uint32_t units) {
            peer.owed = static_cast<uint16_t>(peer.owed + units);
            if (peer.owed >= peer.credit_at) give_credit(peer);
        });
    }

    UnreadEntries unread_;

    // A write that leaves no entry: the unit that its data took is free again.
    void write_failed(Peer& peer, uint64_t reply_id, uint8_t frame_flags, int error) {
        if (frame_flags & kFrameHasData) taken(peer, 0);
        access_failed(peer, reply_id, error, false);
    }

    // All of an announced write is where it belongs.
    [[gnu::noinline]] void write_placed(Peer& peer, const PeerState::Write& write) {
        if (const int error = write.frame_flags & kFrameCommit ? commit(write) : 0)
            return write_failed(peer, write.reply_id, write.frame_flags, error);
        const Header header{.size = 0, .op = 0, .flags = write.frame_flags, .aux = 0, .word = {write.reply_id, 0, 0}};
        write_done(peer, header, write.targets, write.target_count, write.length, write.data);
    }

private:
    [[gnu::noinline]] void on_other_write(Peer& peer, const Header& header, const std::byte* payload) {
        PayloadReader reader(payload, header.size);
        uint64_t data = 0;
        uint64_t total = 0;
        size_t count = header.aux;
        Target targets[kRangesMax];
        bool valid = count <= kRangesMax && (!(header.flags & kFrameHasData) || reader.take(&data));
        valid = valid && reader.take(targets, count);
        if (!valid) return drop(peer, kBrokenProtocol);
        if (!count) {
            targets[0] = {.address = header.word[1], .length = reader.left(), .key = header.word[2]};
            count = 1;
        }
        if (!sum_lengths(targets, count, &total) || total != reader.left()) return drop(peer, kBrokenProtocol);
        Resolved memory;
        const bool commits = header.flags & kFrameCommit;
        int error = resolve(targets, count, FI_REMOTE_WRITE, &memory);
        if (!error && commits) error = check_commit(memory);
        if (error) return write_failed(peer, header.word[0], header.flags, error);
        if (on_hmem(memory)) {
            const int failed = write_hmem_targets(*endpoint_->domain, targets, count, 0, reader.rest(), total);
            if (failed) return write_failed(peer, header.word[0], header.flags, failed);
        } else {
            scatter(memory.pieces, memory.count, 0, reader.rest(), total);
            if (commits) error = flush_persistent(memory);
            if (error) return write_failed(peer, header.word[0], header.flags, error);
        }
        write_done(peer, header, targets, count, total, data);
    }

    // The memory that a segment is for. False: the segment does not belong here.
    bool write_part(PeerState& state, const Header& header, Resolved* memory, iovec* out, size_t* count) {
        auto& write = state.write;
        *count = 0;
        if (!write.open || header.word[0] != write.reply_id || header.word[1] != write.offset || !header.size ||
            header.size > write.length - write.offset) {
            return false;
        }
        if (write.error) return true;
        write.error = resolve(write.targets, write.target_count, FI_REMOTE_WRITE, memory);
        if (write.error) {
            write_failed(peer_of(state), write.reply_id, write.frame_flags, write.error);
        } else {
            *count = slice(memory->pieces, memory->count, write.offset, header.size, out);
        }
        return true;
    }

    // Its regions may have been closed since the last of its bytes was placed.
    int commit(const PeerState::Write& write) {
        Resolved memory;
        int error = resolve(write.targets, write.target_count, FI_REMOTE_WRITE, &memory);
        if (!error) error = check_commit(memory);
        return error ? error : flush_persistent(memory);
    }

    void reply_from_hmem(Peer& peer, const Header& answer, const Target* targets, size_t count) {
        static_assert(kSnapshotMax <= HmemWindow::kBytes);
        std::byte* copy = hmem_window_.acquire();
        const int error =
            copy ? read_hmem_targets(*endpoint_->domain, targets, count, 0, copy, answer.size) : FI_ENOMEM;
        if (error) return access_failed(peer, answer.word[0], error, false);
        respond(peer, answer, copy);
    }

    // What is being placed is revoked with any of these regions.
    static void place_in(PeerState& state, const Resolved& memory) {
        std::copy_n(memory.regions, memory.region_count, state.placing.regions);
        state.placing.region_count = memory.region_count;
    }

    // The peer causes an entry in the receive queue: it has its unit back once the application has read that. False: it
    // has sent more than it may, or memory is short.
    bool keep_unread(PeerBase& peer) {
        PeerState* state = state_of(peer);
        if (!state) return false;
        over_budget_ =
            state->receiving.unexpected_units + state->unread_units >= peer.window() || unread_.orphans_full();
        if (over_budget_) return false;
        unread_.add(*state);
        return true;
    }
};

}  // namespace selvage::impl
