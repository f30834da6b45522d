// The page of findings.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

#include "conformance/report/findings.h"
#include "conformance/report/write.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

constexpr std::string_view kIntroduction = "introduction";
constexpr std::string_view kAppendix = "appendix";
// The last line of a text that speaks of more clauses than the one it is named after.
constexpr std::string_view kAlso = "\nAlso: ";

struct Chapter {
    Grade grade;
    std::string_view title;
};
constexpr Chapter kChapters[] = {{Grade::Fatal, "Fatal"},
                                 {Grade::Violation, "Strict violations"},
                                 {Grade::Intermittent, "Intermittent"},
                                 {Grade::Weakness, "Weaknesses"},
                                 {Grade::Disputed, "Disputed readings"}};

// What the page says of a clause in people's words: a text, or where it stands.
struct Words {
    std::string_view text;
    std::string_view see;  // the clause whose section has it
};
using WordsByClause = std::map<std::string_view, Words>;

std::vector<std::string_view> split_ids(std::string_view list) {
    std::vector<std::string_view> out;
    while (true) {
        const auto begin = list.find_first_not_of(", \n");
        if (begin == std::string_view::npos) return out;
        list.remove_prefix(begin);
        out.push_back(list.substr(0, list.find_first_of(", \n")));
        list.remove_prefix(out.back().size());
    }
}

std::string_view without_ends(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    return text;
}

// A text for the clause of its name and for those that it also speaks of.
bool add_words(const Findings& findings, std::string_view name, std::string_view text, WordsByClause& out,
               std::string& error) {
    const auto also = text.rfind(kAlso);
    std::vector<std::string_view> ids;
    if (also != std::string_view::npos) ids = split_ids(text.substr(also + kAlso.size()));
    ids.insert(ids.begin(), name);
    for (const auto id : ids) {
        const auto found = findings.by_clause.find(id);
        if (found == findings.by_clause.end()) {
            error = fmt::format("{}.md: speaks of {}, which nobody broke", name, id);
            return false;
        }
        const Words words = id == name ? Words{without_ends(text.substr(0, also)), {}} : Words{{}, name};
        if (out.emplace(found->first, words).second) continue;
        error = fmt::format("{}.md: {} has another text, too", name, id);
        return false;
    }
    return true;
}

std::string breaches_text(const ClauseFinding& f) {
    std::string out;
    for (const auto& [provider, breach] : f.by_provider) {
        const auto grade = breach.grade == f.grade() ? std::string() : fmt::format(", {}", name(breach.grade));
        out += fmt::format("{}{} ({}{})", out.empty() ? "" : ", ", provider, breach.calls, grade);
    }
    return out;
}

std::string seen_text(const ClauseFinding& f) {
    return f.seen.empty() ? std::string() : fmt::format("* what {} did: `{}`\n", f.provider, f.seen);
}

// Clauses as rows, providers as columns, the gravest thing that the provider did as cell.
void add_table(std::string& out, const Findings& findings) {
    out += "## Broken promises by provider\n\n| clause |";
    for (const auto& provider : findings.providers) out += fmt::format(" {} |", provider);
    out += "\n|---|";
    for (std::size_t i = 0; i < findings.providers.size(); ++i) out += "---|";
    for (const auto& [id, finding] : findings.by_clause) {
        out += fmt::format("\n| `{}` |", id);
        for (const auto& provider : findings.providers) {
            const auto breach = finding.by_provider.find(provider);
            out += breach == finding.by_provider.end() ? " |" : fmt::format(" {} |", name(breach->second.grade));
        }
    }
    out += "\n\n";
}

void add_section(std::string& out, const model::ClauseText& clause, const ClauseFinding& f, const WordsByClause& all) {
    const auto words = all.find(clause.id);
    fmt::format_to(std::back_inserter(out), "### {}\n\n", clause.id);
    if (words != all.end()) {
        const Words& w = words->second;
        fmt::format_to(std::back_inserter(out), "{}\n\n", w.see.empty() ? w.text : fmt::format("See `{}`.", w.see));
    }
    fmt::format_to(std::back_inserter(out),
                   "* {} ({})\n* calls that broke it: {}\n{}* smallest, {} `*-{}.c`:\n\n```\n{}```\n\n", clause.promise,
                   fmt::join(clause.source, ", "), breaches_text(f), seen_text(f),
                   f.confirmed ? "shown by its program" : "not shown by its program", case_name(f.provider, clause.id),
                   f.shown_by);
}

void add_chapter(std::string& out, const Chapter& chapter, const Findings& findings, const WordsByClause& words) {
    std::string sections;
    std::size_t count = 0;
    for (const auto& [id, finding] : findings.by_clause) {
        if (finding.grade() != chapter.grade) continue;
        ++count;
        add_section(sections, *model::find_clause(id), finding, words);
    }
    if (count != 0) out += fmt::format("## {} ({})\n\n{}", chapter.title, count, sections);
}

std::string text_named(std::string_view name, const std::map<std::string, std::string>& prose) {
    const auto it = prose.find(std::string(name));
    return it == prose.end() ? std::string() : std::string(without_ends(it->second)) + "\n\n";
}

}  // namespace

bool findings_page(const Findings& findings, const std::map<std::string, std::string>& prose, std::string& out,
                   std::string& error) {
    WordsByClause words;
    for (const auto& [name, text] : prose) {
        if (name == kIntroduction || name == kAppendix) continue;
        if (!add_words(findings, name, text, words, error)) return false;
    }
    out = "<!-- Made by `selvage findings`. What people wrote of a clause is in a file of its own. -->\n" +
          text_named(kIntroduction, prose);
    fmt::format_to(std::back_inserter(out), "`{}`, version {}, build {}; {} cases per suite on each of {}.\n\n",
                   findings.subject.path, findings.subject.version.str(), findings.subject.build_id, findings.cases,
                   fmt::join(findings.providers, ", "));
    add_table(out, findings);
    for (const auto& chapter : kChapters) add_chapter(out, chapter, findings, words);
    out += text_named(kAppendix, prose);
    out.pop_back();
    return true;
}

}  // namespace selvage::conformance
