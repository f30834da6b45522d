// Text for any value that enum fi_type names: the inside of fi_tostr and fi_tostr_r, for use within the library.
//
// Invariants: at most length bytes of the buffer are written, the text ends with NUL whenever length > 0, nothing is
// touched when length is 0 or the buffer is NULL, and unknown types, values and bits are shown, never lost and never
// a reason to fail. Any thread, no allocation.
#pragma once

#include "impl/base/rdma.h"

#include <cstddef>
#include <string_view>

namespace selvage::impl {

// What FI_TYPE_VERSION shows.
inline constexpr std::string_view kLibraryVersionText = "1.18.1";

char* to_text(char* buffer, std::size_t length, const void* data, fi_type type) noexcept;

}  // namespace selvage::impl
