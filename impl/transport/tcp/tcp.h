// The TCP provider: FI_EP_MSG and FI_EP_RDM over every IPv4 and IPv6 interface that is up.
#ifndef SELVAGE_IMPL_TRANSPORT_TCP_TCP_H
#define SELVAGE_IMPL_TRANSPORT_TCP_TCP_H

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kTcpProvider;
extern const ConnectionOps kTcpConnections;  // tcp_listener.cc
int start_tcp_endpoint(Endpoint& endpoint);  // tcp_endpoint.cc
}  // namespace selvage::impl

#endif
