// Sources of long messages, lent to peers: ranges of the application's memory that their devices may read.
//
// Exactly the range of a message is registered for that, under a key of its own, never the region that the application
// registered: that one says what peers may do, and what lies beside the message is nobody's business. Registering takes
// longer than copying some ten KiB, so a region keeps the ranges that were sent last; they go with it (fi_mr_close).
// The application promises by registering that the memory stays what it is, so nothing has to be watched. A range of
// memory that the application has not registered is lent for one message only, and only a long one.
//
// Any thread. What is lent outlives the region if it must; then peers can no longer read it.
#ifndef SELVAGE_IMPL_TRANSPORT_VERBS_LENDING_H
#define SELVAGE_IMPL_TRANSPORT_VERBS_LENDING_H

#include "impl/core/lock.h"
#include "impl/engine/transport.h"
#include "impl/transport/verbs/rdma_library.h"

namespace selvage::impl::verbs {

struct VerbsDomain;

// A range that peers can read. Protected by the domain's lock.
struct LentRange {
    const VerbsDomain* device = nullptr;
    ibv_mr* readable = nullptr;  // nullptr: its region is gone
    uintptr_t start = 0;
    size_t length = 0;
    uint32_t holders = 0;  // messages under way, and the region that keeps it
    uint64_t used = 0;     // when, counted in uses
};

// What a region has at the device.
struct DeviceRegion {
    static constexpr size_t kKept = 8;

    ibv_mr* registered = nullptr;
    LentRange* kept[kKept] = {};
};

// False: it cannot be lent, or that is not worth while.
bool lend(const VerbsDomain& device, const iovec& source, const MemoryRegion* named, Lent* out);
void take_back(void* token);
// The region is closed.
void forget_lent(const VerbsDomain& device, DeviceRegion& region);

}  // namespace selvage::impl::verbs

#endif
