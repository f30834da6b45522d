// Instructions per call, counted by callgrind: a figure that repeats on a busy machine, where times don't.
//
// The tool runs itself under valgrind with the hidden command `bench-count`, once for each library.  Each loop is run
// n times and then 2n times; the difference, by n, is what one call costs, all code of the process counted.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "conformance/bench/suites.h"

namespace selvage::conformance::bench {

struct Counts {
    std::map<std::string, double> per_call;  ///< by the workload's name; those that can't be measured are missing
    std::string why_not;                     ///< nothing could be counted: why, in a few words
};

/// @param only names of workloads of the suite.
Counts count_instructions(const std::string& suite, const std::string& library, std::span<const std::string> only);

/// The other end, under valgrind.  @return exit status.
int count_here(const Suite& suite, const std::string& library, std::span<const std::string> only);

}  // namespace selvage::conformance::bench
