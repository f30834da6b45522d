// Learns what a provider offers, by asking it wide queries.
//
// The profile holds what was seen; what was not seen may still be granted (model/value/profile.h), and how far that
// goes is for probe_limits.h.  Deterministic for a library that is.  Runs in a child, beside the Caller.  Queries
// that the library is known not to survive (`deadly`) are not asked and count as refused.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "conformance/harness/caller.h"
#include "model/value/profile.h"

namespace selvage::conformance {

/// The query that asks a provider for all it has: every mode bit and mr_mode bit supported, all else wild.
model::Query widest_query(const std::string& provider, model::Version version);

/// Asks until the profile is known.  Empty `entries`: the provider offers nothing to callers of that version.
model::Profile infer_profile(Caller& caller, const std::string& provider, model::Version version,
                             std::span<const model::Query> deadly = {});

/// Profiles of one provider by version, each inferred on first use.
class Profiles {
public:
    Profiles(Caller& caller, std::string provider, std::vector<model::Query> deadly)
        : caller_(caller), provider_(std::move(provider)), deadly_(std::move(deadly)) {}
    const model::Profile& at(model::Version version);

private:
    Caller& caller_;
    std::string provider_;
    std::vector<model::Query> deadly_;
    std::map<model::Version, model::Profile> known_;
};

/// The names of all providers that answer anything, layered ones too: from the NULL-hints answer and from
/// FI_PROV_ATTR_ONLY names that answer when asked by name.  In order of appearance; then those of `requested` that no
/// list names and that answer all the same, as a layered name may.
std::vector<std::string> discover_providers(Caller& caller, model::Version version,
                                            std::span<const model::Query> deadly = {},
                                            std::span<const std::string> requested = {});

}  // namespace selvage::conformance
