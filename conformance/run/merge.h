// Puts the reports of parts of one run together.
//
// What the parts have counted adds up; a deviation that several parts found is reported once, as in a run that was not
// shared.  Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// Why a clause was not reached by a part of a run that was not to reach it.
inline constexpr std::string_view kOtherPart = "left to another part of the run";

/// What a deviation has in common with those that are the same (novelty.h).
std::string signature_of(const Deviation& d);
/// How often an intermittent deviation showed adds up.
void add_tries(std::optional<Tries>& to, const std::optional<Tries>& more);

/// Adds what a part of a run counted and noted of a provider.
void add_counts(ProviderResult& to, const ProviderResult& part);
/// Adds a deviation, or counts it if the same is there.  @return the one that was there.
Deviation* add_deviation(Report& to, const Deviation& d);

/// @return false and one line in `error` if they are not parts of one run: another library, seed or number of cases.
bool merge_reports(std::span<const Report> parts, Report& out, std::string& error);

}  // namespace selvage::conformance
