// Grades and results: how a deviation is called, and what a tally says of a clause.  Pure functions; any thread.
#include "conformance/report/finding.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace selvage::conformance {

std::string_view name(Grade g) {
    switch (g) {
        case Grade::Fatal:
            return "fatal";
        case Grade::Violation:
            return "violation";
        case Grade::Intermittent:
            return "intermittent";
        case Grade::Weakness:
            return "weakness";
        case Grade::Disputed:
            return "disputed";
    }
    return "violation";
}

std::optional<Grade> grade_named(std::string_view word) {
    for (const auto g : {Grade::Fatal, Grade::Violation, Grade::Intermittent, Grade::Weakness, Grade::Disputed})
        if (name(g) == word) return g;
    return {};
}

Grade grade_of(const model::ClauseText& clause, bool fatal) {
    if (fatal && !clause.use_disputed) return Grade::Fatal;
    if (clause.status == model::Status::Disputed) return Grade::Disputed;
    return clause.level == model::Level::Must ? Grade::Violation : Grade::Weakness;
}

std::string tries_text(const Tries& tries) {
    return "shown " + std::to_string(tries.shown) + " of " + std::to_string(tries.of) + " tries";
}

std::string_view name(ProgramRun::Result r) {
    switch (r) {
        case ProgramRun::Result::NotRun:
            return "not-run";
        case ProgramRun::Result::Shown:
            return "shown";
        case ProgramRun::Result::NotShown:
            return "not-shown";
        case ProgramRun::Result::CannotTell:
            return "cannot-tell";
    }
    return "not-run";
}

std::string program_text(const ProgramRun& run) {
    const std::string times = std::to_string(run.tries.shown) + " of " + std::to_string(run.tries.of) + " times";
    const std::string detail = run.detail.empty() ? "" : " (" + run.detail + ")";
    switch (run.result) {
        case ProgramRun::Result::Shown:
            return "its program shows it" + (run.tries.of > 1 ? " " + times : "") + detail;
        case ProgramRun::Result::NotShown:
            return "its program shows it " + times + detail;
        case ProgramRun::Result::CannotTell:
            return "its program cannot tell, in " + std::to_string(run.tries.of) + " runs" + detail;
        case ProgramRun::Result::NotRun:
            break;
    }
    return "its program was not run" + (run.detail.empty() ? "" : ": " + run.detail);
}

std::array<std::uint64_t, 4> program_counts(const Report& report) {
    std::array<std::uint64_t, 4> counts{};
    for (const auto& d : report.deviations)
        if (d.program) ++counts[static_cast<std::size_t>(d.program->result)];
    return counts;
}

namespace {

// REQUIRES: there is one.
const ProgramRun& first_program(const Report& report) {
    return *std::find_if(report.deviations.begin(), report.deviations.end(), [](const Deviation& d) {
                return d.program.has_value();
            })->program;
}

}  // namespace

std::string programs_text(const Report& report) {
    const auto n = program_counts(report);
    const auto of = [&](ProgramRun::Result r) { return n[static_cast<std::size_t>(r)]; };
    const auto all = std::accumulate(n.begin(), n.end(), std::uint64_t{0});
    if (all == 0) return {};
    if (of(ProgramRun::Result::NotRun) == all)
        return "the C programs of the findings were not run: " + first_program(report).detail;
    std::string out = std::to_string(of(ProgramRun::Result::Shown)) + " of " +
                      std::to_string(report.deviations.size()) + " findings are shown by their C programs";
    const auto add = [&](ProgramRun::Result r, const char* what) {
        if (of(r) != 0) out += ", " + std::to_string(of(r)) + " " + what;
    };
    add(ProgramRun::Result::NotShown, "are not");
    add(ProgramRun::Result::CannotTell, "cannot be told by theirs");
    add(ProgramRun::Result::NotRun, "have programs that were not run");
    return out;
}

std::string_view name(ClauseResult r) {
    switch (r) {
        case ClauseResult::Kept:
            return "kept";
        case ClauseResult::Broken:
            return "broken";
        case ClauseResult::Unreached:
            return "unreached";
        case ClauseResult::Unseen:
            return "unseen";
    }
    return "unseen";
}

ClauseResult result_of(const Report& report, const ProviderResult& provider, model::Clause clause) {
    const auto index = static_cast<std::size_t>(clause);
    if (provider.tally.broken[index] != 0) return ClauseResult::Broken;
    for (const auto& d : report.deviations)
        if (d.clause == clause && d.provider == provider.provider) return ClauseResult::Broken;
    if (model::clause_text(clause).judges == model::Judges::None) return ClauseResult::Unseen;
    return provider.tally.applied[index] != 0 ? ClauseResult::Kept : ClauseResult::Unreached;
}

std::string_view standing(const Deviation& d) { return d.waived.empty() ? name(d.grade) : "waived"; }

std::string_view reason_of(const Report& report, const ProviderResult& provider, model::Clause clause) {
    switch (result_of(report, provider, clause)) {
        case ClauseResult::Unseen:
            return model::clause_text(clause).unseen;
        case ClauseResult::Unreached: {
            const auto found = provider.reasons.find(clause);
            return found != provider.reasons.end() ? std::string_view(found->second) : std::string_view();
        }
        default:
            return {};
    }
}

namespace {

// How a clause stands on some providers together: broken before kept before unreached.
void count(const Report& report, std::span<const ProviderResult> providers, const model::ClauseText& c, Coverage& out) {
    if (c.level != model::Level::Must) return;
    if (c.judges == model::Judges::None) {
        ++out.unseen;
        return;
    }
    ++out.judged;
    bool explained = true;
    for (const auto& p : providers) {
        if (result_of(report, p, c.clause) != ClauseResult::Unreached) {
            ++out.reached;
            return;
        }
        explained = explained && !reason_of(report, p, c.clause).empty();
    }
    ++(explained ? out.explained : out.unexplained);
}

Coverage coverage_on(const Report& report, std::span<const ProviderResult> providers) {
    Coverage out;
    for (const auto& c : model::clauses()) count(report, providers, c, out);
    return out;
}

}  // namespace

Coverage coverage_of(const Report& report, const ProviderResult& provider) {
    return coverage_on(report, std::span(&provider, 1));
}

Coverage coverage_of(const Report& report) { return coverage_on(report, report.providers); }

std::string coverage_text(const Coverage& c) {
    std::string out = std::to_string(c.judged) + " must-clauses judged, of them " + std::to_string(c.reached) +
                      " reached, " + std::to_string(c.explained) + " unreached with reasons";
    if (c.unexplained != 0) out += ", " + std::to_string(c.unexplained) + " UNREACHED WITHOUT A REASON";
    return out + "; " + std::to_string(c.unseen) + " more are not visible from outside";
}

}  // namespace selvage::conformance
