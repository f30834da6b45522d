// The engine: everything between the calls of the application and the frames of a transport, for one enabled endpoint.
//
// One template over the transport and over whether the application may call from several threads at once, so that a
// small message costs no indirect call and, where it is promised that calls are serialised, no lock. It is made of
// parts, each a class that derives from the one below it, so that a part reaches those below alone, and names at its
// head what it uses of them. From above:
//
//   part                       does                                                        state of its own
//   Engine                     opening, closing, progress, cancelling, the end of a peer   own_context_
//   EngineArrivals             what arrives                                                PeerState::placing
//   EngineAnnouncements        what arrives to be pulled; several by one call              batch_
//   EngineAtomics              atomic operations                                           none
//   EngineRma                  reads and writes, where they begin                          none
//   EngineRmaTarget            reads and writes, where they end                            unread_; PeerState::write
//   EngineCollectives          messages of collective groups                               collective_
//   EngineMessages             messages, as they are sent                                  none
//   EngineSender               operations: their order, turns and ends                     transmits_
//   EngineDirect, EnginePull   long transfers and accesses without segments                none
//   EngineResponder            answers to a peer                                           responses_
//   EnginePeers                finding and dropping peers                                  none
//   EngineCounting             what others may see of it                                   lost_; PeerState::stat
//   EngineBase                 what all share                                              transport_, peers_, options_
//
// Beside them, a class without a template: the Receiver (receiver.h), which matches messages with receives. It calls
// the engine by its virtual functions; the parts mark theirs final, so that among them these are plain calls.
// The application's calls come in by engine_calls.h and memory_calls.h; the transport calls what is public as its Sink
// (transport.h).
//
// The calls of the application and the arrival of a message are flattened: all that they call is inlined into them.
// What is on no shortest path is noinline, or each of them would hold a copy of it.
//
// Lock order: the engine's lock, then the domain's, then a queue's. What is protected or private is called with the
// lock held.
#pragma once

#include <algorithm>

#include "impl/endpoint/datapath.h"
#include "impl/engine/engine_options.h"
#include "impl/engine/peer_table.h"
#include "impl/engine/receiver.h"
#include "impl/engine/staging.h"
#include "impl/engine/transport.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineBase : public DataPath, public Receiver {
public:
    using Peer = typename T::Peer;

    static_assert(T::kEagerMax <= T::kFrameMax);
    static_assert(T::kFrameMax >= kPrefixMax + 2 * kAtomicBytesMax, "an atomic is one frame");
    static_assert(T::kCopied >= kPrefixMax, "answers are never held");

    void* transport() final {
        if constexpr (StagesMemory<T>) {
            return static_cast<typename T::Plain*>(&transport_);
        } else {
            return &transport_;
        }
    }
    void lock() final {
        if (Locked || shared_) [[unlikely]]
            context_->lock.lock();
    }
    void unlock() final {
        if (Locked || shared_) [[unlikely]]
            context_->lock.unlock();
    }
    size_t inject_max() const { return options_.inject_max; }
    // fi_mr_desc is the application's business to give.
    bool names_regions() const { return options_.names_regions; }

protected:
    // What became of a try to send an operation.
    enum class Step : uint8_t { Sent, Blocked, Wait, Down };

    template <bool MayBeShared>
    class GuardOf {
    public:
        explicit GuardOf(EngineBase& engine) : engine_(engine) {
            if constexpr (Locked || MayBeShared) engine_.lock();
        }
        ~GuardOf() {
            if constexpr (Locked || MayBeShared) engine_.unlock();
        }
        GuardOf(const GuardOf&) = delete;
        GuardOf& operator=(const GuardOf&) = delete;

    private:
        EngineBase& engine_;
    };
    using Guard = GuardOf<true>;
    using UnsharedGuard = GuardOf<false>;  // of a path that is not shared: nothing at all where the engine has no locks
    // The shortest paths leave a shared path to others, so that they save no registers for a lock that they do not
    // take.
    bool is_shared() const { return !Locked && shared_; }

    // The transport has a way for the shortest messages, and, unless the path is shared, the queue is this thread's
    // alone: nothing is locked.
    static constexpr bool kInlines = !Locked && SendsInline<T>;
    // Sent at once, from the application's memory, which is then free again.
    static constexpr size_t kAtOnceMax = T::kCopied < T::kEagerMax ? T::kCopied : T::kEagerMax;
    // A write or the reply to a read that travels in one frame.
    static constexpr size_t kWholeMax =
        T::kFrameMax - kPrefixMax < T::kEagerMax ? T::kFrameMax - kPrefixMax : T::kEagerMax;
    // The same for a peer.
    static size_t frame_max([[maybe_unused]] const Peer& peer) {
        if constexpr (LimitsByPeer<T>) return T::frame_max(peer);
        return T::kFrameMax;
    }
    static size_t eager_max([[maybe_unused]] const Peer& peer) {
        if constexpr (LimitsByPeer<T>) return T::eager_max(peer);
        return T::kEagerMax;
    }
    static size_t whole_max(const Peer& peer) { return std::min(frame_max(peer) - kPrefixMax, eager_max(peer)); }
    // Bytes of a read that are copied before a later write can change them.
    static constexpr size_t kSnapshotMax = kWholeMax < T::kCopied ? kWholeMax : T::kCopied;
    static constexpr int kErrnoMax = 4095;              // of what a peer may answer
    static constexpr int kStreamBudget = 64;            // segments between two looks at what arrives
    static constexpr uint64_t kStreamTurn = 16u << 20;  // bytes of a long message before another has its turn
    // Flags that take an operation off the shortest path.
    static constexpr uint64_t kUnusual = FI_FENCE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_INJECT |
                                         FI_COMMIT_COMPLETE | FI_MULTICAST |
                                         (DeliversWhenSent<T> ? 0 : FI_TRANSMIT_COMPLETE);

    ~EngineBase() = default;

    // Who is refused for want of room repeats the call, and some programs read nothing until it is taken: Open MPI's
    // threads, of which each waits with a lock that its own progress wants. What makes room comes by progress alone.
    // REQUIRES: no lock of the engine is held.
    ssize_t making_room(ssize_t result) {
        if (result == -FI_EAGAIN) [[unlikely]]
            progress();
        return result;
    }

    Peer* known_peer(fi_addr_t to) const { return peers_.find(to, av_generation()); }
    // Where that finds nobody: the address may name a context of a scalable endpoint.
    Peer* known_context(fi_addr_t to) const { return peers_.find_named(to, av_generation()); }
    static PeerState* state_in(const Peer& peer) { return static_cast<PeerState*>(peer.state); }
    Peer& peer_of(const PeerState& state) const { return static_cast<Peer&>(*state.peer); }
    // What has to wait for earlier operations of its peer takes the longer way.
    void refresh(PeerState& state) {
        state.busy = state.sending.unsent || (options_.strict && !state.sending.operations.empty()) ||
                     (options_.ordered_writes && state.sending.large_reads);
        state.peer->set_busy(state.busy);
    }
    bool raw_address_of(PeerBase& peer, AvEntry* out) final {
        if constexpr (ReportsAddresses<T>) {
            return transport_.address_of(static_cast<Peer&>(peer), out);
        } else {
            static_cast<void>(peer), static_cast<void>(out);
            return false;
        }
    }

    T transport_;
    Endpoint* endpoint_ = nullptr;
    AddressVector* av_ = nullptr;
    PeerTable<Peer> peers_;
    EngineOptions options_;
    List<PeerState> states_;

    // See DataPath::share(). Read and written by the threads that the application serialises, and by others as long as
    // they share.
    bool shared_ = false;
    bool for_joins_ = false;  // who reads an event queue makes progress for joins alone; the same for ever
    size_t sharers_ = 0;      // protected by the lock
};

}  // namespace selvage::impl
