// Targets of operations with FI_COMMIT_COMPLETE (fi_cq(3)): what they write is made durable before it is reported.
//
// A region takes such operations if it was registered with FI_RMA_PMEM, which only memory does that is durable
// (domain/persistent_memory.h). Called with the engine's lock; a flush takes as long as the storage takes.
#pragma once

#include "impl/engine/memory.h"

namespace selvage::impl {

// 0, or FI_EINVAL: some of it is in no region that was registered with FI_RMA_PMEM.
// REQUIRES: none of it is a device's
int check_persistent(const Resolved& memory);

// 0 when all of it is durable, or a positive errno.
int flush_persistent(const Resolved& memory);

}  // namespace selvage::impl
