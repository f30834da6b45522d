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

bool read_case(const std::string& file, CaseFile& out, std::string& error) {
    std::string text;
    if (!read_file(file, text, error)) return false;
    CaseError bad;
    if (parse_case(text, out, bad)) return true;
    error = fmt::format("{}: {}", file, bad.str());
    return false;
}

int replay_one(const Options& options, const std::string& file, CaseFile read, const Survey& found) {
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
        fmt::print("{} {}: {}\n", b.supporting ? "  because" : "broken", clause.id,
                   printable(model::print_evidence(b.evidence)));
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
    std::string error;
    std::vector<CaseFile> cases(options.files.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!read_case(options.files[i], cases[i], error)) return could_not_run(error);
    }
    const Survey found = survey(options.plan);
    if (!found.error.empty()) return could_not_run(found.error);
    int status = kKept;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        status = std::max(status, replay_one(options, options.files[i], std::move(cases[i]), found));
    }
    return status;
}

}  // namespace

void add_replay(CLI::App& app, Run& run) {
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("replay", "run saved cases again: do they still show their deviation?");
    add_library_option(*command, options->plan.library);
    command->add_option("FILE", options->files, "case files or calls as text; - is standard input")->required();
    command->add_option("--provider", options->provider, "ask this provider instead of the case's own")
        ->type_name("NAME");
    command->add_flag("--c", options->c, "print the C program that shows it");
    command->footer(
        "Example:  selvage replay cases/001-tcp-getinfo.caps.msg-both-ways.case\n"
        "          echo 'version=1.17 hints={caps=FI_MSG}' | selvage replay --provider shm -\n\n"
        "Exit status: 0 kept, 1 a case shows its deviation, 2 could not run.");
    command->callback([options, &run] { run = [options] { return replay(*options); }; });
}

}  // namespace selvage::conformance
