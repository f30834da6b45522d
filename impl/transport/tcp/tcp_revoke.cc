// See tcp_transport.h: memory that is taken back while bytes are on their way from or to it (engine/engine_revoke.h).
#include <sys/socket.h>

#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

// What is left of the frame goes where the next bytes of the stream do not: behind the room that read_socket keeps for
// them. The parts may lie on top of each other, as nobody reads them.
void TcpTransport::discard_landing(Peer& peer) {
    constexpr size_t kRoom = tcp::kReceiveBuffer - tcp::kBehind;
    static_assert(kFrameMax <= Landing::kRanges * kRoom);
    if (!peer.landing_active) return;
    Landing& landing = peer.landing;
    size_t left = 0;
    for (size_t i = peer.landing_range; i < landing.count; ++i) left += landing.ranges[i].iov_len;
    left -= peer.landing_offset;
    peer.landing_range = 0;
    peer.landing_offset = 0;
    for (landing.count = 0; left; ++landing.count) {
        const size_t part = std::min(left, kRoom);
        landing.ranges[landing.count] = {arrivals_ + tcp::kBehind, part};
        left -= part;
    }
}

void TcpTransport::copy_sources(const iovec* ranges, size_t count) {
    LockGuard setup(setup_);
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        SpinGuard guard(guard_);  // the flusher's thread sends from these ranges, too
        if (!peer->buffer || peer->buffer->copy_sources(ranges, count)) continue;
        // The connection ends here, its peer at the next progress.
        if (peer->tx >= 0) shutdown(peer->tx, SHUT_RDWR);
        mark_broken(*peer, FI_ENOMEM);
    }
}

}  // namespace selvage::impl
