// Random numbers that repeat: each case of a property has its own stream, a function of (seed, property, index), so
// that a single case can be made again without the ones before it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace selvage::conformance {

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, good enough to choose test values.
class Rng {
public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}
    Rng(std::uint64_t seed, std::string_view property, std::uint64_t index)
        : state_(seed ^ index * 0x9E3779B97F4A7C15ULL) {
        for (const char c : property) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
        next();
    }

    /// Begins with these choices, each as many bytes as ByteReader::number() takes; then goes on by `seed`.  Whoever
    /// writes the choices, or changes one, steers what is made of them.
    Rng(std::uint64_t seed, std::string_view choices) : state_(seed), choices_(choices) {}

    std::uint64_t next() {
        if (!choices_.empty()) return chosen();
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    /// Uniform enough in [0, n); n > 0.
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    /// True in `percent` of 100.
    bool chance(unsigned percent) { return below(100) < percent; }
    template <typename T>
    const T& pick(std::span<const T> from) {
        return from[below(from.size())];
    }

private:
    std::uint64_t chosen() {
        std::uint64_t out = 0;
        for (unsigned shift = 0; shift < 64 && !choices_.empty(); shift += 7) {
            const auto b = static_cast<unsigned char>(choices_.front());
            choices_.remove_prefix(1);
            out |= static_cast<std::uint64_t>(b & 0x7FU) << shift;
            if (b < 0x80) break;
        }
        return out;
    }

    std::uint64_t state_;
    std::string_view choices_;
};

}  // namespace selvage::conformance
