// How much longer than usual everything may take here before it counts as hanging.
//
// SELVAGE_PATIENCE says so many times (1 to 100), for machines that are many times slower than others (an emulated
// one), or that do many other things.  Any thread.
#pragma once

#include <chrono>
#include <cstdlib>

namespace selvage::conformance {

/// A call that works on a processor for so long and does not come back hangs, if it waits for nothing.
inline constexpr std::chrono::milliseconds kLongestWork{700};

inline unsigned patience_factor() {
    const char* const value = std::getenv("SELVAGE_PATIENCE");
    const int n = value != nullptr ? std::atoi(value) : 1;
    return n > 1 && n <= 100 ? static_cast<unsigned>(n) : 1;
}

}  // namespace selvage::conformance
