// What a few endpoints do together, as one line of a case file: "collective members=3 set=insert
// operation=FI_ALLGATHER".
//
// parse_group(print_group(s)) == s.  What is not written has its default.  Private to case/.  Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "conformance/case/case_text.h"

namespace selvage::conformance {

std::string print_group(const model::GroupScript& script);
/// @return false and what is wrong in `error` (its line is left alone).
bool parse_group(std::string_view line, model::GroupScript& out, CaseError& error);

}  // namespace selvage::conformance
