// The values worth asking for, field by field: one or more of each equivalence class that the text distinguishes.
//
// Classes of a number: not asked (0), what the provider offers, just below and above it, the extremes; of bits: each
// known bit, all offered, one more than offered, unknown bits; of an enum: each known value and one that nobody knows;
// of a name: the provider's own, a prefix of it, another, empty, over-long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/value/profile.h"

namespace selvage::conformance {

/// Values for a number field, 0 left out, in a fixed order, without repetitions.
std::vector<std::uint64_t> number_values(model::Field field, const model::Profile& profile);
/// Texts for a text field, absent left out.
std::vector<std::string> text_values(model::Field field, const model::Profile& profile);

/// The family whose words a datatype of fi_tostr prints, for datatypes whose data is a number.
model::Family printed_family(std::uint64_t datatype);

/// All bits of a family's words.
std::uint64_t all_bits(model::Family family);

/// Sets one field of hints so that it can be asked for: makes its part present; an address or key gets its length, and
/// its format where the hints have none.
void request(model::Info& hints, model::Field field, std::uint64_t value);
void request(model::Info& hints, model::Field field, const std::string& value);

}  // namespace selvage::conformance
