// Engine: transfers that this side reads out of the peer's memory, and that both sides copy at the same time when the
// peer has time for it (T::kPulls).
//
// This side reads the first half, and offers the peer to write the second. Who takes the offer copies it: the peer, if
// it makes progress meanwhile, or else this side, which takes it back. So nobody waits for one who computes, and two
// who wait for the transfer have two processors for it. Of shorter messages of which several are there, the sender is
// offered whole ones, as each call of the kernel has its price.
//
// One offer at a time is open with a peer. A message or a read whose end the peer has taken stays until it says that it
// is done. Behind a write nothing else of the peer is looked at meanwhile, as what follows a write comes after it.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_SHARE_H
#define SELVAGE_IMPL_ENGINE_ENGINE_SHARE_H

#include "impl/engine/engine_transmit.h"

namespace selvage::impl {

// What this side reads of a transfer that is halved; the peer's half is what is left.
constexpr uint64_t own_half(uint64_t length) {
    constexpr uint64_t kPage = 4096;
    return length / 2 & ~(kPage - 1);
}

// From the peer's memory to this side's.
struct Pull {
    const LocalRange* sources;
    size_t source_count;
    const iovec* places;
    size_t place_count;
    uint64_t length;
    uint8_t flags;                       // of a kShare
    uint64_t peer_id;                    // the peer's operation, or 0 for a read
    uint64_t id;                         // this side's, or 0 for a write
    const std::byte* targets = nullptr;  // of a read, as it asked for them
    size_t targets_size = 0;
};

// 0, or a negative errno; then some of it may have come.
template <Transport T, bool Locked>
int Engine<T, Locked>::pull_part(Peer& peer, const Pull& pull, uint64_t offset, uint64_t size) {
    iovec whole[kRangesMax];
    iovec remote[kRangesMax];
    iovec local[Resolved::kPieces];
    for (size_t i = 0; i < pull.source_count; ++i) whole[i] = range_of(pull.sources[i]);
    const size_t remote_count = slice(whole, pull.source_count, offset, size, remote);
    const size_t local_count = slice(pull.places, pull.place_count, offset, size, local);
    return transport_.pull(peer, remote, remote_count, local, local_count);
}

// No other offer is open.
template <Transport T, bool Locked>
bool Engine<T, Locked>::may_share(Peer& peer, const Pull& pull) {
    PeerState* state = state_in(peer);
    if (!state || pull.place_count > kRangesMax) return false;
    if (state->offered.receive && transport_.taken(peer, state->offered.ticket)) {
        state->offered.receive->shared = true;
        state->offered.receive = nullptr;
    }
    return !state->offered.receive && transport_.shares(peer, pull.length);
}

// All of it, or the first half when *ticket tells of an offer that the peer has taken. 0 or a negative errno.
template <Transport T, bool Locked>
int Engine<T, Locked>::pull_halves(Peer& peer, const Pull& pull, bool share, uint64_t* ticket) {
    *ticket = 0;
    if (!share) return pull_part(peer, pull, 0, pull.length);
    const uint64_t own = own_half(pull.length);
    const uint64_t offered = offer_share(peer, pull, own);
    const int error = pull_part(peer, pull, 0, own);
    if (!transport_.withdraw(peer, offered)) *ticket = offered;
    return error || *ticket ? error : pull_rest(peer, pull);
}

template <Transport T, bool Locked>
int Engine<T, Locked>::pull_rest(Peer& peer, const Pull& pull) {
    const uint64_t own = own_half(pull.length);
    return pull_part(peer, pull, own, pull.length - own);
}

template <Transport T, bool Locked>
uint64_t Engine<T, Locked>::offer_share(Peer& peer, const Pull& pull, uint64_t offset) {
    iovec places[kRangesMax];
    const size_t count = slice(pull.places, pull.place_count, offset, pull.length - offset, places);
    std::byte payload[kPrefixMax];
    Writer writer(payload);
    writer.put(offset);
    for (size_t i = 0; i < count; ++i) writer.put(local_range(places[i]));
    const size_t size = writer.size();
    if (pull.targets_size) memcpy(payload + size, pull.targets, pull.targets_size);
    const uint64_t ticket = transport_.offer(peer);
    const Header header{.size = static_cast<uint32_t>(size + pull.targets_size),
                        .op = static_cast<uint8_t>(FrameOp::kShare),
                        .flags = pull.flags,
                        .aux = static_cast<uint16_t>(count),
                        .word = {pull.peer_id, pull.id, ticket}};
    respond(peer, header, payload);
    return ticket;
}

// Messages.

inline Pull pull_of(const Receive& receive, const LocalRange* sources, size_t count) {
    return {.sources = sources,
            .source_count = count,
            .places = receive.ranges,
            .place_count = receive.range_count,
            .length = receive.wanted,
            .flags = 0,
            .peer_id = receive.message.reply_id,
            .id = Pool<Receive>::id(&receive)};
}

// False: nothing of it can be read, it has to come in segments.
template <Transport T, bool Locked>
bool Engine<T, Locked>::fetch_pulled(Peer& peer, Receive& receive, const LocalRange* sources, size_t count) {
    PeerState& state = *receive.peer;
    const Pull pull = pull_of(receive, sources, count);
    const bool share = may_share(peer, pull);
    if (share && pull.length < kHalvedMin && transport_.another_waits(peer)) {
        state.offered.receive = &receive;
        state.offered.count = count;
        std::copy_n(sources, count, state.offered.sources);
        state.offered.ticket = offer_share(peer, pull, 0);
        set_working(state, true);
        return true;
    }
    uint64_t ticket;
    const int error = pull_halves(peer, pull, share, &ticket);
    receive.shared = ticket;
    receive.spoiled = error;
    if (!error && !ticket) pulled(peer, receive);
    return !error || ticket;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::pulled(Peer& peer, Receive& receive) {
    transport_.came_pulled(peer, receive.wanted);
    reply(peer, receive.message.reply_id, 0);
    finish_receive(&receive, 0);
}

// Nothing else is there to do: the message that was left to the peer, and that it has not begun, is read here.
template <Transport T, bool Locked>
void Engine<T, Locked>::settle_offer(PeerState& state) {
    auto& [offered, ticket, count, sources] = state.offered;
    Receive& receive = *offered;
    Peer& peer = peer_of(state);
    offered = nullptr;
    if (!transport_.withdraw(peer, ticket)) {
        receive.shared = true;
    } else if (!pull_part(peer, pull_of(receive, sources, count), 0, receive.wanted)) {
        pulled(peer, receive);
    } else {
        clear(peer, receive);
    }
}

// Reads.

inline Pull pull_of(const Transmit& op) {
    return {.sources = op.granted,
            .source_count = op.granted_count,
            .places = op.ranges,
            .place_count = op.range_count,
            .length = op.length,
            .flags = kFrameOfRead,
            .peer_id = 0,
            .id = Pool<Transmit>::id(&op),
            .targets = op.prefix,
            .targets_size = op.prefix_size};
}

template <Transport T, bool Locked>
void Engine<T, Locked>::read_granted(Peer& peer, Transmit& op) {
    const Pull pull = pull_of(op);
    uint64_t ticket;
    const int error = pull_halves(peer, pull, may_share(peer, pull), &ticket);
    op.shared = ticket;
    op.spoiled = error;
    if (!ticket) read_pulled(peer, op, error);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::read_pulled(Peer& peer, Transmit& op, bool failed) {
    PeerState& state = *op.peer;
    if (failed) {
        fail(op, FI_EIO);
        resume(state);
    } else {
        transport_.came_pulled(peer, op.length);
        op.offset = op.length;
        read_placed(op, 0);
    }
}

// Writes.

inline Pull pull_of(const PeerState::Write& write, const Resolved& memory) {
    return {.sources = write.sources,
            .source_count = write.source_count,
            .places = memory.pieces,
            .place_count = memory.count,
            .length = write.length,
            .flags = kFrameOfWrite,
            .peer_id = write.reply_id,
            .id = 0};
}

// 0 or a positive errno; state.write.ticket tells when the initiator writes the end of it.
template <Transport T, bool Locked>
int Engine<T, Locked>::pull_write(Peer& peer, const Resolved& memory) {
    auto& write = state_in(peer)->write;
    if (!transport_.can_pull(peer)) return FI_EIO;
    const Pull pull = pull_of(write, memory);
    write.counted = write.reply_id && may_share(peer, pull);
    // Relaxed: a region that is closed in another thread at this moment was resolved before, in any case.
    if (write.counted) endpoint_->domain->foreign.under_way.fetch_add(1, std::memory_order_relaxed);
    write.spoiled = pull_halves(peer, pull, write.counted, &write.ticket);
    if (write.ticket) {
        transport_.halt(peer);
        set_working(*state_in(peer), true);
        return 0;
    }
    write_ended(write);
    if (write.spoiled) return FI_EIO;
    transport_.came_pulled(peer, write.length);
    return 0;
}

// Has the initiator written the end of its write?
template <Transport T, bool Locked>
void Engine<T, Locked>::settle_write(PeerState& state) {
    auto& write = state.write;
    Peer& peer = peer_of(state);
    bool failed;
    if (!transport_.share_ended(peer, write.ticket, &failed)) return;
    write_ended(write);
    write.ticket = 0;
    transport_.go_on(peer);
    int error = write.spoiled ? FI_EIO : 0;
    if (failed) {
        transport_.share_failed(peer);
        Resolved memory;
        if (!error) error = resolve(write.targets, write.target_count, FI_REMOTE_WRITE, &memory);
        if (!error && pull_rest(peer, pull_of(write, memory))) error = FI_EIO;
    }
    if (error) return access_failed(peer, write.reply_id, error, false);
    transport_.came_pulled(peer, write.length);
    write_placed(peer, write);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::write_ended(PeerState::Write& write) {
    if (write.counted) endpoint_->domain->foreign.under_way.fetch_sub(1, std::memory_order_release);
    write.counted = false;
}

// A region is closed. Whoever has the lock of this engine looks himself.
template <Transport T, bool Locked>
void Engine<T, Locked>::look_at_writes() {
    if constexpr (T::kPulls) {
        if constexpr (Locked) {
            if (!context_->lock.try_lock()) return;
        }
        for (PeerState* state = states_.first(); state; state = state->next) {
            bool failed;
            auto& write = state->write;
            if (write.ticket && transport_.share_ended(peer_of(*state), write.ticket, &failed)) write_ended(write);
        }
        if constexpr (Locked) context_->lock.unlock();
    }
}

// The other side.

// What it may write, and where that lies here: nowhere, where the region of a read is there no more. False: it cannot
// have asked for that.
template <Transport T, bool Locked>
bool Engine<T, Locked>::shared_source(Peer& peer, const Header& header, Reader& reader, uint64_t length,
                                      Resolved* memory) {
    if (header.flags & kFrameOfRead) {
        Target targets[kRangesMax];
        const size_t count = reader.left() / sizeof *targets;
        uint64_t total;
        if (!count || count > kRangesMax || !reader.take(targets, count) || !sum_lengths(targets, count, &total) ||
            length > total) {
            return false;
        }
        resolve(targets, count, FI_REMOTE_READ, memory);
        return true;
    }
    const Transmit* op = answered(peer, header.word[0]);
    const bool write = header.flags & kFrameOfWrite;
    const bool message = op && (op->kind == Transmit::Kind::kMessage || op->kind == Transmit::Kind::kTagged);
    if (!op || op->way != Transmit::Way::kAnnounce || !op->sent || op->wanted || length > op->length ||
        !(write ? op->kind == Transmit::Kind::kWrite : message)) {
        return false;
    }
    memory->count = op->range_count;
    std::copy_n(op->ranges, op->range_count, memory->pieces);
    return true;
}

// The end of a transfer is this side's to write, unless the peer has taken that back.
template <Transport T, bool Locked>
void Engine<T, Locked>::on_share(Peer& peer, const Header& header, const std::byte* payload) {
    Reader reader(payload, header.size);
    uint64_t offset;
    uint64_t size;
    uint64_t end;
    LocalRange places[kRangesMax];
    Resolved memory;
    const bool valid = header.word[2] && header.aux && header.aux <= kRangesMax && reader.take(&offset) &&
                       reader.take(places, header.aux) && sum_lengths(places, header.aux, &size) && size &&
                       !__builtin_add_overflow(offset, size, &end) &&
                       shared_source(peer, header, reader, end, &memory) && !reader.left();
    if (!valid) return drop(peer, kBrokenProtocol);
    if (!memory.count || !transport_.accept_offer(peer, header.word[2])) return;
    iovec from[Resolved::kPieces];
    iovec to[kRangesMax];
    for (size_t i = 0; i < header.aux; ++i) to[i] = range_of(places[i]);
    const size_t count = slice(memory.pieces, memory.count, offset, size, from);
    const int error = transport_.push(peer, from, count, to, header.aux);
    if (header.flags & kFrameOfWrite) return transport_.end_share(peer, header.word[2], error);
    const Header answer{.size = 0,
                        .op = static_cast<uint8_t>(FrameOp::kShareDone),
                        .flags = header.flags,
                        .aux = 0,
                        .word = {header.word[1], static_cast<uint64_t>(-error), 0}};
    respond(peer, answer, nullptr);
}

// The peer is done with the part that it took.
template <Transport T, bool Locked>
void Engine<T, Locked>::on_share_done(Peer& peer, const Header& header) {
    const bool failed = header.word[1];
    PeerState* state = state_in(peer);
    if (!state || header.size) return drop(peer, kBrokenProtocol);
    if (header.flags & kFrameOfRead) {
        Transmit* op = answered(peer, header.word[0]);
        if (!op || !op->shared) return drop(peer, kBrokenProtocol);
        op->shared = false;
        if (failed) transport_.share_failed(peer);
        return read_pulled(peer, *op, op->spoiled || (failed && pull_rest(peer, pull_of(*op))));
    }
    if (state->offered.receive) settle_offer(*state);
    Receive* receive = context_->receives.find(header.word[0]);
    const bool valid =
        receive && receive->owner == this && receive->peer == state && receive->shared && !receive->finished;
    if (!valid) return drop(peer, kBrokenProtocol);
    receive->shared = false;
    if (!failed && !receive->spoiled) return pulled(peer, *receive);
    if (failed) transport_.share_failed(peer);
    clear(peer, *receive);
}

}  // namespace selvage::impl

#endif
