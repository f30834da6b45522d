// Takes the number of this process out of what a library says (a shm address holds it), so that the same seed gives the
// same queries and the same report.  Runs in a child; stateless.
#pragma once

#include "model/value/query.h"

namespace selvage::conformance {

/// Where the number stands alone, "1" stands afterwards.
void forget_process(model::Text& text);
/// The same in the addresses of hints or of an offer.  Lengths that agreed with them still do.
void forget_process(model::Info& info);
void forget_process(model::Query& query);

}  // namespace selvage::conformance
