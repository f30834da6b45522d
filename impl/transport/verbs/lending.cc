// See lending.h.
#include "impl/transport/verbs/lending.h"

#include "impl/core/create.h"
#include "impl/transport/verbs/knobs.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::verbs {
namespace {

void drop(const VerbsDomain& device, LentRange* range) {
    if (--range->holders) return;
    if (range->readable) (void)device.library->dereg_mr(range->readable);
    destroy(range);
}

LentRange* make(const VerbsDomain& device, uintptr_t start, size_t length) {
    auto* range = create<LentRange>();
    if (!range) return nullptr;
    range->readable =
        device.library->register_iova(device.pd, reinterpret_cast<void*>(start), length, start, IBV_ACCESS_REMOTE_READ);
    if (!range->readable) {
        destroy(range);
        return nullptr;
    }
    range->device = &device;
    range->start = start;
    range->length = length;
    return range;
}

// A place for one more: one that is free, or that of the range that was not used for longest.
LentRange** place_in(DeviceRegion& region) {
    LentRange** found = nullptr;
    for (LentRange*& range : region.kept) {
        if (!range) return &range;
        if (range->holders == 1 && (!found || range->used < (*found)->used)) found = &range;
    }
    return found;
}

LentRange* kept(const DeviceRegion& region, uintptr_t start, size_t length) {
    for (LentRange* range : region.kept) {
        if (range && range->start <= start && length <= range->length && start - range->start <= range->length - length)
            return range;
    }
    return nullptr;
}

LentRange* find_or_keep(const VerbsDomain& device, DeviceRegion& region, uintptr_t start, size_t length) {
    if (LentRange* range = kept(region, start, length)) return range;
    LentRange** place = place_in(region);
    LentRange* range = place ? make(device, start, length) : nullptr;
    if (!range) return nullptr;
    if (*place) drop(device, *place);
    *place = range;
    range->holders = 1;
    return range;
}

}  // namespace

bool lend(const VerbsDomain& device, const iovec& source, const MemoryRegion* named, Lent* out) {
    const auto start = reinterpret_cast<uintptr_t>(source.iov_base);
    if (source.iov_len > device.message_max || source.iov_len < kLendNamed) return false;
    const bool keeps = named && named->device && holds(*named, source);
    if (!keeps && source.iov_len < kLendUnnamed) return false;
    LockGuard guard(device.lending);
    LentRange* range = keeps ? find_or_keep(device, *static_cast<DeviceRegion*>(named->device), start, source.iov_len)
                             : make(device, start, source.iov_len);
    if (!range) return false;
    ++range->holders;
    range->used = ++device.loans;
    *out = {.address = start, .key = range->readable->rkey, .token = range};
    return true;
}

void take_back(void* token) {
    auto* range = static_cast<LentRange*>(token);
    const VerbsDomain& device = *range->device;
    LockGuard guard(device.lending);
    drop(device, range);
}

void forget_lent(const VerbsDomain& device, DeviceRegion& region) {
    LockGuard guard(device.lending);
    for (LentRange*& range : region.kept) {
        if (!range) continue;
        if (range->readable) (void)device.library->dereg_mr(range->readable);
        range->readable = nullptr;
        drop(device, range);
        range = nullptr;
    }
}

}  // namespace selvage::impl::verbs
