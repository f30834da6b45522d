// What a run found, as data: the source of every report.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.h"
#include "model/judge/judge.h"
#include "model/spec/clause.h"

namespace selvage::conformance {

/// How grave a deviation is: follows from the clause's level and status, and from how it showed.
enum class Grade : std::uint8_t {
    Fatal,         ///< the process died, hung or memory was corrupted
    Violation,     ///< a clear must
    Intermittent,  ///< either of them, if no run of its C program shows it
    Weakness,      ///< a clear should
    Disputed,      ///< a disputed clause, whatever its level
};
inline constexpr std::size_t kGradeCount = 5;
std::string_view name(Grade g);
std::optional<Grade> grade_named(std::string_view word);
Grade grade_of(const model::ClauseText& clause, bool fatal);
/// A clear must is broken: what counts for the exit status unless everything does.
constexpr bool is_grave(Grade g) { return g < Grade::Weakness; }

/// Of a deviation that its case does not show every time: how often it did.
struct Tries {
    std::uint64_t shown = 0;
    std::uint64_t of = 0;
    bool operator==(const Tries&) const = default;
};
/// "shown 2 of 12 tries"
std::string tries_text(const Tries& tries);

/// What came of the C program of a deviation, compiled and run on the library under test.
struct ProgramRun {
    enum class Result : std::uint8_t {
        NotRun,
        Shown,       ///< the last of its runs shows the deviation
        NotShown,    ///< none does
        CannotTell,  ///< each says that it can't be shown here
    } result = Result::NotRun;
    Tries tries;         ///< runs
    std::string detail;  ///< why it was not run, or how its last run ended
    bool operator==(const ProgramRun&) const = default;
};
std::string_view name(ProgramRun::Result r);
/// "its program shows it (exits with 1)", "its program shows it 0 of 4 times (exits with 0)", …
std::string program_text(const ProgramRun& run);

/// A broken promise, with the smallest case that shows it.
struct Deviation {
    model::Clause clause{};
    std::string provider;
    model::Version api_version;
    Grade grade = Grade::Violation;
    std::string summary;                  ///< one line
    std::vector<model::Because> because;  ///< the first link is the broken clause
    Case shown_by;                        ///< minimal
    std::string reproducer;               ///< C source
    std::uint64_t seen = 1;               ///< how many queries showed it
    /// Set if it is intermittent: neither the case nor the program is sure to show it.
    std::optional<Tries> intermittent;
    std::optional<ProgramRun> program;  ///< unset: it was not asked for
    std::string waived;                 ///< reason and URL, if a waiver covers it
    std::string saved_as;  ///< the file of the reproducer in the folder of the saved cases, if it was saved
};

/// Its grade as a word, or "waived".
std::string_view standing(const Deviation& deviation);

/// What became of a clause on a provider.
enum class ClauseResult : std::uint8_t {
    Kept,  ///< checked, never broken
    Broken,
    Unreached,  ///< a predicate exists, nothing in this run made it apply
    Unseen,     ///< cannot be seen from outside
};
std::string_view name(ClauseResult r);

struct ProviderResult {
    std::string provider;
    model::Tally tally;
    std::uint64_t judged = 0;
    double seconds = 0;              ///< wall-clock time of its suites
    double call_seconds = 0;         ///< of which inside the library
    std::vector<std::string> notes;  ///< what could not be run, and why
    std::set<std::string> finished;  ///< properties that ran to their end; not part of a report's data
    std::string unjudged;            ///< why cases have no verdict; not part of a report's data
    /// Why clauses were not reached.  One that was not, and is not here, has no known reason: a gap in the queries.
    std::map<model::Clause, std::string> reasons;
};

struct Subject {
    std::string path;        ///< as the loader resolved it
    std::string build_id;    ///< hex, or empty
    model::Version version;  ///< fi_version()
};

/// All of a run.
struct Report {
    Subject subject;
    std::uint64_t seed = 0;
    std::uint64_t cases = 0;  ///< queries asked for per suite
    std::string transfers;  ///< where the two endpoints of a transfer sequence were: "in one process"; empty: not known
    std::vector<ProviderResult> providers;
    std::vector<Deviation> deviations;
};

ClauseResult result_of(const Report& report, const ProviderResult& provider, model::Clause clause);
/// Why a clause is Unreached or Unseen on a provider; empty for others, and for unreached ones that nothing explains.
std::string_view reason_of(const Report& report, const ProviderResult& provider, model::Clause clause);

/// What reasons begin with that say nothing of the library: the run did not look.
inline constexpr std::string_view kOtherClauses = "the run was told to judge other clauses only";
inline constexpr std::string_view kNotToItsEnd = "not run to its end: the property ";
inline bool says_not_looked(std::string_view reason) {
    return reason.starts_with(kOtherClauses) || reason.starts_with(kNotToItsEnd);
}

/// How many deviations have programs that came to each result, by ProgramRun::Result.
std::array<std::uint64_t, 4> program_counts(const Report& report);
/// The counts as one sentence, "78 of 80 findings are shown by their C programs, 2 are not"; empty: none was asked for.
std::string programs_text(const Report& report);

/// How far a run got with the clauses of level must.
struct Coverage {
    std::uint64_t judged = 0;       ///< have a predicate
    std::uint64_t reached = 0;      ///< of which kept or broken
    std::uint64_t explained = 0;    ///< not reached, with a reason
    std::uint64_t unexplained = 0;  ///< not reached, and no reason is known
    std::uint64_t unseen = 0;       ///< cannot be seen from outside
};
/// On one provider.
Coverage coverage_of(const Report& report, const ProviderResult& provider);
/// On all of a report together: reached is what was reached on any of them.
Coverage coverage_of(const Report& report);
/// The counts as one sentence.
std::string coverage_text(const Coverage& coverage);

}  // namespace selvage::conformance
