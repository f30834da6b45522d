// Which part of a run this process does, when several share it.
//
// A launcher numbers its tasks by variables; here they become GoogleTest's, which share the tests out.  Call before
// GoogleTest is initialised.
#pragma once

#include <string>

namespace selvage::conformance {

struct Shard {
    unsigned index = 0;
    unsigned total = 1;
    std::string set_by;  ///< the variables, or the option; empty: nobody shares the run

    [[nodiscard]] bool alone() const { return total == 1; }
};

/// Reads "INDEX/TOTAL", or if `option` is empty the variables of GoogleTest, Open MPI and Slurm, in this order.
/// @return false and one line in `error` if they make no sense.
bool find_shard(const std::string& option, Shard& out, std::string& error);
/// Has GoogleTest run this part alone.
void take_shard(const Shard& shard);
/// A file name in which "{shard}" stands for the index, so that the tasks of one command line do not write one file.
std::string with_shard(std::string path, const Shard& shard);

}  // namespace selvage::conformance
