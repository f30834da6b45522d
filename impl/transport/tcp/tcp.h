// The TCP provider: FI_EP_MSG and FI_EP_RDM over every IPv4 and IPv6 interface that is up.
#pragma once

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kTcpProvider;
extern const ConnectionOps kTcpConnections;  // tcp_listener.cc
int start_tcp_endpoint(
    Endpoint& endpoint);  // near/near_endpoint.cc: with the way through memory, where that is switched on
int start_far_endpoint(Endpoint& endpoint);  // tcp_endpoint.cc: sockets alone
// The interfaces that the user lets the provider use (is_selected); nullptr: all.
const char* tcp_interfaces();
}  // namespace selvage::impl
