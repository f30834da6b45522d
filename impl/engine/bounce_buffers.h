// Copies of data that was injected, one buffer for each record of an operation (Transmit::index), made when the record
// needs one for the first time and kept for its next. The sender and the atomics call it, with the engine's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "impl/endpoint/atomic_types.h"

namespace selvage::impl {

class BounceBuffers {
public:
    // An atomic has operands and comparands.
    static constexpr size_t kBytes = 2 * kAtomicBytesMax;

    BounceBuffers() = default;
    ~BounceBuffers() {
        for (size_t i = 0; i < count_; ++i) free(buffers_[i]);
        free(buffers_);
    }
    BounceBuffers(const BounceBuffers&) = delete;
    BounceBuffers& operator=(const BounceBuffers&) = delete;

    // kBytes, or nullptr when memory is short.
    std::byte* at(uint32_t index) {
        if (index >= count_) {
            const size_t count = (index + 64) & ~size_t{63};
            auto** grown = static_cast<std::byte**>(realloc(buffers_, count * sizeof *buffers_));
            if (!grown) return nullptr;
            memset(grown + count_, 0, (count - count_) * sizeof *grown);
            buffers_ = grown;
            count_ = count;
        }
        if (!buffers_[index]) buffers_[index] = static_cast<std::byte*>(malloc(kBytes));
        return buffers_[index];
    }

private:
    std::byte** buffers_ = nullptr;
    size_t count_ = 0;
};

}  // namespace selvage::impl
