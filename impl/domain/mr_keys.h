// The keys of regions: how they are chosen, when peers can use them, and how they travel.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

struct Domain;
struct MemoryRegion;

// Keys are longer than 64 bits: fi_mr_key has none.
bool is_raw(const Domain& domain);
// From now on peers can use the region. 0, -FI_ENOKEY when the key is taken, -FI_ENOMEM, -FI_EAGAIN without a random
// one.
int publish_key(Domain& domain, MemoryRegion* region);
// One of the calls that the region awaits (mr_duties.h): the last publishes its key.
int call_came(MemoryRegion* region, uint8_t call);
int enable_region(MemoryRegion* region);

int get_raw_key(const MemoryRegion& region, struct fi_mr_raw_attr* raw);
int map_key(const Domain& domain, struct fi_mr_map_raw* map);

}  // namespace selvage::impl
