// Libraries that do not survive a query: which query it was, the smallest one that kills, what it breaks.
//
// Every function asks in children of its own.  The parent's side, single-threaded.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/properties/property.h"
#include "conformance/report/finding.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

/// A child without a sign of life for so long hangs; sooner where the library has hung before.
inline constexpr std::chrono::milliseconds kQuiet = std::chrono::seconds(20);
inline constexpr std::chrono::milliseconds kQuietAgain = std::chrono::seconds(5);

/// "died of signal 11", "did not return", …
std::string crash_text(const Ending& e);

/// The promises that a crash breaks, shown by a case.  A crash is a finding whatever the clauses say of the act.
std::vector<model::Because> judge_crash(const Case& c, const Ending& ending, model::Tally& tally);

/// Makes case `index` again, in a child, without running it.  Nothing if there is none, or if making it kills.
std::optional<Case> describe_case(const Plan& plan, Property& property, const std::string& provider,
                                  std::uint64_t index);

/// Where a library died that nobody had asked a case yet: the query that was asked last while a property was
/// prepared and, given an index, that case was made.  Nothing if it survives this time.
std::optional<model::Query> fatal_query(const Plan& plan, Property& property, const std::string& provider,
                                        std::optional<std::uint64_t> index, std::chrono::milliseconds quiet);

/// The smallest case that ends a child in the same way.  The case itself if it does not kill each time.
/// @param shrinks false: nothing is made smaller, and it is tried once.
/// @param tries receives how often it was tried besides, and how often it killed.
Case shrink_crash(const Plan& plan, const Case& start, const Ending& crash, bool shrinks, Tries& tries);

/// True if the library dies in the same way of the two plainest queries: it can be asked nothing.
bool hopeless(const Plan& plan, const std::string& provider, const Ending& crash);

}  // namespace selvage::conformance
