// What a step showed, as the bytes that cross from the process that took it to the one that judges it.
//
// Both are the same program, so numbers cross as they lie in memory.  Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "model/lifecycle/step.h"

namespace selvage::conformance {

/// The result of a step; of an answer, only what says which instances it refers to.
std::string tell(const model::Step& step);

/// Fills the result of a step from what was record; a query's answer goes into `answer`.
/// @return false if the bytes are not what tell() makes.
bool parse(std::string_view record, model::Step& step, model::Answer& answer);

}  // namespace selvage::conformance
