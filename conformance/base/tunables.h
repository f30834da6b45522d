// What a check asks of the C library for itself and for the processes that drive a library: huge pages for what malloc
// maps.  The programs of findings run without it, as an application would.
#pragma once

namespace selvage::conformance {

inline constexpr const char* kTunables = "GLIBC_TUNABLES";
inline constexpr const char* kHugePages = "glibc.malloc.hugetlb=1";

}  // namespace selvage::conformance
