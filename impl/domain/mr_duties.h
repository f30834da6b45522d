// Registration where duties of mr_mode are insisted on (catalog/duties.h). A domain without them never comes here.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

struct Domain;
struct MemoryRegion;

// What a region waits for before its key is known to peers: bits of MemoryRegion::awaits.
inline constexpr uint8_t kAwaitsEnable = 1;   // fi_mr_enable: FI_MR_ENDPOINT, FI_MR_RMA_EVENT
inline constexpr uint8_t kAwaitsRefresh = 2;  // fi_mr_refresh: FI_MR_MMU_NOTIFY
uint8_t awaited_calls(const Domain& domain, uint64_t flags);

// Each 0 or a negative errno, with a line in the log.
int check_allocated(const iovec* ranges, size_t count);
int check_binding(const MemoryRegion& region, const fid& other);
int check_enabling(const MemoryRegion& region);

}  // namespace selvage::impl
