// Runs workloads on the library under test and its rivals in turn, A B C A B C …, each run in a process of its own, and
// sums up what came.
//
// Runs that stand next to one another in time see the same machine, so ratios are taken round by round and are steadier
// than the times.  A round is called a pair, of which each rival is one side.
//
// Invariant: the sides of a run are those of each of its results, in the same order; the first is the library under
// test, all others are rivals.  Call from a single-threaded process that has loaded no library.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/bench/statistics.h"
#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

struct Tool;

/// The library under test, or a rival: another library, or what a tool of its own measures.
struct Side {
    std::string name = {};  ///< "A", "B"; of a rival with a tool the tool's name
    std::string path = {};  ///< as dlopen takes it; the program of a tool
    std::string resolved = {};
    std::string version = {};
    std::string build_id = {};
    const Tool* tool = nullptr;             ///< nullptr: a library
    std::shared_ptr<const void> made = {};  ///< what the tool has made for itself; gone with the last copy
};
using Sides = std::span<const Side>;

/// A rival that was asked for and can't be used.
struct LeftOut {
    std::string name;  ///< as it was asked for
    std::string why;
};

/// Fills in what a library or a tool says of itself.  @return why it can't be used; empty if it can.
std::string identify(Side& side);
/// What distinguishes one rival from another in earlier runs: the build id, or a tool's name and version.
std::string identity_of(const Side& side);
/// Whether the side can be asked for the workload at all: a library always, a tool where it has a counterpart.
bool has_counterpart(const Side& side, const Workload& workload);

/// What was seen of one side in one workload.  Neither samples nor an error: it has no counterpart.
struct Measured {
    Summary summary;
    std::optional<double> instructions;  ///< per call
    std::string error;                   ///< why it was not measured
    std::vector<double> ratios;          ///< of a rival, in each pair: how many times as good as this one A is
    double ratio = 0;                    ///< their median; 0 if it or A is missing
    double floor_ratio = 0;              ///< figure by floor, median of the pairs; 0 if not known
    double beside_ratio = 0;             ///< figure by that of the row beside (Workload::beside); 0 if not known
};

enum class Met : std::uint8_t { NoGoal, Yes, No, Unknown };

struct Result {
    const Workload* workload = nullptr;
    std::vector<Measured> sides;
    std::size_t judge = 1;  ///< the side that goals compare with: the first rival that is a library; 0: there is none
    double floor = 0;       ///< median of the floor; 0 if there is none

    /// How many times the instructions of A those of a rival are; 0 if not counted.
    [[nodiscard]] double instruction_ratio(std::size_t rival) const;
    [[nodiscard]] Met met() const;
};

/// How many times as good the first figure is; 0 if either is missing.
double times_as_good(Quantity quantity, double ours, double theirs);
/// The end of a child that gave nothing, in a few words.
std::string how_it_ended(const Ending& ending);

/// @param at called after each run, for progress.
Result run_pairs(const Workload& workload, Sides sides, unsigned pairs, const Effort& effort,
                 const std::function<void()>& at);
/// A result of a workload in which nothing was measured yet.
Result empty_result(const Workload& workload, Sides sides);

}  // namespace selvage::conformance::bench
