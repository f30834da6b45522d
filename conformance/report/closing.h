// What a run prints at its end: as much as fits on a screen, the worst first.  Pure functions, but for what the
// terminal behind stdout says of its width and colours.
#pragma once

#include <string>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// A line for each provider, the promises that are broken worst, what the programs showed, how far the run got, where
/// the whole lies (`files`) and what to do next.
std::string closing_text(const Report& report, const std::vector<std::string>& files);
/// Each deviation with its call, as `selvage check --verbose` prints them ahead of it.
std::string deviations_text(const Report& report);

}  // namespace selvage::conformance
