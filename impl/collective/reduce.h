// Reductions: to[i] = first[i] op second[i], for the datatypes and operations of fi_collective(3).
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

// The three may be at any address; `to` is one of the others, or apart from them.
using Reducer = void (*)(std::byte* to, const std::byte* first, const std::byte* second, size_t count);

// nullptr: there is no such reduction.
Reducer reducer_of(fi_datatype type, fi_op op);

}  // namespace selvage::impl
