// See settings.h.
#include "impl/transport/net/settings.h"

#include "impl/config/param.h"

namespace selvage::impl::net {
namespace {

const Param<int> connect_row{
    "tcp", "connect_timeout", 10000,
    "Milliseconds until a connection that could not be set up is reported as failed; an addressed "
    "peer whose machine answers has peer_timeout"};
const Param<int> peer_row{"tcp", "peer_timeout", 60000,
                          "Milliseconds after which a peer that takes no data is reported as gone, 0 for the system's"};
const Param<size_t> host_row{"tcp", "peers_per_host", 1024,
                             "Peers of one address that an endpoint lets connect to it at a time, 0 for any number"};

const Param<int> low_row{"tcp", "port_low_range", 0, "The lowest port for listeners that name none, 0 for any"};
const Param<int> high_row{"tcp", "port_high_range", 0, "The highest port for listeners that name none, 0 for any"};

}  // namespace

int connect_timeout() {
    const int value = connect_row.get();
    return value > 0 ? value : connect_row.standard();
}

int peer_timeout() {
    const int value = peer_row.get();
    return value >= 0 ? value : peer_row.standard();
}

PortRange port_range() {
    const int low = low_row.get(), high = high_row.get();
    if (low <= 0 || high < low || high > UINT16_MAX) return {};
    return {.low = static_cast<uint16_t>(low), .high = static_cast<uint16_t>(high)};
}

size_t peers_per_host() { return host_row.get(); }

}  // namespace selvage::impl::net
