// Which exchanges are worth trying on an entry: systematic ones, and random ones.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "conformance/case/case.h"
#include "conformance/generate/rng.h"

namespace selvage::conformance {

/// How queues, counters and default flags are set up: the ways that are tried on an entry.  The first is the plainest.
std::vector<TransferSequence> setups(const model::Info& entry);

/// How much of what could be tried is: one of each kind; the lengths that make a difference; and all.
enum class Depth : std::uint8_t { Least, Some, All };

/// The systematic exchanges for one set-up.
std::vector<TransferSequence> systematic_sequences(const model::Info& entry, const TransferSequence& setup,
                                                   Depth depth);

/// The few that show what a set-up is about: what counters count, what is reported of what was not selected, and so on.
std::vector<TransferSequence> telling_sequences(const model::Info& entry, const TransferSequence& setup);

/// Calls that an endpoint of this entry must refuse, for want of a capability that was not selected.
std::vector<TransferSequence> unselected_sequences(const model::Info& entry);

/// What makes the way to a peer that makes no call: where control progress is automatic.  For a pair that has carried
/// nothing.
std::vector<TransferSequence> connecting_sequences(const model::Info& entry);

/// What must arrive while nobody makes a call: where data progress is automatic.
std::vector<TransferSequence> resting_sequences(const model::Info& entry);

/// A random exchange of 2 to 20 operations, mostly of such as must work.
TransferSequence random_sequence(const model::Info& entry, const TransferSequence& setup, Rng& rng);

}  // namespace selvage::conformance
