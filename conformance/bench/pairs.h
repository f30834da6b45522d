// Runs workloads on two libraries in turn, A B A B …, each run in a process of its own, and sums up what came.
//
// Runs that stand next to one another in time see the same machine, so the ratio is taken pair by pair and is steadier
// than the times.  Call from a single-threaded process that has loaded no library.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/bench/statistics.h"
#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

/// One of the two libraries.
struct Side {
    std::string path;  ///< as dlopen takes it
    std::string resolved;
    std::string version;
    std::string build_id;
};

/// Fills in what a library says of itself.  @return why it can't be used; empty if it can.
std::string identify(Side& side);

/// What was seen of one library in one workload.
struct Measured {
    Summary summary;
    std::optional<double> instructions;  ///< per call
    std::string error;                   ///< why it was not measured
};

enum class Met : std::uint8_t { NoGoal, Yes, No, Unknown };

struct Result {
    const Workload* workload = nullptr;
    std::array<Measured, 2> sides;
    std::vector<double> ratios;            ///< of each pair: how many times as good A is
    double ratio = 0;                      ///< their median; 0 if a side is missing
    double floor = 0;                      ///< median of the floor; 0 if there is none
    std::array<double, 2> floor_ratios{};  ///< figure by floor, median of the pairs; 0 if not known

    /// How many times the instructions of A those of B are; 0 if not counted.
    [[nodiscard]] double instruction_ratio() const;
    [[nodiscard]] Met met() const;
};

/// How many times as good the first figure is; 0 if either is missing.
double times_as_good(Quantity quantity, double ours, double theirs);
/// The end of a child that gave nothing, in a few words.
std::string how_it_ended(const Ending& ending);

/// @param at told after each run, for progress.
Result run_pairs(const Workload& workload, const std::array<Side, 2>& sides, unsigned pairs, const Effort& effort,
                 const std::function<void()>& at);

}  // namespace selvage::conformance::bench
