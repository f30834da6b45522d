// See coverage_page.h.
#include "conformance/report/coverage_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::Clause;
using model::ClauseText;

bool is_reached(ClauseResult r) { return r == ClauseResult::Kept || r == ClauseResult::Broken; }

bool is_judged_must(const ClauseText& c) { return c.level == model::Level::Must && c.judges != model::Judges::None; }

bool is_reached(const Report& report, Clause clause) {
    return std::any_of(report.providers.begin(), report.providers.end(),
                       [&](const ProviderResult& p) { return is_reached(result_of(report, p, clause)); });
}

// Bars would end a cell of a table.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

// Each reason once, with the providers that gave it unless all did.
std::string reasons_text(const Report& report, Clause clause) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const auto& p : report.providers) {
        const auto reason = reason_of(report, p, clause);
        by_reason[reason.empty() ? "nothing explains it" : std::string(reason)].push_back(p.provider);
    }
    std::string out;
    for (const auto& [reason, providers] : by_reason) {
        out += (out.empty() ? "" : "; ") + reason;
        if (by_reason.size() > 1) out += fmt::format(" ({})", fmt::join(providers, ", "));
    }
    return cell(out);
}

std::string library_text(const Report& r) {
    return fmt::format("`{}`, version {}, {} cases per suite", cell(r.subject.path), r.subject.version.str(), r.cases);
}

void add_counts(std::string& out, const Report& report) {
    fmt::format_to(
        std::back_inserter(out),
        "{}:\n\n| provider | judged | reached | unreached, with a reason | without one |\n|---|---|---|---|---|\n",
        library_text(report));
    const auto row = [&](const std::string& name, const Coverage& c) {
        fmt::format_to(std::back_inserter(out), "| {} | {} | {} | {} | {} |\n", cell(name), c.judged, c.reached,
                       c.explained, c.unexplained);
    };
    for (const auto& p : report.providers) row(p.provider, coverage_of(report, p));
    if (report.providers.size() > 1) row("together", coverage_of(report));
    out += '\n';
}

void add_unreached(std::string& out, std::span<const Report> reports) {
    const Report& first = reports.front();
    fmt::format_to(std::back_inserter(out), "## On no provider of {}\n\n| clause | why |", cell(first.subject.path));
    for (std::size_t i = 1; i < reports.size(); ++i)
        fmt::format_to(std::back_inserter(out), " reached on {} |", cell(reports[i].subject.path));
    out += "\n|---|---|";
    for (std::size_t i = 1; i < reports.size(); ++i) out += "---|";
    out += '\n';
    for (const auto& c : model::clauses()) {
        if (!is_judged_must(c) || is_reached(first, c.clause)) continue;
        fmt::format_to(std::back_inserter(out), "| `{}` | {} |", c.id, reasons_text(first, c.clause));
        for (std::size_t i = 1; i < reports.size(); ++i) out += is_reached(reports[i], c.clause) ? " yes |" : " no |";
        out += '\n';
    }
}

}  // namespace

std::string coverage_markdown(std::span<const Report> reports) {
    const Coverage all = coverage_of(reports.front());
    std::string out = fmt::format(
        "Of {} must-clauses {} are judged; `selvage clauses` says of the other {} why they cannot be seen.\n\n",
        all.judged + all.unseen, all.judged, all.unseen);
    for (const Report& r : reports) add_counts(out, r);
    add_unreached(out, reports);
    return out;
}

bool renew_coverage(std::string_view page, std::span<const Report> reports, std::string& out) {
    const auto at = page.find(kCoverageMark);
    if (at == std::string_view::npos) return false;
    out = std::string(page.substr(0, at + kCoverageMark.size())) + "\n\n" + coverage_markdown(reports);
    return true;
}

}  // namespace selvage::conformance
