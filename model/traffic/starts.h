// When operations begin that wait for a counter (fi_trigger(3)): by the calls that move it, in the order of thresholds
// and then of posting.
//
// Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "model/traffic/traffic.h"

namespace selvage::model {

struct Starts {
    std::vector<int> step;       ///< by operation: the one in whose call it may begin, mostly its own; -1: none
    std::vector<int> order;      ///< those that begin, in that order
    std::vector<int> withdrawn;  ///< by operation: the call that cancelled it as work that had not begun; -1: none
    bool known = true;           ///< the text leaves one answer to what begins
};

/// @param cancelled of an operation: fi_cancel ended it; empty: none of them
Starts starts_of(std::span<const Operation> operations, const std::vector<bool>& cancelled);

}  // namespace selvage::model
