// The addresses of FI_EP_DGRAM: GID and number of a queue pair.
//
// FI_ADDR_IB_UD, because it is what fi_verbs(7) names for these endpoints and what rdma/fabric.h has a place for: all
// of it is known at both ends without asking anybody, so that inserting an address, sending, and telling the source of
// what arrives need no peer that answers. Internet addresses would: somebody has to say which queue pair is behind a
// port. The price is that node and service name no peer; programs exchange what fi_getname gives.
#pragma once

#include "impl/net/address.h"
#include "impl/transport/verbs/rdma_library.h"

namespace selvage::impl::verbs {

// What the device writes before each datagram that arrives.
inline constexpr size_t kRouteBytes = 40;

// By which address, and which index in the port's table, datagrams leave a port through the interface of an internet
// address. 0; -FI_ENODEV when the port has no such entry.
int find_own_address(const RdmaLibrary& library, ibv_context* context, uint8_t port, const ibv_port_attr& attr,
                     const SocketAddress& interface, IbAddress* out, uint8_t* index);
// The same by the GID. `out` has it.
int find_own_gid(const RdmaLibrary& library, ibv_context* context, uint8_t port, const ibv_port_attr& attr,
                 IbAddress* out, uint8_t* index);

// The GID that a datagram to the port `own` came from: `route` is kRouteBytes long and not to be trusted. False when it
// does not tell.
bool source_gid(const std::byte* route, const uint8_t (&own)[16], uint8_t (&gid)[16]);

}  // namespace selvage::impl::verbs
