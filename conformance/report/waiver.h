// Waivers: deviations that someone has answered for, by clause and provider, until a day (docs/formats.md).
//
// A waived deviation stays in every report, apart from the others, and does not count for the exit status.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

struct Waiver {
    model::Clause clause{};
    std::string provider;  ///< "*": all
    std::string owner;     ///< who answers for it
    std::string reason;
    std::string url;
    std::chrono::year_month_day expires;  ///< the last day on which it holds
    std::uint64_t used = 0;               ///< how many deviations it covered
};

/// Reads a waiver file; one that holds no more `today` is an error.  @return false and one line with line number in
/// `error`.
bool parse_waivers(std::string_view toml, std::chrono::year_month_day today, std::vector<Waiver>& out,
                   std::string& error);
/// Marks the deviations that waivers cover.
void apply_waivers(std::vector<Waiver>& waivers, Report& report);
/// A waiver that covers nothing though its clause was looked at, as one line; empty if there is none.
std::string unneeded_waiver(const std::vector<Waiver>& waivers, const Report& report);

}  // namespace selvage::conformance
