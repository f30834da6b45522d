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

    std::uint64_t next() {
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
    std::uint64_t state_;
};

}  // namespace selvage::conformance
