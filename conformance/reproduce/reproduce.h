// Prints a case as a C program that shows one broken promise.
//
// The program is self-contained, compiles without warnings with `cc -Wall -Wextra FILE.c -lfabric` on interface 1.17
// headers, and exits 0 if the promise is kept, 1 if it is broken (or dies of the signal that breaks it), 77 if the
// environment cannot show it.  What it compares is the evidence of the first link of the because-chain.  Pure
// functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "conformance/case/case.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {

/// The program.  @param because the chain of the finding, the broken clause first; may be empty.
std::string c_program(const Case& shown, model::Clause clause, const std::vector<model::Because>& because);

/// What the program prints that runs a case, and has no way to see what was seen of it.
inline constexpr const char* kCannotTell = "cannot tell by itself";
/// True if the program can show the finding, or that there is none.  REQUIRES: because is not empty.
bool program_can_tell(const Case& shown, const std::vector<model::Because>& because);

}  // namespace selvage::conformance
