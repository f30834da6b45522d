// Grades and results: how a deviation is called, and what a tally says of a clause.  Pure functions; any thread.
#include "conformance/report/finding.h"

namespace selvage::conformance {

std::string_view name(Grade g) {
    switch (g) {
        case Grade::Fatal:
            return "fatal";
        case Grade::Violation:
            return "violation";
        case Grade::Weakness:
            return "weakness";
        case Grade::Disputed:
            return "disputed";
    }
    return "violation";
}

Grade grade_of(const model::ClauseText& clause, bool fatal) {
    if (fatal) return Grade::Fatal;
    if (clause.status == model::Status::Disputed) return Grade::Disputed;
    return clause.level == model::Level::Must ? Grade::Violation : Grade::Weakness;
}

std::string_view name(ClauseResult r) {
    switch (r) {
        case ClauseResult::Kept:
            return "kept";
        case ClauseResult::Broken:
            return "broken";
        case ClauseResult::NotReached:
            return "not-reached";
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
    return provider.tally.applied[index] != 0 ? ClauseResult::Kept : ClauseResult::NotReached;
}

}  // namespace selvage::conformance
