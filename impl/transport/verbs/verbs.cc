// Control part of the verbs provider: its table. A machine without RDMA devices pays one failed directory look-up.
#include "impl/transport/verbs/verbs.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "impl/catalog/engine_attrs.h"
#include "impl/catalog/registry.h"
#include "impl/config/log.h"
#include "impl/config/param.h"
#include "impl/net/interfaces.h"
#include "impl/transport/verbs/devices.h"
#include "impl/transport/verbs/nic.h"
#include "impl/transport/verbs/verbs_dgram.h"
#include "impl/transport/verbs/verbs_endpoint.h"

namespace selvage::impl {
namespace {

constexpr char kName[] = "verbs";

// Provider-specific (upper bit set): what stands in the messages is this library's own.
constexpr uint32_t kMessageProtocol = FI_PROV_SPECIFIC | 0x5e04;
constexpr uint32_t kAddressedProtocol = FI_PROV_SPECIFIC | 0x5e05;

// A write or read by the device may overtake a message that the receiver still holds in a buffer of its own.
constexpr uint64_t kNotOrdered = FI_ORDER_RAS | FI_ORDER_WAS;

// With these the device itself does remote access; without them the engine does it by messages.
constexpr int kDeviceAccess = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

const Param<const char*> kInterfaceRow{kName, "iface", nullptr,
                                       "The only network interface to be used, or the start of its name"};
const Param<const char*> kDeviceRow{kName, "device_name", nullptr, "The only RDMA device to be used"};

// Loopback has no device, and a link-local address means nothing without its link.
bool usable(const InterfaceAddress& interface) {
    const char* prefix = kInterfaceRow.get();
    return !interface.loopback && !interface.link_local &&
           (!prefix || strncmp(prefix, interface.name, strlen(prefix)) == 0);
}

bool usable(const verbs::DevicePort& port) {
    const char* only = kDeviceRow.get();
    if (only && strcmp(only, port.device) != 0) return false;
    if (port.port_attr.state == IBV_PORT_ACTIVE) return true;
    log_for(kName, FI_LOG_INFO, FI_LOG_FABRIC, "port %u of %s is not active", port.port, port.device);
    return false;
}

size_t at_most(size_t value, int device_limit) {
    return device_limit > 0 ? std::min(value, static_cast<size_t>(device_limit)) : value;
}

// Unreliable datagrams: messages of one packet, and nothing that needs an answer or a state between two ends.
void make_datagrams(Offer& offer, const verbs::DevicePort& port) {
    constexpr uint64_t kCaps = FI_MSG | FI_SEND | FI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_SHARED_AV | FI_AV_USER_ID |
                               FI_LOCAL_COMM | FI_REMOTE_COMM;
    const size_t packet = verbs::mtu_bytes(port.port_attr.active_mtu);
    const size_t most = std::bit_floor(at_most(kDatagramQueueMax, port.device_attr.max_qp_wr));
    offer.host = offer.source;
    offer.kind = offer.source.kind = AddressKind::IbUd;
    offer.source.ib = port.datagrams;
    // A domain of its own, with addresses and limits of its own, under the name that others give it, too.
    snprintf(offer.domain_name, sizeof offer.domain_name, "%.57s-dgram", port.device);
    offer.mr_mode_kept = 0;
    offer.auth_key_max = 0;  // nobody asks before a datagram arrives
    offer.tx_size_max = offer.rx_size_max = most;
    InfoSet& set = offer.set;
    set.info.addr_format = FI_ADDR_IB_UD;
    restrict_to_datagrams(set, kCaps);
    set.tx.size = set.rx.size = std::min(verbs::kDatagramQueue, most);
    set.tx.inject_size = std::min(set.tx.inject_size, packet);
    set.ep.protocol = FI_PROTO_IB_UD;
    set.ep.max_msg_size = packet;
    set.domain.cq_data_size = sizeof(uint32_t);  // what a packet has a place for
}

int add_offer(const Provider& self, TableBuilder& table, const InterfaceAddress& interface,
              const verbs::DevicePort& port, fi_ep_type type) {
    Offer* offer = table.add();
    if (!offer) return -FI_ENOMEM;
    fill_engine_attrs(*offer, type, FI_LOCAL_COMM | FI_REMOTE_COMM);
    place_on(*offer, self, interface);
    // Addressed endpoints exist under the layered name only.
    offer->layered = type == FI_EP_RDM;
    offer->reaches_own_only = true;
    if (type == FI_EP_MSG) offer->known_as = {FI_PROTO_RDMA_CM_IB_RC};
    if (type == FI_EP_RDM) offer->known_as = {FI_PROTO_RXM};
    offer->mr_mode_kept = kDeviceAccess;
    InfoSet& set = offer->set;
    set.ep.protocol = type == FI_EP_MSG ? kMessageProtocol : kAddressedProtocol;
    set.tx.msg_order &= ~kNotOrdered;
    set.rx.msg_order &= ~kNotOrdered;
    set.domain.ep_cnt = at_most(set.domain.ep_cnt, port.device_attr.max_qp);
    set.domain.mr_cnt = at_most(set.domain.mr_cnt, port.device_attr.max_mr);
    snprintf(offer->domain_name, sizeof offer->domain_name, "%s", port.device);
    if (type == FI_EP_DGRAM) make_datagrams(*offer, port);
    verbs::describe_nic(port, interface.name, "/sys", &offer->nic);
    return 0;
}

// A port that has an address for them; a device of iWARP has no such queue pairs.
bool does_datagrams(const verbs::DevicePort& port) {
    constexpr uint8_t kNone[sizeof port.datagrams.gid] = {};
    return memcmp(port.datagrams.gid, kNone, sizeof kNone) != 0 && verbs::mtu_bytes(port.port_attr.active_mtu);
}

int add_address(const Provider& self, TableBuilder& table, const verbs::PortFinder& finder,
                const InterfaceAddress& interface, bool* found) {
    if (!usable(interface)) return 0;
    verbs::DevicePort port;
    const int error = finder.find(interface.address, &port);
    if (error) return error == -FI_ENODEV ? 0 : error;
    if (!usable(port)) return 0;
    log_for(kName, FI_LOG_INFO, FI_LOG_FABRIC, "%s is on port %u of device %s", interface.name, port.port, port.device);
    *found = true;
    int result = add_offer(self, table, interface, port, FI_EP_MSG);
    if (!result && does_datagrams(port)) result = add_offer(self, table, interface, port, FI_EP_DGRAM);
    if (result || !is_layer_registered(self.layered_name)) return result;
    return add_offer(self, table, interface, port, FI_EP_RDM);
}

int add_devices(const Provider& self, TableBuilder& table, const verbs::RdmaLibrary& library) {
    verbs::PortFinder finder(library);
    int result = finder.open();
    if (result) {
        log_for(self.name, FI_LOG_INFO, FI_LOG_FABRIC, "the connection manager of RDMA cannot be used");
        return result == -FI_ENODEV ? 0 : result;
    }
    InterfaceAddress* list = nullptr;
    size_t count = 0;
    bool found = false;
    result = list_interfaces(&list, &count);
    for (size_t i = 0; i < count && !result; ++i) result = add_address(self, table, finder, list[i], &found);
    free(list);
    if (!result && !found) verbs::log_unusable_devices(library, self.name);
    return result;
}

int discover(const Provider& self, TableBuilder& table) {
    const int none = verbs::any_device("/sys/class/infiniband");
    if (none == -FI_ENODEV) log_for(self.name, FI_LOG_INFO, FI_LOG_FABRIC, "no RDMA device on this machine");
    if (none) return none == -FI_ENODEV ? 0 : none;
    const verbs::LookingAtDevices looking;
    return looking.library() ? add_devices(self, table, *looking.library()) : 0;
}

}  // namespace

const Provider kVerbsProvider = {
    .name = kName,
    .version = kProviderVersion,
    .layered_name = "ofi_rxm",
    .discover = discover,
    .endpoint_types = type_bit(FI_EP_MSG) | type_bit(FI_EP_DGRAM) | type_bit(FI_EP_RDM),
    .discover_follows_interfaces = true,
    .start = start_verbs_endpoint,
    .connections = &kVerbsConnections,
    .memory = &kVerbsMemory,
};

}  // namespace selvage::impl
