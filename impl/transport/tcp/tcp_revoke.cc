// See tcp_transport.h: memory that is taken back while bytes are on their way from or to it (engine/engine_control.h).
#include <sys/socket.h>

#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

// What is left of the frame goes where the next bytes of the stream do not: behind the room that read_socket keeps for
// them. The parts may lie on top of each other, as nobody reads them.
void TcpTransport::discard_placement(Peer& peer) {
    constexpr size_t kRoom = tcp::kReceiveBuffer - tcp::kBehind;
    static_assert(kFrameMax <= Placement::kRanges * kRoom);
    if (peer.splitting) peer.rails->in.discards = true;
    if (!peer.placement_active) return;
    Placement& placement = peer.placement;
    size_t left = 0;
    for (size_t i = peer.placement_range; i < placement.count; ++i) left += placement.ranges[i].iov_len;
    left -= peer.placement_offset;
    peer.placement_range = 0;
    peer.placement_offset = 0;
    for (placement.count = 0; left; ++placement.count) {
        const size_t part = std::min(left, kRoom);
        placement.ranges[placement.count] = {arrivals_ + tcp::kBehind, part};
        left -= part;
    }
}

void TcpTransport::copy_sources(const iovec* ranges, size_t count) {
    LockGuard setup(setup_);
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        bool whole = !peer->rails || peer->rails->out.copy_sources(ranges, count);
        SpinGuard guard(guard_);  // the flusher's thread sends from these ranges, too
        if (peer->buffer) whole &= peer->buffer->copy_sources(ranges, count);
        if (whole) continue;
        // The connection ends here, its peer at the next progress.
        if (peer->tx >= 0) shutdown(peer->tx, SHUT_RDWR);
        mark_broken(*peer, FI_ENOMEM);
    }
}

}  // namespace selvage::impl
