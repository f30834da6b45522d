// What a provider must have for a clause to be met by any query at all.
//
// A clause that a run did not reach is a gap in the queries, unless the provider lacks what the clause speaks of.
// Each need is a comparison with the provider's profile, an object that must open, or another promise that must be kept
// first, so that the reason in a report says what was looked at.  Pure functions; any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "conformance/report/finding.h"
#include "model/value/object_class.h"
#include "model/value/profile.h"

namespace selvage::conformance {

/// What is known of a provider when a run is over.
struct Facts {
    std::span<const model::Profile> profiles;  ///< one for each API version that the library knows
    const ProviderResult& result;
    /// Classes of which no object could be opened on any offer, with what the last try returned.
    std::map<model::ObjectClass, int> refused;
    /// What fi_set_ops returned for a complete memory override, where it was not 0.
    std::optional<int> override_refused;
    /// The tool can make allocations of the library fail.
    bool shortage = true;
};

/// What the provider lacks for the clause to apply to it, as half a sentence: "no offer has a nic".
/// Empty if it lacks nothing that is known of.
std::string lacking(model::Clause clause, const Facts& facts);

}  // namespace selvage::conformance
