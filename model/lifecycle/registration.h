// A registration of several pieces of memory, as the flags of a case's `open mrv` have it (docs/formats.md).
//
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace selvage::model {

inline constexpr std::uint64_t kMrvVectors = 0xff;      ///< how many vectors
inline constexpr std::uint64_t kMrvAttributes = 0x100;  ///< by fi_mr_regattr
inline constexpr std::uint64_t kMostVectors = 64;       ///< of a registration
inline constexpr std::uint64_t kMrvKey = 0x5A;          ///< that it asks for; fits any key size

/// How many vectors these flags ask for: 1 to kMostVectors.
constexpr std::uint64_t vectors_of(std::uint64_t flags) {
    return std::clamp(flags & kMrvVectors, std::uint64_t{1}, kMostVectors);
}

}  // namespace selvage::model
