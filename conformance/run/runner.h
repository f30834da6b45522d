// The parent's side of a run: one child per property, restarted after a case that kills it; findings gathered.
//
// The parent never loads the library.  Single-threaded.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "conformance/base/child.h"
#include "conformance/properties/property.h"
#include "conformance/report/finding.h"

namespace selvage::conformance {

/// What the parent learns before it runs anything.
struct Survey {
    Subject subject;
    std::vector<std::string> providers;  ///< that offer something
    std::string error;                   ///< why the library cannot be judged; empty if it can
    std::vector<model::Query> deadly;    ///< queries that the library did not survive meanwhile
    std::string died;                    ///< and how it died of the last of them: "died of signal 11"
};

/// Loads the library in a child and looks at it.  A library that dies on loading gives an error.
/// @param requested names to try that the library may answer to without listing them.
Survey survey(const Plan& plan, std::span<const std::string> requested = {});

/// Called as a property goes on: cases done of at most `total`.
using OnProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Runs a property on a provider; adds to the report (deviations, and the provider's tally and notes).
/// @return how many new deviations were found.
std::size_t run_property(const Plan& plan, Property& property, ProviderResult& result, Report& report,
                         const OnProgress& on_progress);

/// What one case shows, run in a child of its own: broken links, or how the child ended.
struct Replayed {
    std::vector<model::Because> broken;
    std::string error;   ///< the library could not be loaded
    bool fatal = false;  ///< the child died; `broken` says of what
    Ending ending;       ///< how the child ended
    model::Tally tally;
};
Replayed replay_case(const Plan& plan, const Case& c);

/// A deviation from what a child found.
Deviation make_deviation(const Case& shown, std::vector<model::Because> because, bool fatal,
                         std::optional<Tries> intermittent = {});

}  // namespace selvage::conformance
