// What a provider must have for a clause on transfers to be met: see preconditions.h, which asks here.
//
// Most clauses of an area need the one capability of the area, so that rules by area stand for rows.  Pure functions;
// any thread.
#pragma once

#include <string>

#include "conformance/coverage/preconditions.h"

namespace selvage::conformance {

/// What the provider lacks for a clause on transfers; empty for others, and if it lacks nothing that is known of.
std::string lacking_for_transfers(model::Clause clause, const Facts& facts);

}  // namespace selvage::conformance
