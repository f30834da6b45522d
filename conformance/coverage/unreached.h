// Why a run did not reach a clause on a provider.
//
// Called by the parent once all properties have run.  The library is asked for its offers in a child.
#pragma once

#include "conformance/drive/test_context.h"
#include "conformance/report/finding.h"

namespace selvage::conformance {

/// Fills `result.reasons` for every clause that was judged and not reached: the run had to leave it out, the
/// property that brings it up did not end, the library is older than the promise, the provider lacks what it speaks of
/// (preconditions.h).  A clause that none of this explains gets no reason.
void explain_unreached(const Plan& plan, const Report& report, ProviderResult& result);

}  // namespace selvage::conformance
