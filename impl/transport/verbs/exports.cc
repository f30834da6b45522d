// See exports.h.
#include "impl/transport/verbs/exports.h"

#include "impl/transport/verbs/knobs.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::verbs {
namespace {

// A place for one more: one that is free, or that of the range that was not used for longest.
DeviceRange** place_in(DeviceRegion& region) {
    DeviceRange** found = nullptr;
    for (DeviceRange*& range : region.kept) {
        if (!range) return &range;
        if (range->holders == 1 && (!found || range->used < (*found)->used)) found = &range;
    }
    return found;
}

DeviceRange* kept(const DeviceRegion& region, uintptr_t start, size_t length) {
    for (DeviceRange* range : region.kept) {
        if (range && range->covers(start, length)) return range;
    }
    return nullptr;
}

DeviceRange* find_or_keep(const VerbsDomain& device, DeviceRegion& region, uintptr_t start, size_t length) {
    if (DeviceRange* range = kept(region, start, length)) return range;
    DeviceRange** place = place_in(region);
    DeviceRange* range = place ? make_range(device, start, length, IBV_ACCESS_REMOTE_READ) : nullptr;
    if (!range) return nullptr;
    if (*place) drop_range(*place);
    *place = range;
    range->holders = 1;
    return range;
}

DeviceRange* find_or_make(const VerbsDomain& device, const iovec& where, int access, bool once) {
    const auto start = reinterpret_cast<uintptr_t>(where.iov_base);
    if (where.iov_len >= kLongNamed) {
        if (DeviceRange* range = device.unnamed.find_or_keep(device, start, where.iov_len, access)) return range;
    }
    DeviceRange* range = once ? make_range(device, start, where.iov_len, access) : nullptr;
    if (range) range->holders = 1;
    return range;
}

}  // namespace

bool export_range(const VerbsDomain& device, const iovec& source, const MemoryRegion* named, LongRange* out) {
    const auto start = reinterpret_cast<uintptr_t>(source.iov_base);
    if (source.iov_len > device.message_max || source.iov_len < kLongExported) return false;
    const bool by_region = named && named->device && holds(*named, source);
    LockGuard guard(device.export_lock);
    DeviceRange* range = nullptr;
    if (by_region) {
        range = find_or_keep(device, *static_cast<DeviceRegion*>(named->device), start, source.iov_len);
        if (range) ++range->holders, range->used = ++device.loans;
    } else {
        range = find_or_make(device, source, IBV_ACCESS_REMOTE_READ, true);
    }
    if (!range) return false;
    *out = {.address = start,
            .key = range->registered->rkey,
            .length = static_cast<uint32_t>(source.iov_len),
            .exported = true,
            .token = range};
    return true;
}

bool find_local(const VerbsDomain& device, const iovec& range, const MemoryRegion* named, bool into, LongRange* out) {
    if (range.iov_len > device.message_max) return false;
    *out = {.address = reinterpret_cast<uintptr_t>(range.iov_base),
            .key = 0,
            .length = static_cast<uint32_t>(range.iov_len),
            .exported = false,
            .token = nullptr};
    const bool permitted = named && (!into || (named->access & (FI_RECV | FI_READ)));
    if (permitted && named->device && holds(*named, range)) {
        out->address = device_address(*named, range.iov_base);
        out->key = device_region(*named)->lkey;
        return true;
    }
    // To copy what comes in frames costs less than to register for it once.
    DeviceRange* acquired = acquire_mr(device, range, into ? IBV_ACCESS_LOCAL_WRITE : 0, range.iov_len >= kLongUnnamed);
    if (!acquired) return false;
    out->key = acquired->registered->lkey;
    out->token = acquired;
    return true;
}

DeviceRange* acquire_mr(const VerbsDomain& device, const iovec& range, int access, bool once) {
    LockGuard guard(device.export_lock);
    return find_or_make(device, range, access, once);
}

void release_mr(void* range) {
    if (!range) return;
    auto* held = static_cast<DeviceRange*>(range);
    LockGuard guard(held->device->export_lock);
    drop_range(held);
}

void forget_exported(const VerbsDomain& device, DeviceRegion& region) {
    LockGuard guard(device.export_lock);
    for (DeviceRange*& range : region.kept) {
        if (!range) continue;
        if (range->registered) (void)device.library->dereg_mr(range->registered);
        range->registered = nullptr;
        drop_range(range);
        range = nullptr;
    }
}

void sweep_kept(const VerbsDomain& device) {
    // Whoever holds it may be registering, which can take long, and sweeps first.
    if (!device.export_lock.try_lock()) return;
    device.unnamed.sweep();
    device.export_lock.unlock();
}

}  // namespace selvage::impl::verbs
