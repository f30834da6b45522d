// Which lines of a ring began a frame when they were last written: a bit for each. Private to the sender.
//
// A line that did begin one has the parity of the lap before in its first word, so the consumer does not take it for a
// frame. One that held payload may have anything there, and has to be cleared before the consumer looks at it.
// 1. Lines that were never written count as if they had begun a frame: memory starts as zero.
// 2. A line may be taken for payload that was none; that costs a store. Never the other way round.
// 3. Each line belongs to one frame of each lap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

class FrameStarts {
public:
    FrameStarts() { std::fill_n(words_, kWords, ~uint64_t{0}); }
    // Whether the line at a position of this lap began a frame in the lap before, or was never written.
    bool began(uint64_t position) const { return words_[word_of(position)] >> position % kBits & 1; }
    // A frame of one line.
    void put(uint64_t position) { words_[word_of(position)] |= uint64_t{1} << position % kBits; }
    // A frame. REQUIRES: lines > 0, and at most kRingLines.
    void put(uint64_t position, size_t lines) {
        if (position % kBits + lines > kBits) return put_apart(position, lines);
        uint64_t& word = words_[word_of(position)];
        word = (word & ~bits(position, lines)) | uint64_t{1} << position % kBits;
    }

private:
    static constexpr uint64_t kBits = 64;
    static constexpr size_t kWords = kRingLines / kBits;
    static size_t word_of(uint64_t position) { return (position & (kRingLines - 1)) / kBits; }

    // REQUIRES: they are in one word, and not none.
    static uint64_t bits(uint64_t position, uint64_t count) {
        return ~uint64_t{0} >> (kBits - count) << position % kBits;
    }
    // In several words.
    [[gnu::noinline]] void put_apart(uint64_t position, size_t lines) {
        put(position);
        for (uint64_t at = position + 1, left = lines - 1; left;) {
            const uint64_t count = std::min(kBits - at % kBits, left);
            words_[word_of(at)] &= ~bits(at, count);
            at += count;
            left -= count;
        }
    }

    uint64_t words_[kWords];
};

}  // namespace selvage::impl::shm
