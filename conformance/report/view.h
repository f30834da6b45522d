// What all forms of a report share: order, counts, words.  Private to report/.  Pure functions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// The deviations in the order of a report: waived last, then by grade, provider, clause, summary.
std::vector<const Deviation*> ordered(const Report& report);
/// How many clauses came out each way on a provider, by ClauseResult.
std::array<std::uint64_t, 4> counts_of(const Report& report, const ProviderResult& provider);
/// A link of a because-chain as one sentence.
std::string link_text(const model::Because& link);
/// The operand and the value of a comparison as words: "FI_MSG|FI_RMA".
std::string wanted_text(const model::Evidence& e);
std::string actual_text(const model::Evidence& e);
/// A name that is unique in the report: "getinfo-caps-granted-tcp-1".
std::vector<std::string> anchors(const std::vector<const Deviation*>& deviations);
/// Text made of valid UTF-8 without control characters other than line ends and tabs; bad bytes become \xNN.
std::string clean(std::string_view text);
/// What & < > " ' stand for in XML and HTML, after clean().
std::string escape(std::string_view text);
/// `text` in lines of at most `width` columns, each after `lead`.
std::string wrap(std::string_view text, std::string_view lead, std::size_t width = 100);

}  // namespace selvage::conformance
