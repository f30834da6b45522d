// What crosses from a child to the parent: broken promises and notes, as one JSON record each.
//
// The child has loaded a hostile library, so its records are read with care: an unreadable one becomes a note.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/report/finding.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {

/// A broken promise as a child found it: the first link is the broken clause, the others support it.
struct Found {
    std::vector<model::Because> because;
    Case shown_by;
    std::uint64_t seen = 1;
    std::optional<Tries> intermittent;  ///< the case did not show it every time
};

/// What a record of plain words for the report begins with, instead of being packed.
inline constexpr std::string_view kNoteMark = "note: ";

/// What a record begins with of a finding that is tried again beside the run, ahead of its number, a blank and what is
/// packed; a later one of that number takes its place.  And of the record that says by its number that it is concluded.
inline constexpr std::string_view kPendingMark = "pending: ";
inline constexpr std::string_view kConcludedMark = "concluded: ";

std::string pack(const Found& found);
std::optional<Found> unpack(std::string_view record);

}  // namespace selvage::conformance
