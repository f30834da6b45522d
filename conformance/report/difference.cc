// See difference.h.
#include "conformance/report/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "conformance/base/terminal.h"
#include "conformance/report/view.h"

namespace selvage::conformance {
namespace {

using Kind = ClauseChange::Kind;

const ProviderResult* find(const Report& report, const std::string& provider) {
    const auto it = std::find_if(report.providers.begin(), report.providers.end(),
                                 [&](const ProviderResult& p) { return p.provider == provider; });
    return it == report.providers.end() ? nullptr : &*it;
}

std::optional<Kind> kind_of(const std::optional<Grade>& before, ClauseResult was, const std::optional<Grade>& after,
                            ClauseResult is) {
    if (before && after) {
        if (*before == *after) return std::nullopt;
        return *after < *before ? Kind::Graver : Kind::Milder;
    }
    if (after) return was == ClauseResult::Kept ? Kind::Broken : Kind::Found;
    if (before) return is == ClauseResult::Kept ? Kind::Mended : Kind::Unlooked;
    return std::nullopt;
}

void compare(const Report& before, const ProviderResult& old, const Report& after, const ProviderResult& now,
             std::vector<ClauseChange>& out) {
    for (const auto& c : model::clauses()) {
        const auto was = gravest(before, old, c), is = gravest(after, now, c);
        if (const auto kind = kind_of(was, result_of(before, old, c.clause), is, result_of(after, now, c.clause)))
            out.push_back({*kind, c.clause, old.provider, was, is});
    }
}

struct Section {
    Kind kind;
    std::string_view title;
    Tint tint;
};
constexpr Section kSections[] = {
    {Kind::Broken, "broken now, kept before", Tint::Bad},
    {Kind::Found, "broken now, not looked at before", Tint::Bad},
    {Kind::Graver, "graver", Tint::Bad},
    {Kind::Milder, "milder", Tint::Warn},
    {Kind::Mended, "mended", Tint::Good},
    {Kind::Unlooked, "broken before, not looked at now", Tint::Warn},
};

std::string grades_text(const ClauseChange& c) {
    if (c.before && c.after) return fmt::format("{} -> {}", name(*c.before), name(*c.after));
    return std::string(name(c.after ? *c.after : *c.before));
}

// A line for each clause: those providers together of which the same is to be said.
void add_section(std::string& out, const Section& section, const std::vector<ClauseChange>& all) {
    std::vector<std::tuple<model::Clause, std::string, std::vector<std::string>>> lines;
    for (const auto& c : all) {
        if (c.kind != section.kind) continue;
        const auto grades = grades_text(c);
        const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& l) {
            return std::get<0>(l) == c.clause && std::get<1>(l) == grades;
        });
        if (same != lines.end())
            std::get<2>(*same).push_back(printable(c.provider));
        else
            lines.emplace_back(c.clause, grades, std::vector{printable(c.provider)});
    }
    if (lines.empty()) return;
    fmt::format_to(std::back_inserter(out), "\n{} ({})\n", tinted(section.title, section.tint), lines.size());
    for (const auto& [clause, grades, providers] : lines)
        fmt::format_to(std::back_inserter(out), "  {:<24} {}  {}\n", grades, model::clause_text(clause).id,
                       fmt::join(providers, ", "));
}

std::string run_text(const Report& r) {
    return fmt::format("{} version {}{}, {} cases, seed {}", printable(r.subject.path), r.subject.version.str(),
                       r.subject.build_id.empty() ? "" : ", build id " + printable(r.subject.build_id), r.cases,
                       r.seed);
}

std::vector<std::string> printable_names(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    std::transform(names.begin(), names.end(), std::back_inserter(out), [](const auto& n) { return printable(n); });
    return out;
}

}  // namespace

ReportDifference difference_of(const Report& before, const Report& after) {
    ReportDifference out;
    for (const auto& old : before.providers) {
        if (const auto* now = find(after, old.provider))
            compare(before, old, after, *now, out.changes);
        else
            out.only_before.push_back(old.provider);
    }
    for (const auto& now : after.providers)
        if (find(before, now.provider) == nullptr) out.only_after.push_back(now.provider);
    std::stable_sort(out.changes.begin(), out.changes.end(), [](const ClauseChange& a, const ClauseChange& b) {
        return std::tie(a.kind, a.clause) < std::tie(b.kind, b.clause);
    });
    return out;
}

bool is_worse(const ReportDifference& difference, bool strict) {
    return std::any_of(difference.changes.begin(), difference.changes.end(), [&](const ClauseChange& c) {
        const bool worse = c.kind == Kind::Broken || c.kind == Kind::Found || c.kind == Kind::Graver;
        return worse && (strict || is_grave(*c.after));
    });
}

std::string difference_text(const Report& before, const Report& after, const ReportDifference& difference) {
    std::string out = fmt::format("before  {}\nafter   {}\n", run_text(before), run_text(after));
    if (before.cases != after.cases || before.seed != after.seed || before.transfers != after.transfers)
        out += "The runs were not asked alike (cases, seed or processes): what one alone shows may be chance.\n";
    for (const Section& s : kSections) add_section(out, s, difference.changes);
    if (difference.changes.empty()) out += "\nno difference: the same promises are broken, as gravely\n";
    if (!difference.only_before.empty())
        fmt::format_to(std::back_inserter(out), "\nnot judged any more: {}\n",
                       fmt::join(printable_names(difference.only_before), ", "));
    if (!difference.only_after.empty())
        fmt::format_to(std::back_inserter(out), "\nnot judged before: {}\n",
                       fmt::join(printable_names(difference.only_after), ", "));
    return out;
}

}  // namespace selvage::conformance
