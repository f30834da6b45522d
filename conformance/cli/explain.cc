// selvage explain: why hints are refused, a line for each provider, and the smallest change that is granted; with --all
// by clause and entry.  The providers are a library's, or those of declared profiles.
#include "conformance/explain/summary.h"

#include <fmt/format.h>
#include <rdma/fi_errno.h>

#include <functional>
#include <memory>
#include <optional>

#include "conformance/base/child.h"
#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/refused_calls.h"
#include "conformance/run/runner.h"
#include "conformance/trace/trace.h"
#include "model/explain/explain.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;

struct Options {
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

constexpr std::size_t kObstaclesShown = 2;

// One line: what is wrong, and the text around it with an arrow at the place.
std::string point_at(const std::string& what, const std::string& text, const TextError& error) {
    constexpr std::size_t kBefore = 40;
    const std::size_t at = std::min(error.at, text.size());
    const std::size_t from = at > kBefore ? at - kBefore : 0;
    return fmt::format("{}: at byte {}: {}: {}{} -->{}", what, error.at, error.message, from == 0 ? "" : "...",
                       text.substr(from, at - from), text.substr(at, kBefore));
}

// The call that the options describe.  @return false and `error`.
bool read_call(const Options& o, Version library, Query& q, std::string& error) {
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
    if (!o.version.empty() && !parse_version(o.version, q.version)) {
        error = fmt::format("--version {}: a version is MAJOR.MINOR, such as 1.17", o.version);
        return false;
    }
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

// A report, line by line; a child's is printed by its parent.
class Teller {
public:
    explicit Teller(std::function<void(const std::string&)> print) : print_(std::move(print)) {}
    explicit Teller(Channel& channel) : print_([&channel](const std::string& line) { channel.send(line); }) {}
    template <typename... Args>
    void say(fmt::format_string<Args...> format, Args&&... args) {
        print_(fmt::format(format, std::forward<Args>(args)...));
    }

private:
    std::function<void(const std::string&)> print_;
};

// What was asked for in the field of a link, and what the entry offers there.
std::string requested_and_offered(const Query& q, const Entry& entry, Field f) {
    if (!is_number(f) && !is_text(f)) return {};
    const auto requested = q.hints ? print_field(*q.hints, f) : std::string("NULL hints");
    return printable(fmt::format("{}: asked {}, offered {}", row(f).path, requested, print_field(entry.offer, f)));
}

void tell_entry(Teller& tell, const Query& q, const Explained& e) {
    const auto where =
        printable(fmt::format("{} {} {} {}", e.provider, print_field(e.entry.offer, Field::ep_type),
                              print_field(e.entry.offer, Field::addr_format), e.entry.offer.domain.name.value_or("-")));
    switch (e.matching.choice) {
        case model::Choice::No:
            tell.say("{} {}", tinted("refused", Tint::Bad), where);
            break;
        case model::Choice::May:
            tell.say("{} {}", tinted("open   ", Tint::Warn), where);
            break;
        default:
            tell.say("{} {}", tinted("granted", Tint::Good), where);
            break;
    }
    for (const auto* list : {&e.matching.refuses, &e.matching.leaves_open}) {
        for (const auto& b : *list) {
            tell.say("    {}: {}", clause_text(b.clause).id, printable(print_evidence(b.evidence)));
            const auto sides = requested_and_offered(q, e.entry, b.evidence.field);
            if (!sides.empty()) tell.say("        {}", sides);
            if (list == &e.matching.refuses) tell.say("        {}", tinted(clause_text(b.clause).promise, Tint::Dim));
        }
    }
}

void tell_all_proposals(Teller& tell, const std::string& provider, const std::vector<Proposal>& proposals) {
    if (proposals.empty()) {
        tell.say("no change was found that {} grants", printable(provider));
        return;
    }
    tell.say("smallest changes that {} grants:", printable(provider));
    for (const auto& p : proposals) {
        tell.say("  {}", tinted(printable(p.granted_by), Tint::Bold));
        for (const auto& c : p.changes)
            tell.say("    {}: {} -> {}", row(c.field).path, printable(c.before), printable(c.after));
        tell.say("    {}", tinted(printable(print_call(p.query)), Tint::Dim));
    }
}

bool offers_any(const Answer& a, const std::string& provider) {
    return std::any_of(a.offers.begin(), a.offers.end(), [&](const Info& o) { return offer_is_of(o, provider); });
}

// What one provider makes of a call.
struct Answered {
    std::string provider;
    Verdict verdict;
    std::vector<Explained> entries;
    std::vector<Info> offers;          // of this provider, in the library's answer
    std::vector<std::string> others;   // that are in the answer, too
    std::optional<Proposal> proposal;  // the smallest change, where it refuses
    int ret = 0;
    bool declared = false;  // by a profile: no library was asked

    [[nodiscard]] bool refused() const { return offers.empty(); }
};

Answered query_provider(TestContext& context, const Query& query) {
    Answered out;
    const std::string& provider = out.provider = context.provider();
    const Profile& profile = context.profile(query.version);
    out.verdict = expect(query, context.world(), profile);
    out.entries = explain(query, context.world(), profile);
    Answer answer = context.single().issue(query).answer;
    out.ret = answer.ret;
    for (auto& o : answer.offers) {
        const auto name = o.fabric.prov_name.value_or("");
        if (offer_is_of(o, provider)) {
            out.offers.push_back(std::move(o));
        } else if (std::find(out.others.begin(), out.others.end(), name) == out.others.end()) {
            out.others.push_back(name);
        }
    }
    if (out.refused()) {
        const auto granted = [&](const Query& q, const std::string& name) {
            return offers_any(context.single().issue(q).answer, name);
        };
        auto proposals = propose(query, context.world(), out.entries, granted, 1);
        if (!proposals.empty()) out.proposal = std::move(proposals.front());
    }
    return out;
}

// The same by what a provider is declared to offer.
Answered judge_profile(const Profile& profile, const Query& query) {
    const World world;
    Answered out;
    out.declared = true;
    out.provider = profile.provider;
    out.verdict = expect(query, world, profile);
    out.entries = explain(query, world, profile);
    const auto is_granted = [&](const Query& q) { return expect(q, world, profile).kind == Verdict::Kind::Granted; };
    for (const auto i : out.verdict.granting) out.offers.push_back(profile.entries[i].offer);
    if (!is_granted(query)) out.offers.clear();
    if (!out.refused()) return out;
    out.ret = -(out.verdict.errnos.empty() ? FI_ENODATA : out.verdict.errnos.front());
    auto proposals = propose(
        query, world, out.entries, [&](const Query& q, const std::string&) { return is_granted(q); }, 1);
    if (!proposals.empty()) out.proposal = std::move(proposals.front());
    return out;
}

// By a rule for all providers, not by what this one offers.
bool is_call_refused(const Answered& a) {
    const auto refuses = [](const Explained& e) { return e.matching.choice == model::Choice::No; };
    const bool by_offers = a.declared && !a.entries.empty() && std::all_of(a.entries.begin(), a.entries.end(), refuses);
    return a.verdict.kind == Verdict::Kind::MustRefuse && !a.verdict.because.empty() && !by_offers;
}

std::string reason(const Query& query, const Answered& a) {
    if (is_call_refused(a)) return printable(print_evidence(a.verdict.because.front().evidence));
    if (a.entries.empty()) return fmt::format("offers nothing here to callers of version {}", query.version.str());
    const auto found = obstacles(query, a.entries, a.proposal ? &*a.proposal : nullptr);
    std::string out;
    for (std::size_t i = 0; i < std::min(found.size(), kObstaclesShown); ++i)
        out += (i ? "; " : "") + printable(found[i]);
    if (found.size() > kObstaclesShown) out += fmt::format("; and {} more", found.size() - kObstaclesShown);
    if (a.declared && a.verdict.kind == Verdict::Kind::MayRefuse) return "may be refused: " + out;
    if (a.verdict.kind == Verdict::Kind::Granted)
        return out + (out.empty() ? "" : "; ") + "a deviation: the text demands an offer";
    return out.empty() ? "refuses for no reason that is known" : out;
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& n : names) out += (out.empty() ? "" : ", ") + printable(n);
    return out;
}

void tell_verdict(Teller& tell, const std::vector<Answered>& answers) {
    const auto granting = std::count_if(answers.begin(), answers.end(), [](const Answered& a) { return !a.refused(); });
    const auto refused = tinted("refused", Tint::Bad);
    if (answers.empty()) {
        tell.say("{}: the library has no providers", refused);
    } else if (granting) {
        tell.say("{} by {} of {} providers", tinted("granted", Tint::Good), granting, answers.size());
    } else if (answers.front().ret != 0) {
        tell.say("{}: fi_getinfo answers -{}", refused, print_error(answers.front().ret));
    } else {
        tell.say("{}, and granted by others: {}", refused, joined(answers.front().others));
    }
}

void tell_summary(Teller& tell, const Query& query, const std::vector<Answered>& answers) {
    std::size_t width = 0;
    for (const auto& a : answers) width = std::max(width, printable(a.provider).size());
    bool any_unrequested = false;
    for (const auto& a : answers) {
        const auto name = fmt::format("{:<{}}", printable(a.provider), width);
        if (a.refused()) {
            tell.say("  {}  {}", name, reason(query, a));
            continue;
        }
        // A profile has all that an offer can do, not what it answers.
        const auto unrequested = a.declared ? std::string() : unrequested_capabilities(query, a.offers);
        any_unrequested = any_unrequested || !unrequested.empty();
        tell.say("  {}  granted by {} offer{}{}{}", name, a.offers.size(), a.offers.size() == 1 ? "" : "s",
                 unrequested.empty() ? "" : "; unasked: ", unrequested);
    }
    if (any_unrequested) tell.say("  (implied: by what was asked; secondary: a provider may add what costs nothing)");
}

// The smallest change of all, as a table, as the C lines to change and as hints.
void tell_best(Teller& tell, const std::vector<Answered>& answers) {
    const Proposal* best = nullptr;
    for (const auto& a : answers) {
        if (a.proposal && (!best || a.proposal->changes.size() < best->changes.size())) best = &*a.proposal;
    }
    if (!best) return tell.say("no change was found that is granted");
    tell.say("smallest change that is granted, by {}:", tinted(printable(best->granted_by), Tint::Bold));
    for (const auto& c : best->changes) {
        tell.say("  {}: {} -> {}", row(c.field).path, printable(c.before), printable(c.after));
        const auto statement = printable(c_statement(best->query, c.field));
        if (!statement.empty()) tell.say("      {}", statement);
    }
    tell.say("  {}", tinted(printable(print_call(best->query)), Tint::Dim));
}

// Entry by entry, then what it answers.  @return its entries, if it refuses.
std::vector<Explained> tell_provider(Teller& tell, TestContext& context, const Query& query) {
    const std::string name = printable(context.provider());
    const Profile& profile = context.profile(query.version);
    const Verdict verdict = expect(query, context.world(), profile);
    if (verdict.kind == Verdict::Kind::MustRefuse) {
        tell.say("{} {}: the call itself", tinted("refused", Tint::Bad), name);
        for (const auto& b : verdict.because) {
            tell.say("    {}: {}", clause_text(b.clause).id, printable(print_evidence(b.evidence)));
        }
    }
    if (profile.entries.empty()) {
        tell.say("{} {}: it offers nothing to callers of version {}", tinted("refused", Tint::Bad), name,
                 query.version.str());
    }
    auto explained = explain(query, context.world(), profile);
    for (const auto& e : explained) tell_entry(tell, query, e);
    const Answer answer = context.single().issue(query).answer;
    if (offers_any(answer, context.provider())) return {};
    if (verdict.kind == Verdict::Kind::Granted) {
        tell.say("{} {} refuses this call, though the text demands an offer", tinted("deviation", Tint::Bad), name);
    }
    return explained;
}

void tell_answers(Teller& tell, const Query& query, const std::vector<Answered>& answers) {
    tell_verdict(tell, answers);
    tell_summary(tell, query, answers);
    if (std::any_of(answers.begin(), answers.end(), [](const Answered& a) { return !a.refused(); })) return;
    tell.say("");
    tell_best(tell, answers);
}

void work_in_short(const Options& options, const std::vector<std::string>& providers, const Query& query,
                   Channel& channel) {
    Teller tell(channel);
    std::vector<Answered> answers;
    std::string error;
    for (const auto& p : providers) {
        auto context = TestContext::open(options.plan, p, error);
        if (!context) return;
        answers.push_back(query_provider(*context, query));
    }
    tell_answers(tell, query, answers);
    tell.say("");
    tell.say("--all shows each offer of each provider, with the clauses");
}

void work(const Options& options, const std::vector<std::string>& providers, const Query& query, Channel& channel) {
    if (!options.all) return work_in_short(options, providers, query, channel);
    Teller tell(channel);
    std::vector<std::pair<std::unique_ptr<TestContext>, std::vector<Explained>>> refusing;
    std::string error;
    for (const auto& p : providers) {
        auto context = TestContext::open(options.plan, p, error);
        if (!context) return;
        auto explained = tell_provider(tell, *context, query);
        if (p == providers.back()) {
            const Answer answer = context->single().issue(query).answer;
            tell.say("");
            tell.say("the library answers {} with {} offers", answer.ret == 0 ? "0" : print_error(answer.ret),
                     answer.offers.size());
        }
        if (!explained.empty()) refusing.emplace_back(std::move(context), std::move(explained));
    }
    for (auto& [context, explained] : refusing) {
        const auto granted = [&](const Query& q, const std::string& name) {
            return offers_any(context->single().issue(q).answer, name);
        };
        tell_all_proposals(tell, context->provider(),
                           propose(query, context->world(), explained, granted, refusing.size() == 1 ? 4 : 1));
    }
}

int explain_query(const Options& options, const Survey& found, const Query& query) {
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
int explain_program(Options options) {
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
int explain_profiles(const Options& options) {
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
    Teller tell([](const std::string& line) { fmt::print("{}\n", line); });
    tell.say("{}\n", tinted(printable(print_call(query)), Tint::Bold));
    if (options.all)
        for (const auto& a : answers)
            for (const auto& e : a.entries) tell_entry(tell, query, e);
    tell_answers(tell, query, answers);
    return kKept;
}

int explain_call(const Options& options) {
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
    auto options = std::make_shared<Options>();
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
