// Tells whether the kernel's interfaces, addresses or default routes changed since the last query.
//
// A netlink socket that the kernel writes to on every change. Asking is one non-blocking receive that leaves the
// message where it is, so a descriptor that the application closed (and the number of which now belongs to something
// else) is never read from. Not thread safe: the registry's lock protects it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace selvage::impl {

class InterfaceWatch {
public:
    InterfaceWatch() = default;
    ~InterfaceWatch();
    InterfaceWatch(const InterfaceWatch&) = delete;
    InterfaceWatch& operator=(const InterfaceWatch&) = delete;

    // True when something may have changed, when that cannot be known, and on the first call. To be asked before the
    // interfaces are read, so that a change during the reading is reported next time.
    bool changed();
    // In a child after fork: the parent's socket is not ours to read.
    void forget();

private:
    bool open_socket();
    bool is_ours() const;
    // Whether anything of it matters.
    bool drain();
    void close_socket();

    int socket_ = -1;
    uint64_t cookie_ = 0;  // the kernel's identity of the socket
};

}  // namespace selvage::impl
