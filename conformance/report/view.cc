// See view.h.
#include "conformance/report/view.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "conformance/base/markup.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

std::string number_text(model::Field field, std::uint64_t v) {
    const auto& row = model::row(field);
    if (field == model::Field::call_return) return model::print_error(static_cast<int>(static_cast<std::int64_t>(v)));
    if (field == model::Field::call_flags) return model::print_value(model::Family::getinfo_flags, v);
    return row.family == model::Family::none ? std::to_string(v) : model::print_value(row.family, v);
}

}  // namespace

std::vector<const Deviation*> ordered(const Report& report) {
    std::vector<const Deviation*> out;
    for (const auto& d : report.deviations) out.push_back(&d);
    const auto key = [](const Deviation* d) {
        return std::make_tuple(!d->waived.empty(), d->grade, std::string_view(d->provider),
                               model::clause_text(d->clause).id, d->api_version, std::string_view(d->summary));
    };
    std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
    return out;
}

std::array<std::uint64_t, 4> counts_of(const Report& report, const ProviderResult& provider) {
    std::array<std::uint64_t, 4> counts{};
    for (const auto& c : model::clauses()) ++counts[static_cast<std::size_t>(result_of(report, provider, c.clause))];
    return counts;
}

std::optional<Grade> gravest(const Report& report, const ProviderResult& provider, const model::ClauseText& clause) {
    if (result_of(report, provider, clause.clause) != ClauseResult::Broken) return std::nullopt;
    std::optional<Grade> out;
    for (const auto& d : report.deviations)
        if (d.clause == clause.clause && d.provider == provider.provider) out = out ? std::min(*out, d.grade) : d.grade;
    return out ? out : grade_of(clause, false);
}

std::vector<Unreached> unreached(const Report& report) {
    std::vector<Unreached> out;
    for (const auto& c : model::clauses()) {
        Unreached row{.clause = &c, .anywhere = false, .reasons = {}};
        for (const auto& p : report.providers) {
            const auto result = result_of(report, p, c.clause);
            row.anywhere = row.anywhere || result == ClauseResult::Kept || result == ClauseResult::Broken;
            if (result != ClauseResult::Unreached) continue;
            auto reason = reason_of(report, p, c.clause);
            if (reason.empty()) reason = kNoReason;
            const auto same = std::find_if(row.reasons.begin(), row.reasons.end(),
                                           [&](const auto& known) { return known.first == reason; });
            if (same == row.reasons.end()) {
                row.reasons.emplace_back(reason, p.provider);
            } else {
                same->second += ", " + p.provider;
            }
        }
        if (!row.reasons.empty()) out.push_back(std::move(row));
    }
    return out;
}

std::string link_text(const model::Because& link) {
    return std::string(model::clause_text(link.clause).id) + ": " + clean(model::print_evidence(link.evidence));
}

std::string_view at_times_text(const Deviation& d) {
    if (!d.shown_by.before.empty())
        return "Intermittent: this is what was run when it was seen, with what the pair of endpoints had carried "
               "before. "
               "Run again, the case and the program show it at times at best.";
    return "Intermittent: the case and the program show it at times, and not each time.";
}

std::string expected_text(const model::Evidence& e) {
    if (e.expected_field != model::Field::subject) return std::string(model::row(e.expected_field).path);
    if (e.expected_text) return clean(*e.expected_text);
    if (e.relation == model::Relation::IsNull) return "NULL";
    if (e.relation == model::Relation::NotNull) return "not NULL";
    if (e.relation == model::Relation::Happens || e.field == model::Field::operation) return "";
    return model::is_text(e.field) ? "NULL" : number_text(e.field, e.expected);
}

std::string actual_text(const model::Evidence& e) {
    if (e.actual_text) return clean(*e.actual_text);
    return model::is_text(e.field) ? "NULL" : number_text(e.field, e.actual);
}

std::vector<std::string> anchors(const std::vector<const Deviation*>& deviations) {
    std::vector<std::string> out;
    std::map<std::string, int> seen;
    for (const auto* d : deviations) {
        std::string name = std::string(model::clause_text(d->clause).id) + "-" + d->provider;
        for (auto& c : name) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
            if (!plain) c = c == '_' ? '_' : '-';
        }
        const int n = ++seen[name];
        out.push_back(n == 1 ? name : name + "-" + std::to_string(n));
    }
    return out;
}

}  // namespace selvage::conformance
