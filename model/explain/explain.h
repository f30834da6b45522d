// Why a call is granted or refused, entry by entry, and the smallest changes that would be granted.
//
// Pure but for `try_it`, through which every proposed change is asked of the library before it is proposed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/judge/judge.h"

namespace selvage::model {

/// One entry of a provider, and how it stands to the call.
struct Explained {
    std::string provider;
    Entry entry;
    Matching matching;
};

/// One change to a field of the hints.
struct Change {
    Field field = Field::caps;
    std::string before, after;  ///< as text
};

/// Hints that would be granted.
struct Proposal {
    Query query;
    std::vector<Change> changes;
    std::string granted_by;  ///< provider and endpoint type that would answer
};

/// How every entry of a profile stands to a call.
std::vector<Explained> explain(const Query& query, const World& world, const Profile& profile);

/// True if the library grants a call with an offer of `provider`.
using TryIt = std::function<bool(const Query&, const std::string& provider)>;

/// The smallest changes towards the explained entries that the library grants: fewest changed fields first, none that
/// could do without one of its changes, at most `most`.
std::vector<Proposal> propose(const Query& query, const World& world, const std::vector<Explained>& entries,
                              const TryIt& try_it, std::size_t most = 4);

}  // namespace selvage::model
