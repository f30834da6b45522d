// The memory of one endpoint: one mapping, laid out alike in every process, so that an offset names the same byte to
// who drives the endpoint and to who has opened it.
//
//   0               contexts of operations, kContextLength bytes each
//   kTargetOffset   what the peer reads and writes: the region, then bytes behind it that nobody may touch
//   kArenaOffset    the endpoint's own buffers
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "conformance/case/operations.h"

namespace selvage::conformance {

inline constexpr std::size_t kContextGuard = 64;  ///< bytes behind each context
inline constexpr std::size_t kContextLength = sizeof(fi_context2) + kContextGuard;
inline constexpr std::size_t kContexts = 4352;                      ///< of one endpoint
inline constexpr std::size_t kBehindRegion = std::size_t{2} << 20;  ///< memory behind it that nobody may touch
inline constexpr std::size_t kArenaLength = std::size_t{64} << 20;
inline constexpr std::size_t kTargetOffset = kContexts * kContextLength;
inline constexpr std::size_t kTargetLength = kRegionLength + kBehindRegion;
inline constexpr std::size_t kArenaOffset = kTargetOffset + kTargetLength;
inline constexpr std::size_t kMemoryLength = kArenaOffset + kArenaLength;
static_assert(kTargetOffset % 4096 == 0, "both begin a page");

/// Some bytes of it.
struct MemoryRange {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

/// A mapping of kMemoryLength zeros, given back at the end.  `data()` is nullptr if there was no room.
class Mapping {
public:
    enum class Sharing : std::uint8_t { Private, WithChildren };
    explicit Mapping(Sharing sharing);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    [[nodiscard]] unsigned char* data() const { return data_; }

private:
    unsigned char* data_ = nullptr;
};

}  // namespace selvage::conformance
