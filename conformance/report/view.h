// What all forms of a report share: order, counts, words.  Private to report/.  Pure functions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// The deviations in the order of a report: waived last, then by grade, provider, clause, summary.
std::vector<const Deviation*> ordered(const Report& report);
/// What is said of a clause that was not reached and that nothing explains.
inline constexpr std::string_view kNoReason = "no reason known: the run was too short, or its queries have a gap";
/// How many clauses came out each way on a provider, by ClauseResult.
std::array<std::uint64_t, 4> counts_of(const Report& report, const ProviderResult& provider);
/// The gravest that a report has of a clause on a provider; unset: it is not broken there.
std::optional<Grade> gravest(const Report& report, const ProviderResult& provider, const model::ClauseText& clause);
/// A clause that some providers were not brought to, with the providers of each reason.
struct Unreached {
    const model::ClauseText* clause = nullptr;
    bool anywhere = false;                                          ///< reached on another provider of the report
    std::vector<std::pair<std::string_view, std::string>> reasons;  ///< reason, providers separated by commas
};
/// All of them, by clause; each reason once.  The views live as long as the report.
std::vector<Unreached> unreached(const Report& report);
/// A link of a because-chain as one sentence.
std::string link_text(const model::Because& link);
/// Of an intermittent deviation: what its case and its program are good for.
std::string_view at_times_text(const Deviation& d);
/// The operand and the value of a comparison as words: "FI_MSG|FI_RMA".
std::string expected_text(const model::Evidence& e);
std::string actual_text(const model::Evidence& e);
/// A name that is unique in the report: "getinfo-caps-granted-tcp-1".
std::vector<std::string> anchors(const std::vector<const Deviation*>& deviations);

}  // namespace selvage::conformance
