// How a provider stands to a call, in a line: granted, or the one or two things that stand in the way.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "model/explain/explain.h"

namespace selvage::conformance {

/// The conflicts of the nearest entry, the one with the fewest: field, asked, offered.  Empty for a provider without
/// entries.
/// REQUIRES: none of the entries is granted.
/// @param proposal the smallest change that the provider grants, or nullptr.  Where the text leaves a refusal open,
///     what it changes are the reasons; if it changes nothing of them, all in which the sides differ.
std::vector<std::string> obstacles(const model::Query& query, const std::vector<model::Explained>& entries,
                                   const model::Proposal* proposal);

/// Capabilities of the offers that were not asked for, as "FI_SEND|FI_RECV (implied)"; empty if there are none.
std::string unrequested_capabilities(const model::Query& query, const std::vector<model::Info>& offers);

/// The C statement for a change, of `hints` as fi_allocinfo returns them, or of the arguments of fi_getinfo.
std::string c_statement(const model::Query& query, model::Field field);

}  // namespace selvage::conformance
