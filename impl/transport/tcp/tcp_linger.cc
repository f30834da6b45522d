// See tcp_transport.h: an endpoint that closes.
//
// Frames that were reported as sent leave before the sockets are closed, as far as the peers take them in time. What
// arrives meanwhile is read and forgotten. REQUIRES: leave_flusher() was called, so nobody else uses the peers' buffers
// or copies.
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdlib>

#include "impl/transport/tcp/tcp_datapath.h"

namespace selvage::impl {

using tcp::Rail;
using tcp::Rails;

namespace {

// For what arrives when nobody is there any more.
class DiscardingSink {
public:
    using Peer = tcp::Peer;
    DiscardingSink() = default;
    ~DiscardingSink() { free(payload_); }
    DiscardingSink(const DiscardingSink&) = delete;
    DiscardingSink& operator=(const DiscardingSink&) = delete;

    void deliver(Peer&, const Header&, const std::byte*) {}
    // Without memory for it the peer is dropped.
    bool begin(Peer&, const Header& header, Placement* placement) {
        if (!payload_) payload_ = malloc(tcp::kFramePayloadMax);
        placement->ranges[0] = {payload_, header.size};
        placement->count = 1;
        return payload_;
    }
    void end(Peer&, const Header&, const Placement*, int) {}
    void sent(Peer&, void*, int) {}
    void room(Peer&) {}
    void down(Peer&, int) {}

private:
    void* payload_ = nullptr;  // of all frames, as nobody reads it
};

}  // namespace

void TcpTransport::linger() {
    closing_ = true;
    if (dialing_) finish_dials(net::now_milliseconds() + net::kSetupLinger);
    const int64_t deadline = net::now_milliseconds() + net::kLinger;
    if (railed_) finish_rails();
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        if (!peer->ready && (peer->phase != Peer::Phase::Up || peer->broken)) continue;
        if (peer->tx < 0) continue;  // its link is dead, and there was no other in time
        hand_over(*peer, deadline);
        if (!peer->rails) continue;
        // After the first connection's: a rail that ends while that goes on has lost its link (look_at_ends).
        for (const Rail& rail : peer->rails->rail) {
            if (rail.state == Rail::State::Up) shutdown(rail.socket, SHUT_WR);
        }
    }
}

// Peers with rails: links that are dead are left as ever, until everything is where it belongs.
void TcpTransport::finish_rails() {
    DiscardingSink sink;
    for (Peer* peer = railed_; peer; peer = peer->rails->next) {
        discard_placement(*peer);
        peer->rails->link_timeout = std::min(peer->rails->link_timeout, tcp::kWarnedSilence);
    }
    const int64_t start = net::now_milliseconds();
    for (;;) {
        bool waits = false, moves = false;
        for (Peer* peer = railed_; peer; peer = peer->rails->next) {
            if (peer->phase != Peer::Phase::Up || peer->broken || is_delivered(*peer)) continue;
            waits = true;
            moves |= may_move(*peer);
        }
        if (!waits || net::now_milliseconds() - start >= (moves ? tcp::kMovingLinger : net::kLinger)) break;
        want_look_ = true;
        if (!progress(sink)) (void)poll(nullptr, 0, 1);
    }
    leave_flusher();  // a peer that came up has joined
}

// The other end's kernel has all that it was sent, and all parts of frames have been answered.
bool TcpTransport::is_delivered(Peer& peer) {
    Rails& rails = *peer.rails;
    if (!rails.out.empty()) return false;
    SpinGuard guard(guard_);
    if (peer.buffer && !peer.buffer->empty()) return false;
    if (peer.kept && peer.tx >= 0) rails.first.kept.forget(tcp::under_way(peer.tx));
    return !peer.kept || rails.first.kept.empty();
}

// A link of the peer's is dead or seems so, and what it had may go by another.
bool TcpTransport::may_move(const Peer& peer) {
    const Rails& rails = *peer.rails;
    if (rails.first.lost) return true;
    const auto is_lost = [](const Rail& rail) {
        return rail.was_up && (rail.state == Rail::State::Lost || rail.state == Rail::State::Dialing);
    };
    if (!rails.out.empty() && std::any_of(rails.rail, rails.rail + tcp::kRailsMax, is_lost)) return true;
    const auto is_silent = [](int socket) {
        tcp::LinkSample sample;
        return socket >= 0 && tcp::sample_link(socket, &sample) && (sample.retransmits || sample.probes);
    };
    return is_silent(peer.tx) || std::any_of(rails.rail, rails.rail + tcp::kRailsMax,
                                             [&](const Rail& rail) { return is_silent(rail.socket); });
}

// Unread input would make the close a reset, which discards what the kernel has not sent yet. A peer that sends without
// an end is read until the deadline.
void TcpTransport::hand_over(Peer& peer, int64_t deadline) {
    for (;;) {
        {
            SpinGuard guard(guard_);
            if ((peer.buffer || peer.kept) && push_out(peer)) break;
        }
        const bool empty = (!peer.buffer || peer.buffer->empty()) && !(peer.kept && peer.kept->unsent());
        int unsent = 0;
        while (recv(peer.rx, arrivals_, tcp::kReceiveBuffer, MSG_DONTWAIT) > 0 && net::now_milliseconds() < deadline)
            continue;
        if (empty && (ioctl(peer.tx, SIOCOUTQNSD, &unsent) || unsent == 0)) break;
        const int64_t left = deadline - net::now_milliseconds();
        if (left <= 0) break;
        pollfd wait{.fd = peer.tx, .events = static_cast<short>(empty ? 0 : POLLOUT), .revents = 0};
        // Input wakes nobody here, so the other end gets a turn now and then.
        const int pause = static_cast<int>(std::min<int64_t>(left, empty ? 1 : 20));
        if (poll(&wait, 1, pause) > 0 && (wait.revents & (POLLERR | POLLHUP))) break;
    }
    shutdown(peer.tx, SHUT_WR);
}

}  // namespace selvage::impl
