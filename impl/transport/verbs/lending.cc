// See lending.h.
#include "impl/transport/verbs/lending.h"

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
    if (where.iov_len >= kLendNamed) {
        if (DeviceRange* range = device.unnamed.find_or_keep(device, start, where.iov_len, access)) return range;
    }
    DeviceRange* range = once ? make_range(device, start, where.iov_len, access) : nullptr;
    if (range) range->holders = 1;
    return range;
}

}  // namespace

bool lend(const VerbsDomain& device, const iovec& source, const MemoryRegion* named, Lent* out) {
    const auto start = reinterpret_cast<uintptr_t>(source.iov_base);
    if (source.iov_len > device.message_max || source.iov_len < kLendNamed) return false;
    const bool by_region = named && named->device && holds(*named, source);
    LockGuard guard(device.lending);
    DeviceRange* range = nullptr;
    if (by_region) {
        range = find_or_keep(device, *static_cast<DeviceRegion*>(named->device), start, source.iov_len);
        if (range) ++range->holders, range->used = ++device.loans;
    } else {
        range = find_or_make(device, source, IBV_ACCESS_REMOTE_READ, source.iov_len >= kLendUnnamed);
    }
    if (!range) return false;
    *out = {.address = start, .key = range->registered->rkey, .token = range};
    return true;
}

DeviceRange* borrow(const VerbsDomain& device, const iovec& range, int access, bool once) {
    LockGuard guard(device.lending);
    return find_or_make(device, range, access, once);
}

void take_back(void* range) {
    auto* held = static_cast<DeviceRange*>(range);
    LockGuard guard(held->device->lending);
    drop_range(held);
}

void forget_lent(const VerbsDomain& device, DeviceRegion& region) {
    LockGuard guard(device.lending);
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
    if (!device.lending.try_lock()) return;
    device.unnamed.sweep();
    device.lending.unlock();
}

}  // namespace selvage::impl::verbs
