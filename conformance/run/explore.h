// The child's side of a property: run its cases, judge them, shrink and send what is broken.
#pragma once

#include <cstdint>

#include "conformance/base/child.h"
#include "conformance/properties/property.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

/// Counters in memory shared with the parent, so that they outlive a child that dies.
struct Ledger {
    model::Tally tally;
    std::uint64_t queries = 0;      ///< cases run
    std::uint64_t passed_over = 0;  ///< cases that hold what is known to end the process, or to be lost
    std::uint64_t call_nanos = 0;   ///< time inside fi_getinfo and fi_freeinfo
};

/// Runs cases from `start` on.  Channel::doing carries index + 1 of the case under way.
void explore(TestContext& context, Property& property, Channel& channel, Ledger& ledger, std::uint64_t start);

}  // namespace selvage::conformance
