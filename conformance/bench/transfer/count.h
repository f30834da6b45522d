// What one message costs its sender in instructions.
#pragma once

#include <functional>
#include <string>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench::transfer {

/// For Workload::ready: opens both sides, and gives a loop that sends one small message and takes its completion.  The
/// receiver takes nothing meanwhile, so that the figure does not hang on what it does; all counted messages fit into
/// what lies between.
std::function<Loop(const std::string& library)> ready_to_count(const Workload& row);

}  // namespace selvage::conformance::bench::transfer
