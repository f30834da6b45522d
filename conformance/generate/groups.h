// Scripts for a few endpoints that do something together: what is tried of each provider that offers the capability.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "conformance/generate/rng.h"
#include "model/group/group.h"

namespace selvage::conformance {

/// Every operation with each of a few counts, roots and late members; every kind of set.  The plainest first.
std::vector<model::GroupScript> collective_scripts();
/// Each call on objects that nothing else uses.
std::vector<model::GroupScript> call_scripts();
/// What no list says: any operation, set, datatype, reduction and size.
model::GroupScript random_collective(Rng& rng);

}  // namespace selvage::conformance
