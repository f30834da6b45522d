// Control part of the UDP provider: its table.
#include "impl/transport/udp/udp.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "impl/catalog/engine_attrs.h"
#include "impl/catalog/registry.h"
#include "impl/config/param.h"
#include "impl/engine/datagram.h"
#include "impl/net/interfaces.h"

namespace selvage::impl {
namespace {

const Param<const char*> kInterfaceRow{"udp", "iface", nullptr,
                                       "The only network interfaces to be used: names, or beginnings of names, "
                                       "separated by commas"};

constexpr size_t kIpv4Headers = 20 + 8;
constexpr size_t kIpv6Headers = 40 + 8;
// The length field of IPv4 counts its header; that of UDP over IPv6 its own alone.
constexpr size_t kLongestIpv4 = 65535 - kIpv4Headers;
constexpr size_t kLongestIpv6 = 65535 - 8;
// Of an interface that does not say what it carries, as Ethernet does.
constexpr size_t kUsualMtu = 1500;
// What every host has to be able to receive, however small the links: an MTU below is not followed further down.
constexpr size_t kLeastMtu = 576;

// What a packet of the interface holds, so that no datagram is cut into fragments here.
size_t payload_of(const InterfaceAddress& interface) {
    const size_t mtu = std::max(interface.mtu ? size_t{interface.mtu} : kUsualMtu, kLeastMtu);
    return interface.address.kind == AddressKind::Inet ? std::min(mtu - kIpv4Headers, kLongestIpv4)
                                                       : std::min(mtu - kIpv6Headers, kLongestIpv6);
}

// Messages of one packet, and nothing that needs an answer, a header, or a state between two ends.
void make_datagrams(InfoSet& set, uint64_t reach, size_t payload) {
    const uint64_t caps =
        FI_MSG | FI_MULTICAST | FI_SEND | FI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_SHARED_AV | FI_AV_USER_ID | reach;
    restrict_to_datagrams(set, caps);
    set.tx.op_flags |= FI_MULTICAST;
    set.tx.inject_size = payload;  // every datagram is the kernel's when the call returns
    set.ep.protocol = FI_PROTO_UDP;
    set.ep.max_msg_size = payload;
    set.domain.cq_data_size = 0;
}

int add_offer(const Provider& self, TableBuilder& table, const InterfaceAddress& interface) {
    Offer* offer = table.add();
    if (!offer) return -FI_ENOMEM;
    const uint64_t reach = interface.loopback ? FI_LOCAL_COMM : FI_LOCAL_COMM | FI_REMOTE_COMM;
    fill_engine_attrs(*offer, FI_EP_DGRAM, reach);
    make_datagrams(offer->set, reach, payload_of(interface));
    place_on(*offer, self, interface);
    offer->loopback = interface.loopback;
    offer->auth_key_max = 0;  // nobody asks before a datagram arrives
    offer->tx_size_max = offer->rx_size_max = kDatagramQueueMax;
    snprintf(offer->domain_name, sizeof offer->domain_name, "%s", interface.name);
    return 0;
}

int discover(const Provider& self, TableBuilder& table) {
    InterfaceAddress* list = nullptr;
    size_t count = 0;
    int result = list_interfaces(&list, &count);
    const char* only = kInterfaceRow.get();
    for (size_t i = 0; i < count && !result; ++i) {
        if (is_selected(list[i], {list, count}, only)) result = add_offer(self, table, list[i]);
    }
    free(list);
    return result;
}

}  // namespace

const Provider kUdpProvider = {
    .name = "udp",
    .version = kProviderVersion,
    .layered_name = nullptr,
    .discover = discover,
    .endpoint_types = type_bit(FI_EP_DGRAM),
    .discover_follows_interfaces = true,
    .start = start_udp_endpoint,
    .binds_wildcard = true,
};

}  // namespace selvage::impl
