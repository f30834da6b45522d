// What two reports on the same promises say differently: what a release mended, and what it broke.  Pure functions; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// How a clause stands on a provider in the one report and in the other.
struct ClauseChange {
    enum class Kind : std::uint8_t {
        Broken,    ///< kept before
        Found,     ///< broken, and not reached before
        Graver,    ///< broken in both
        Milder,    ///< broken in both
        Mended,    ///< kept now
        Unlooked,  ///< broken before, and not reached now
    } kind;
    model::Clause clause;
    std::string provider;
    std::optional<Grade> before, after;  ///< the gravest; unset: not broken
};

struct ReportDifference {
    std::vector<ClauseChange> changes;                 ///< by kind, then clause, then provider
    std::vector<std::string> only_before, only_after;  ///< providers that one report alone judges
};

/// Waivers play no part: what is waived is broken.
ReportDifference difference_of(const Report& before, const Report& after);
/// Whether something is broken, found or graver that counts: a must that is clear, or with `strict` anything.
bool is_worse(const ReportDifference& difference, bool strict);
std::string difference_text(const Report& before, const Report& after, const ReportDifference& difference);

}  // namespace selvage::conformance
