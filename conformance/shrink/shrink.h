// Makes a case smaller while it still shows the same thing.
//
// The result is minimal: no single bit, field, substructure, argument or action can be dropped from it, and no size
// halved, without the deviation vanishing.  Greedy, deterministic, bounded by `budget` trials.
#pragma once

#include <cstddef>
#include <functional>

#include "conformance/case/case.h"

namespace selvage::conformance {

/// True if the case still shows the deviation.
using StillShows = std::function<bool(const Case&)>;

/// @param budget most trials; a case that runs out of it is returned as far as it came.
/// @param trials if not null, receives how many were made.
Case shrink(Case start, const StillShows& still_shows, std::size_t budget = 5000, std::size_t* trials = nullptr);

/// The same for a transfer sequence.
/// @param is_known asked once nothing more can be dropped that tells one finding from another (novelty.h): true if the
///        case need not become smaller, as nothing would be reported of it.
Case shrink_transfers(Case start, const StillShows& still_shows, const StillShows& is_known, std::size_t budget);

}  // namespace selvage::conformance
