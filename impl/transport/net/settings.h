// The parameters of the TCP transport (FI_TCP_...): one function per row, read when it is asked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl::net {

// Milliseconds until a connection that is not set up is given up.
int connect_timeout();
// Milliseconds after which a peer that acknowledges nothing is gone; 0 leaves it to the system.
int peer_timeout();

// Peers of one address that an endpoint lets connect to it; 0: any number.
size_t peers_per_host();

// Connections to a peer by further links, beside the first.
size_t rails_most();
// Milliseconds in which a link acknowledges nothing of what it was given until it is left for another one, where there
// is another one.
unsigned link_timeout();

// The ports of listeners that name none. {0, 0}: whatever the system chooses.
struct PortRange {
    uint16_t low = 0;
    uint16_t high = 0;
};
PortRange port_range();

}  // namespace selvage::impl::net
