// Engine: reads and writes of registered memory, where they begin. A write that fits into a frame goes in one; a longer
// one is pulled by the target, or announced and followed by its segments. A read asks its target. Either may be made at
// once under a grant that stands (standing_grants.h).
#pragma once

#include "impl/endpoint/ep.h"
#include "impl/engine/engine_rma_target.h"

namespace selvage::impl {

inline void put_targets(PayloadWriter& writer, const AccessRequest& request) {
    for (size_t i = 0; i < request.target_count; ++i) {
        const fi_rma_iov& target = request.targets[i];
        writer.put(Target{.address = target.addr, .length = target.len, .key = target.key});
    }
}

template <Transport T, bool Locked>
class EngineRma : public EngineRmaTarget<T, Locked> {
    using Base = EngineRmaTarget<T, Locked>;

protected:
    using typename Base::Guard, typename Base::UnsharedGuard;
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::count_stat, Base::kAtOnceMax, Base::kInlines, Base::kSnapshotMax, Base::kUnusual, Base::kWholeMax,
        Base::known_peer, Base::options_, Base::peer_of, Base::refresh, Base::reports, Base::state_in, Base::transport_,
        Base::whole_max;
    // From EnginePeers.
    using Base::drop, Base::look_up;
    // From EngineResponder.
    using Base::respond;
    // From EnginePull.
    using Base::came_in_parts, Base::gather, Base::offers, Base::pull, Base::pull_measured, Base::put_sources;
    // From EngineDirect.
    using Base::plan_access;
    // From EngineStaging.
    using Base::kStages, Base::land, Base::names_hmem, Base::stage_destination, Base::stage_source;
    // From EngineSender.
    using Base::acknowledged, Base::answered, Base::begin_transmit, Base::check_flags, Base::fail, Base::may_complete,
        Base::post, Base::refuse, Base::resume, Base::take_ranges, Base::transmits_;

public:
    ssize_t access(const AccessRequest& request) { return this->making_room(try_to_access(request)); }

    ssize_t write_at_once(const void* bytes, size_t size, fi_addr_t to, uint64_t address, uint64_t key, void* context,
                          uint64_t flags) {
        constexpr size_t kMost = kAtOnceMax < kWholeMax ? kAtOnceMax : kWholeMax;
        if constexpr (NativeRma<T>) return 1;
        if (size > kMost || (flags & (kUnusual | FI_MORE | FI_INJECT_COMPLETE)) || this->is_shared()) return 1;
        UnsharedGuard guard(*this);
        Peer* peer = known_peer(to);
        PeerState* state = peer ? state_in(*peer) : nullptr;
        if (!state || state->busy || state->blocked || !state->responses.empty() || options_.strict) return 1;
        if (!goes_in_a_frame(*peer, size)) return 1;
        if (!may_complete(flags)) return -FI_EAGAIN;
        Transmit* op = transmits_.take();
        if (!op) return 1;
        op->begin(Transmit::Kind::Write, state, flags, context);
        if constexpr (kStages) op->staging = nullptr;
        op->expects_answer = true;
        op->enter(Transmit::Stage::Awaiting);
        const SendResult result = send_write(*peer, bytes, size, transmits_.id(op), address, key);
        if (result != SendResult::Done) [[unlikely]] {
            transmits_.give(op);
            if (result == SendResult::Again) state->blocked = true;
            return 1;
        }
        if constexpr (PullsMemory<T>) {
            if (size >= T::kPullMin) {
                op->measured = true;
                op->length = size;
                op->mark = transport_.frames_sent(*peer);
            }
        }
        state->sending.operations.append(op);
        return 0;
    }

protected:
    ssize_t try_to_access(const AccessRequest& request) {
        size_t length;
        uint64_t remote = 0;
        if (request.count > options_.iov_max || request.target_count > options_.rma_iov_max || !request.target_count)
            return -FI_EINVAL;
        if ((request.count && !request.ranges) || !request.targets) return -FI_EINVAL;
        if (!total_of(request.ranges, request.count, &length)) return -FI_EMSGSIZE;
        for (size_t i = 0; i < request.target_count; ++i) {
            if (__builtin_add_overflow(remote, request.targets[i].len, &remote)) return -FI_EINVAL;
        }
        if (remote != length) return -FI_EINVAL;
        // A read has no data to copy at the call.
        const uint64_t flags = request.write ? request.flags : request.flags & ~FI_INJECT;
        const ssize_t invalid = check_flags(request.write ? without_commit(flags) : flags, length);
        if (invalid) return invalid;

        Guard guard(*this);
        if (!may_complete(flags)) return -FI_EAGAIN;
        Peer* peer;
        const int error = look_up(request.to, &peer);
        if (error) return error;
        const bool hmem = length && names_hmem(request.regions, request.count);
        if (!hmem && made_at_once(*peer, request, flags, length)) return 0;
        Transmit* op;
        const auto kind = request.write ? Transmit::Kind::Write : Transmit::Kind::Read;
        const ssize_t full = begin_transmit(*peer, kind, request.context, flags, length, &op);
        if (full) return full;
        if (hmem) {
            const int failed = request.write ? stage_source(*op, request.ranges, request.regions, request.count)
                                             : stage_destination(*op, request.ranges, request.regions, request.count);
            if (failed) return refuse(*op, failed);
        } else if (!take_ranges(*op, request.ranges, request.count, flags & FI_INJECT)) {
            return refuse(*op, -FI_EAGAIN);
        }
        op->expects_answer = !(request.write && length <= whole_max(*peer) && may_be_quiet(flags));
        if (request.write) {
            prepare_write(*peer, request, *op);
        } else {
            prepare_read(*peer, request, *op);
        }
        if (!op->expects_answer) ++op->peer->sending.quiet;
        plan_access(request, *op);
        return post(*op);
    }

    // Nothing is reported of it, or that its bytes were taken is all that was asked for, and no counter counts it: the
    // target answers only when it fails (decisions.md, "Completed, and refused later").
    bool may_be_quiet(uint64_t flags) const {
        constexpr uint64_t kAnswered = FI_FENCE | FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE | FI_COMMIT_COMPLETE;
        // Later accesses by the device have to know when it is done.
        if (NativeRma<T>) return false;
        const bool unreported = (flags & (FI_INJECT | FI_COMPLETION)) == FI_INJECT;
        return (unreported || (flags & FI_INJECT_COMPLETE)) && !(flags & kAnswered) && !reports.counters[kSlotWrite] &&
               !options_.strict;
    }

    // FI_COMMIT_COMPLETE is a flag of what writes to persistent memory, where the endpoint has FI_RMA_PMEM.
    uint64_t without_commit(uint64_t flags) const { return options_.commits ? flags & ~FI_COMMIT_COMPLETE : flags; }
    static uint8_t commit_flag(uint64_t flags) { return flags & FI_COMMIT_COMPLETE ? kFrameCommit : uint8_t{0}; }

    Transmit* expected_read(Peer& peer, const Header& header) {
        Transmit* op = answered(peer, header.word[0]);
        const bool valid = op && op->stage == Transmit::Stage::Awaiting &&
                           (op->kind == Transmit::Kind::Read || op->fetches) && header.word[1] == op->offset &&
                           header.size <= op->length - op->offset && (header.size || !op->length);
        return valid ? op : nullptr;
    }

    void read_placed(Transmit& op, uint32_t size) {
        op.offset += size;
        if (op.offset < op.length) return;
        PeerState& state = *op.peer;
        if constexpr (kStages) {
            if (const int error = land(op)) {
                fail(op, error);
                return resume(state);
            }
        }
        if (size) came_in_parts(peer_of(state), op.length);
        if constexpr (PullsMemory<T>) {
            state.grants.answered(op.mark);
            transport_.came_read(peer_of(state), op.length, false);
        }
        acknowledged(op);
        resume(state);
    }

    [[gnu::noinline]] void on_read_reply(Peer& peer, const Header& header, const std::byte* payload) {
        Transmit* op = expected_read(peer, header);
        if (!op) return drop(peer, kBrokenProtocol);
        size_t count;
        const iovec* ranges = destination(*op, &count);
        scatter(ranges, count, op->offset, payload, header.size);
        read_placed(*op, header.size);
    }

    [[gnu::noinline]] void on_read_grant(Peer& peer, const Header& header, const std::byte* payload) {
        if constexpr (PullsMemory<T>) {
            Transmit* op = answered(peer, header.word[0]);
            PayloadReader reader(payload, header.size);
            LocalRange granted[kRangesMax];
            uint64_t total;
            const bool valid = op && op->stage == Transmit::Stage::Awaiting && op->kind == Transmit::Kind::Read &&
                               !op->offset && !(op->header.flags & kFrameInParts) && header.aux &&
                               header.aux <= kRangesMax && reader.take(granted, header.aux) &&
                               keep_grant(*op, header, reader) && !reader.left() &&
                               sum_lengths(granted, header.aux, &total) && total == op->length;
            if (!valid) return drop(peer, kBrokenProtocol);
            pull_read(peer, *op, granted, header.aux, header.word[1]);
        } else {
            static_cast<void>(header), static_cast<void>(payload);
            drop(peer, kBrokenProtocol);
        }
    }

    // The Ack of a write that asked for a grant, with one.
    [[gnu::noinline]] void on_write_grant(Peer& peer, const Header& header, const std::byte* payload) {
        if constexpr (PullsMemory<T>) {
            Transmit* op = answered(peer, header.word[0]);
            PayloadReader reader(payload, header.size);
            const bool valid = op && op->kind == Transmit::Kind::Write && op->stage == Transmit::Stage::Awaiting &&
                               (op->header.flags & kFrameStanding) && take_grant(*op, header, reader) && !reader.left();
            if (!valid) return drop(peer, kBrokenProtocol);
            PeerState& state = *op->peer;
            write_answered(peer, *op);
            acknowledged(*op);
            resume(state);
        } else {
            static_cast<void>(header), static_cast<void>(payload);
            drop(peer, kBrokenProtocol);
        }
    }
    // By the target: all that was sent before it is done there.
    void write_answered(Peer& peer, const Transmit& op) {
        op.peer->grants.answered(op.mark);
        transport_.came_written(peer, op.length, false);
    }

    // The target could not pull a write. It is sent in segments, unless that would put it behind what was posted after
    // it and has been sent, where the endpoint's order does not allow that.
    void resend_write(Peer& peer, Transmit& op) {
        PeerState& state = *op.peer;
        count_stat(peer, Stat::InFrames);
        if (options_.ordered_after_writes && transport_.frames_sent(peer) != op.mark) return fail(op, FI_EIO);
        const size_t sources = op.header.word[2] * sizeof(LocalRange);
        op.prefix_size -= static_cast<uint32_t>(sources);
        op.header.size -= static_cast<uint32_t>(sources);
        op.header.word[2] = 0;
        op.way = Transmit::Way::Segments;
        op.enter(Transmit::Stage::Queued);
        op.offset = 0;
        state.sending.unsent = &op;  // those behind it that were sent are passed over (transmit)
        refresh(state);
    }

    // What cannot be pulled, or was taken back, is asked for again, in frames.
    void read_pulled(Peer& peer, Transmit& op, uint64_t epoch, bool pulled) {
        if (pulled && transport_.still_granted(peer, epoch)) {
            op.offset = op.length;
            return read_placed(op, 0);
        }
        count_stat(peer, Stat::InFrames);
        op.header.flags |= kFrameInParts;
        respond(peer, op.header, op.prefix);
    }

private:
    // A short write: it is neither offered to be pulled, nor would a grant be of use.
    bool goes_in_a_frame([[maybe_unused]] Peer& peer, [[maybe_unused]] size_t size) {
        if constexpr (PullsMemory<T>)
            return size < T::kPullMin || (!offers(peer, size) && transport_.asks_for_writes(peer, size));
        return true;
    }

    SendResult send_write(Peer& peer, const void* bytes, size_t size, uint64_t id, uint64_t address, uint64_t key) {
        if constexpr (kInlines) {
            if (size <= T::kInlineMax && transport_.takes_inline(peer)) [[likely]] {
                const uint64_t first = size | uint64_t{static_cast<uint8_t>(FrameOp::Write)} << 32;
                transport_.send_inline(peer, first, id, address, key, bytes, size);
                if (T::owner_sleeps(peer)) [[unlikely]]
                    transport_.wake_owner(peer);
                return SendResult::Done;
            }
        }
        const iovec range = range_of(bytes, size);
        const Header header{.size = static_cast<uint32_t>(size),
                            .op = static_cast<uint8_t>(FrameOp::Write),
                            .flags = 0,
                            .aux = 0,
                            .word = {id, address, key}};
        return transport_.send(peer,
                               {.header = header, .payload = &range, .count = 1, .token = nullptr, .more = false});
    }

    void prepare_write(Peer& peer, const AccessRequest& request, Transmit& op) {
        if constexpr (PullsMemory<T>) op.measured = op.length >= T::kPullMin;
        Header& header = op.header;
        header = {
            .size = static_cast<uint32_t>(op.length),
            .op = static_cast<uint8_t>(FrameOp::Write),
            .flags = static_cast<uint8_t>((request.has_data ? kFrameHasData : 0) | commit_flag(request.flags) |
                                          (asks_to_write(peer, request, op) ? kFrameStanding : 0)),
            .aux = 0,
            .word = {op.expects_answer ? transmits_.id(&op) : 0, request.targets[0].addr, request.targets[0].key}};
        const bool whole = op.length <= whole_max(peer);
        // What is injected is copied at the call, and never waits for the peer; nor does what is not answered.
        const bool offered = op.expects_answer && !(whole && request.flags & FI_INJECT) && offers(peer, op.length);
        if (whole && !offered && request.target_count == 1 && !request.has_data) return;
        PayloadWriter writer(op.prefix);
        if (request.has_data) writer.put(request.data);
        put_targets(writer, request);
        header.aux = static_cast<uint16_t>(request.target_count);
        if (!whole || offered) {
            const size_t sources = offered ? put_sources(op, writer) : 0;
            header.op = static_cast<uint8_t>(FrameOp::WriteRts);
            header.word[1] = op.length;
            header.word[2] = sources;
            header.size = 0;
            op.way = sources ? Transmit::Way::Rts : Transmit::Way::Segments;
        }
        op.prefix_size = static_cast<uint32_t>(writer.size());
        header.size += op.prefix_size;
    }

    static Target only_target(const AccessRequest& request, uint64_t length) {
        return {.address = request.targets[0].addr, .length = length, .key = request.targets[0].key};
    }
    // In the peer's process. REQUIRES: the grant covers the target.
    static uint64_t place_of(const StandingGrants::Grant& grant, const Target& target) {
        return grant.region.at + (target.address - grant.region.address);
    }

    // An access that needs nobody: it is over within the call, so nothing is kept of it.
    bool made_at_once([[maybe_unused]] Peer& peer, [[maybe_unused]] const AccessRequest& request,
                      [[maybe_unused]] uint64_t flags, [[maybe_unused]] uint64_t length) {
        if constexpr (PullsMemory<T>) {
            StandingGrants::Grant* grant = usable_grant(peer, request, length);
            if (!grant) return false;
            const uint64_t place = place_of(*grant, only_target(request, length));
            const bool made = request.write ? write_at(peer, *grant, place, request, length)
                                            : read_at(peer, *grant, place, request, length);
            if (!made) {
                StandingGrants::forget(*grant);
                return false;
            }
            reports.transmitted(flags, FI_RMA | (request.write ? FI_WRITE : FI_READ),
                                request.write ? kSlotWrite : kSlotRead, request.context);
            return true;
        }
        return false;
    }
    // For an access that may be made now. Nothing that was sent before it is overtaken: it was all answered, and what
    // is sent in the call that follows comes later. The target's application learns of nothing but the bytes. Nullptr:
    // the access is to be sent.
    StandingGrants::Grant* usable_grant(Peer& peer, const AccessRequest& request, uint64_t length) {
        const bool now =
            request.write ? transport_.writes_at_once(peer, length) : transport_.reads_at_once(peer, length);
        PeerState* state = state_in(peer);
        if (!now || !state || request.target_count != 1 || !state->sending.operations.empty()) return nullptr;
        if (!state->grants.all_done(transport_.frames_sent(peer))) return nullptr;
        if (request.write && (request.has_data || commit_flag(request.flags))) return nullptr;
        return state->grants.find(only_target(request, length), request.write ? FI_REMOTE_WRITE : FI_REMOTE_READ);
    }
    bool read_at(Peer& peer, const StandingGrants::Grant& grant, uint64_t place, const AccessRequest& request,
                 uint64_t length) {
        const LocalRange source{.address = place, .length = length};
        if (!transport_.still_granted(peer, grant.epoch) ||
            pull(peer, &source, 1, request.ranges, request.count, length) ||
            !transport_.still_granted(peer, grant.epoch))
            return false;
        transport_.came_read(peer, length, true);
        return true;
    }
    bool write_at(Peer& peer, const StandingGrants::Grant& grant, uint64_t place, const AccessRequest& request,
                  uint64_t length) {
        if (!transport_.write_granted(peer, grant.epoch, request.ranges, request.count, place)) return false;
        transport_.came_written(peer, length, true);
        return true;
    }

    // What a ReadGrant has behind its ranges. False: it makes no sense.
    bool keep_grant(const Transmit& op, const Header& header, PayloadReader& reader) {
        if (!(header.flags & kFrameStanding)) return true;
        return (op.header.flags & kFrameStanding) && take_grant(op, header, reader);
    }
    // REQUIRES: it asked for a grant.
    bool take_grant(const Transmit& op, const Header& header, PayloadReader& reader) {
        StandingGrant region;
        Target target{.address = op.header.word[1], .length = op.length, .key = op.header.word[2]};
        if (op.header.aux) PayloadReader(op.prefix, op.prefix_size).take(&target);
        if (!reader.take(&region) || !region.covers(target)) return false;
        op.peer->grants.add(header.word[1], target.key, region);
        return true;
    }

    // A grant of the region that stands would be of use.
    bool asks_for_grant([[maybe_unused]] Peer& peer, [[maybe_unused]] const AccessRequest& request,
                        [[maybe_unused]] const Transmit& op) {
        if constexpr (PullsMemory<T>) {
            if (request.target_count != 1 || transport_.asks_for_reads(peer, op.length)) return false;
            return lacks_grant(peer, only_target(request, op.length), *op.peer, FI_REMOTE_READ);
        }
        return false;
    }
    bool asks_to_write([[maybe_unused]] Peer& peer, [[maybe_unused]] const AccessRequest& request,
                       [[maybe_unused]] const Transmit& op) {
        if constexpr (PullsMemory<T>) {
            if (!op.expects_answer || request.target_count != 1 || request.has_data) return false;
            if (transport_.asks_for_writes(peer, op.length)) return false;
            return lacks_grant(peer, only_target(request, op.length), *op.peer, FI_REMOTE_WRITE);
        }
        return false;
    }
    bool lacks_grant(Peer& peer, const Target& target, PeerState& state, uint64_t access) {
        const StandingGrants::Grant* grant = state.grants.find(target, access);
        return !(grant && transport_.still_granted(peer, grant->epoch)) && state.grants.asks();
    }

    void prepare_read(Peer& peer, const AccessRequest& request, Transmit& op) {
        PayloadWriter writer(op.prefix);
        put_targets(writer, request);
        op.prefix_size = static_cast<uint32_t>(writer.size());
        op.large = op.length > kSnapshotMax;
        if constexpr (PullsMemory<T>) {
            if (op.peer->peer->in_memory && op.length >= T::kPullMin) {
                op.large = true;
                transport_.expect_grant(peer);
            }
        }
        op.header = {.size = op.prefix_size,
                     .op = static_cast<uint8_t>(FrameOp::Read),
                     .flags = asks_for_grant(peer, request, op) ? kFrameStanding : uint8_t{0},
                     .aux = static_cast<uint16_t>(request.target_count),
                     .word = {transmits_.id(&op), op.length, 0}};
    }

    // `epoch`: of the grant.
    void pull_read(Peer& peer, Transmit& op, const LocalRange* sources, size_t count, uint64_t epoch) {
        const uint64_t whole = count == 1 && op.range_count == 1 ? op.length : 0;
        if (gather(peer, {.kind = PendingPull::Kind::Read,
                          .source = {.address = sources[0].address, .length = whole},
                          .destination = {.iov_base = op.ranges[0].iov_base, .iov_len = whole},
                          .id = transmits_.id(&op),
                          .epoch = epoch}))
            return;
        const bool pulled = pull_measured(peer, sources, count, op.ranges, op.range_count, op.length);
        read_pulled(peer, op, epoch, pulled);
    }
};

}  // namespace selvage::impl
