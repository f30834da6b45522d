// Under which name in /dev/shm the endpoint that listens at an internet address is found by its neighbours.
//
// A name is "fi_shm://tcp-<device>-<inode>-<address>": which network namespace it is, as the kernel numbers it, and
// port, host and scope in hexadecimal. Within a namespace the kernel gives an address to one listener.
#pragma once

#include "impl/net/address.h"

namespace selvage::impl::near {

// A network namespace.
struct Namespace {
    uint64_t device = 0;
    uint64_t inode = 0;

    // The calling thread's. False where /proc does not say.
    static bool current(Namespace* out);
};

// False for what is no internet address of one endpoint.
bool write_name(const Namespace& space, const SocketAddress& address, char (&out)[kShmTextMax]);
// The address in a name that write_name() made for the same namespace. The text is anybody's: false for all others.
bool read_name(const Namespace& space, const char (&text)[kShmTextMax], SocketAddress* out);

}  // namespace selvage::impl::near
