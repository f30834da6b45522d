// Whether a transfer was accepted that cannot be carried out, so that what comes later may be its doing.
#pragma once

#include "conformance/case/case.h"

namespace selvage::conformance {

/// True if an operation was accepted that the library should have refused, as it is against a limit, a missing
/// capability or what its valid call says; or that reaches outside of what the target lets it reach, which may disable
/// the endpoint even if nothing says so (fi_domain(3), resource management).  Any thread.
/// @param info the entry that the endpoints were opened with
bool is_let_through(const TransferSequence& sequence, const model::Info& info, const model::Operation& o);

}  // namespace selvage::conformance
