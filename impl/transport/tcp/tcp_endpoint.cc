// The TCP transport of an endpoint: where it takes its addresses and its key from, and the engine over it.
#include "impl/av/av.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/engine.h"
#include "impl/transport/tcp/tcp.h"
#include "impl/transport/tcp/tcp_datapath.h"

namespace selvage::impl {

// No frame has more ranges than resolved targets, or than an operation of the application with what stands before it.
static_assert(tcp::kPiecesMax >= Resolved::kPieces && tcp::kPiecesMax >= 1 + 2 * kRangesMax);

int TcpTransport::open(Endpoint& endpoint) {
    const Domain& domain = *endpoint.domain;
    const net::Key key{domain.auth_key, domain.attr.auth_key_size};
    set_traffic_class(endpoint.tx.tclass ? endpoint.tx.tclass : domain.attr.tclass);
    if (endpoint.connected_type()) return open_connected(endpoint.address, key);
    count_in(endpoint.stat);
    ScalableEndpoint* scalable = endpoint.scalable;
    const int error = scalable
                          ? open_context(endpoint.address, static_cast<tcp::SharedListener*>(scalable->listener), key)
                          : open_datagram(endpoint.address, key);
    if (error) return error;
    av_ = endpoint.av;
    endpoint.address = address_;
    return 0;
}

int TcpTransport::find_peer(fi_addr_t to, Peer** out) {
    if (connected_) {
        if (!connected()) return -FI_ENOTCONN;
        *out = only_;
        return 0;
    }
    AvEntry entry;
    if (!av_->find_address(to, &entry)) return -FI_EINVAL;
    return peer_at(entry.socket, out);
}

// Known from the hello of a caller, or because it was called.
bool TcpTransport::address_of(Peer& peer, AvEntry* out) {
    if (connected_) return false;
    out->socket = peer.remote;
    return true;
}

int start_far_endpoint(Endpoint& endpoint) { return start_engine<TcpTransport>(endpoint); }

}  // namespace selvage::impl
