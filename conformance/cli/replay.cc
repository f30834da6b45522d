// selvage replay: runs a saved case again and says whether it still shows its deviation; plays a recorded trace.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "conformance/base/terminal.h"
#include "conformance/case/case_text.h"
#include "conformance/cli/commands.h"
#include "conformance/generate/binary/case_bytes.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/run/runner.h"
#include "conformance/run/seeded.h"
#include "conformance/run/smaller.h"
#include "conformance/trace/trace.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

struct ReplayOptions {
    Plan plan;
    std::vector<std::string> files;
    std::string provider;
    bool c = false;
    bool shrink = false;
    bool as_is = false;
    ReplayTraces traces;
};

// A file as read: text, or the bytes of a fuzzer.
struct ReadCase : CaseFile {
    bool bytes = false;
    Input input;  ///< of bytes
};

bool read_case(const std::string& file, const std::string& text, ReadCase& out, std::string& error) {
    if (is_case_bytes(text)) {
        out.input = read_input(text);
        out.shown = to_case(out.input);
        out.bytes = true;
        return true;
    }
    CaseError bad;
    if (parse_case(text, out, bad)) return true;
    error = fmt::format("{}: {}", file, bad.str());
    return false;
}

// The links that show the wanted clause, or the first that was broken.
std::vector<model::Because> chain_of(const Replayed& seen, model::Clause clause) {
    std::vector<model::Because> chain;
    for (const auto& b : seen.broken) {
        if (b.clause == clause || (!chain.empty() && b.supporting)) chain.push_back(b);
    }
    return chain;
}

// A case that opens objects shows nothing where its call is not answered.
bool was_judged(const Case& shown, const Replayed& seen) {
    if (shown.kind != Case::Kind::Lifecycle && shown.kind != Case::Kind::Traffic) return true;
    const auto& applied = seen.tally.applied;
    return !seen.broken.empty() || std::any_of(applied.begin(), applied.end(), [](std::uint64_t n) { return n != 0; });
}

// A case that names its clause was made smaller when it was saved.
bool wants_smaller(const ReplayOptions& options, const ReadCase& read, const Replayed& seen) {
    return !seen.broken.empty() && !options.as_is && (options.shrink || read.bytes || !read.clause);
}

int replay_one(const ReplayOptions& options, const std::string& file, ReadCase read, const Survey& found) {
    if (!options.provider.empty()) read.shown.provider = options.provider;
    // As the fuzz targets take it: bytes that name nobody stand for the first.
    const auto& all = found.providers;
    if (read.bytes && options.provider.empty() && std::find(all.begin(), all.end(), read.shown.provider) == all.end())
        read.shown.provider.clear();
    if (read.shown.provider.empty() && !found.providers.empty()) {
        const bool named = read.shown.first.hints && read.shown.first.hints->fabric.prov_name;
        read.shown.provider = named ? *read.shown.first.hints->fabric.prov_name : found.providers.front();
    }
    if (read.bytes && read.shown.kind == Case::Kind::Traffic) {
        std::string error;
        read.input.drawn.provider = read.shown.provider;
        if (!seeded_sequence(options.plan, read.input, read.shown, error)) return could_not_run(error);
    }
    fmt::print("{}: {}\n{}\n", file, printable(read.shown.provider), printable(describe(read.shown)));
    Replayed seen = replay_case(options.plan, read.shown);
    if (!seen.error.empty()) return could_not_run(seen.error);
    if (wants_smaller(options, read, seen)) {
        Case smaller = make_smaller(options.plan, read.shown, seen);
        if (!(smaller == read.shown)) fmt::print("made smaller:\n{}\n", printable(describe(smaller)));
        read.shown = std::move(smaller);
        seen = replay_case(options.plan, read.shown);
    }
    if (!seen.error.empty()) return could_not_run(seen.error);
    // Bytes of a fuzzer often come to nothing.
    if (!read.bytes && !was_judged(read.shown, seen))
        return could_not_run(fmt::format("{}: nothing could be judged: {} offers nothing that the case can be run with",
                                         file, printable(read.shown.provider)));
    bool shows = false;
    for (const auto& b : seen.broken) {
        const auto& clause = model::clause_text(b.clause);
        const bool is_it = !read.clause || *read.clause == b.clause;
        shows = shows || (is_it && !b.supporting);
        fmt::print("{} {}: {}\n", b.supporting ? "  because" : "broken", clause.id,
                   printable(model::print_evidence(b.evidence)));
        if (!b.supporting) fmt::print("    {}\n", tinted(clause.promise, Tint::Dim));
    }
    if ((options.c || read.bytes) && !seen.broken.empty()) {
        const auto clause = read.clause.value_or(seen.broken.front().clause);
        fmt::print("{}", c_program(read.shown, clause, chain_of(seen, clause)));
    }
    fmt::print("{}\n", shows ? tinted("shows its deviation", Tint::Bad) : tinted("kept", Tint::Good));
    return shows ? kDeviates : kKept;
}

int replay(const ReplayOptions& options) {
    std::string error;
    std::vector<std::string> texts(options.files.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!read_file(options.files[i], texts[i], error)) return could_not_run(error);
    }
    if (std::any_of(texts.begin(), texts.end(), is_trace)) {
        ReplayTraces traces = options.traces;
        traces.files = options.files;
        traces.texts = std::move(texts);
        traces.library = options.plan.library;
        return replay_traces(std::move(traces));
    }
    std::vector<ReadCase> cases(options.files.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!read_case(options.files[i], texts[i], cases[i], error)) return could_not_run(error);
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
    auto options = std::make_shared<ReplayOptions>();
    auto* command = app.add_subcommand("replay", "run saved cases again, or play recorded traces");
    add_library_option(*command, options->plan.library);
    command
        ->add_option("FILE", options->files,
                     "case files, calls as text, inputs of the fuzz targets, or traces; - is standard input")
        ->required();
    command->add_option("--provider", options->provider, "ask this provider instead of the case's own")
        ->type_name("NAME");
    command->add_flag("--c", options->c, "print the C program that shows it");
    command->add_flag("--shrink", options->shrink, "make a case smaller even if it names its clause");
    command->add_flag("--as-is", options->as_is, "make no case smaller");
    command->add_flag("--keep-going", options->traces.keep_going, "traces: play on after the first difference");
    command->add_option("--seconds", options->traces.seconds, "traces: how long a call is waited for")
        ->check(CLI::Range(1, 3600));
    command->footer(
        "A case that breaks a promise and does not name it yet is made smaller; of an input of a fuzz target the C\n"
        "program is printed too.\n\n"
        "Example:  selvage replay cases/001-tcp-getinfo.caps.msg-both-ways.case\n"
        "          echo 'version=1.17 hints={caps=FI_MSG}' | selvage replay --provider shm -\n\n"
        "A trace (selvage record) is played against the library: its calls are made again, in order, and the first\n"
        "result that is not as recorded is shown. Of a program of several processes give all traces at once: then the\n"
        "transfers between them are made, too; with one alone, what needs the peer is left out.\n\n"
        "Example:  selvage replay --library ./libfabric.so.1 rank0.trace rank1.trace\n\n"
        "Exit status: 0 kept (no difference), 1 a case shows its deviation (a result differs), 2 could not run.");
    command->callback([options, &run] { run = [options] { return replay(*options); }; });
}

}  // namespace selvage::conformance
