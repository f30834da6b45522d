// What a TCP transport does when a first connection goes on over another link (take_over.h): templates over the Sink.
#pragma once

#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

// Of a peer with rails, in each progress while there is something to do. The peer may be down, or marked broken, after.
template <typename Sink>
void TcpTransport::progress_first(Sink& sink, Peer& peer) {
    if (!peer.kept) return start_keeping(peer);
    tcp::FirstLink& first = peer.rails->first;
    if (!first.lost) {
        if (kept_left(first).unsent) push_first(peer);
        if (kept_left(first).any) look_at_first(peer);
        return;
    }
    if (net::now_milliseconds() - first.lost_since >= tcp::kTakeOverLimit) return mark_broken(peer, FI_ETIMEDOUT);
    if (!first.confirmed) return take_resume(peer);
    if (!peer.unread && !receive(sink, peer) && peer.phase != Peer::Phase::Up) return;
    if (peer.phase != Peer::Phase::Up) return;
    if (!peer.rails->caller) return close_own_rails_again(peer);
    if (!first.answered) return look_at_first_call(peer);
    drain_first(sink, peer);
    if (peer.phase == Peer::Phase::Up && !peer.broken && is_drained(peer)) adopt_first(peer);
}

// Reads what the first connection has, and what its kernel has still to send: the other end has a copy of that, which
// is bounded, and sends nothing more. One that does all the same is not read for ever. The peer may be down after.
template <typename Sink>
void TcpTransport::drain_first(Sink& sink, Peer& peer) {
    const uint64_t end = peer.received + tcp::readable(peer.rx) + tcp::KeptBytes::kRoom;
    while (peer.phase == Peer::Phase::Up && !peer.dropped && peer.received < end) {
        const size_t frames = peer.splitting ? receive_split(sink, peer) : receive(sink, peer);
        if (!frames) return;
    }
}

// Callers for rails, and for a first connection, whose old one is read before.
template <typename Sink>
void TcpTransport::answer_rail_callers(Sink& sink) {
    for (;;) {
        net::PendingConnection* caller;
        Peer* peer = nullptr;
        {
            LockGuard setup(setup_);
            caller = take_rail_caller();
            tcp::RailCall call;
            if (caller && tcp::read_rail_call(caller->hello, &call) && call.rail == tcp::kFirstStream)
                peer = peer_of_rail(*caller);
        }
        if (!caller) return;
        if (peer && peer->kept) drain_first(sink, *peer);
        LockGuard setup(setup_);
        admit_rail(caller);
    }
}

}  // namespace selvage::impl
