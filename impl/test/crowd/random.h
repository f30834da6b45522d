// Random numbers that a seed makes again, and bytes that tell who made them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace selvage::impl::test {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        state_ += 0x9e3779b97f4a7c15u;
        uint64_t word = state_;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
        return word ^ (word >> 31);
    }
    uint64_t below(uint64_t limit) { return next() % limit; }

private:
    uint64_t state_;
};

// The bytes of a message of that size: its seed, and what follows from it.
inline void write_pattern(std::byte* bytes, size_t size, uint64_t seed) {
    uint64_t word = seed;
    for (size_t at = 0; at < size; at += sizeof word, word = word * 6364136223846793005u + 1442695040888963407u) {
        memcpy(bytes + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}
// How many bytes are as they should be, in whole words.
inline size_t pattern_length(const std::byte* bytes, size_t size) {
    uint64_t word = 0;
    if (size < sizeof word) return size;
    memcpy(&word, bytes, sizeof word);
    for (size_t at = 0; at < size; at += sizeof word, word = word * 6364136223846793005u + 1442695040888963407u) {
        if (memcmp(bytes + at, &word, size - at < sizeof word ? size - at : sizeof word) != 0) return at;
    }
    return size;
}
inline bool is_pattern(const std::byte* bytes, size_t size) { return pattern_length(bytes, size) == size; }

}  // namespace selvage::impl::test
