// Control part of the TCP provider: its table.
#include "impl/transport/tcp/tcp.h"

#include <cstdio>
#include <cstdlib>

#include "impl/catalog/engine_attrs.h"
#include "impl/catalog/registry.h"
#include "impl/config/param.h"
#include "impl/net/interfaces.h"
#include "impl/transport/tcp/tcp_shared_listener.h"

namespace selvage::impl {
namespace {

// Provider-specific (upper bit set): the frames on the wire are this library's own.
constexpr uint32_t kMessageProtocol = FI_PROV_SPECIFIC | 0x5e02;
constexpr uint32_t kDatagramProtocol = FI_PROV_SPECIFIC | 0x5e03;

const Param<const char*> kInterfaceRow{"tcp", "iface", nullptr,
                                       "The only network interfaces to be used: names, or beginnings of names, "
                                       "separated by commas"};

int add_offer(const Provider& self, TableBuilder& table, const InterfaceAddress& interface, fi_ep_type type) {
    Offer* offer = table.add();
    if (!offer) return -FI_ENOMEM;
    // Nothing behind a loopback interface is remote.
    fill_engine_attrs(*offer, type, interface.loopback ? FI_LOCAL_COMM : FI_LOCAL_COMM | FI_REMOTE_COMM);
    place_on(*offer, self, interface);
    if (type == FI_EP_RDM) offer_contexts(*offer);
    offer->loopback = interface.loopback;
    offer->known_as = {FI_PROTO_SOCK_TCP, FI_PROTO_XNET};
    offer->set.ep.protocol = type == FI_EP_MSG ? kMessageProtocol : kDatagramProtocol;
    snprintf(offer->domain_name, sizeof offer->domain_name, "%s", interface.name);
    return 0;
}

// Connected endpoints carry the least per message, so an address offers them first.
int discover(const Provider& self, TableBuilder& table) {
    InterfaceAddress* list = nullptr;
    size_t count = 0;
    int result = list_interfaces(&list, &count);
    const char* only = kInterfaceRow.get();
    for (size_t i = 0; i < count && !result; ++i) {
        if (!is_selected(list[i], {list, count}, only)) continue;
        result = add_offer(self, table, list[i], FI_EP_MSG);
        if (!result) result = add_offer(self, table, list[i], FI_EP_RDM);
    }
    free(list);
    return result;
}

}  // namespace

const char* tcp_interfaces() { return kInterfaceRow.get(); }

const Provider kTcpProvider = {
    .name = "tcp",
    .version = kProviderVersion,
    .layered_name = "ofi_rxm",
    .discover = discover,
    .endpoint_types = type_bit(FI_EP_MSG) | type_bit(FI_EP_RDM),
    .discover_follows_interfaces = true,
    .start = start_tcp_endpoint,
    .connections = &kTcpConnections,
    .binds_wildcard = true,
    .scales = true,
    .listen_for_contexts = tcp::listen_for_contexts,
};

}  // namespace selvage::impl
