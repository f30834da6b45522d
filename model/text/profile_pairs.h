// Pairs the entries of two profiles.  For profile_names.cc and profile_diff.cc alone.
#pragma once

#include <cstddef>
#include <vector>

#include "model/value/profile.h"

namespace selvage::model {

/// Indices of entries that speak of the same thing.
struct Pairing {
    std::size_t declared, seen;
};

/// The pairs, in the order of what was seen; who is in none of them has no counterpart.
std::vector<Pairing> pair_entries(const Profile& declared, const Profile& seen);

}  // namespace selvage::model
