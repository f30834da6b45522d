// Waivers: deviations that someone has answered for, by clause and provider, with reason and URL (docs/formats.md).
//
// A waived deviation stays in every report, apart from the others, and does not count for the exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

struct Waiver {
    model::Clause clause{};
    std::string provider;  ///< "*": all
    std::string reason;
    std::string url;
    std::uint64_t used = 0;  ///< how many deviations it covered
};

/// Reads a waiver file.  @return false and one line with line number in `error`.
bool parse_waivers(std::string_view toml, std::vector<Waiver>& out, std::string& error);
/// Marks the deviations that waivers cover.
void apply_waivers(std::vector<Waiver>& waivers, Report& report);

}  // namespace selvage::conformance
