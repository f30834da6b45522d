// Memory of NVIDIA's devices, by the driver's library (libcuda.so.1).
//
// The library is loaded when memory is registered with FI_HMEM_CUDA for the first time, in a domain without functions
// of the application, and never before. It stays loaded.
#pragma once

#include "impl/hmem/hmem.h"

namespace selvage::impl {

// nullptr: there is no driver, or no device.
const HmemInterface* find_cuda();

}  // namespace selvage::impl
