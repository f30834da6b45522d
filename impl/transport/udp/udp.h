// The UDP provider: FI_EP_DGRAM over every IPv4 and IPv6 interface that is up, with multicast groups.
#pragma once

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kUdpProvider;
int start_udp_endpoint(Endpoint& endpoint);  // udp_calls.cc
}  // namespace selvage::impl
