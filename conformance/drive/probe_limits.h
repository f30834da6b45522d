// Learns how far each entry of an inferred profile lets itself be asked beyond what the widest answer shows.
//
// One field is asked for at a time, of everything else the widest query; a size by doubling and halving.  What is
// let through counts as granted, whatever the answer then says of it: that an answer keeps its word is not judged here.
// Takes some thousand queries.  Runs in a child, beside the Caller.
#pragma once

#include <span>

#include "conformance/harness/caller.h"
#include "model/value/profile.h"

namespace selvage::conformance {

/// Fills in the limits and needs of each entry, as a declared profile has them (docs/formats.md).  Adds entries that
/// only narrower queries show: endpoint types that must be asked for, and capabilities that exclude each other.  The
/// profile then holds for callers of its version alone.
/// @param deadly queries that the library is known not to survive; not asked, and taken as refused.
void probe_limits(Caller& caller, model::Profile& profile, std::span<const model::Query> deadly = {});

}  // namespace selvage::conformance
