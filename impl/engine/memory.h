// Copies between ranges of memory, and the check that stands between a peer and the memory of this process.
#pragma once

#include "impl/domain/domain.h"
#include "impl/engine/protocol.h"

namespace selvage::impl {

inline iovec range_of(const void* bytes, size_t size) {
    return {.iov_base = const_cast<void*>(bytes), .iov_len = size};
}

// As a process names its memory to another, and back.
inline LocalRange local_range(const iovec& range) {
    return {.address = reinterpret_cast<uintptr_t>(range.iov_base), .length = range.iov_len};
}
inline iovec range_of(const LocalRange& range) {
    return range_of(reinterpret_cast<const void*>(range.address), range.length);
}

// False when the lengths overflow.
inline bool total_of(const iovec* ranges, size_t count, size_t* total) {
    *total = 0;
    for (size_t i = 0; i < count; ++i) {
        if (__builtin_add_overflow(*total, ranges[i].iov_len, total)) return false;
    }
    return true;
}

// The part [offset, offset + size) of some ranges, as ranges: at most `count` of them. The part lies within.
size_t slice(const iovec* ranges, size_t count, uint64_t offset, uint64_t size, iovec* out);
// From the offset on; returns how many bytes there was room for.
size_t scatter(const iovec* ranges, size_t count, uint64_t offset, const void* bytes, size_t size);
size_t gather(const iovec* ranges, size_t count, uint64_t offset, void* bytes, size_t size);

// Targets as memory.
struct Resolved {
    static constexpr size_t kPieces = kRangesMax * kRangesMax;
    iovec pieces[kPieces];
    size_t count = 0;
    // That they are in, one for each target that is not empty. They can be closed once the caller's lock is released.
    const MemoryRegion* regions[kRangesMax];
    size_t region_count = 0;
    // Of an endpoint with FI_HMEM: some of it is a device's, and there are no pieces (hmem_targets.h).
    bool on_hmem;
};

// Finds the memory of targets that a peer names. All of it, or none and a positive fabric errno: FI_ENOKEY without a
// region of that key, FI_EACCES when it does not allow `access`, FI_EINVAL when it is not wholly inside the region.
// `locked`: regions may come and go meanwhile in other threads.
int resolve_targets(Domain& domain, bool locked, const Target* targets, size_t count, uint64_t access, Resolved* out);
// The same for a target that is one piece of memory, as most are: its first byte, or nullptr when it is anything else.
std::byte* resolve_piece(Domain& domain, bool locked, const Target& target, uint64_t access);
// The counters that are bound to the regions, which count a write.
void count_region_writes(Domain& domain, bool locked, const Target* targets, size_t count);

}  // namespace selvage::impl
