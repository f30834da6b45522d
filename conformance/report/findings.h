// What reports found on one library, clause by clause over all providers, and the page that says so (docs/findings.md).
//
// The same reports give the same bytes, in whatever order they come.  Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// How a provider broke a clause.
struct Breach {
    Grade grade = Grade::Disputed;  ///< the gravest
    std::uint64_t calls = 0;        ///< how many calls (or sequences of them) broke it
};

/// A clause that some provider broke.
struct ClauseFinding {
    std::map<std::string, Breach> by_provider;
    // Of the smallest case among those of the gravest grade; one that its program shows goes first.
    std::string shown_by;    ///< as a case file
    std::string seen;        ///< what the library did there, and what it should have done; one line
    std::string provider;    ///< of that case
    bool confirmed = false;  ///< a run of its program shows it

    [[nodiscard]] Grade grade() const;
};

/// All that was found on a library: what a digest (docs/formats.md, "Findings") holds.
struct Findings {
    Subject subject;
    std::uint64_t cases = 0;  ///< per suite
    std::set<std::string> providers;
    std::map<std::string_view, ClauseFinding> by_clause;  ///< by id
};

Findings findings_of(const Report& report);
/// REQUIRES: both are of the same library.
void merge_findings(Findings& to, const Findings& more);

std::string findings_json(const Findings& findings);
/// Reads a digest, or a report of selvage check.  @return false and one line in `error`.
bool read_findings(std::string_view json, Findings& out, std::string& error);

/// The page.  @param prose what people wrote, by the name of its file without ".md": "introduction" stands ahead of
/// what is made, "appendix" behind it, and any other is the id of a clause.
/// @return false and one line in `error` that names the file, if one speaks of a clause that nobody broke.
bool findings_page(const Findings& findings, const std::map<std::string, std::string>& prose, std::string& out,
                   std::string& error);

}  // namespace selvage::conformance
