// What a coordinator and its workers share: memory that is there before any library is loaded.
//
// The coordinator writes an order and stores its number; each worker performs it and adds one to those that have
// finished.  So reports and addresses that were written for one order can be read once all have finished it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "conformance/bench/many/plan.h"

namespace selvage::conformance::bench::many {

/// What all workers do next.
enum class Step : std::uint8_t {
    Weigh,  ///< report the memory that this process has
    Open,   ///< open endpoints, and publish their addresses
    Know,   ///< insert the addresses of the others, post receives
    Talk,   ///< the messages
    End,
};

struct Order {
    Step step;
    std::uint64_t turns;
    std::uint64_t window;  ///< messages of each endpoint in a turn
};

/// An endpoint's address.
struct Address {
    std::size_t length;
    char bytes[120];
};

/// Figures of Kind::Addresses that its worker reports.
inline constexpr std::array kAddressFigures = {Figure::Insert, Figure::InsertOne, Figure::LookUp};
/// REQUIRES: `figure` is one of kAddressFigures.
constexpr std::size_t index_of(Figure figure) {
    return static_cast<std::size_t>(figure) - static_cast<std::size_t>(kAddressFigures.front());
}

/// What a worker reports of the last order.
struct Report {
    std::int64_t began;  ///< steady_clock, in nanoseconds, which is the same in all processes
    std::int64_t ended;
    double memory;  ///< bytes without a file behind them, after Step::Weigh
    std::array<double, kAddressFigures.size()> figures;
};

struct Board {
    /// Number of the order that stands in `what`.  The coordinator stores with release, workers load with acquire.
    alignas(128) std::atomic<std::uint64_t> order;
    Order what;
    /// How often a worker has finished an order.  Workers add with release, the coordinator loads with acquire.
    alignas(128) std::atomic<std::uint64_t> finished;
    /// Turns that are complete at the worker that receives, since the beginning.  It stores, those that send load.
    /// Relaxed: nothing else is published by it.
    alignas(128) std::atomic<std::uint64_t> turns;
    /// Whether a worker has failed: the first one to set `failing` writes why, and then stores `failed` with release.
    alignas(128) std::atomic<bool> failing;
    std::atomic<bool> failed;
    char why[256];
    std::array<Report, kProcessesMost> reports;
    std::array<Address, kProcessesMost> addresses;  ///< by worker, of its first endpoint
};

}  // namespace selvage::conformance::bench::many
