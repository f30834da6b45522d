// Memory of devices (FI_HMEM), and who copies between it and the memory of the process: the functions of the
// application (FI_SET_OPS_HMEM_OVERRIDE of fi_domain(3)), or those of a device's library.
//
// Nothing else in this library touches such memory. Any thread may call; a copy returns when the bytes are where they
// belong.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/base/rdma.h"

namespace selvage::impl {

// Where a range of memory is.
struct Hmem {
    fi_hmem_iface iface = FI_HMEM_SYSTEM;
    uint64_t device = 0;
    const fi_hmem_override_ops* ops = nullptr;  // nullptr: the process's own memory
};

// 0, or a positive fabric errno, and then some of it may have been copied. REQUIRES: memory.ops
int copy_from_hmem(const Hmem& memory, const void* at, void* to, size_t size);
int copy_to_hmem(const Hmem& memory, void* at, const void* from, size_t size);

// An interface whose library this one calls by itself.
struct HmemInterface {
    fi_hmem_override_ops ops;
    bool (*knows)(const void* address);  // the address is one of the interface's
};

// nullptr: its library or device is not there, or it takes an application's functions.
const HmemInterface* find_hmem_interface(fi_hmem_iface iface);

}  // namespace selvage::impl
