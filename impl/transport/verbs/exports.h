// Memory of the application that devices use for long messages and accesses.
//
// What its own device sends from or receives into: where the application named its region, that region, else a range
// that the domain keeps and watches (registration_cache.h) or registers for one use.
//
// What peers' devices read, the sources of the longest messages: exactly the range of a message is registered for that,
// under a key of its own, never the region that the application registered: that one says what peers may do, and what
// lies beside the message is nobody's business. Registering takes longer than copying some ten KiB, so a region keeps
// the ranges that were sent last; they go with it (fi_mr_close). The application promises by registering that the
// memory stays what it is, so nothing has to be watched.
//
// Any thread. What is exported outlives the region if it must; then peers can no longer read it.
#pragma once

#include "impl/base/lock.h"
#include "impl/engine/transport.h"
#include "impl/transport/verbs/rdma_library.h"
#include "impl/transport/verbs/registration_cache.h"

namespace selvage::impl::verbs {

// What a region has at the device.
struct DeviceRegion {
    static constexpr size_t kKept = 8;

    ibv_mr* registered = nullptr;
    DeviceRange* kept[kKept] = {};
};

// For peers. False: it cannot be exported, or that is not worth while.
bool export_range(const VerbsDomain& device, const iovec& source, const MemoryRegion* named, LongRange* out);
// For this side's device, to send from or to receive `into`. False as above.
bool find_local(const VerbsDomain& device, const iovec& range, const MemoryRegion* named, bool into, LongRange* out);
// Memory that is not registered, for the device itself: kept, or with `once` for this use alone if it must. nullptr: it
// is not to be had.
DeviceRange* acquire_mr(const VerbsDomain& device, const iovec& range, int access, bool once);
// What was exported or acquired, or nullptr.
void release_mr(void* range);
// The region is closed.
void forget_exported(const VerbsDomain& device, DeviceRegion& region);
// Ranges whose pages have changed are given up, now and then.
void sweep_kept(const VerbsDomain& device);

}  // namespace selvage::impl::verbs
