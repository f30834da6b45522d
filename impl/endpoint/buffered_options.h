// FI_OPT_BUFFERED_LIMIT and FI_OPT_BUFFERED_MIN (fi_endpoint(3)): a plain value that endpoints and shared receive
// contexts hold, and read with the lock that protects their other options.
#pragma once

#include <cstddef>

#include "impl/base/rdma.h"

namespace selvage::impl {

struct BufferedOptions {
    // The most that either may be set to, in bytes.
    static constexpr size_t kMost = size_t{1} << 20;

    size_t limit = size_t{16} << 10;  // the longest message that is notified whole
    size_t least = 0;                 // bytes of a longer one that are there when it is notified

    static bool is_named_by(int option) { return option == FI_OPT_BUFFERED_LIMIT || option == FI_OPT_BUFFERED_MIN; }
    // REQUIRES: is_named_by(option)
    size_t get(int option) const { return option == FI_OPT_BUFFERED_LIMIT ? limit : least; }
    // SIZE_MAX stands for the most. 0 or -FI_EMSGSIZE.
    int set(int option, size_t value) {
        if (value == SIZE_MAX) value = kMost;
        if (value > kMost) return -FI_EMSGSIZE;
        (option == FI_OPT_BUFFERED_LIMIT ? limit : least) = value;
        return 0;
    }
};

}  // namespace selvage::impl
