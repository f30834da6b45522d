// Levels of conformance (spec/conformance.toml): what a provider must keep to be called conformant to one.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

struct ConformanceLevel {
    std::string name, about;
    std::vector<std::string> prefixes;  ///< of the ids of its clauses, those of included levels among them
    std::vector<model::Clause> reaches;
};

/// In the order of the file: an included level comes before those that include it.
std::span<const ConformanceLevel> conformance_levels();

/// How a provider stands to a level by a report.
struct LevelVerdict {
    std::vector<model::Clause> broken;     ///< and not waived
    std::vector<model::Clause> waived;     ///< broken, and answered for: it does not conform without them
    std::vector<model::Clause> unreached;  ///< without a reason of the library's, or though the level has to reach it

    [[nodiscard]] bool conforms() const { return broken.empty() && waived.empty() && unreached.empty(); }
};

LevelVerdict verdict_on(const Report& report, const ProviderResult& provider, const ConformanceLevel& level);
/// "conforms to core, messages" or "conforms to no level".
std::string levels_text(const Report& report, const ProviderResult& provider);
/// A picture of two words for a page (SVG): the level and "conformant", or "not".
std::string badge_svg(const ConformanceLevel& level, bool conforms);

}  // namespace selvage::conformance
