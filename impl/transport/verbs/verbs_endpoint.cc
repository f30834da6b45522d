// The verbs transport of an endpoint: where it takes its device, addresses and key from, and the engine over it.
#include "impl/transport/verbs/verbs_endpoint.h"

#include "impl/av/av.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/engine.h"
#include "impl/transport/verbs/verbs_datapath.h"
#include "impl/transport/verbs/verbs_dgram.h"

namespace selvage::impl {
namespace {

// Other endpoints may go to the device for this one's memory where the engine need not be notified of it: under keys
// that the library chose, with both permissions, and without events.
uint8_t features_of(const Endpoint& endpoint) {
    const Domain& domain = *endpoint.domain;
    constexpr uint64_t kBoth = FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (!domain.chooses_keys() || (endpoint.rx.caps & kBoth) != kBoth || (endpoint.caps & FI_RMA_EVENT)) return 0;
    return verbs::VerbsDomain::of(domain)->atomics ? verbs::kAccessByDevice | verbs::kAtomicsByDevice
                                                   : verbs::kAccessByDevice;
}

}  // namespace

int VerbsTransport::open(Endpoint& endpoint) {
    const Domain& domain = *endpoint.domain;
    constexpr uint64_t kAfterReads = FI_ORDER_WAR | FI_ORDER_RMA_WAR | FI_ORDER_ATOMIC_WAR | FI_ORDER_SAR;
    const Setup setup{.device = verbs::VerbsDomain::of(domain),
                      .address = endpoint.address,
                      .key = {domain.auth_key, domain.attr.auth_key_size},
                      .features = features_of(endpoint),
                      .fenced = (endpoint.tx.msg_order & kAfterReads) != 0};
    stat_ = endpoint.stat;
    if (endpoint.connected_type()) return open_connected(setup);
    const int error = open_datagram(setup);
    if (error) return error;
    av_ = endpoint.av;
    endpoint.address = address_;
    return 0;
}

int VerbsTransport::find_peer(fi_addr_t to, Peer** out) {
    if (connected_) {
        if (is_down() || (only_->awaits_answer && !connected())) return -FI_ENOTCONN;
        *out = only_;
        return 0;
    }
    AvEntry entry;
    if (!av_->find_address(to, &entry)) return -FI_EINVAL;
    return peer_at(entry.socket, out);
}

// Known from the hello of a caller, or because it was called.
bool VerbsTransport::address_of(Peer& peer, AvEntry* out) {
    if (connected_) return false;
    out->socket = peer.remote;
    return true;
}

static_assert(Transport<VerbsTransport>);
static_assert(NativeRma<VerbsTransport> && ReportsAddresses<VerbsTransport> && DropsPeers<VerbsTransport>);

int start_verbs_endpoint(Endpoint& endpoint) {
    return endpoint.type == FI_EP_DGRAM ? start_verbs_datagrams(endpoint) : start_engine<VerbsTransport>(endpoint);
}

}  // namespace selvage::impl
