// The passive endpoint: a listening address of a fabric.
#ifndef SELVAGE_IMPL_CORE_PASSIVE_H
#define SELVAGE_IMPL_CORE_PASSIVE_H

#include "impl/core/fabric.h"
#include "impl/core/lock.h"
#include "impl/core/object.h"

namespace selvage::impl {

struct EventQueue;

struct PassiveEndpoint {
    fid_pep descriptor{};
    UseCount uses;
    Fabric* fabric = nullptr;
    PassiveEndpoint* next_opened = nullptr;  // opened.cc
    uint32_t addr_format = FI_FORMAT_UNSPEC;
    SocketAddress address;
    int backlog = 128;
    Mutex lock;                // protects what follows
    EventQueue* eq = nullptr;  // bound; holds a use of it

    static PassiveEndpoint* of(fid_pep* pep) { return object_of<PassiveEndpoint>(pep); }
};

// The outside form of an address, into a buffer that may be too small: -FI_ETOOSMALL, with the length needed.
int export_address(const SocketAddress& address, uint32_t format, void* out, size_t* length);

}  // namespace selvage::impl

#endif
