// Which exchanges are worth trying on an entry: systematic ones, and random ones.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "conformance/case/case.h"
#include "conformance/generate/rng.h"

namespace selvage::conformance {

/// How queues, counters and default flags are set up: the ways that are tried on an entry.  The first is the plainest.
std::vector<Exchange> setups(const model::Info& entry);

/// How much of what could be tried is: one of each kind; the lengths that make a difference; and all.
enum class Depth : std::uint8_t { Least, Some, All };

/// The systematic exchanges for one set-up.
std::vector<Exchange> systematic_exchanges(const model::Info& entry, const Exchange& setup, Depth depth);

/// The few that show what a set-up is about: what counters count, what is told of what was not selected, and so on.
std::vector<Exchange> telling_exchanges(const model::Info& entry, const Exchange& setup);

/// A random exchange of 2 to 20 operations, mostly of such as must work.
Exchange random_exchange(const model::Info& entry, const Exchange& setup, Rng& rng);

}  // namespace selvage::conformance
