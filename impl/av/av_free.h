// Which indices of an address vector are free: a bit each, and a bit for each 64 of them that has a free one. The
// lowest free index below a million is found in at most 256 steps, whatever was removed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace selvage::impl {

class AvFree {
public:
    AvFree() = default;
    ~AvFree() {
        free(words_);
        free(summary_);
    }
    AvFree(const AvFree&) = delete;
    AvFree& operator=(const AvFree&) = delete;

    // More indices, all of them in use until put() says otherwise. False when memory is short.
    bool grow_to(uint64_t indices) {
        const uint64_t words = (indices + 63) / 64;
        return grow(&words_, count_, words) && grow(&summary_, (count_ + 63) / 64, (words + 63) / 64) &&
               (count_ = words, true);
    }

    void put(uint64_t index) {
        words_[index / 64] |= uint64_t{1} << index % 64;
        summary_[index / 4096] |= uint64_t{1} << index / 64 % 64;
    }
    // The lowest free index, free no more; UINT64_MAX when there is none.
    uint64_t take() {
        for (uint64_t group = 0; group * 64 < count_; ++group) {
            if (!summary_[group]) continue;
            const uint64_t word = group * 64 + static_cast<uint64_t>(std::countr_zero(summary_[group]));
            const uint64_t index = word * 64 + static_cast<uint64_t>(std::countr_zero(words_[word]));
            words_[word] &= words_[word] - 1;
            if (!words_[word]) summary_[group] &= summary_[group] - 1;
            return index;
        }
        return UINT64_MAX;
    }

private:
    static bool grow(uint64_t** words, uint64_t from, uint64_t to) {
        if (to <= from) return true;
        auto* larger = static_cast<uint64_t*>(realloc(*words, to * sizeof **words));
        if (!larger) return false;
        memset(larger + from, 0, (to - from) * sizeof **words);
        *words = larger;
        return true;
    }

    uint64_t* words_ = nullptr;
    uint64_t* summary_ = nullptr;
    uint64_t count_ = 0;
};

}  // namespace selvage::impl
