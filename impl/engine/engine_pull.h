// Engine: long transfers that this side copies out of the peer's memory by itself (PullsMemory<T>).
//
// The process that the bytes are for copies them into its own memory, within its call of pull(). A transport may let
// the peer copy a part meanwhile, if the source is one that this peer's engine has offered (KnowsOffers); pull()
// returns when the peer writes nothing of it any more. So a peer that is stopped, however long, changes nothing after
// pull().
//
// What is pulled may have been taken back meanwhile, and then what came is not what was meant. Who takes memory back
// says so before it is used for anything else; who pulls looks for that after the last byte (transport.h, pull and
// still_granted), and throws away what came.
//   - The source of a message or write stays until its answer has come. The transport fails the pull when the sender's
//     endpoint has been closed.
//   - A region that a read was granted may be closed at any time (Engine::revoke). The read is then asked for again, in
//     frames, and the target looks the key up again.
#pragma once

#include "impl/engine/engine_responder.h"
#include "impl/engine/pull_batch.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EnginePull : public EngineResponder<T, Locked> {
    using Base = EngineResponder<T, Locked>;

public:
    using typename Base::Peer;

    // KnowsOffers (transport.h).
    bool is_offered(Peer& peer, uint64_t address, uint64_t length) {
        PeerState* state = state_in(peer);
        if (!state) return false;
        if (state->granting.is_read(transport_.grant_epoch(), address, length)) return true;
        for (const Transmit* op = state->sending.operations.first(); op; op = op->next) {
            if (op->is_offered() && is_source(*op, address, length)) return true;
        }
        return false;
    }
    bool has_offers(Peer& peer) {
        PeerState* state = state_in(peer);
        if (!state) return false;
        if (state->granting.may_be_read()) return true;
        for (const Transmit* op = state->sending.operations.first(); op; op = op->next) {
            if (op->is_offered()) return true;
        }
        return false;
    }

protected:
    // From EngineBase and Receiver.
    using Base::count_stat, Base::receive_placed, Base::state_in, Base::transport_;

    // The peer is to pull a transfer of this length.
    bool offers(Peer& peer, size_t length) {
        if constexpr (PullsMemory<T>) {
            return length >= T::kPullMin && transport_.offers(peer, length);
        } else {
            static_cast<void>(peer), static_cast<void>(length);
            return false;
        }
    }
    // A message that is announced for want of units (window.h) names its source, however short it is. Who can read it
    // has the message at once; who cannot waits for this side, which may be away or have no processor.
    bool names_source(Peer& peer, size_t length) {
        if constexpr (PullsMemory<T>) {
            return length && length < T::kPullMin && transport_.may_be_read(peer);
        } else {
            static_cast<void>(peer), static_cast<void>(length);
            return false;
        }
    }
    // The application's memory for the peer to pull; returns how many ranges.
    static size_t put_sources(const Transmit& op, PayloadWriter& writer) {
        for (uint32_t i = 0; i < op.range_count; ++i) writer.put(local_range(op.ranges[i]));
        return op.range_count;
    }

    // A transport that can do without measures how long it takes.
    void came_in_parts(Peer& peer, size_t length) {
        if constexpr (PullsMemory<T>) {
            transport_.came_in_parts(peer, length);
        } else {
            static_cast<void>(peer), static_cast<void>(length);
        }
    }

    // All of some ranges of the peer's memory into ranges of this side's, of the same length together. 0, or a negative
    // errno; then some of it may have come.
    int pull(Peer& peer, const LocalRange* sources, size_t source_count, const iovec* ranges, size_t range_count,
             uint64_t length) {
        iovec remote[kRangesMax];
        iovec local[Resolved::kPieces];
        for (size_t i = 0; i < source_count; ++i) remote[i] = range_of(sources[i]);
        const size_t local_count = slice(ranges, range_count, 0, length, local);
        // A receive may have less room than the message has bytes.
        iovec used[kRangesMax];
        const size_t used_count = slice(remote, source_count, 0, length, used);
        return transport_.pull(peer, used, used_count, local, local_count);
    }

    // The same where the peer can be read, and what it took is measured. False: it can't be pulled.
    bool pull_measured([[maybe_unused]] Peer& peer, [[maybe_unused]] const LocalRange* sources,
                       [[maybe_unused]] size_t source_count, [[maybe_unused]] const iovec* ranges,
                       [[maybe_unused]] size_t range_count, [[maybe_unused]] uint64_t length) {
        if constexpr (PullsMemory<T>) {
            if (!transport_.can_pull(peer) || pull(peer, sources, source_count, ranges, range_count, length))
                return false;
            transport_.came_pulled(peer, length, 1);
            return true;
        }
        return false;
    }

    // A message without a receive, to a copy of this side. False: it can't be pulled.
    bool copy_pulled(PeerBase& base, const LocalRange* sources, size_t count, const iovec& copy) final {
        return pull_measured(static_cast<Peer&>(base), sources, count, &copy, 1, copy.iov_len);
    }

    // It is pulled together with what follows it (engine_announcements.h). False: it is to be pulled now, or not at
    // all, and what came before it is done.
    virtual bool gather(Peer& peer, const PendingPull& pending) = 0;
    // One that was gathered, by a call of its own.
    bool pull_alone(Peer& peer, const PendingPull& pending) {
        return pull_measured(peer, &pending.source, 1, &pending.destination, 1, pending.source.length);
    }
    // False: it has to come otherwise.
    bool fetch_pulled([[maybe_unused]] Peer& peer, [[maybe_unused]] Receive& receive,
                      [[maybe_unused]] const LocalRange* sources, [[maybe_unused]] size_t count) {
        if constexpr (PullsMemory<T>) {
            const uint64_t whole = count == 1 && receive.range_count == 1 ? receive.wanted : 0;
            if (gather(peer, {.kind = PendingPull::Kind::Message,
                              .source = {.address = sources[0].address, .length = whole},
                              .destination = {.iov_base = receive.ranges[0].iov_base, .iov_len = whole},
                              .id = Pool<Receive>::id(&receive)}))
                return true;
            return pull_message(peer, receive, sources, count);
        }
        return false;
    }
    bool pull_message(Peer& peer, Receive& receive, const LocalRange* sources, size_t count) {
        if (pull_measured(peer, sources, count, receive.ranges, receive.range_count, receive.wanted)) {
            receive_placed(&receive, true);
            return true;
        }
        count_stat(peer, Stat::InFrames);
        return false;
    }

private:
    static bool is_source(const Transmit& op, uint64_t address, uint64_t length) {
        for (uint32_t i = 0; i < op.range_count; ++i) {
            if (contains(local_range(op.ranges[i]), address, length)) return true;
        }
        return false;
    }
};

}  // namespace selvage::impl
