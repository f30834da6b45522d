// Declared profiles: a provider's offers as TOML or JSON (docs/formats.md), read from strings, and printed as TOML.  No
// I/O.
//
// What the file says lands in an Entry like this:
//   the fields of an entry    Entry::offer, all five parts present
//   limits: a number          the same field of Entry::most
//   limits: a list of bits    the same field of Entry::most; of caps: Entry::also_caps
//   limits: a list of values  the same field of Entry::most, as a set of choice_bit()s
//   a name { any = true }     Entry::any_domain, Entry::any_fabric
//   needs                     needed_mode and needed_mr_mode; without it they are offer.mode and offer's mr_mode
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/value/profile.h"

namespace selvage::model {

/// Reads a declared profile, for callers of `version` (a profile that names a version holds for that one alone).  A
/// text that begins with a brace is JSON.
/// @return false and a one-line message on error: the line, the field, its value and what it may be.
bool parse_profile(std::string_view text, Version version, Profile& out, std::string& error);
/// Prints a profile in the same form.  Version, origin, objects, addresses and keys are not part of the form.
std::string print_profile(const Profile& profile);
/// Differences between two profiles, one line each, entries paired by endpoint type, protocol, format and domain.
/// Limits are compared in full if `seen` was read from text.
std::vector<std::string> diff_profiles(const Profile& declared, const Profile& seen);

/// The profile for the machine it is used on: each name that is left open becomes those that were seen, and entries
/// take the address that was seen with them.  An open entry that nothing seen fits is left out.
Profile fill_in_names(const Profile& declared, const Profile& seen);
/// Gives names to what is left open where no machine is at hand: those of one with a single interface.
void name_what_is_open(Profile& profile);

/// The bit that stands for an enum value where Entry::most holds a set of them: the place of the value's word in its
/// family.  Zero for a value without a word.
std::uint64_t choice_bit(Family family, std::uint64_t value);
/// Stands for every value, also those without a word: "any" in the list.
inline constexpr std::uint64_t kAnyChoice = std::uint64_t{1} << 63U;
/// True if `most` lets an entry grant `value` in an enum field beside the one that it shows.
bool is_choice(const Info& most, Field field, std::uint64_t value);

}  // namespace selvage::model
