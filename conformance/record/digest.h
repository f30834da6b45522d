// The digest of a payload: says whether two payloads are the same, and nothing else about them (not a secret's guard).
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <cstring>

namespace selvage::record {

class Digest {
public:
    /// All that is left: the last call.
    void add(const void* from, std::size_t size) {
        const auto* at = static_cast<const unsigned char*>(from);
        for (; size >= 8; at += 8, size -= 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, 8);
            mix(word);
        }
        std::uint64_t rest = 0;
        if (size != 0) std::memcpy(&rest, at, size);
        mix(rest ^ static_cast<std::uint64_t>(size) << 56);
    }
    /// Eight bytes; only add() takes what is left at the end.
    void add_word(const void* from) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, 8);
        mix(word);
    }
    [[nodiscard]] std::uint64_t value() const { return state_ ^ state_ >> 29; }

private:
    void mix(std::uint64_t word) {
        state_ = (state_ ^ word) * 0x9e3779b97f4a7c15U;
        state_ ^= state_ >> 32;
    }
    std::uint64_t state_ = 0xcbf29ce484222325U;
};

inline std::uint64_t digest(const void* from, std::size_t size) {
    Digest d;
    d.add(from, size);
    return d.value();
}

}  // namespace selvage::record
