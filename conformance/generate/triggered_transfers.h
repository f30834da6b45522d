// Systematic exchanges of operations that wait for counters: with FI_TRIGGER, and as deferred work (fi_trigger(3)).
//
// Pure functions; any thread.
#pragma once

#include "conformance/case/case.h"

namespace selvage::conformance {

/// @param lengths of messages and accesses with FI_TRIGGER
/// @return none if the entry lacks FI_TRIGGER, or counters
std::vector<TransferSequence> triggered_sequences(const model::Info& entry, const TransferSequence& setup,
                                                  const std::vector<std::uint64_t>& lengths);

}  // namespace selvage::conformance
