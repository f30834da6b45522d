// Makes the second question of a pair: what the text relates to the first.
#pragma once

#include <optional>

#include "conformance/ask/rng.h"
#include "conformance/case/case.h"

namespace selvage::conformance {

/// One kinship that can be drawn from a question whose answer is known; `answer` is needed for FedBack.
/// @return nothing where the question leaves nothing to relate (no hint to relax, no offer to feed back).
std::optional<Case> relate(const model::Query& first, const model::Answer& answer, model::Kinship kinship, Rng& rng);

/// The call that gives an offer back as hints: without its addresses, handle and nic, which
/// getinfo.call.answer-fed-back leaves out.
model::Query feed_back(const model::Query& first, const model::Info& offer);

}  // namespace selvage::conformance
