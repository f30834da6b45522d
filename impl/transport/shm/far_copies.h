// How the payload of a frame gets into a ring whose owner's processor is far from this one: past the caches.
//
// A plain store to a line that the other processor has read needs an answer from there. Between processors without a
// cache in common that takes 17 to 28 ns for each line of a payload, 4 to 7 where they have one
// (docs/performance-shm.md). Stores past the caches ask nobody: the line goes to memory, from which the owner reads
// ahead. Where it is near, that is slower for short payloads. What is near is measured: the time of a plain copy, now
// and then.
//
// A value of the producer, called with the endpoint's lock held. What was stored past the caches is ordered before
// every store behind it (the fence), as the first word of the frame is (ring.h).
#pragma once

#include "impl/base/clock.h"
#include "impl/transport/shm/copy.h"
#include "impl/transport/shm/layout.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace selvage::impl::shm {

#if defined(__x86_64__)

// REQUIRES: `to` is the beginning of a line.
inline void copy_past_caches(std::byte* to, const std::byte* from, size_t size) {
    auto* line = reinterpret_cast<__m128i*>(to);
    const auto* words = reinterpret_cast<const __m128i*>(from);
    constexpr size_t kWords = kLine / sizeof(__m128i);
    for (; size >= kLine; size -= kLine, line += kWords, words += kWords) {
        for (size_t i = 0; i < kWords; ++i) _mm_stream_si128(line + i, _mm_loadu_si128(words + i));
    }
    if (size) memcpy(line, words, size);
    _mm_sfence();
}

#else

inline void copy_past_caches(std::byte* to, const std::byte* from, size_t size) { copy_large(to, from, size); }

#endif

class FarCopies {
public:
    // So is so much copied, but for a copy that is timed.
    bool passes_caches(size_t size) const { return size >= kPastCachesMin && is_far(); }

    // REQUIRES: `to` is the beginning of a line of the ring.
    void copy(std::byte* to, const std::byte* from, size_t size) {
        if (size < kTimedMin || --left_)
            return passes_caches(size) ? copy_past_caches(to, from, size) : copy_large(to, from, size);
        const int64_t began = monotonic_nanoseconds();
        copy_large(to, from, size);
        took(monotonic_nanoseconds() - began, size);
    }
    // A plain copy of so many bytes took so long.
    void took(int64_t nanoseconds, size_t size) {
        const bool slow = static_cast<size_t>(nanoseconds) * kLine > size * kFarLine;
        if (slow && slow_ < kSlowMost) ++slow_;
        if (!slow && slow_) --slow_;
        left_ = is_far() ? kFarInterval : kNearInterval;
    }
    bool is_far() const { return slow_ >= kSlowEnough; }

private:
    static constexpr size_t kPastCachesMin = 2048;  // where it is far; 1 KiB is as fast either way
    static constexpr size_t kTimedMin = 4096;       // for less the processor's buffers hide it
    static constexpr size_t kFarLine = 12;          // nanoseconds
    // One that an interrupt or a new page made slow changes nothing.
    static constexpr uint32_t kSlowEnough = 2;
    static constexpr uint32_t kSlowMost = 3;
    static constexpr uint32_t kNearInterval = 32;  // copies between two that are timed
    static constexpr uint32_t kFarInterval = 128;  // a timed one costs four of the others there

    uint32_t left_ = kNearInterval;
    uint32_t slow_ = 0;
};

}  // namespace selvage::impl::shm
