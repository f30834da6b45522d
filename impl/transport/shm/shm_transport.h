// The shared-memory transport of one endpoint: its region, its peers, and the way between (layout.h). Satisfies
// Transport (impl/engine/transport.h).
//
// Everything is called with the endpoint's lock held. The hot path (send, progress) is in shm_datapath.h, included
// below; shm_transport.cc has what happens once per peer, or rarely.
//
// Large transfers go through the ring in pieces, both sides copying at the same time, or are read out of the sender's
// memory by the kernel: whichever was measured to be faster between these two (pull_choice.h, shm_pull.cc). Where a
// process may not read another, all goes through the ring. Who is read can copy a part itself (shm_share.cc).
//
// A payload given to Sink::deliver lies in memory that the sender can still change: whoever decides by what is in it
// copies it first.
#ifndef SELVAGE_IMPL_TRANSPORT_SHM_SHM_TRANSPORT_H
#define SELVAGE_IMPL_TRANSPORT_SHM_SHM_TRANSPORT_H

#include <algorithm>

#include "impl/core/foreign_writes.h"
#include "impl/transport/shm/bell.h"
#include "impl/transport/shm/introductions.h"
#include "impl/transport/shm/shm_peer.h"

namespace selvage::impl {

struct AvEntry;

class ShmTransport {
public:
    using Peer = ShmPeer;

    // A quarter of the ring, so that a piece is copied in while others are copied out.
    static constexpr size_t kFrameMax = 16 * 1024;
    static constexpr size_t kCopied = kFrameMax;  // nothing is ever held
    static constexpr size_t kEagerMax = kFrameMax;
    static constexpr bool kPulls = true;
    static constexpr bool kNativeRma = false;
    // A frame that was sent lies in the receiver's region and outlives its sender.
    static constexpr bool kDelivers = true;

    ShmTransport() = default;
    ~ShmTransport() { close(); }
    ShmTransport(const ShmTransport&) = delete;
    ShmTransport& operator=(const ShmTransport&) = delete;

    int open(Endpoint& endpoint);
    // The same without an endpoint: the address, and the key that all peers must hold (kept by reference).
    int open_at(const char (&text)[kShmTextMax], shm::Bytes key);
    void close();

    int find_peer(fi_addr_t to, Peer** out);
    int find_peer_at(const char (&text)[kShmTextMax], Peer** out);
    // The peer's own address, to be looked up in the address vector.
    bool address_of(const Peer& peer, AvEntry* out) const;

    // The peer broke the engine's protocol: nothing of it is looked at any more, and it goes down.
    void drop(Peer& peer, int error) { doom(peer, error, false); }

    SendResult send(Peer& peer, const Frame& frame);
    // A payload that fits beside its header, to a peer for which nothing is out of the ordinary: in two steps, so that
    // the engine does its part in between and keeps nothing in mind across a call.
    static constexpr size_t kInlineMax = shm::kInlineMax;
    bool takes_inline(const Peer& peer) const { return peer.out.clear_for_line() && !fences_; }
    void send_inline(Peer& peer, uint64_t first, uint64_t word0, uint64_t word1, uint64_t word2, const void* payload,
                     size_t size) {
        peer.out.publish_line(first, word0, word1, word2, payload, size);
    }
    // After a frame was sent: whether wake_owner is to be called.
    static bool owner_sleeps(const Peer& peer) {
        // The question comes after the frame: for the processor, that is the owner's fence (or ours, where it cannot),
        // for the compiler this one.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return peer.out.region->armed.load(std::memory_order_relaxed) |
               peer.out.slot().cold.load(std::memory_order_relaxed);
    }
    void wake_owner(Peer& peer);
    template <typename S>
    unsigned progress(S& sink);

    bool offers(Peer& peer, size_t length) {
        if (length < shm::kPullMin || !peer.out.lines) return false;
        if (!peer.introduced) introduce(peer);
        return shm::says_pull(peer.out.slot().pulls.load(std::memory_order_relaxed), length);
    }
    bool can_pull(const Peer& peer) const { return peer.process && peer.in.lines; }
    void came_in_parts(Peer& peer, size_t length);
    void came_pulled(Peer& peer, size_t length);
    int pull(Peer& peer, const iovec* remote, size_t count, const iovec* local, size_t local_count);

    // shm_share.cc
    bool shares(Peer& peer, size_t length);
    static bool another_waits(const Peer& peer);
    static uint64_t offer(Peer& peer);
    static bool taken(Peer& peer, uint64_t ticket);
    static bool withdraw(Peer& peer, uint64_t ticket);
    bool accept_offer(Peer& peer, uint64_t ticket);
    int push(Peer& peer, const iovec* local, size_t local_count, const iovec* remote, size_t count);
    static void share_failed(Peer& peer) { peer.writable = false; }
    static void halt(Peer& peer) { peer.in.broken = peer.in.halted = true; }
    static void go_on(Peer& peer) {
        peer.in.broken = peer.life != ShmPeerLife::kLiving;
        peer.in.halted = false;
    }
    static void end_share(Peer& peer, uint64_t ticket, int error);
    static bool share_ended(const Peer& peer, uint64_t ticket, bool* failed);

    bool arm();
    // Made at the first call; a negative errno when there is none to be had, and then arm() never lets anybody sleep.
    int wait_descriptor() const;

private:
    static constexpr unsigned kBatch = 32;         // frames of one peer per progress
    static constexpr unsigned kCallsPerLook = 64;  // between two looks at the clock
    static constexpr unsigned kAlwaysHot = 8;      // so many rings are polled even if they are idle
    static constexpr uint32_t kIdlePolls = 2048;   // after which a ring beyond those is polled no more
    static constexpr size_t kRoomLines = shm::lines_of(kFrameMax);

    // Hot (shm_datapath.h).
    template <typename S>
    unsigned drain(Peer& peer, S& sink);
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned attend(S& sink);
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned settle(S& sink);
    template <typename S>
    void take_down(Peer& peer, S& sink);
    template <typename S>
    unsigned offer_room(S& sink);

    // shm_pull.cc
    void meet();
    void introduce(Peer& peer);
    // Relaxed: the peer acts on it when it sees it, and nothing else goes with it.
    static void tell_choice(const Peer& peer) {
        peer.in.slot().pulls.store(peer.choice.word() | (peer.process ? shm::kReaches : 0), std::memory_order_relaxed);
    }

    static void finished(Peer& peer, shm::PullChoice::Way way, size_t length, size_t moved);
    void await_writer(const Peer& peer, const Patience& patience);

    // Rare (shm_transport.cc).
    SendResult make_room(Peer& peer, size_t lines);
    void look_around();
    void accept(size_t slot);
    void accept_hello(size_t slot, shm::SlotControl* control);
    void notice(size_t slot);
    bool belongs_to_other(Peer& peer, const uint8_t (&instance)[shm::kIdBytes]);
    void check_life(Peer& peer);
    void doom(Peer& peer, int error, bool drainable);
    int connect(Peer& peer);
    Peer* find_living(const char (&text)[kShmTextMax]);
    Peer* add_peer(const char (&text)[kShmTextMax]);
    void set_aside(Peer& peer);
    void release(Peer& peer, const Patience& patience);
    void bury(Peer& peer);
    void make_hot(Peer& peer);
    void make_cold(size_t position);
    void leave_hot(Peer& peer);
    void disarm();
    bool something_waits();
    void starve(Peer& peer);

    shm::OwnRegion region_;
    Peer** hot_ = nullptr;  // rings that every progress polls; room for all peers
    uint32_t hot_count_ = 0;
    uint32_t calls_ = 0;
    bool armed_ = false;
    bool fences_ = false;  // this side must fence before it asks whether the owner sleeps
    Peer* starved_ = nullptr;
    Peer* doomed_ = nullptr;

    Endpoint* endpoint_ = nullptr;
    shm::Identity self_;
    uint64_t generation_ = 0;  // of the process that opened it (forked.h)
    Peer** peers_ = nullptr;   // that are not down
    Peer* down_ = nullptr;     // kept until close, as the engine may still name them
    size_t peer_count_ = 0;
    size_t peer_capacity_ = 0;
    Peer** by_slot_ = nullptr;  // kSlots entries
    uint64_t last_look_ = 0;    // milliseconds
    size_t next_checked_ = 0;
    mutable shm::Bell bell_;
    shm::Introductions introductions_;
};

}  // namespace selvage::impl

#include "impl/transport/shm/shm_datapath.h"

#endif
