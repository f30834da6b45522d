// fi_getinfo, below the ABI.
#pragma once

#include "impl/base/layout.h"
#include "impl/base/rdma.h"

namespace selvage::impl {

// What is wrong with a call, whatever providers there are: 0 or a negative fabric errno.
int check_call(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags);

// `layout` is that of the symbol the caller is linked to. *info is the answer, or nullptr with a negative fabric errno.
int get_info(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags,
             const fi_info* hints, fi_info** info);

}  // namespace selvage::impl
