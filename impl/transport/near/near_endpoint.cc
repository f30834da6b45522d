// How endpoints of the tcp provider start: with the way through memory, or without it.
#include "impl/config/param.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/engine.h"
#include "impl/transport/near/near_transport.h"
#include "impl/transport/tcp/tcp.h"

namespace selvage::impl {
namespace {

const Param<bool> kLocalRow{
    nullptr, "selvage_local", true,
    "Whether FI_EP_RDM endpoints of tcp exchange with peers on this machine through shared memory"};

static_assert(LimitsByPeer<NearTransport> && SendsInline<NearTransport> && PullsMemory<NearTransport> &&
              ReportsConnections<NearTransport> && ReportsAddresses<NearTransport> && DropsPeers<NearTransport> &&
              CopiesSources<NearTransport> && DiscardsPlacements<NearTransport>);

}  // namespace

int start_tcp_endpoint(Endpoint& endpoint) {
    const bool local = kLocalRow.get() && endpoint.shares_memory && (endpoint.caps & FI_LOCAL_COMM);
    if (endpoint.connected_type() || !local) return start_far_endpoint(endpoint);
    return start_engine<NearTransport>(endpoint);
}

}  // namespace selvage::impl
