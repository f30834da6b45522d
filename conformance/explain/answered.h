// What one provider makes of a call: the verdict of the text, its entries with what refuses each, what it answers, and
// the smallest change that it grants.
//
// A library's answer is issued in this process: call query_provider() in a child.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/drive/test_context.h"
#include "model/explain/explain.h"

namespace selvage::conformance {

/// True if an offer of the answer is of `provider`.
bool offers_any(const model::Answer& a, const std::string& provider);

/// What one provider makes of a call.
struct Answered {
    std::string provider;
    model::Verdict verdict;
    std::vector<model::Explained> entries;
    std::vector<model::Info> offers;          ///< of this provider, in the library's answer
    std::vector<std::string> others;          ///< that are in the answer, too
    std::optional<model::Proposal> proposal;  ///< the smallest change, where it refuses
    int ret = 0;
    bool declared = false;  ///< by a profile: no library was asked

    [[nodiscard]] bool refused() const { return offers.empty(); }
};

/// Issues the call, and where the provider refuses it looks for the smallest change that it grants.
Answered query_provider(TestContext& context, const model::Query& query);
/// The same by what a provider is declared to offer.  Pure.
Answered judge_profile(const model::Profile& profile, const model::Query& query);
/// Why the provider refuses, in a line: the one or two things that stand in the way.
/// REQUIRES: a.refused().
std::string refusal_reason(const model::Query& query, const Answered& a);

}  // namespace selvage::conformance
