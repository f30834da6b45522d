// How far runs got with the clauses of level must, as a page in Markdown (docs/coverage.md).
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// The line of a page behind which everything is made.
inline constexpr std::string_view kCoverageMark = "<!-- What follows is made by `selvage coverage`. -->";

/// Counts by provider, and what no provider reached.  The reports may be of different libraries.
/// REQUIRES: `reports` is not empty.
std::string coverage_markdown(std::span<const Report> reports);

/// A page with what stands behind its mark made anew.  @return false if it has no mark.
bool renew_coverage(std::string_view page, std::span<const Report> reports, std::string& out);

}  // namespace selvage::conformance
