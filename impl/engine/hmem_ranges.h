// Local memory of an operation of which some is a device's (impl/hmem/hmem.h), as fi_mr_desc of its ranges says.
#pragma once

#include "impl/domain/mr.h"
#include "impl/engine/protocol.h"

namespace selvage::impl {

// Any of these fi_mr_desc, or nullptr, names memory of a device.
inline bool names_hmem(void* const* regions, size_t count) {
    for (size_t i = 0; regions && i < count && i < kRangesMax; ++i) {
        if (regions[i] && static_cast<const MemoryRegion*>(regions[i])->hmem.ops) return true;
    }
    return false;
}

// Ranges, and where each of them is. It outlives the regions that it was made of.
struct HmemRanges {
    size_t count = 0;
    iovec ranges[kRangesMax];
    Hmem memory[kRangesMax];

    // REQUIRES: ranges are left.
    void add(const iovec& range, const Hmem& where) {
        ranges[count] = range;
        memory[count++] = where;
    }
    void add(const iovec* added, void* const* regions, size_t added_count) {
        for (size_t i = 0; i < added_count; ++i) {
            const auto* region = regions ? static_cast<const MemoryRegion*>(regions[i]) : nullptr;
            add(added[i], region ? region->hmem : Hmem{});
        }
    }
    // The bytes [offset, offset + size), as far as the ranges reach. 0 or a positive errno.
    int gather(uint64_t offset, void* to, size_t size) const;
    int scatter(uint64_t offset, const void* from, size_t size) const;
};

// One piece of memory, wherever it is.
int copy_from_memory(const Hmem& memory, const void* at, void* to, size_t size);
int copy_to_memory(const Hmem& memory, void* at, const void* from, size_t size);

}  // namespace selvage::impl
