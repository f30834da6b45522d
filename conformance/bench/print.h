// Results of a benchmark as a table for people and as JSON for programs.
#pragma once

#include <array>
#include <span>
#include <string>

#include "conformance/bench/pairs.h"

namespace selvage::conformance::bench {

/// All that was measured in one call of the command.
struct Bench {
    std::string suite;
    unsigned pairs = 0;
    std::array<Side, 2> sides;
    std::vector<Result> results;
    std::string not_counted;  ///< why there are no instruction counts; empty if there are
};

/// @param tail with the 99th percentile.
std::string as_table(const Bench& bench, bool tail);
/// docs/performance.md describes it.
std::string as_json(const Bench& bench);

}  // namespace selvage::conformance::bench
