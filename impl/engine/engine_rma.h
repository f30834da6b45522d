// Engine: reads and writes of registered memory.
//
// The target checks key, bounds and permission of every range before a byte of it is touched, and again for each
// segment, since a region may be closed meanwhile. A write that fits into a frame goes in one; a longer one is pulled
// by the target, or announced and followed by its segments. A short read is copied when it is asked for; for a longer
// one the target grants its memory to be pulled, or streams it.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_RMA_H
#define SELVAGE_IMPL_ENGINE_ENGINE_RMA_H

#include "impl/endpoint/ep.h"
#include "impl/engine/engine_control.h"

namespace selvage::impl {

// The initiator.

// Nothing is reported of it, and no counter counts it: the target answers only when it fails.
template <Transport T, bool Locked>
bool Engine<T, Locked>::may_be_quiet(uint64_t flags) const {
    constexpr uint64_t kAnswered = FI_COMPLETION | FI_FENCE | FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE;
    // Later accesses by the device have to know when it is done.
    if (NativeRma<T>) return false;
    return (flags & FI_INJECT) && !(flags & kAnswered) && !reports.counters[kSlotWrite] && !options_.strict;
}

template <Transport T, bool Locked>
ssize_t Engine<T, Locked>::access(const AccessRequest& request) {
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
    const ssize_t invalid = check_flags(flags, length);
    if (invalid) return invalid;

    Guard guard(*this);
    if (!may_complete(flags)) return -FI_EAGAIN;
    Peer* peer;
    const int error = look_up(request.to, &peer);
    if (error) return error;
    Transmit* op;
    const auto kind = request.write ? Transmit::Kind::kWrite : Transmit::Kind::kRead;
    const ssize_t full = begin_transmit(*peer, kind, request.context, flags, length, &op);
    if (full) return full;
    if (!take_ranges(*op, request.ranges, request.count, flags & FI_INJECT)) {
        transmits_.give(op);
        return -FI_EAGAIN;
    }
    op->expects_answer = !(request.write && may_be_quiet(flags));
    if (request.write) {
        prepare_write(*peer, request, *op);
    } else {
        prepare_read(request, *op);
    }
    if (!op->expects_answer) ++op->peer->sending.quiet;
    plan_access(request, *op);
    return post(*op);
}

template <Transport T, bool Locked>
inline SendResult Engine<T, Locked>::send_write(Peer& peer, const void* bytes, size_t size, uint64_t id,
                                                uint64_t address, uint64_t key) {
    if constexpr (kInlines) {
        if (size <= T::kInlineMax && transport_.takes_inline(peer)) [[likely]] {
            const uint64_t first = size | uint64_t{static_cast<uint8_t>(FrameOp::kWrite)} << 32;
            transport_.send_inline(peer, first, id, address, key, bytes, size);
            if (T::owner_sleeps(peer)) [[unlikely]]
                transport_.wake_owner(peer);
            return SendResult::kDone;
        }
    }
    const iovec range = range_of(bytes, size);
    const Header header{.size = static_cast<uint32_t>(size),
                        .op = static_cast<uint8_t>(FrameOp::kWrite),
                        .flags = 0,
                        .aux = 0,
                        .word = {id, address, key}};
    return transport_.send(peer, {.header = header, .payload = &range, .count = 1, .token = nullptr, .more = false});
}

template <Transport T, bool Locked>
inline ssize_t Engine<T, Locked>::write_at_once(const void* bytes, size_t size, fi_addr_t to, uint64_t address,
                                                uint64_t key, void* context, uint64_t flags) {
    constexpr size_t kMost = kAtOnceMax < kWholeMax ? kAtOnceMax : kWholeMax;
    if constexpr (NativeRma<T>) return 1;
    if (size > kMost || (flags & (kUnusual | FI_MORE))) return 1;
    Guard guard(*this);
    Peer* peer = known_peer(to);
    PeerState* state = peer ? state_in(*peer) : nullptr;
    if (!state || state->busy || state->blocked || !state->responses.empty() || options_.strict) return 1;
    if (!may_complete(flags)) return -FI_EAGAIN;
    Transmit* op = transmits_.take();
    if (!op) return -FI_EAGAIN;
    op->begin(Transmit::Kind::kWrite, state, flags, context);
    op->expects_answer = true;
    op->enter(Transmit::Stage::kAwaiting);
    const SendResult result = send_write(*peer, bytes, size, transmits_.id(op), address, key);
    if (result != SendResult::kDone) [[unlikely]] {
        transmits_.give(op);
        if (result == SendResult::kAgain) state->blocked = true;
        return 1;
    }
    state->sending.operations.append(op);
    return 0;
}

inline void put_targets(Writer& writer, const AccessRequest& request) {
    for (size_t i = 0; i < request.target_count; ++i) {
        const fi_rma_iov& target = request.targets[i];
        writer.put(Target{.address = target.addr, .length = target.len, .key = target.key});
    }
}

template <Transport T, bool Locked>
void Engine<T, Locked>::prepare_write(Peer& peer, const AccessRequest& request, Transmit& op) {
    Header& header = op.header;
    header = {.size = static_cast<uint32_t>(op.length),
              .op = static_cast<uint8_t>(FrameOp::kWrite),
              .flags = static_cast<uint8_t>(request.has_data ? kFrameHasData : 0),
              .aux = 0,
              .word = {op.expects_answer ? transmits_.id(&op) : 0, request.targets[0].addr, request.targets[0].key}};
    if (op.length <= kWholeMax && request.target_count == 1 && !request.has_data) return;
    Writer writer(op.prefix);
    if (request.has_data) writer.put(request.data);
    put_targets(writer, request);
    header.aux = static_cast<uint16_t>(request.target_count);
    if (op.length > kWholeMax) {
        const size_t sources = put_sources(peer, op, writer);
        header.op = static_cast<uint8_t>(FrameOp::kWriteRts);
        header.word[1] = op.length;
        header.word[2] = sources;
        header.size = 0;
        op.way = sources ? Transmit::Way::kRts : Transmit::Way::kSegments;
    }
    op.prefix_size = static_cast<uint32_t>(writer.size());
    header.size += op.prefix_size;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::prepare_read(const AccessRequest& request, Transmit& op) {
    Writer writer(op.prefix);
    put_targets(writer, request);
    op.prefix_size = static_cast<uint32_t>(writer.size());
    op.large = op.length > kSnapshotMax;
    op.header = {.size = op.prefix_size,
                 .op = static_cast<uint8_t>(FrameOp::kRead),
                 .flags = 0,
                 .aux = static_cast<uint16_t>(request.target_count),
                 .word = {transmits_.id(&op), op.length, 0}};
}

template <Transport T, bool Locked>
Transmit* Engine<T, Locked>::expected_read(Peer& peer, const Header& header) {
    Transmit* op = answered(peer, header.word[0]);
    const bool valid = op && op->stage == Transmit::Stage::kAwaiting &&
                       (op->kind == Transmit::Kind::kRead || op->fetches) && header.word[1] == op->offset &&
                       header.size <= op->length - op->offset && (header.size || !op->length);
    return valid ? op : nullptr;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::read_placed(Transmit& op, uint32_t size) {
    op.offset += size;
    if (op.offset < op.length) return;
    PeerState& state = *op.peer;
    if (size) came_in_parts(peer_of(state), op.length);
    acknowledged(op);
    resume(state);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::on_read_reply(Peer& peer, const Header& header, const std::byte* payload) {
    Transmit* op = expected_read(peer, header);
    if (!op) return drop(peer, kBrokenProtocol);
    size_t count;
    const iovec* ranges = destination(*op, &count);
    scatter(ranges, count, op->offset, payload, header.size);
    read_placed(*op, header.size);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::on_read_grant(Peer& peer, const Header& header, const std::byte* payload) {
    if constexpr (PullsMemory<T>) {
        Transmit* op = answered(peer, header.word[0]);
        Reader reader(payload, header.size);
        LocalRange granted[kRangesMax];
        uint64_t total;
        const bool valid = op && op->stage == Transmit::Stage::kAwaiting && op->kind == Transmit::Kind::kRead &&
                           !op->offset && !(op->header.flags & kFrameInParts) && header.aux &&
                           header.aux <= kRangesMax && reader.take(granted, header.aux) && !reader.left() &&
                           sum_lengths(granted, header.aux, &total) && total == op->length;
        if (!valid) return drop(peer, kBrokenProtocol);
        pull_read(peer, *op, granted, header.aux, header.word[1]);
    } else {
        static_cast<void>(header), static_cast<void>(payload);
        drop(peer, kBrokenProtocol);
    }
}

// The target.

template <Transport T, bool Locked>
void Engine<T, Locked>::access_failed(Peer& peer, uint64_t reply_id, int error, bool atomic) {
    const Header header{.size = 0,
                        .op = static_cast<uint8_t>(FrameOp::kAck),
                        .flags = atomic ? kFrameAtomic : uint8_t{0},
                        .aux = 0,
                        .word = {reply_id, static_cast<uint64_t>(error), 0}};
    respond(peer, header, nullptr);
}

// A write that leaves no entry: the unit that its data took is free again.
template <Transport T, bool Locked>
void Engine<T, Locked>::write_failed(Peer& peer, uint64_t reply_id, uint8_t frame_flags, int error) {
    if (frame_flags & kFrameHasData) taken(peer, 0);
    access_failed(peer, reply_id, error, false);
}

// What the target's application learns of an access.
template <Transport T, bool Locked>
void Engine<T, Locked>::event(Peer& peer, CounterSlot slot, uint64_t flags, uint64_t length, uint64_t data,
                              bool entry) {
    if (options_.rma_events) reports.count(slot);
    if (!entry) return;
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

template <Transport T, bool Locked>
void Engine<T, Locked>::write_done(Peer& peer, const Header& header, const Target* targets, size_t count,
                                   uint64_t length, uint64_t data) {
    if (options_.rma_events) count_region_writes(*endpoint_->domain, options_.domain_locked, targets, count);
    event(peer, kSlotRemoteWrite, FI_RMA | FI_REMOTE_WRITE, length, data, header.flags & kFrameHasData);
    if (header.word[0]) reply(peer, header.word[0], 0);
}

// The usual one has one target, in one piece of memory.
template <Transport T, bool Locked>
[[gnu::noinline]] void Engine<T, Locked>::on_write(Peer& peer, const Header& header, const std::byte* payload) {
    if (!header.aux && !(header.flags & kFrameHasData) && !options_.rma_events &&
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

template <Transport T, bool Locked>
[[gnu::noinline]] void Engine<T, Locked>::on_other_write(Peer& peer, const Header& header, const std::byte* payload) {
    Reader reader(payload, header.size);
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
    const int error = resolve(targets, count, FI_REMOTE_WRITE, &memory);
    if (error) return write_failed(peer, header.word[0], header.flags, error);
    scatter(memory.pieces, memory.count, 0, reader.rest(), total);
    write_done(peer, header, targets, count, total, data);
}

template <Transport T, bool Locked>
int Engine<T, Locked>::resolve(const Target* targets, size_t count, uint64_t access, Resolved* out) {
    if ((options_.access_caps & access) != access) return FI_EACCES;
    return resolve_targets(*endpoint_->domain, options_.domain_locked, targets, count, access, out);
}

template <Transport T, bool Locked>
bool Engine<T, Locked>::begin_write(Peer& peer, PeerState& state, const Header& header, Placement* placement) {
    static_cast<void>(peer);
    if (header.aux || (header.flags & kFrameHasData)) return false;
    const Target target{.address = header.word[1], .length = header.size, .key = header.word[2]};
    Resolved memory;
    if (resolve(&target, 1, FI_REMOTE_WRITE, &memory) || memory.count > Placement::kRanges) return false;
    state.placing.kind = PlacementKind::kWrite;
    placement->count = memory.count;
    std::copy_n(memory.pieces, memory.count, placement->ranges);
    place_in(state, memory);
    return true;
}

// What is being placed is revoked with any of these regions.
template <Transport T, bool Locked>
void Engine<T, Locked>::place_in(PeerState& state, const Resolved& memory) {
    std::copy_n(memory.regions, memory.region_count, state.placing.regions);
    state.placing.region_count = memory.region_count;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::on_write_announce(Peer& peer, const Header& header, const std::byte* payload) {
    PeerState* state = state_of(peer);
    if (!state) return drop(peer, FI_ENOMEM);
    auto& write = state->write;
    Reader reader(payload, header.size);
    const uint64_t source_count = header.word[2];
    LocalRange sources[kRangesMax];
    uint64_t total;
    write.data = 0;
    const bool valid = !(write.open && !write.error) && header.aux && header.aux <= kRangesMax &&
                       source_count <= kRangesMax && (!(header.flags & kFrameHasData) || reader.take(&write.data)) &&
                       reader.take(write.targets, header.aux) && reader.take(sources, source_count) && !reader.left() &&
                       sum_lengths(write.targets, header.aux, &total) && total == header.word[1] && total &&
                       sum_lengths(sources, source_count, &total) && (!source_count || total == header.word[1]);
    if (!valid) return drop(peer, kBrokenProtocol);
    write.open = !source_count;
    write.frame_flags = header.flags;
    write.reply_id = header.word[0];
    write.length = header.word[1];
    write.offset = 0;
    write.target_count = header.aux;
    Resolved memory;
    write.error = resolve(write.targets, write.target_count, FI_REMOTE_WRITE, &memory);
    if (!write.error && source_count) {
        if constexpr (PullsMemory<T>) {
            write.error = pull_write(peer, write, sources, source_count, memory);
        } else {
            write.error = FI_EIO;
        }
    }
    if (write.error) return write_failed(peer, header.word[0], header.flags, write.error);
    if (source_count) write_placed(peer, write);
}

// All of an announced write is where it belongs.
template <Transport T, bool Locked>
void Engine<T, Locked>::write_placed(Peer& peer, const PeerState::Write& write) {
    const Header header{.size = 0, .op = 0, .flags = write.frame_flags, .aux = 0, .word = {write.reply_id, 0, 0}};
    write_done(peer, header, write.targets, write.target_count, write.length, write.data);
}

// The memory that a segment is for. False: the segment does not belong here.
template <Transport T, bool Locked>
bool Engine<T, Locked>::write_part(PeerState& state, const Header& header, Resolved* memory, iovec* out,
                                   size_t* count) {
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

template <Transport T, bool Locked>
void Engine<T, Locked>::write_segment_placed(Peer& peer, PeerState& state, uint32_t size) {
    auto& write = state.write;
    write.offset += size;
    if (write.offset < write.length) return;
    write.open = false;
    if (write.error) return;
    came_in_parts(peer, write.length);
    write_placed(peer, write);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::on_write_segment(Peer& peer, const Header& header, const std::byte* payload) {
    PeerState* state = state_in(peer);
    Resolved memory;
    iovec pieces[Resolved::kPieces];
    size_t count;
    if (!state || !write_part(*state, header, &memory, pieces, &count)) return drop(peer, kBrokenProtocol);
    if (!state->write.error) scatter(pieces, count, 0, payload, header.size);
    write_segment_placed(peer, *state, header.size);
}

template <Transport T, bool Locked>
bool Engine<T, Locked>::begin_write_segment(PeerState& state, const Header& header, Placement* placement) {
    Resolved memory;
    iovec pieces[Resolved::kPieces];
    size_t count;
    if (!write_part(state, header, &memory, pieces, &count) || !count || count > Placement::kRanges) return false;
    state.placing.kind = PlacementKind::kWriteSegment;
    placement->count = count;
    std::copy_n(pieces, count, placement->ranges);
    place_in(state, memory);
    return true;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::on_read(Peer& peer, const Header& header, const std::byte* payload) {
    Reader reader(payload, header.size);
    Target targets[kRangesMax];
    uint64_t total;
    const bool valid = header.word[0] && header.aux && header.aux <= kRangesMax && reader.take(targets, header.aux) &&
                       !reader.left() && sum_lengths(targets, header.aux, &total) && total == header.word[1];
    if (!valid) return drop(peer, kBrokenProtocol);
    uint64_t epoch = 0;
    if constexpr (PullsMemory<T>) epoch = transport_.grant_epoch();
    Resolved memory;
    const int error = resolve(targets, header.aux, FI_REMOTE_READ, &memory);
    if (error) return access_failed(peer, header.word[0], error, false);
    event(peer, kSlotRemoteRead, 0, 0, 0, false);
    Header answer{.size = static_cast<uint32_t>(total),
                  .op = static_cast<uint8_t>(FrameOp::kReadReply),
                  .flags = 0,
                  .aux = 0,
                  .word = {header.word[0], 0, 0}};
    if (total <= kSnapshotMax) return reply_with(peer, answer, memory.pieces, memory.count);
    static_cast<void>(epoch);
    if constexpr (PullsMemory<T>) {
        if (!(header.flags & kFrameInParts) && memory.count <= kRangesMax && transport_.offers(peer, total)) {
            LocalRange ranges[kRangesMax];
            for (size_t i = 0; i < memory.count; ++i) ranges[i] = local_range(memory.pieces[i]);
            answer.op = static_cast<uint8_t>(FrameOp::kReadGrant);
            answer.aux = static_cast<uint16_t>(memory.count);
            answer.word[1] = epoch;
            answer.size = static_cast<uint32_t>(memory.count * sizeof *ranges);
            return respond(peer, answer, ranges);
        }
    }
    answer.size = 0;
    reply_in_parts(peer, answer, targets, header.aux, total);
}

}  // namespace selvage::impl

#endif
