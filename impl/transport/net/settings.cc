// See settings.h.
#include "impl/transport/net/settings.h"

#include <algorithm>

#include "impl/config/param.h"

namespace selvage::impl::net {
namespace {

const Param<int> kConnectRow{
    "tcp", "connect_timeout", 10000,
    "Milliseconds until a connection that could not be set up is reported as failed; an addressed "
    "peer whose machine answers has peer_timeout"};
const Param<int> kPeerRow{"tcp", "peer_timeout", 60000,
                          "Milliseconds after which a peer that takes no data is reported as gone, 0 for the system's"};
const Param<size_t> kHostRow{"tcp", "peers_per_host", 1024,
                             "Peers of one address that an endpoint lets connect to it at a time, 0 for any number"};

const Param<int> kRailsRow{
    "tcp", "rails", 0,
    "Connections to a peer by further links, for long messages, writes and reads between endpoints "
    "that listen at all addresses, 0 to 3; both ends must have it set"};

const Param<int> kLinkRow{"tcp", "link_timeout", 3000,
                          "Milliseconds after which a link that acknowledges nothing is left for another one to the "
                          "same peer, with rails"};

const Param<int> kLowRow{"tcp", "port_low_range", 0, "The lowest port for listeners that name none, 0 for any"};
const Param<int> kHighRow{"tcp", "port_high_range", 0, "The highest port for listeners that name none, 0 for any"};

}  // namespace

int connect_timeout() {
    const int value = kConnectRow.get();
    return value > 0 ? value : kConnectRow.standard();
}

int peer_timeout() {
    const int value = kPeerRow.get();
    return value >= 0 ? value : kPeerRow.standard();
}

PortRange port_range() {
    const int low = kLowRow.get(), high = kHighRow.get();
    if (low <= 0 || high < low || high > UINT16_MAX) return {};
    return {.low = static_cast<uint16_t>(low), .high = static_cast<uint16_t>(high)};
}

size_t rails_most() {
    constexpr int kMost = 3;
    return static_cast<size_t>(std::clamp(kRailsRow.get(), 0, kMost));
}

unsigned link_timeout() {
    const int value = kLinkRow.get();
    return static_cast<unsigned>(value >= 0 ? value : kLinkRow.standard());
}

size_t peers_per_host() { return kHostRow.get(); }

}  // namespace selvage::impl::net
