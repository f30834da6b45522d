// See registration_cache.h.
#include "impl/transport/verbs/registration_cache.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "impl/base/create.h"
#include "impl/config/log.h"
#include "impl/config/param.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::verbs {
namespace {

const Param<const char*> kMonitorRow{nullptr, "mr_cache_monitor", "userfaultfd",
                                     "How a provider that keeps registrations of memory hears that the memory has "
                                     "changed: userfaultfd, or disabled to keep none"};
const Param<size_t> kCountRow{nullptr, "mr_cache_max_count", RegistrationCache::kStandardCount,
                              "Registrations of memory that a domain keeps, 0 for none"};
const Param<size_t> kSizeRow{nullptr, "mr_cache_max_size", SIZE_MAX, "Bytes of memory that a domain keeps registered"};

bool monitor_is_wanted() {
    const char* name = kMonitorRow.get();
    if (!name || strcmp(name, "userfaultfd") == 0) return true;
    if (strcmp(name, "disabled") == 0) return false;
    log(FI_LOG_WARN, FI_LOG_MR, "FI_MR_CACHE_MONITOR=%s: only userfaultfd and disabled are there; userfaultfd is used",
        name);
    return true;
}

}  // namespace

DeviceRange* make_range(const VerbsDomain& device, uintptr_t start, size_t length, int access) {
    auto* range = create<DeviceRange>();
    if (!range) return nullptr;
    range->registered = device.library->register_iova(device.pd, reinterpret_cast<void*>(start), length, start, access);
    if (!range->registered) {
        destroy(range);
        return nullptr;
    }
    range->device = &device;
    range->start = start;
    range->length = length;
    range->access = access;
    return range;
}

void drop_range(DeviceRange* range) {
    if (--range->holders) return;
    if (range->registered) (void)range->device->library->dereg_mr(range->registered);
    destroy(range);
}

bool RegistrationCache::open() {
    if (opened_) return watch_;
    opened_ = true;
    count_limit_ = std::min<size_t>(kCountRow.get(), PageWatch::kRanges);
    size_limit_ = kSizeRow.get();
    if (!count_limit_ || !size_limit_ || !monitor_is_wanted()) return false;
    kept_ = static_cast<DeviceRange**>(calloc(count_limit_, sizeof *kept_));
    if (!kept_) return false;
    watch_ = PageWatch::hold();
    if (watch_) {
        seen_changes_ = watch_->changes();
        return true;
    }
    log(FI_LOG_INFO, FI_LOG_MR, "no registrations are kept: this system has no userfaultfd for this process");
    free(kept_);
    kept_ = nullptr;
    return false;
}

void RegistrationCache::close() {
    while (count_) forget(kept_[count_ - 1]);
    free(kept_);
    kept_ = nullptr;
    if (watch_) PageWatch::let_go();
    watch_ = nullptr;
    opened_ = false;
}

void RegistrationCache::forget(DeviceRange*& place) {
    DeviceRange* range = place;
    place = kept_[--count_];
    size_ -= range->length;
    watch_->remove(range->watched);
    drop_range(range);
}

void RegistrationCache::give_up_changed() {
    seen_changes_ = watch_->changes();
    for (size_t i = count_; i-- > 0;) {
        if (!watch_->holds(kept_[i]->watched)) forget(kept_[i]);
    }
}

DeviceRange* RegistrationCache::find(uintptr_t start, size_t length, int access) {
    for (size_t i = 0; i < count_; ++i) {
        DeviceRange* range = kept_[i];
        if (!range->covers(start, length) || (range->access & access) != access) continue;
        if (watch_->holds(range->watched)) return range;
        forget(kept_[i--]);
    }
    return nullptr;
}

bool RegistrationCache::was_used_before(uintptr_t start, size_t length, int access) {
    uint64_t mark = start ^ uint64_t { length } << 32 ^ length >> 32 ^ static_cast<uint64_t>(access) << 60;
    mark *= 0x9e3779b97f4a7c15;
    uint64_t& place = remembered_[mark >> 56];
    static_assert(kRemembered == 1 << 8);
    const bool known = place == mark;
    place = mark;
    return known;
}

// The one that was not used for longest, of those that nobody uses now.
DeviceRange** RegistrationCache::oldest() {
    DeviceRange** found = nullptr;
    for (size_t i = 0; i < count_; ++i) {
        if (kept_[i]->holders == 1 && (!found || kept_[i]->used < (*found)->used)) found = &kept_[i];
    }
    return found;
}

bool RegistrationCache::make_room(size_t length) {
    if (length > size_limit_) return false;
    while (count_ == count_limit_ || size_ > size_limit_ - length) {
        DeviceRange** place = oldest();
        if (!place) return false;
        forget(*place);
    }
    return true;
}

DeviceRange* RegistrationCache::make(const VerbsDomain& device, uintptr_t start, size_t length, int access) {
    if (!watch_->is_private(start, length, false) || !make_room(length)) return nullptr;
    // Watched before the device looks at the pages: what changes in between is noted.
    const int number = watch_->add(start, length);
    if (number == PageWatch::kNone) return nullptr;
    DeviceRange* range = make_range(device, start, length, access);
    // Memory that may be locked is short, perhaps because of what is kept.
    for (DeviceRange** place; !range && (place = oldest());) {
        forget(*place);
        range = make_range(device, start, length, access);
    }
    if (range && watch_->is_private(start, length, true)) {
        range->watched = number;
        return range;
    }
    watch_->remove(number);
    if (range) {
        range->holders = 1;
        drop_range(range);
    }
    return nullptr;
}

DeviceRange* RegistrationCache::find_or_keep(const VerbsDomain& device, uintptr_t start, size_t length, int access) {
    if (!open()) return nullptr;
    sweep();
    DeviceRange* range = find(start, length, access);
    if (!range) {
        if (!was_used_before(start, length, access)) return nullptr;
        range = make(device, start, length, access);
        if (!range) return nullptr;
        kept_[count_++] = range;
        size_ += length;
        range->holders = 1;
    }
    range->used = ++uses_;
    ++range->holders;
    return range;
}

}  // namespace selvage::impl::verbs
