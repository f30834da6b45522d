// selvage explain: why hints are refused, by clause and field, and the smallest change that would be granted.
#include "conformance/explain/explain.h"

#include <fmt/format.h>

#include <memory>

#include "conformance/cli/commands.h"
#include "conformance/cli/terminal.h"
#include "conformance/subject/child.h"
#include "conformance/suite/runner.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using namespace std::chrono_literals;

struct Options {
    Plan plan;
    std::vector<std::string> providers;
    std::string version;
    std::string hints;
    std::string node, service, flags;
    std::string call;
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

// A child's report, line by line, as the parent prints it.
class Teller {
public:
    explicit Teller(Channel& channel) : channel_(channel) {}
    template <typename... Args>
    void say(fmt::format_string<Args...> format, Args&&... args) {
        channel_.send(fmt::format(format, std::forward<Args>(args)...));
    }

private:
    Channel& channel_;
};

// What was asked for in the field of a link, and what the entry offers there.
std::string asked_and_offered(const Query& q, const Entry& entry, Field f) {
    if (!is_number(f) && !is_text(f)) return {};
    const auto asked = q.hints ? print_field(*q.hints, f) : std::string("NULL hints");
    return printable(fmt::format("{}: asked {}, offered {}", row(f).path, asked, print_field(entry.offer, f)));
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
            const auto sides = asked_and_offered(q, e.entry, b.evidence.field);
            if (!sides.empty()) tell.say("        {}", sides);
            if (list == &e.matching.refuses) tell.say("        {}", tinted(clause_text(b.clause).promise, Tint::Dim));
        }
    }
}

void tell_proposals(Teller& tell, const std::string& provider, const std::vector<Proposal>& proposals) {
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

// What one provider makes of the call: entry by entry, then what it answers.  @return its entries, if it refuses.
std::vector<Explained> tell_provider(Teller& tell, Lab& lab, const Query& query) {
    const std::string name = printable(lab.provider());
    const Profile& profile = lab.profile(query.version);
    const Verdict verdict = expect(query, lab.world(), profile);
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
    auto explained = explain(query, lab.world(), profile);
    for (const auto& e : explained) tell_entry(tell, query, e);
    const Answer answer = lab.single().ask(query).answer;
    if (offers_any(answer, lab.provider())) return {};
    if (verdict.kind == Verdict::Kind::Granted) {
        tell.say("{} {} refuses this call, though the text demands an offer", tinted("deviation", Tint::Bad), name);
    }
    return explained;
}

void work(const Options& options, const std::vector<std::string>& providers, const Query& query, Channel& channel) {
    Teller tell(channel);
    std::vector<std::pair<std::unique_ptr<Lab>, std::vector<Explained>>> refusing;
    std::string error;
    for (const auto& p : providers) {
        auto lab = Lab::open(options.plan, p, error);
        if (!lab) return;
        auto explained = tell_provider(tell, *lab, query);
        if (p == providers.back()) {
            const Answer answer = lab->single().ask(query).answer;
            tell.say("");
            tell.say("the library answers {} with {} offers", answer.ret == 0 ? "0" : print_error(answer.ret),
                     answer.offers.size());
        }
        if (!explained.empty()) refusing.emplace_back(std::move(lab), std::move(explained));
    }
    for (auto& [lab, explained] : refusing) {
        const auto granted = [&](const Query& q, const std::string& name) {
            return offers_any(lab->single().ask(q).answer, name);
        };
        tell_proposals(tell, lab->provider(),
                       propose(query, lab->world(), explained, granted, refusing.size() == 1 ? 4 : 1));
    }
}

int explain_call(const Options& options) {
    const Survey found = survey(options.plan, options.providers);
    if (!found.error.empty()) return could_not_run(found.error);
    Query query;
    std::string error;
    if (!read_call(options, found.subject.version, query, error)) return could_not_run(error);
    auto providers = options.providers;
    if (providers.empty() && query.hints && query.hints->fabric.prov_name) providers = {*query.hints->fabric.prov_name};
    if (providers.empty()) providers = found.providers;
    if (error = unknown_provider(options.providers, found); !error.empty()) return could_not_run(error);
    // In this process, not in the child: only here can it be known whether colours are welcome.
    fmt::print("{}\n\n", tinted(printable(print_call(query)), Tint::Bold));
    const Ending ending = run_in_child([&](Channel& channel) { work(options, providers, query, channel); },
                                       [](std::string_view line) { fmt::print("{}\n", line); }, 20s);
    if (ending.kind != Ending::Kind::Done)
        return could_not_run("the library did not survive the question; selvage replay tells how");
    return kKept;
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("explain", "why a library grants or refuses hints, and what to change");
    add_library_option(*command, options->plan.library);
    command->add_option("--provider", options->providers, "only this provider (again for more)")->type_name("NAME");
    command->add_option("--version", options->version, "API version of the call (default: the library's)")
        ->type_name("MAJOR.MINOR");
    command->add_option("--hints", options->hints,
                        "hints as text, such as 'caps=FI_MSG|FI_RMA, ep_attr.type=FI_EP_RDM'; - is standard input");
    command->add_option("--node", options->node, "the node argument");
    command->add_option("--service", options->service, "the service argument");
    command->add_option("--flags", options->flags, "the flags argument, such as FI_SOURCE|FI_NUMERICHOST");
    command->add_option("--call", options->call, "a whole call as text instead; - is standard input");
    command->footer(
        "A field that is not named is not asked for; mode bits that are not named are not supported.\n"
        "Example:  selvage explain --provider tcp --hints 'caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_RDM'");
    command->callback([options, &run] { run = [options] { return explain_call(*options); }; });
}

}  // namespace selvage::conformance
