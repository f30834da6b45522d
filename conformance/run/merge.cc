// See merge.h.
#include "conformance/run/merge.h"

#include <algorithm>
#include <tuple>

#include "conformance/run/novelty.h"

namespace selvage::conformance {
namespace {

ProviderResult& provider_of(Report& report, const std::string& name) {
    for (auto& p : report.providers)
        if (p.provider == name) return p;
    report.providers.emplace_back().provider = name;
    return report.providers.back();
}

// The same promise broken in the same way: of two cases that show it, the graver one is kept (one program that shows it
// is enough), else the one with the smaller text, so that the order of the parts does not matter.
void add_in_any_order(Report& to, const Deviation& d) {
    Deviation* const known = add_deviation(to, d);
    if (known == nullptr || std::tie(known->grade, known->summary) <= std::tie(d.grade, d.summary)) return;
    const auto seen = known->seen;
    const auto tries = known->intermittent;
    *known = d;
    known->seen = seen;
    known->intermittent = tries;
}

std::string different(const Report& a, const Report& b) {
    if (a.subject.path != b.subject.path || a.subject.build_id != b.subject.build_id)
        return "they judge different libraries: " + a.subject.path + " and " + b.subject.path;
    if (a.seed != b.seed)
        return "they have different seeds: " + std::to_string(a.seed) + " and " + std::to_string(b.seed);
    if (a.cases != b.cases)
        return "they ask different numbers of cases: " + std::to_string(a.cases) + " and " + std::to_string(b.cases);
    return {};
}

}  // namespace

std::string signature_of(const Deviation& d) {
    return signature(d.because.front(), d.shown_by, d.intermittent.has_value());
}

void add_tries(std::optional<Tries>& to, const std::optional<Tries>& more) {
    if (to && more) *to = {.shown = to->shown + more->shown, .of = to->of + more->of};
}

void add_counts(ProviderResult& to, const ProviderResult& part) {
    to.tally.add(part.tally);
    to.judged += part.judged;
    to.seconds += part.seconds;
    to.call_seconds += part.call_seconds;
    for (const auto& n : part.notes)
        if (std::find(to.notes.begin(), to.notes.end(), n) == to.notes.end()) to.notes.push_back(n);
    to.finished.insert(part.finished.begin(), part.finished.end());
    // Any reason but that another part was to reach it.
    for (const auto& [clause, reason] : part.reasons) {
        if (reason == kOtherPart) continue;
        to.reasons.emplace(clause, reason);
    }
}

Deviation* add_deviation(Report& to, const Deviation& d) {
    for (auto& known : to.deviations) {
        if (known.clause != d.clause || known.provider != d.provider || signature_of(known) != signature_of(d))
            continue;
        known.seen += d.seen;
        add_tries(known.intermittent, d.intermittent);
        return &known;
    }
    to.deviations.push_back(d);
    return nullptr;
}

bool merge_reports(std::span<const Report> parts, Report& out, std::string& error) {
    out = {};
    if (parts.empty()) {
        error = "there is no report";
        return false;
    }
    out.subject = parts.front().subject;
    out.seed = parts.front().seed;
    out.transfers = parts.front().transfers;
    out.cases = parts.front().cases;
    for (const Report& part : parts) {
        error = different(parts.front(), part);
        if (!error.empty()) return false;
        for (const auto& p : part.providers) add_counts(provider_of(out, p.provider), p);
        for (const auto& d : part.deviations) add_in_any_order(out, d);
    }
    return true;
}

}  // namespace selvage::conformance
