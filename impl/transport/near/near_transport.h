// An endpoint that listens at an internet address and shares memory with the peers that it has on its machine: a
// Transport (impl/engine/transport.h) that holds a tcp and a shm transport. Its peers are theirs
// (PeerBase::in_memory), so that a frame goes to one of the two and no more is looked up.
//
//   1. The way to a peer is chosen in find_peer, before anything is sent to it: memory where the peer is found there
//      (near_name.h), and otherwise tcp. It stays until the peer is down, so frames of this side never overtake.
//   2. Each side chooses for itself. Who is met both ways is two peers, each with what the engine keeps of it; what
//      answers a frame goes the way that the frame came.
//   3. The region has its name from after the port was bound until before it is closed.
//
// Where there is no region (no /dev/shm, no room in it, a file of that name by another user) the endpoint is a tcp
// endpoint. Everything is called with the endpoint's lock held.
#pragma once

#include "impl/base/hmac.h"
#include "impl/transport/near/near_name.h"
#include "impl/transport/shm/shm_transport.h"
#include "impl/transport/tcp/tcp_datapath.h"

namespace selvage::impl {

class NearTransport {
public:
    using Peer = PeerBase;

    // As plain tcp endpoints have them, which talk to these.
    static constexpr size_t kCopied = TcpTransport::kCopied;
    static constexpr size_t kFrameMax = TcpTransport::kFrameMax;
    static constexpr size_t kEagerMax = TcpTransport::kEagerMax;
    static constexpr bool kPulls = true;
    static constexpr size_t kPullMin = ShmTransport::kPullMin;
    static constexpr bool kNativeRma = false;
    static constexpr size_t kInlineMax = ShmTransport::kInlineMax;
    static_assert(ShmTransport::kCopied >= kCopied && ShmTransport::kFrameMax >= kCopied);

    NearTransport() = default;
    ~NearTransport() { close(); }
    NearTransport(const NearTransport&) = delete;
    NearTransport& operator=(const NearTransport&) = delete;

    int open(Endpoint& endpoint);
    void close();
    int find_peer(fi_addr_t to, Peer** out);
    SendResult send(Peer& peer, const Frame& frame) {
        if (peer.in_memory) {
            if (frame.header.size > ShmTransport::kFrameMax) return shm_.send_long(memory_peer(peer), frame);
            return shm_.send(memory_peer(peer), frame);
        }
        look_at_sockets();
        return tcp_.send(socket_peer(peer), frame);
    }
    template <typename S>
    size_t progress(S& sink);
    bool arm();
    int wait_descriptor() const;

    static size_t frame_max(const Peer& peer) { return peer.in_memory ? ShmTransport::kFrameMax : kFrameMax; }
    static size_t eager_max(const Peer&) { return kEagerMax; }

    // What not every transport has (engine/transport.h).
    bool address_of(Peer& peer, AvEntry* out);
    void drop(Peer& peer, int error) {
        peer.in_memory ? shm_.drop(memory_peer(peer), error) : tcp_.drop(socket_peer(peer), error);
    }
    static bool is_connected(const Peer& peer) {
        return peer.in_memory || TcpTransport::is_connected(socket_peer(peer));
    }
    void copy_sources(const iovec* ranges, size_t count) { tcp_.copy_sources(ranges, count); }
    void discard_placement(Peer& peer) {
        peer.in_memory ? ShmTransport::discard_placement(memory_peer(peer)) : tcp_.discard_placement(socket_peer(peer));
    }
    bool takes_inline(const Peer& peer) const { return peer.in_memory && shm_.takes_inline(memory_peer(peer)); }
    // REQUIRES: takes_inline(peer).
    void send_inline(Peer& peer, uint64_t first, uint64_t word0, uint64_t word1, uint64_t word2, const void* payload,
                     size_t size) {
        shm_.send_inline(memory_peer(peer), first, word0, word1, word2, payload, size);
    }
    static bool owner_sleeps(const Peer& peer) { return ShmTransport::owner_sleeps(memory_peer(peer)); }
    void wake_owner(Peer& peer) { shm_.wake_owner(memory_peer(peer)); }
    bool offers(Peer& peer, size_t length) { return peer.in_memory && shm_.offers(memory_peer(peer), length); }
    bool may_be_read(Peer& peer) { return peer.in_memory && shm_.may_be_read(memory_peer(peer)); }
    bool can_pull(const Peer& peer) const { return peer.in_memory && shm_.can_pull(memory_peer(peer)); }
    // REQUIRES: can_pull(peer).
    int pull(Peer& peer, const iovec* remote, size_t count, const iovec* local, size_t local_count) {
        return shm_.pull(memory_peer(peer), remote, count, local, local_count);
    }
    void came_pulled(Peer& peer, size_t length, size_t transfers) {
        shm_.came_pulled(memory_peer(peer), length, transfers);
    }
    bool has_next(const Peer& peer, uint32_t size, Header* next) const {
        return peer.in_memory && shm_.has_next(memory_peer(peer), size, next);
    }
    void came_in_parts(Peer& peer, size_t length) {
        if (peer.in_memory) shm_.came_in_parts(memory_peer(peer), length);
    }
    bool asks_for_reads(const Peer& peer, size_t length) const {
        return !peer.in_memory || shm_.asks_for_reads(memory_peer(peer), length);
    }
    bool reads_at_once(const Peer& peer, size_t length) const {
        return peer.in_memory && shm_.reads_at_once(memory_peer(peer), length);
    }
    void came_read(Peer& peer, size_t length, bool at_once) {
        if (peer.in_memory) shm_.came_read(memory_peer(peer), length, at_once);
    }
    bool asks_for_writes(const Peer& peer, size_t length) const {
        return !peer.in_memory || shm_.asks_for_writes(memory_peer(peer), length);
    }
    bool writes_at_once(const Peer& peer, size_t length) const {
        return peer.in_memory && shm_.writes_at_once(memory_peer(peer), length);
    }
    void came_written(Peer& peer, size_t length, bool at_once) {
        if (peer.in_memory) shm_.came_written(memory_peer(peer), length, at_once);
    }
    // REQUIRES: writes_at_once(peer, ...).
    bool write_granted(Peer& peer, uint64_t epoch, const iovec* ranges, size_t count, uint64_t to) {
        return shm_.write_granted(memory_peer(peer), epoch, ranges, count, to);
    }
    void grants_writes(Peer& peer) {
        if (peer.in_memory) shm_.grants_writes(memory_peer(peer));
    }
    uint64_t grant_epoch() const { return shares_ ? shm_.grant_epoch() : 0; }
    void revoke_grants() {
        if (shares_) shm_.revoke_grants();
    }
    void expect_grant(Peer& peer) {
        if (peer.in_memory) shm_.expect_grant(memory_peer(peer));
    }
    // REQUIRES: can_pull(peer).
    static bool still_granted(const Peer& peer, uint64_t epoch) {
        return ShmTransport::still_granted(memory_peer(peer), epoch);
    }
    // Of a peer in memory, as nobody else is offered memory.
    static uint64_t frames_sent(const Peer& peer) {
        return peer.in_memory ? ShmTransport::frames_sent(memory_peer(peer)) : 0;
    }

    // It has a region, by which others find it in memory.
    bool shares() const { return shares_; }

private:
    // Looks at the sockets that may be left out in a row after some that found nothing.
    static constexpr uint32_t kPauseMax = 7;
    static constexpr uint32_t kPauseAlone = 255;  // without a connection: callers are answered by the flusher's thread

    static ShmPeer& memory_peer(Peer& peer) { return static_cast<ShmPeer&>(peer); }
    static const ShmPeer& memory_peer(const Peer& peer) { return static_cast<const ShmPeer&>(peer); }
    static tcp::Peer& socket_peer(Peer& peer) { return static_cast<tcp::Peer&>(peer); }
    static const tcp::Peer& socket_peer(const Peer& peer) { return static_cast<const tcp::Peer&>(peer); }

    int share(const Endpoint& endpoint);
    int find_near(const SocketAddress& address, Peer** out);
    // At the next progress, however long they have been silent.
    void look_at_sockets() { pause_ = skipped_ = 0; }
    bool may_skip_sockets();

    TcpTransport tcp_;
    ShmTransport shm_;
    bool shares_ = false;
    uint32_t pause_ = 0;
    uint32_t skipped_ = 0;
    AddressVector* av_ = nullptr;
    near::Namespace space_;
    uint8_t key_[kDigestBytes] = {};  // of the region
    mutable int epoll_ = -1;          // both descriptors, from the first call of wait_descriptor()
};

// A look at silent sockets costs twenty looks at the rings.
inline bool NearTransport::may_skip_sockets() {
    if (skipped_ == pause_ || !tcp_.is_silent()) return false;
    ++skipped_;
    return true;
}

template <typename S>
size_t NearTransport::progress(S& sink) {
    size_t done = 0;
    if (shares_) [[likely]] {
        done = shm_.progress(sink);
        if (may_skip_sockets()) return done;
    }
    skipped_ = 0;
    const size_t found = tcp_.progress(sink);
    pause_ = found ? 0 : std::min(2 * pause_ + 1, tcp_.peers_up() ? kPauseMax : kPauseAlone);
    return done + found;
}

}  // namespace selvage::impl
