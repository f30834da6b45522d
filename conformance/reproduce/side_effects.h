// The parts of side_effects programs that both files share.  Private to reproduce/.
#pragma once

#include <string>
#include <string_view>

#include "conformance/reproduce/program.h"

namespace selvage::conformance {

/// Makes the program exit 1 if `call` hangs for ten seconds or ends the process; main sets `returned` after it.
void watch_return(Program& p, std::string_view call);
/// A string literal.
std::string quote_c(std::string_view text);

/// Programs about fi_allocinfo, fi_dupinfo, fi_freeinfo, leaks and failing allocations.
void emit_memory(Program& p);

}  // namespace selvage::conformance
