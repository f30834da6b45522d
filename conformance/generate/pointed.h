// Queries that some clause needs word for word, and that classes and chance bring up too rarely to rely on.
//
// A function of the profile alone.  Whoever adds a clause that no class of values meets adds its query here.
#pragma once

#include <vector>

#include "model/value/profile.h"
#include "model/value/query.h"

namespace selvage::conformance {

/// For callers of the profile's version.
std::vector<model::Query> pointed_queries(const model::Profile& profile);
/// Those of them that callers of every version are to ask: words that changed their meaning with the version.
std::vector<model::Query> pointed_queries_of_each_version(const model::Profile& profile);

}  // namespace selvage::conformance
