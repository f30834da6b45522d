// The addresses of this machine's network interfaces, best first.
//
// One entry per address of every interface that is up. Order: faster links first, then the kernel's index, IPv4 before
// IPv6, global before link-local; loopback last.
#ifndef SELVAGE_IMPL_CORE_INTERFACES_H
#define SELVAGE_IMPL_CORE_INTERFACES_H

#include "impl/core/address.h"

namespace selvage::impl {

struct InterfaceAddress {
    char name[16];
    unsigned index;
    long speed;  // Mbit/s, 0 when unknown
    bool loopback;
    bool link_local;
    unsigned prefix;
    SocketAddress address;
};

// Fills *out with a malloc'ed array of *count entries (the caller frees it). Returns 0 or a negative fabric errno.
int list_interfaces(InterfaceAddress** out, size_t* count);
// "192.0.2.0/24", "fd00::/64": the network that the address belongs to.
void write_subnet(const SocketAddress& address, unsigned prefix, char* out, size_t size);

}  // namespace selvage::impl

#endif
