// selvage clauses: what the interface promises, clause by clause, and where it says so.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/glossary.h"
#include "conformance/cli/page_text.h"
#include "model/spec/breach.h"
#include "model/spec/clause.h"
#include "model/specc/pages.h"

namespace selvage::conformance {
namespace {

using namespace model;

struct ClausesOptions {
    std::vector<std::string> ids;
    std::vector<std::string> texts;
    bool uncited = false;
    bool pages = false;
    std::string verify;
    std::string case_of;
};

// A source, and what it says, where the page is at hand.
void print_source(std::string_view source, PageTexts& texts) {
    fmt::print("  source   {}\n", source);
    const auto sentence = texts.sentence(source);
    if (!sentence.empty()) {
        fmt::print("           \"{}\"\n", printable(sentence));
    } else if (texts.has_page_of(source)) {
        fmt::print("           {}\n",
                   tinted("(the page that is installed says it otherwise, or not at all)", Tint::Dim));
    }
}

// The lines of a case that say what is done: without header, comment and clause.
void print_case_lines(std::string_view text) {
    std::string_view name = "example";
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.starts_with("selvage-case") || line.starts_with('#') || line.starts_with("clause =")) continue;
        fmt::print("  {:<8} {}\n", name, line);
        name = {};
    }
}

void print_example(const ClauseText& c) {
    if (!c.example_call.empty()) fmt::print("  example  {}\n  answer   {}\n", c.example_call, c.example_expect);
    if (const auto* b = find_breach(c.clause))
        fmt::print("  broken   by an answer to {}\n           with {{{}}} and zeros\n", b->call, b->offer);
    if (c.example_case.empty()) return;
    print_case_lines(c.example_case);
    fmt::print("  broken   shows: {}\n", c.example_shows);
}

// The case file of a clause, for selvage replay.
int print_case_file(const std::string& id) {
    const auto* c = find_clause(id);
    if (c == nullptr || c->example_case.empty())
        return could_not_run(fmt::format("{}: no clause of this name has a case file as its example", id));
    fmt::print("{}", c->example_case);
    return kKept;
}

void print_full(const ClauseText& c, PageTexts& texts) {
    fmt::print("{}  {}\n  {}\n  {}, {}; judged as: {}; API versions {} to {}\n", tinted(c.id, Tint::Bold), c.title,
               c.promise, name(c.level), name(c.status), name(c.judges), c.since.str(),
               c.until.packed == ~0U ? std::string("newest") : c.until.str());
    for (const auto s : c.source) print_source(s, texts);
    if (!c.unseen.empty()) fmt::print("  unseen   {}\n", c.unseen);
    print_example(c);
    for (const auto s : c.dispute_says) fmt::print("  says     {}\n", s);
    if (!c.dispute_reading.empty()) fmt::print("  reading  {}\n  why      {}\n", c.dispute_reading, c.dispute_why);
}

int list_clauses(const ClausesOptions& options) {
    const auto all = clauses();
    for (const auto& expected : options.ids) {
        if (std::none_of(all.begin(), all.end(), [&](const auto& c) { return c.id.starts_with(expected); })) {
            return could_not_run(
                fmt::format("no clause is named {} or begins so (selvage clauses lists them)", expected));
        }
    }
    PageTexts texts;
    for (const auto& file : options.texts) {
        std::string text;
        std::string error;
        if (!read_file(file, text, error)) return could_not_run(error);
        texts.add(text);
    }
    std::string words;  // that a reader meets
    const auto print = [&](const ClauseText& c) {
        print_full(c, texts);
        words += fmt::format("{} {} ", c.promise, name(c.judges));
    };
    for (const auto& expected : options.ids) {
        if (const auto* c = find_clause(expected)) {
            print(*c);
            continue;
        }
        for (const auto& c : all)
            if (c.id.starts_with(expected)) print(c);
    }
    if (!options.ids.empty()) {
        fmt::print("\nwords\n{}", glossary_of(words));
        return kKept;
    }
    for (const auto& c : all)
        fmt::print("{:<47} {:<6} {:<8} {:<12} {}\n", c.id, name(c.level), name(c.status), name(c.judges), c.title);
    return kKept;
}

int print_uncited() {
    bool any = false;
    for (const auto& p : pages()) {
        if (!p.complete) continue;
        for (const auto& s : p.sentences) {
            if (!s.prose.empty() || !s.cited.empty()) continue;
            fmt::print("{}:{}\n", p.name, s.at);
            any = true;
        }
    }
    return any ? kDeviates : kKept;
}

int print_pages() {
    for (const auto& p : pages()) {
        std::size_t cited = 0;
        std::size_t prose = 0;
        for (const auto& s : p.sentences) {
            cited += s.cited.empty() ? 0 : 1;
            prose += s.prose.empty() ? 0 : 1;
        }
        fmt::print("{:<24} {:>4} sentences {:>4} cited {:>4} prose  {}\n", p.name, p.sentences.size(), cited, prose,
                   p.complete ? "complete" : "in part");
    }
    return kKept;
}

// Holds a page somebody has against the index: every sentence of the index must be there.
int verify(const std::string& file) {
    std::string text;
    std::string error;
    if (!read_file(file, text, error)) return could_not_run(error);
    const auto sentences = specc::split_page(text);
    const PageRow* best = nullptr;
    std::size_t best_hits = 0;
    for (const auto& p : pages()) {
        std::size_t hits = 0;
        for (const auto& s : sentences) {
            for (const auto& r : p.sentences) {
                if (r.at == s.at && r.digest == s.digest) {
                    ++hits;
                    break;
                }
            }
        }
        if (hits > best_hits) {
            best = &p;
            best_hits = hits;
        }
    }
    if (best == nullptr) return could_not_run(fmt::format("{}: no page of the spec has a sentence of it", file));
    std::size_t missing = 0;
    for (const auto& r : best->sentences) {
        const bool there = std::any_of(sentences.begin(), sentences.end(),
                                       [&](const auto& s) { return r.at == s.at && r.digest == s.digest; });
        if (!there) {
            fmt::print("{}:{} is not in {}\n", best->name, r.at, file);
            ++missing;
        }
    }
    fmt::print("{}: {} of {} sentences of {} are there\n", file, best->sentences.size() - missing,
               best->sentences.size(), best->name);
    return missing == 0 ? kKept : kDeviates;
}

}  // namespace

void add_clauses(CLI::App& app, Run& run) {
    auto options = std::make_shared<ClausesOptions>();
    auto* command = app.add_subcommand("clauses", "what the interface promises: all clauses, or those named in full");
    command->add_option("ID", options->ids, "an id, or the beginning of some (getinfo.caps)");
    command
        ->add_option("--text", options->texts,
                     "a page as text, to quote sentences from beside the pages that are installed (again for more)")
        ->type_name("PAGE");
    command->add_option("--case", options->case_of, "print the case file that is the example of this clause")
        ->type_name("ID");
    command->add_flag("--uncited", options->uncited,
                      "sentences of the pages that no clause cites and that are no prose (there should be none)");
    command->add_flag("--pages", options->pages, "the pages and how many of their sentences are cited");
    command->add_option("--verify", options->verify, "hold the text of a page against its index")->type_name("PAGE");
    command->footer(
        "Example:  selvage clauses getinfo.caps           all promises on capabilities, in full\n"
        "          selvage clauses --case msg.send.whole | selvage replay -\n"
        "          selvage clauses --uncited              sentences that nobody has read: none");
    command->callback([options, &run] {
        run = [options] {
            if (options->uncited) return print_uncited();
            if (options->pages) return print_pages();
            if (!options->case_of.empty()) return print_case_file(options->case_of);
            if (!options->verify.empty()) return verify(options->verify);
            return list_clauses(*options);
        };
    });
}

}  // namespace selvage::conformance
