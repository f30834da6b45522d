// See closing.h.
#include "conformance/report/closing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>

#include "conformance/base/markup.h"
#include "conformance/base/terminal.h"
#include "conformance/case/case_text.h"
#include "conformance/report/findings.h"
#include "conformance/report/view.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kWorst = 10;
constexpr std::size_t kGradeColumns = 14;
constexpr std::size_t kTableColumns = 100;  // the table of providers takes nearly as many
constexpr std::size_t kFewCallers = 24;     // a list of callers that is shorter says nothing

Tint tint_of(Grade g) { return is_grave(g) ? Tint::Bad : Tint::Warn; }

// Some of a text, so that it takes one line.
std::string clipped(std::string_view text, std::size_t width) {
    if (text.size() <= width) return std::string(text);
    if (width < 2) return {};
    text = text.substr(0, width - 2);
    const auto word = text.find_last_of(' ');
    return std::string(text.substr(0, word < width / 2 ? text.size() : word)) + " …";
}

// How many clauses a provider breaks, by grade, and how many of those are waived.
struct Breaks {
    std::array<std::set<model::Clause>, kGradeCount> by_grade;
    std::set<model::Clause> waived;
};

Breaks breaks_of(const Report& report, const std::string& provider) {
    Breaks out;
    for (const auto& d : report.deviations) {
        if (d.provider != provider) continue;
        (d.waived.empty() ? out.by_grade[static_cast<std::size_t>(d.grade)] : out.waived).insert(d.clause);
    }
    return out;
}

std::string column(std::size_t n, std::string_view head, Tint tint) {
    const auto text = fmt::format("  {:>{}}", n, head.size());
    return n == 0 ? tinted(text, Tint::Dim) : tinted(text, tint);
}

// A label and what stands beside it, over as many lines as it takes.
std::string labelled(std::string_view label, const std::string& text, std::size_t margin = 10) {
    return wrap(text, std::string(margin, ' '), columns()).replace(0, label.size(), label);
}

// Where the table does not fit: what is there of each column, in words.
void add_providers_in_words(std::string& out, const Report& report) {
    for (const auto& p : report.providers) {
        const auto n = counts_of(report, p);
        const Breaks breaks = breaks_of(report, p.provider);
        std::string text;
        const auto add = [&](std::size_t count, std::string_view what) {
            if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
        };
        for (std::size_t g = 0; g < kGradeCount; ++g) add(breaks.by_grade[g].size(), name(static_cast<Grade>(g)));
        add(breaks.waived.size(), "waived");
        add(n[static_cast<std::size_t>(ClauseResult::Kept)], "kept");
        add(n[static_cast<std::size_t>(ClauseResult::Unreached)], "unreached");
        add(p.judged, "cases");
        const auto label = printable(p.provider);
        out += labelled(label, text, std::max(kGradeColumns, label.size()) + 1);
    }
}

void add_providers(std::string& out, const Report& report) {
    if (columns() < kTableColumns) return add_providers_in_words(out, report);
    std::string heads = fmt::format("{:<{}}", "provider", kGradeColumns);
    for (std::size_t g = 0; g < kGradeCount; ++g) heads += fmt::format("  {}", name(static_cast<Grade>(g)));
    out += heads + "  waived   kept  unreached   cases\n";
    for (const auto& p : report.providers) {
        const auto n = counts_of(report, p);
        const Breaks breaks = breaks_of(report, p.provider);
        out += tinted(fmt::format("{:<{}}", printable(p.provider), kGradeColumns), Tint::Bold);
        for (std::size_t g = 0; g < kGradeCount; ++g) {
            const auto grade = static_cast<Grade>(g);
            out += column(breaks.by_grade[g].size(), name(grade), tint_of(grade));
        }
        out += column(breaks.waived.size(), "waived", Tint::Plain);
        fmt::format_to(std::back_inserter(out), "  {:>5}  {:>9}  {:>6}\n",
                       n[static_cast<std::size_t>(ClauseResult::Kept)],
                       n[static_cast<std::size_t>(ClauseResult::Unreached)], p.judged);
    }
}

// One note stands for all: the reports have the others.
void add_notes(std::string& out, const Report& report) {
    std::size_t count = 0;
    std::string first;
    for (const auto& p : report.providers) {
        if (first.empty() && !p.notes.empty()) first = p.provider + ": " + p.notes.front();
        count += p.notes.size();
    }
    if (count == 0) return;
    const auto more = count == 1 ? "" : fmt::format(" (the first of {} notes)", count);
    const auto room = std::max(columns(), 10 + more.size()) - 10 - more.size();
    out += "note      " + clipped(printable(first), room) + more + "\n";
}

struct Promise {
    const model::ClauseText* clause;
    const ClauseFinding* finding;
    std::uint64_t calls;
};

// What is not waived, the gravest first; then what most providers break, and most calls show.
std::vector<Promise> broken_promises(const Findings& findings) {
    std::vector<Promise> out;
    for (const auto& [id, f] : findings.by_clause) {
        const auto calls = std::accumulate(f.by_provider.begin(), f.by_provider.end(), std::uint64_t{0},
                                           [](std::uint64_t sum, const auto& b) { return sum + b.second.calls; });
        out.push_back({model::find_clause(id), &f, calls});
    }
    std::stable_sort(out.begin(), out.end(), [](const Promise& a, const Promise& b) {
        const auto key = [](const Promise& p) {
            return std::tuple(p.finding->grade(), -static_cast<int>(p.finding->by_provider.size()), ~p.calls);
        };
        return key(a) < key(b);
    });
    return out;
}

void add_promise(std::string& out, const Promise& p) {
    std::vector<std::string> who;
    for (const auto& [provider, breach] : p.finding->by_provider)
        who.push_back(fmt::format("{} {}", printable(provider), breach.calls));
    const auto grade = p.finding->grade();
    const auto callers = fmt::format("{}", fmt::join(who, ", "));
    const std::string margin(kGradeColumns + 1, ' ');
    const auto used = margin.size() + p.clause->id.size() + 2;
    const bool beside = used + kFewCallers <= columns();
    fmt::format_to(std::back_inserter(out), "{} {}{}\n",
                   tinted(fmt::format("{:<{}}", name(grade), kGradeColumns), tint_of(grade)),
                   tinted(p.clause->id, Tint::Bold),
                   beside ? "  " + clipped(callers, std::min(columns() / 2, columns() - used)) : "");
    if (!beside) out += margin + clipped(callers, columns() - margin.size()) + "\n";
    out += margin + tinted(clipped(p.clause->title, columns() - margin.size()), Tint::Dim) + "\n";
}

Findings unwaived(const Report& report) {
    Report open;
    open.providers = report.providers;
    std::copy_if(report.deviations.begin(), report.deviations.end(), std::back_inserter(open.deviations),
                 [](const Deviation& d) { return d.waived.empty(); });
    return findings_of(open);
}

void add_worst(std::string& out, const std::vector<Promise>& promises) {
    if (promises.empty()) {
        out += "\nno broken promise was found\n";
        return;
    }
    const auto shown = std::min(promises.size(), kWorst);
    const auto which = shown == promises.size() ? std::string() : fmt::format(", the {} worst", shown);
    out += "\n" + wrap(fmt::format("{}{}; with each, how many calls of which provider show it",
                                   counted(promises.size(), "broken promise"), which),
                       "", columns());
    for (std::size_t i = 0; i < shown; ++i) add_promise(out, promises[i]);
}

void add_next(std::string& out, const std::vector<Promise>& promises, const std::vector<std::string>& files) {
    if (!files.empty()) out += labelled("reports", fmt::format("{}", fmt::join(files, ", ")));
    if (promises.empty()) return;
    const Promise& worst = promises.front();
    const std::string provider(worst.finding->provider);
    fmt::format_to(std::back_inserter(out),
                   "next      selvage check --provider '{}' --clause {} --verbose\n"
                   "          selvage clauses {}\n",
                   printable(provider), worst.clause->id, worst.clause->id);
    if (files.empty())
        out += "          --report report.html writes all that was found, --save FOLDER cases and C programs\n";
}

void add_deviation(std::string& out, const Deviation& d) {
    const auto at_times =
        d.intermittent ? fmt::format(" (intermittent: {})", tries_text(*d.intermittent)) : std::string();
    fmt::format_to(std::back_inserter(out), "{} {} {}{}\n    {}\n",
                   tinted(fmt::format("{:<12}", standing(d)), d.waived.empty() ? tint_of(d.grade) : Tint::Dim),
                   tinted(printable(d.provider), Tint::Bold), model::clause_text(d.clause).id, at_times,
                   printable(d.summary));
    const auto call = describe(d.shown_by);
    for (std::size_t at = 0, end = 0; at < call.size(); at = end + 1) {
        end = std::min(call.find('\n', at), call.size());
        fmt::format_to(std::back_inserter(out), "    {}\n",
                       tinted(printable(std::string_view(call).substr(at, end - at)), Tint::Dim));
    }
    if (d.program) fmt::format_to(std::back_inserter(out), "    {}\n", printable(program_text(*d.program)));
}

}  // namespace

std::string deviations_text(const Report& report) {
    std::string out;
    for (const auto& d : report.deviations) add_deviation(out, d);
    return out.empty() ? out : out + "\n";
}

std::string closing_text(const Report& report, const std::vector<std::string>& files) {
    const Findings findings = unwaived(report);
    const auto promises = broken_promises(findings);
    std::string out;
    add_providers(out, report);
    add_worst(out, promises);
    out += "\n";
    if (const auto programs = programs_text(report); !programs.empty())
        out += labelled("programs", printable(programs));
    out += labelled("coverage", coverage_text(coverage_of(report)));
    add_notes(out, report);
    add_next(out, promises, files);
    return out;
}

}  // namespace selvage::conformance
