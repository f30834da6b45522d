// See mr_duties.h.
#include "impl/domain/mr_duties.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "impl/catalog/duties.h"
#include "impl/domain/domain.h"
#include "impl/domain/mr.h"

namespace selvage::impl {
namespace {

// Whether every page of the range is mapped.
bool is_mapped(const iovec& range) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t end = reinterpret_cast<uintptr_t>(range.iov_base) + range.iov_len;
    unsigned char resident;
    for (uintptr_t at = reinterpret_cast<uintptr_t>(range.iov_base) & ~(page - 1); at < end; at += page) {
        if (mincore(reinterpret_cast<void*>(at), page, &resident) != 0 && errno == ENOMEM) return false;
    }
    return true;
}

}  // namespace

uint8_t awaited_calls(const Domain& domain, uint64_t flags) {
    uint8_t awaits = 0;
    if (domain.duties & FI_MR_ENDPOINT) awaits |= kAwaitsEnable;
    if ((domain.duties & FI_MR_RMA_EVENT) && (flags & FI_RMA_EVENT)) awaits |= kAwaitsEnable;
    if (domain.duties & FI_MR_MMU_NOTIFY) awaits |= kAwaitsRefresh;
    return awaits;
}

int check_allocated(const iovec* ranges, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (is_mapped(ranges[i])) continue;
        log_breach("fi_mr_reg", "FI_MR_ALLOCATED", "fi_mr(3)", "no memory is behind a part of the buffer");
        return -FI_EFAULT;
    }
    return 0;
}

int check_binding(const MemoryRegion& region, const fid& other) {
    const int duties = region.domain->duties;
    if (other.fclass == FI_CLASS_CNTR && (duties & FI_MR_RMA_EVENT) && !(region.flags & FI_RMA_EVENT)) {
        log_breach("fi_mr_bind", "FI_MR_RMA_EVENT", "fi_mr(3)",
                   "the region was registered without the flag FI_RMA_EVENT, so that it takes no counter");
        return -FI_EINVAL;
    }
    if ((duties & (FI_MR_ENDPOINT | FI_MR_RMA_EVENT)) && !(region.awaits & kAwaitsEnable)) {
        log_breach("fi_mr_bind", duties & FI_MR_ENDPOINT ? "FI_MR_ENDPOINT" : "FI_MR_RMA_EVENT", "fi_mr(3)",
                   "the region is enabled already");
        return -FI_EOPBADSTATE;
    }
    return 0;
}

int check_enabling(const MemoryRegion& region) {
    if (!(region.domain->duties & FI_MR_ENDPOINT) || region.bound) return 0;
    log_breach("fi_mr_enable", "FI_MR_ENDPOINT", "fi_mr(3)", "the region is bound to no endpoint");
    return -FI_EOPBADSTATE;
}

}  // namespace selvage::impl
