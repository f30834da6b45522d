// selvage replay: runs a saved case again and says whether it still shows its deviation.
#include <fmt/format.h>

#include <memory>

#include "conformance/case/case_text.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/terminal.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/suite/runner.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

struct Options {
    Plan plan;
    std::vector<std::string> files;
    std::string provider;
    bool c = false;
};

int replay_one(const Options& options, const std::string& file, const Survey& found) {
    std::string text;
    std::string error;
    if (!read_file(file, text, error)) return could_not_run(error);
    CaseFile read;
    CaseError bad;
    if (!parse_case(text, read, bad)) return could_not_run(fmt::format("{}: {}", file, bad.str()));
    if (!options.provider.empty()) read.shown.provider = options.provider;
    if (read.shown.provider.empty() && !found.providers.empty()) {
        const bool named = read.shown.first.hints && read.shown.first.hints->fabric.prov_name;
        read.shown.provider = named ? *read.shown.first.hints->fabric.prov_name : found.providers.front();
    }
    fmt::print("{}: {}\n{}\n", file, printable(read.shown.provider), printable(describe(read.shown)));
    const Replayed seen = replay_case(options.plan, read.shown);
    if (!seen.error.empty()) return could_not_run(seen.error);
    bool shows = false;
    for (const auto& b : seen.broken) {
        const auto& clause = model::clause_text(b.clause);
        const bool is_it = !read.clause || *read.clause == b.clause;
        shows = shows || (is_it && !b.supporting);
        fmt::print("{} {}: {}\n", b.supporting ? "  because" : "broken", clause.id, printable(model::print_evidence(b.evidence)));
        if (!b.supporting) fmt::print("    {}\n", tinted(clause.promise, Tint::Dim));
    }
    if (options.c && !seen.broken.empty()) {
        const auto clause = read.clause.value_or(seen.broken.front().clause);
        std::vector<model::Because> chain;
        for (const auto& b : seen.broken) {
            if (b.clause == clause || (!chain.empty() && b.supporting)) chain.push_back(b);
        }
        fmt::print("{}", c_program(read.shown, clause, chain));
    }
    fmt::print("{}\n", shows ? tinted("shows its deviation", Tint::Bad) : tinted("kept", Tint::Good));
    return shows ? kDeviates : kKept;
}

int replay(const Options& options) {
    const Survey found = survey(options.plan);
    if (!found.error.empty()) return could_not_run(found.error);
    int status = kKept;
    for (const auto& f : options.files) status = std::max(status, replay_one(options, f, found));
    return status;
}

}  // namespace

void add_replay(CLI::App& app, Run& run) {
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("replay", "run saved cases again: do they still show their deviation?");
    add_library_option(*command, options->plan.library);
    command->add_option("FILE", options->files, "case files or calls as text; - is standard input")->required();
    command->add_option("--provider", options->provider, "ask this provider instead of the case's own")->type_name("NAME");
    command->add_flag("--c", options->c, "print the C program that shows it");
    command->footer("Exit status: 0 kept, 1 a case shows its deviation, 2 could not run.");
    command->callback([options, &run] { run = [options] { return replay(*options); }; });
}

}  // namespace selvage::conformance
