// Results of a benchmark: a table and a page for people, JSON for programs.
#pragma once

#include <span>
#include <string>

#include "conformance/bench/session.h"

namespace selvage::conformance::bench {

/// All that was measured in one call of the command.
struct Bench {
    std::string suite;
    unsigned pairs = 0;
    std::vector<Side> sides;        ///< the library under test, then its rivals
    std::vector<LeftOut> left_out;  ///< rivals that can't be used
    std::vector<Result> results;
    std::vector<Floor> floors;
    Setting setting;
    std::string placement;    ///< where the processes stood, in words; empty for suites without floors
    unsigned again = 0;       ///< pairs that were measured anew
    unsigned unsteady = 0;    ///< pairs that were kept although the floor moved
    std::string not_counted;  ///< why there are no instruction counts; empty if there are
};

/// Whether two processes and more take part, and so stand somewhere.
inline bool has_peers(const Bench& bench) { return !bench.floors.empty() || !bench.placement.empty(); }

/// @param tail with the 99th percentile.
std::string as_table(const Bench& bench, bool tail);
/// docs/bench.schema.json describes it.
std::string as_json(const Bench& bench);
/// One page that needs nothing else, with plots over sizes.
std::string as_page(const Bench& bench);

}  // namespace selvage::conformance::bench
