// Earlier runs of a benchmark in a file, one JSON object a line, and what got slower since.
//
// Machines differ from day to day, and so do times; what is compared is how many times as good A is as a rival, in
// runs beside the same rival on processors that stand the same, and instructions, which repeat to the digit.  Pure but
// for the file.
#pragma once

#include <string>
#include <vector>

#include "conformance/bench/print.h"

namespace selvage::conformance::bench {

/// A figure of a row beside those of earlier runs.
struct Change {
    std::string name;           ///< of the row
    std::string rival = {};     ///< that the ratio is to
    bool instructions = false;  ///< per call; else the ratio to the rival
    double now = 0;
    double now_least = 0;  ///< of this run's pairs
    double now_most = 0;
    double least = 0;  ///< of the earlier runs
    double most = 0;

    /// How many times as good the figure is as the nearest earlier one.
    [[nodiscard]] double times() const;
};

struct Comparison {
    std::size_t runs = 0;     ///< that it was compared with
    std::size_t unlike = 0;   ///< of the suite, but beside other rivals or on other processors
    std::string first, last;  ///< when those runs were
    std::vector<Change> slower, faster;
};

/// What may be chance: this far outside of the earlier ratios, and with every pair outside.
inline constexpr double kChance = 0.03;

/// Appends this run. @param when as in "2026-11-26T10:00:00Z". @return why that can't be, in one line; else empty.
std::string append_run(const std::string& file, const Bench& bench, const std::string& when);
/// @return as append_run; also if there is no run to compare with.
std::string compare_with(const std::string& file, const Bench& bench, Comparison& out);

std::string as_text(const Comparison& comparison, const std::string& file);
/// The time of day, in UTC.
std::string now_in_words();

}  // namespace selvage::conformance::bench
