// Makes what a few endpoints do together smaller: fewer members, fewer elements, the plainest values.
//
// Part of shrink/.  Pure but for what `attempt` does.
#pragma once

#include <functional>

#include "conformance/case/case.h"

namespace selvage::conformance {

/// One round of attempts on the best case so far.  @return true if any was taken.
bool shrink_group(const std::function<const Case&()>& best, const std::function<bool(const Case&)>& attempt);

}  // namespace selvage::conformance
