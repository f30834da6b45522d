// Whether a transfer sequence made an access that its target does not allow.
#pragma once

#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// True if an operation that was accepted is RMA or an atomic that reaches outside what the target lets it reach.  Such
/// an access may disable the endpoint (fi_domain(3), resource management), even if nothing says so.  Any thread.
bool any_strays(const model::Traffic& traffic);

}  // namespace selvage::conformance
