// The calls of fi_collective(3), as endpoints and domains have them. Defined in collective/.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

struct Endpoint;

// Of an enabled endpoint with FI_COLLECTIVE.
int join_collective(Endpoint& endpoint, const void* address, uint64_t flags, fid_mc** result, void* context);
extern const fi_ops_collective kCollectiveOps;

}  // namespace selvage::impl
