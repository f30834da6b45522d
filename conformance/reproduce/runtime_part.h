// The C of programs that is alike in all of them: the files of conformance/runtime, which the kit drives a library by,
// and those of reproduce/runtime, as text with the includes of the system's headers alone.
//
// A file takes for granted what stands ahead of it in reproduce/runtime/all.c or all_calls.c; the program defines the
// macros of its case (OPERATIONS, HINTS, …).  Private to reproduce/.  Any thread.
#pragma once

#include <string_view>

namespace selvage::conformance {

/// The text of one of these files.  REQUIRES: there is a file of that name
std::string_view runtime_part(std::string_view name);

}  // namespace selvage::conformance
