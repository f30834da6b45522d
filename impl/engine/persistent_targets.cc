// See persistent_targets.h.
#include "impl/engine/persistent_targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "impl/domain/mr.h"

namespace selvage::impl {
namespace {

// Whole pages, as msync wants them.
iovec pages_of(const iovec& piece) {
    static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto start = reinterpret_cast<uintptr_t>(piece.iov_base);
    const uintptr_t first = start & ~(page - 1);
    return range_of(reinterpret_cast<void*>(first), start + piece.iov_len - first);
}

}  // namespace

int check_persistent(const Resolved& memory) {
    const bool all = std::all_of(memory.regions, memory.regions + memory.region_count,
                                 [](const MemoryRegion* region) { return region->flags & FI_RMA_PMEM; });
    return all ? 0 : FI_EINVAL;
}

int flush_persistent(const Resolved& memory) {
    for (size_t i = 0; i < memory.count; ++i) {
        const iovec pages = pages_of(memory.pieces[i]);
        if (msync(pages.iov_base, pages.iov_len, MS_SYNC) != 0) return FI_EIO;
    }
    return 0;
}

}  // namespace selvage::impl
