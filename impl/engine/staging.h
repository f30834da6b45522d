// Operations on memory of devices: the bytes travel in a copy in the process's own memory, so that no transport ever
// sees an address of a device.
#pragma once

#include <cstdlib>
#include <new>

#include "impl/engine/hmem_ranges.h"
#include "impl/engine/transport.h"

namespace selvage::impl {

// The transport of an endpoint that was opened with FI_HMEM. The engine over it looks at every fi_mr_desc; the one over
// T itself has none of that code.
template <typename T>
struct Staged : T {
    using Plain = T;
    static constexpr bool kStages = true;
};

template <typename T>
concept StagesMemory = requires {
    requires T::kStages;
};

// Bytes that the copies of one endpoint's operations take together, unless it has one operation alone.
inline constexpr uint64_t kStagedBytesMost = uint64_t{64} << 20;

// The copy that belongs to an operation of this side. A source is filled when the operation is posted; what an
// operation returns goes from there to `destination` before it completes.
struct Staging {
    std::byte* bytes = nullptr;  // of ReceiveContext::copies
    size_t size = 0;
    size_t returned_at = 0;  // where in the copy that begins
    HmemRanges destination;  // no ranges: nothing returns
};

// A posted receive of which some memory is a device's.
struct HmemReceive {
    HmemRanges ranges;
    std::byte* copy = nullptr;  // of ReceiveContext::copies: a message that takes its time to arrive
};

// What was read ahead of a device's memory for the answer to a read that goes in parts, since each copy costs the same,
// however short. Of one answer at a time.
class HmemWindow {
public:
    static constexpr size_t kBytes = 256u << 10;

    HmemWindow() = default;
    ~HmemWindow() { free(bytes_); }
    HmemWindow(const HmemWindow&) = delete;
    HmemWindow& operator=(const HmemWindow&) = delete;

    // kBytes to fill, or nullptr when memory is short. What was there is gone.
    std::byte* acquire() {
        response_ = 0;
        if (!bytes_) bytes_ = static_cast<std::byte*>(malloc(kBytes));
        return bytes_;
    }
    void holds(uint64_t response, uint64_t offset, uint64_t size) {
        response_ = response;
        offset_ = offset;
        size_ = size;
    }
    // The bytes [offset, offset + size) of that answer, or nullptr.
    std::byte* find(uint64_t response, uint64_t offset, uint64_t size) const {
        const bool here = response == response_ && offset >= offset_ && offset - offset_ + size <= size_;
        return here ? bytes_ + (offset - offset_) : nullptr;
    }

private:
    std::byte* bytes_ = nullptr;
    uint64_t response_ = 0;  // Pool::id, or 0: none
    uint64_t offset_ = 0;
    uint64_t size_ = 0;
};

}  // namespace selvage::impl
