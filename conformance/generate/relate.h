// Makes the second query of a pair: what the text relates to the first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/generate/rng.h"
#include "model/value/profile.h"

namespace selvage::conformance {

/// One relation that can be drawn from a query whose answer is known; `answer` is needed for FedBack, which takes an
/// offer of `provider` from it.
/// @return nothing where the query leaves nothing to relate (no hint to relax, no offer to feed back).
std::optional<Case> relate(const model::Query& first, const model::Answer& answer,
                           model::MetamorphicRelation metamorphic, const std::string& provider, Rng& rng);

/// Pairs that are not left to chance: on what each type of endpoint can do, every way to say the same in other words,
/// and every secondary capability asked for that was offered unasked.
std::vector<Case> pointed_pairs(const model::Profile& profile);

/// The call that gives an offer back as hints: without its addresses, handle and nic, which
/// getinfo.call.answer-fed-back leaves out.
model::Query feed_back(const model::Query& first, const model::Info& offer);

}  // namespace selvage::conformance
