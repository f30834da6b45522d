// What a domain of the verbs provider has open: its device, by way of the connection manager, and a protection domain.
//
// Memory regions of the application are registered with the device here when peers may use them under keys that the
// library chooses: the lower 32 bits of such a key are the device's remote key, bit 32 says so, and the rest is random.
#pragma once

#include "impl/domain/domain.h"
#include "impl/domain/mr.h"
#include "impl/transport/verbs/exports.h"
#include "impl/transport/verbs/rdma_library.h"

namespace selvage::impl::verbs {

inline constexpr uint64_t kDeviceKey = uint64_t{1} << 32;

struct VerbsDomain {
    const RdmaLibrary* library = nullptr;
    rdma_event_channel* channel = nullptr;
    rdma_cm_id* holder = nullptr;  // keeps the device open
    ibv_context* context = nullptr;
    ibv_pd* pd = nullptr;
    ibv_device_attr limits{};
    uint32_t message_max = 0;   // of one request
    bool atomics = false;       // the device's atomics and the processor's exclude each other
    mutable Mutex export_lock;  // protects what is exported and acquired, and:
    mutable uint64_t loans = 0;
    mutable RegistrationCache unnamed;  // memory that the application has not registered

    static VerbsDomain* of(const Domain& domain) { return static_cast<VerbsDomain*>(domain.device); }
};

// The device's registration of a region, or nullptr.
inline ibv_mr* device_region(const MemoryRegion& region) {
    return region.device ? static_cast<DeviceRegion*>(region.device)->registered : nullptr;
}
// What the device calls an address of a region: it may count from elsewhere (regions are registered at their base).
inline uint64_t device_address(const MemoryRegion& region, const void* address) {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(region.ranges[0].iov_base) + region.base;
}
// Whether a range lies in a region, which is one of a single range.
inline bool holds(const MemoryRegion& region, const iovec& range) {
    const iovec& whole = region.ranges[0];
    const auto start = reinterpret_cast<uintptr_t>(whole.iov_base);
    const auto from = reinterpret_cast<uintptr_t>(range.iov_base);
    return from >= start && from - start <= whole.iov_len && range.iov_len <= whole.iov_len - (from - start);
}
// What a positive errno of the libraries is here.
inline int as_error(int code) { return code > 0 ? -code : -FI_EIO; }

}  // namespace selvage::impl::verbs
