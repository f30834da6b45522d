// Makes a case that was replayed smaller, as a run does with what it finds.
//
// The parent's side: the library is asked in children.  Single-threaded.
#pragma once

#include "conformance/run/runner.h"

namespace selvage::conformance {

/// The smallest case that breaks what `seen` broke, or ends the process in the same way.  The case itself if it does
/// not show a second time.
Case make_smaller(const Plan& plan, const Case& c, const Replayed& seen);

}  // namespace selvage::conformance
