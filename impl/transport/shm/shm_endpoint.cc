// See shm_transport.h: what ties the transport to an endpoint and its address vector.
#include "impl/av/av.h"
#include "impl/endpoint/ep.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {

int ShmTransport::open(Endpoint& endpoint) {
    endpoint_ = &endpoint;
    const Domain& domain = *endpoint.domain;
    return open_at(endpoint.shm_address, {domain.auth_key, domain.attr.auth_key_size});
}

int ShmTransport::find_peer(fi_addr_t to, Peer** out) {
    AvEntry entry;
    if (!endpoint_->av || !endpoint_->av->find_address(to, &entry)) return -FI_EINVAL;
    return find_peer_at(entry.text, out);
}

bool ShmTransport::address_of(const Peer& peer, AvEntry* out) const {
    memcpy(out->text, peer.text, sizeof out->text);
    return true;
}

}  // namespace selvage::impl
