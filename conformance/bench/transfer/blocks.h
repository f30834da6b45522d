// Blocks: how often something is done between two readings of the clock, and how many blocks fill the time of a row.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench::transfer {

using Clock = std::chrono::steady_clock;

struct Blocks {
    std::uint64_t count = 2;
    std::uint64_t each = 4;  ///< turns in a block
    [[nodiscard]] std::uint64_t turns() const { return count * each; }
};

/// Blocks of at least 100 us, that take the time of the effort together; at least three.
/// @param ns what a turn takes.
/// @param least turns in a block, at least.
inline Blocks blocks_for(double ns, const Effort& effort, std::uint64_t least = 1) {
    constexpr double kBlock = 100e3;
    const double turn = std::max(ns, 1.0);
    Blocks b;
    b.each = std::max(least, static_cast<std::uint64_t>(kBlock / turn));
    const double block = turn * static_cast<double>(b.each);
    const double time = std::chrono::duration<double, std::nano>(effort.time).count();
    b.count = static_cast<std::uint64_t>(std::max(3.0, time / block));
    return b;
}

/// Does `turn` in blocks.  @return nanoseconds of a turn, one for each block.
template <class Turn>
std::vector<double> time_blocks(const Blocks& blocks, Turn turn) {
    std::vector<double> out;
    out.reserve(blocks.count);
    for (std::uint64_t b = 0; b < blocks.count; ++b) {
        const auto began = Clock::now();
        for (std::uint64_t i = 0; i < blocks.each; ++i) turn();
        const std::chrono::duration<double, std::nano> took = Clock::now() - began;
        out.push_back(took.count() / static_cast<double>(blocks.each));
    }
    return out;
}

/// Samples in a few helpings, and ends early where other work on the machine makes them take many times as long as they
/// should.
/// @param helping does that many blocks, and returns a sample for each.
template <class Helping>
std::vector<double> in_helpings(const Blocks& all, const Effort& effort, Helping helping) {
    constexpr std::uint64_t kHelpings = 4;
    constexpr int kPatience = 5;  // times the effort
    const std::uint64_t each = std::max<std::uint64_t>(3, all.count / kHelpings);
    const auto end = Clock::now() + kPatience * effort.time;
    std::vector<double> out;
    while (out.size() < all.count && (out.empty() || Clock::now() < end)) {
        const auto got = helping(Blocks{each, all.each});
        out.insert(out.end(), got.begin(), got.end());
    }
    return out;
}

}  // namespace selvage::conformance::bench::transfer
