// Registrations of memory that the application has not registered, kept for the next time that it is used.
//
// Registering costs about as much as copying some ten KiB; so a range gets a registration of its own when it is used a
// second time, and keeps it until it has not been used for longest, or the pages behind its addresses change
// (page_watch.h). Where the system does not tell of such changes nothing is kept.
//
// The environment variables of fi_mr(3): FI_MR_CACHE_MONITOR, FI_MR_CACHE_MAX_COUNT, FI_MR_CACHE_MAX_SIZE.
// Everything here is done under the domain's lock for exports.
#pragma once

#include "impl/transport/verbs/page_watch.h"
#include "impl/transport/verbs/rdma_library.h"

namespace selvage::impl::verbs {

struct VerbsDomain;

// A range of the application's memory that a device may use.
struct DeviceRange {
    const VerbsDomain* device = nullptr;
    ibv_mr* registered = nullptr;  // nullptr: its region is gone
    uintptr_t start = 0;
    size_t length = 0;
    int access = 0;
    int watched = PageWatch::kNone;
    uint32_t holders = 0;  // requests and messages under way, and whatever keeps it
    uint64_t used = 0;     // when, counted in uses

    bool covers(uintptr_t from, size_t size) const {
        return start <= from && size <= length && from - start <= length - size;
    }
};

// Registered for `holders` to come, nullptr: the device does not take it, or no memory.
DeviceRange* make_range(const VerbsDomain& device, uintptr_t start, size_t length, int access);
// One holder less; the last one releases it.
void drop_range(DeviceRange* range);

class RegistrationCache {
public:
    static constexpr size_t kStandardCount = 128;

    // A range with one more holder, or nullptr: it is not worth while yet, or nothing can be kept of it.
    DeviceRange* find_or_keep(const VerbsDomain& device, uintptr_t start, size_t length, int access);
    // Gives up what cannot be used again, because its pages have changed.
    void sweep() {
        if (has_to_sweep()) give_up_changed();
    }
    // Gives up everything.
    void close();

private:
    static constexpr size_t kRemembered = 256;

    bool open();
    bool has_to_sweep() const { return watch_ && watch_->changes() != seen_changes_; }
    void give_up_changed();
    DeviceRange* find(uintptr_t start, size_t length, int access);
    bool was_used_before(uintptr_t start, size_t length, int access);
    DeviceRange* make(const VerbsDomain& device, uintptr_t start, size_t length, int access);
    bool make_room(size_t length);
    DeviceRange** oldest();
    void forget(DeviceRange*& place);

    PageWatch* watch_ = nullptr;
    DeviceRange** kept_ = nullptr;  // no gaps among the first count_
    size_t count_ = 0;
    size_t size_ = 0;  // bytes
    size_t count_limit_ = 0;
    size_t size_limit_ = 0;
    uint64_t uses_ = 0;
    uint32_t seen_changes_ = 0;
    bool opened_ = false;
    uint64_t remembered_[kRemembered] = {};  // ranges that were used, one by each remainder
};

}  // namespace selvage::impl::verbs
