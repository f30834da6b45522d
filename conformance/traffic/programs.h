// Which exchanges are worth trying on an entry: systematic ones, and random ones.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "conformance/ask/rng.h"
#include "conformance/case/case.h"

namespace selvage::conformance {

/// How queues, counters and default flags are set up: the ways that are tried on an entry.  The first is the plainest.
std::vector<Exchange> setups(const model::Info& entry);

/// Every systematic exchange for one set-up; fewer lengths unless `all`.
std::vector<Exchange> systematic_exchanges(const model::Info& entry, const Exchange& setup, bool all);

/// A random exchange of 2 to 20 operations, mostly of such as must work.
Exchange random_exchange(const model::Info& entry, const Exchange& setup, Rng& rng);

}  // namespace selvage::conformance
