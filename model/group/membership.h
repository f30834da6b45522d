// Who belongs to a group, in which order, and what each member of it must get.
//
// Pure functions of a script; nothing here looks at what came of it.  Whoever runs scripts may include it.
#pragma once

#include <vector>

#include "model/group/group.h"

namespace selvage::model {

/// The members that a set holds, in its order; that of FI_UNIVERSE is not promised.
std::vector<std::uint64_t> members_of(AddressSet set, std::uint64_t members);

/// How many elements the result of a member has; 0: it gets none (a barrier, a member that is not the root).
std::uint64_t result_length(const GroupScript& s, const std::vector<std::uint64_t>& order, std::uint64_t member);

/// Element i of the result of a member.  REQUIRES: i < result_length(), the member and the root are in `order`
std::uint64_t result_of(const GroupScript& s, const std::vector<std::uint64_t>& order, std::uint64_t member,
                        std::uint64_t i);

/// The operation combines what the members contribute by `op`.
bool reduces(std::uint64_t operation);
/// One member, the root, is the source or the destination of the data.
bool has_root(std::uint64_t operation);
/// What the member gets depends on what every other one contributes.
bool depends_on_all(const GroupScript& s, std::uint64_t member);

}  // namespace selvage::model
