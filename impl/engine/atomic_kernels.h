// Atomic operations as they are done at the target, for every datatype of fi_atomic(3).
#pragma once

#include "impl/engine/memory.h"

namespace selvage::impl {

// Applies an operation that atomic_supported() knows to each of `count` elements of the target. What was there before
// goes to `result`, unless it is nullptr. operand, compare and result may be at any address; they are of this process.
//
// Each element of one, two, four or eight bytes at an address that is a multiple of its size is changed by one atomic
// instruction, so it is atomic to everything else that is, processor and other processes included. Others are changed
// under one lock of this process, and are atomic to one another.
void apply_atomic(fi_datatype type, fi_op op, const Resolved& target, const std::byte* operand,
                  const std::byte* compare, std::byte* result, size_t count);

}  // namespace selvage::impl
