// Which memory may be registered with FI_RMA_PMEM: what is durable once it has been flushed.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

// 0 if all of the range is in shared mappings of files that outlive a power failure. Memory without a file, private
// mappings, files that have been removed and files of memory (tmpfs, ramfs, hugetlbfs) are not, nor are character
// devices (/dev/dax), for which the kernel has no flush: -FI_EINVAL; -FI_ENOMEM if that could not be found out. Reads
// /proc/self/maps, once per call; any thread.
int check_persistent_memory(const iovec& range);

}  // namespace selvage::impl
