// selvage explain: why hints are refused, a line for each provider, and the smallest change that is granted; with --all
// by clause and entry.  The providers are a library's, or those of declared profiles.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "conformance/base/child.h"
#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/refused_calls.h"
#include "conformance/explain/print_explanation.h"
#include "conformance/run/runner.h"
#include "conformance/trace/trace.h"
#include "model/explain/explain.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;

struct ExplainOptions {
    Plan plan;
    std::vector<std::string> providers;
    std::vector<std::string> profiles;  // files
    std::string version;
    std::string hints;
    std::string node, service, flags;
    std::string call;
    std::string program;
    bool all = false;
};

// One line: what is wrong, and the text around it with an arrow at the place.
std::string point_at(const std::string& what, const std::string& text, const TextError& error) {
    constexpr std::size_t kBefore = 40;
    const std::size_t at = std::min(error.at, text.size());
    const std::size_t from = at > kBefore ? at - kBefore : 0;
    return fmt::format("{}: at byte {}: {}: {}{} -->{}", what, error.at, error.message, from == 0 ? "" : "...",
                       text.substr(from, at - from), text.substr(at, kBefore));
}

// The call that the options describe.  @return false and `error`.
bool read_call(const ExplainOptions& o, Version library, Query& q, std::string& error) {
    TextError bad;
    if (!o.call.empty()) {
        std::string text = o.call;
        if (text == "-" && !read_file("-", text, error)) return false;
        if (!parse_call(text, q, bad)) {
            error = point_at("--call", text, bad);
            return false;
        }
        return true;
    }
    q.version = std::min(library, kNewest);
    if (!o.version.empty() && !read_api_version("--version", o.version, q.version, error)) return false;
    if (!o.flags.empty() && !parse_value(Family::getinfo_flags, o.flags, q.flags)) {
        error =
            fmt::format("--flags {}: flags are FI_NUMERICHOST, FI_SOURCE and FI_PROV_ATTR_ONLY, joined by |", o.flags);
        return false;
    }
    if (!o.node.empty()) q.node = o.node;
    if (!o.service.empty()) q.service = o.service;
    std::string hints = o.hints;
    if (hints == "-" && !read_file("-", hints, error)) return false;
    Info info;
    if (!parse_hints(hints, info, bad)) {
        error = point_at("--hints", hints, bad);
        return false;
    }
    q.hints = info;
    return true;
}

void work_in_short(const ExplainOptions& options, const std::vector<std::string>& providers, const Query& query,
                   Channel& channel) {
    LineWriter out(channel);
    std::vector<Answered> answers;
    std::string error;
    for (const auto& p : providers) {
        auto context = TestContext::open(options.plan, p, error);
        if (!context) return;
        answers.push_back(query_provider(*context, query));
    }
    print_answers(out, query, answers);
    out.line("");
    out.line("--all shows each offer of each provider, with the clauses");
}

void work(const ExplainOptions& options, const std::vector<std::string>& providers, const Query& query,
          Channel& channel) {
    if (!options.all) return work_in_short(options, providers, query, channel);
    LineWriter out(channel);
    std::vector<std::pair<std::unique_ptr<TestContext>, std::vector<Explained>>> refusing;
    std::string error;
    for (const auto& p : providers) {
        auto context = TestContext::open(options.plan, p, error);
        if (!context) return;
        auto explained = print_provider(out, *context, query);
        if (p == providers.back()) {
            const Answer answer = context->single().issue(query).answer;
            out.line("");
            out.line("the library answers {} with {} offers", answer.ret == 0 ? "0" : print_error(answer.ret),
                     answer.offers.size());
        }
        if (!explained.empty()) refusing.emplace_back(std::move(context), std::move(explained));
    }
    for (auto& [context, explained] : refusing) {
        const auto granted = [&](const Query& q, const std::string& name) {
            return offers_any(context->single().issue(q).answer, name);
        };
        print_proposals(out, context->provider(),
                        propose(query, context->world(), explained, granted, refusing.size() == 1 ? 4 : 1));
    }
}

int explain_query(const ExplainOptions& options, const Survey& found, const Query& query) {
    auto providers = options.providers;
    if (providers.empty() && query.hints && query.hints->fabric.prov_name) providers = {*query.hints->fabric.prov_name};
    if (providers.empty()) providers = found.providers;
    // In this process, not in the child: only here can it be known whether colours are welcome.
    fmt::print("{}\n\n", tinted(printable(print_call(query)), Tint::Bold));
    const Ending ending = run_in_child([&](Channel& channel) { work(options, providers, query, channel); },
                                       [](std::string_view line) { fmt::print("{}\n", line); }, 20s);
    if (ending.kind != Ending::Kind::Done)
        return could_not_run("the library did not survive the query; selvage replay tells how");
    return kKept;
}

std::string count_text(std::size_t n, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

// Each query of a program that came back with nothing.
int explain_program(ExplainOptions options) {
    ProgramCalls calls;
    std::string error;
    if (!run_and_read(options.program, options.plan.library, calls, error)) return could_not_run(error);
    if (options.plan.library.empty()) options.plan.library = calls.library;
    if (calls.processes == 0) return could_not_run(options.program + ": nothing of it called libfabric");
    fmt::print("{} in {}, {}; the program {}\n", count_text(calls.queries, "query", "queries"),
               count_text(calls.processes, "process", "processes"),
               calls.refused.empty() ? "none of them refused"
                                     : count_text(calls.refused.size(), "refused", "different ones refused"),
               calls.status < 0 ? "was ended by a signal" : fmt::format("exited with {}", calls.status));
    if (calls.refused.empty()) return kKept;
    const Survey found = survey(options.plan, options.providers);
    if (!found.error.empty()) return could_not_run(found.error);
    if (error = unknown_provider(options.providers, found); !error.empty()) return could_not_run(error);
    for (const auto& r : calls.refused) {
        fmt::print("\nfi_getinfo returned {}, {}:\n", print_trace_result(r.result),
                   count_text(r.times, "time", "times"));
        if (const int status = explain_query(options, found, r.query); status != kKept) return status;
    }
    return kKept;
}

// The call by declared profiles: no library is needed.
int explain_profiles(const ExplainOptions& options) {
    std::vector<Answered> answers;
    Query query;
    std::string error;
    if (!read_call(options, kNewest, query, error)) return could_not_run(error);
    for (const auto& file : options.profiles) {
        std::string text;
        Profile profile;
        if (!read_file(file, text, error)) return could_not_run(error);
        if (!parse_profile(text, query.version, profile, error)) return could_not_run(file + ": " + error);
        if (profile.only && *profile.only != query.version)
            return could_not_run(fmt::format("{}: holds for callers of version {} alone: --version {}", file,
                                             profile.only->str(), profile.only->str()));
        name_what_is_open(profile);
        answers.push_back(judge_profile(profile, query));
    }
    LineWriter out([](const std::string& line) { fmt::print("{}\n", line); });
    out.line("{}\n", tinted(printable(print_call(query)), Tint::Bold));
    if (options.all)
        for (const auto& a : answers)
            for (const auto& e : a.entries) print_entry(out, query, e);
    print_answers(out, query, answers);
    return kKept;
}

int explain_call(const ExplainOptions& options) {
    if (!options.program.empty()) return explain_program(options);
    if (!options.profiles.empty()) return explain_profiles(options);
    const Survey found = survey(options.plan, options.providers);
    if (!found.error.empty()) return could_not_run(found.error);
    Query query;
    std::string error;
    if (!read_call(options, found.subject.version, query, error)) return could_not_run(error);
    if (error = unknown_provider(options.providers, found); !error.empty()) return could_not_run(error);
    return explain_query(options, found, query);
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
    auto options = std::make_shared<ExplainOptions>();
    auto* command = app.add_subcommand("explain", "why a library grants or refuses hints, and what to change");
    add_library_option(*command, options->plan.library);
    command->add_option("--provider", options->providers, "only this provider (again for more)")->type_name("NAME");
    auto* profiles = command
                         ->add_option("--profile", options->profiles,
                                      "by what a profile declares, without a library (again for more)")
                         ->type_name("FILE");
    command->add_option("--version", options->version, "API version of the call (default: the library's)")
        ->type_name("MAJOR.MINOR");
    auto* program =
        command
            ->add_option("--from-program", options->program,
                         "a command line of sh: run it, and explain each query of it that came back with nothing")
            ->type_name("COMMAND");
    command->add_option("--hints", options->hints,
                        "hints as text, such as 'caps=FI_MSG|FI_RMA, ep_attr.type=FI_EP_RDM'; - is standard input");
    command->add_option("--node", options->node, "the node argument");
    command->add_option("--service", options->service, "the service argument");
    command->add_option("--flags", options->flags, "the flags argument, such as FI_SOURCE|FI_NUMERICHOST");
    command->add_option("--call", options->call, "a whole call as text instead; - is standard input");
    for (const char* other : {"--version", "--hints", "--node", "--service", "--flags", "--call"})
        program->excludes(command->get_option(other));
    for (const char* other : {"--library", "--provider", "--from-program"})
        profiles->excludes(command->get_option(other));
    command->add_flag("--all", options->all, "each offer of each provider with the clauses that grant or refuse it");
    command->footer(
        "A field that is not named is not asked for; mode bits that are not named are not supported.\n"
        "Example:  selvage explain --provider tcp --hints 'caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_RDM'\n"
        "          selvage explain --profile vendor.toml --hints 'ep_attr.type=FI_EP_RDM'\n"
        "          selvage explain --from-program 'mpirun -n 2 ./solver input.txt'");
    command->callback([options, &run] { run = [options] { return explain_call(*options); }; });
}

}  // namespace selvage::conformance
