// The addresses of this machine's network interfaces, best first.
//
// One entry per address of every interface that is up. The order, by what the kernel says:
//   1. loopback last; before it link-local addresses, which are of no use to who does not know the link,
//   2. interfaces with a carrier before those without,
//   3. the interface of the default route of the family; of the other family's, where this one has none,
//   4. hardware, and what stands on it (vlan, bond, macvlan), before bridges, these before what is only software
//      (veth, tun, tap, dummy),
//   5. faster links first, then the kernel's index, IPv4 before IPv6, and the kernel's order.
#pragma once

#include <span>

#include "impl/net/address.h"

namespace selvage::impl {

enum class LinkType : uint8_t { Hardware, Bridge, Software };

struct InterfaceAddress {
    char name[16];  // its own, or the label of the address
    unsigned index;
    unsigned order;  // of the address, as the kernel lists them
    long speed;      // Mbit/s, 0 when unknown
    unsigned mtu;    // bytes of a packet, its headers included; 0 when unknown
    LinkType type;
    bool up;
    bool running;
    bool loopback;
    bool link_local;
    bool has_default_route;
    unsigned prefix;
    SocketAddress address;
};

// Fills *out with a malloc'ed array of *count entries (the caller frees it). Returns 0 or a negative fabric errno.
int list_interfaces(InterfaceAddress** out, size_t* count);
// Whether a list of names, or of beginnings of names, separated by commas, has the interface in it (of all that there
// are); nullptr has each.
bool is_selected(const InterfaceAddress& interface, std::span<const InterfaceAddress> all, const char* names);
// "192.0.2.0/24", "fd00::/64": the network that the address belongs to.
void write_subnet(const SocketAddress& address, unsigned prefix, char* out, size_t size);

}  // namespace selvage::impl
