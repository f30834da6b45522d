// The clock that no one sets. Any thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace selvage::impl {

inline int64_t monotonic_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace selvage::impl
