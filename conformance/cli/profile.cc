// selvage profile: what a provider offers and how far it lets itself be asked, as a declared profile; or how that
// differs from one.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "conformance/base/child.h"
#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/learn_profile.h"
#include "conformance/drive/probe_limits.h"
#include "conformance/run/crash_triage.h"
#include "conformance/run/runner.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kMostCrashes = 12;  // of one provider before it is given up

struct ProfileOptions {
    Plan plan;
    std::vector<std::string> providers;
    std::string version;
    std::string diff;
};

// The child's side: each query before it is asked, then the profile.
void write_profile(const Plan& plan, const std::string& provider, model::Version version, Channel& channel) {
    std::string error;
    auto context = TestContext::open(plan, provider, error);
    if (!context) return channel.send("E" + error);
    context->single().announce([&](const model::Query& q) { channel.send("Q" + model::print_call(q)); });
    auto profile = infer_profile(context->single(), provider, version, plan.deadly);
    probe_limits(context->single(), profile, plan.deadly);
    channel.send("P" + model::print_profile(profile));
}

int print_differences(const Plan& plan, const std::string& provider, model::Version version,
                      const model::Profile& declared) {
    const LearntProfile seen = learn_profile(plan, provider, version);
    if (seen.text.empty()) return could_not_run(seen.trouble);
    std::string error;
    model::Profile inferred;
    if (!model::parse_profile(seen.text, version, inferred, error)) return could_not_run(error);
    const auto lines = model::diff_profiles(declared, inferred);
    for (const auto& line : lines) fmt::print("{}\n", printable(line));
    return lines.empty() ? kKept : kDeviates;
}

int diff(const ProfileOptions& options, const Survey& found, std::optional<model::Version> expected) {
    std::string text;
    std::string error;
    model::Profile declared;
    if (!read_file(options.diff, text, error)) return could_not_run(error);
    if (!model::parse_profile(text, model::kNewest, declared, error)) {
        return could_not_run(options.diff + ": " + error);
    }
    const auto version = expected.value_or(declared.only.value_or(std::min(found.subject.version, model::kNewest)));
    const auto providers = options.providers.empty() ? std::vector{declared.provider} : options.providers;
    if (error = unknown_provider(providers, found); !error.empty()) return could_not_run(error);
    int status = kKept;
    for (const auto& p : providers) status = std::max(status, print_differences(options.plan, p, version, declared));
    return status;
}

int print_all(const ProfileOptions& options, const Survey& found, model::Version version) {
    if (const auto error = unknown_provider(options.providers, found); !error.empty()) return could_not_run(error);
    for (const auto& p : options.providers.empty() ? found.providers : options.providers) {
        const LearntProfile seen = learn_profile(options.plan, p, version);
        if (seen.text.empty()) return could_not_run(seen.trouble);
        fmt::print("{}", seen.text);
    }
    return kKept;
}

int profile(const ProfileOptions& options) {
    std::string error;
    std::optional<model::Version> expected;
    if (!options.version.empty() && !read_api_version("--api", options.version, expected.emplace(), error))
        return could_not_run(error);
    const Survey found = survey(options.plan, options.providers);
    if (!found.error.empty()) return could_not_run(found.error);
    if (!options.diff.empty()) return diff(options, found, expected);
    return print_all(options, found, expected.value_or(std::min(found.subject.version, model::kNewest)));
}

}  // namespace

// Learns the profile of a provider in children.  A query that kills one is not asked the next.
LearntProfile learn_profile(Plan plan, const std::string& provider, model::Version version) {
    LearntProfile out;
    for (std::size_t crashes = 0; crashes < kMostCrashes; ++crashes) {
        std::string last;
        const auto receive = [&](std::string_view record) {
            if (record.empty()) return;
            auto& kept = record.front() == 'P' ? out.text : record.front() == 'E' ? out.trouble : last;
            kept.assign(record.substr(1));
        };
        const Ending ending = run_in_child([&](Channel& channel) { write_profile(plan, provider, version, channel); },
                                           receive, crashes == 0 ? kQuiet : kQuietAgain);
        if (ending.kind == Ending::Kind::Done) return out;
        model::Query killer;
        model::TextError bad;
        out.trouble = fmt::format("{}: the library {} while it was probed", provider, crash_text(ending));
        if (last.empty() || !model::parse_call(last, killer, bad)) break;
        plan.deadly.push_back(std::move(killer));
    }
    out.text.clear();
    return out;
}

void add_profile(CLI::App& app, Run& run) {
    auto options = std::make_shared<ProfileOptions>();
    auto* command =
        app.add_subcommand("profile", "what a provider offers, as a profile file; or how it differs from one");
    add_library_option(*command, options->plan.library);
    command->add_option("--provider", options->providers, "only this provider (again for more)")->type_name("NAME");
    command->add_option("--api", options->version, "API version to ask for (default: the file's, else the library's)")
        ->type_name("VERSION");
    command
        ->add_option("--diff", options->diff, "a declared profile to hold against what is seen; exit 1 if they differ")
        ->type_name("FILE");
    command->footer(
        "The provider is asked for all it has, then for more of one field at a time, until it refuses: what is\n"
        "printed are its offers and, under limits, how far each lets itself be asked. It holds for callers of the\n"
        "API version that it names; take the line out, and it is said of all. A domain or fabric that each machine\n"
        "names in its own way is left open by  name = { any = true }  (docs/formats.md).\n\n"
        "Example:  selvage profile --provider tcp > tcp.toml\n"
        "          selvage profile --diff tcp.toml\n"
        "          selvage check --provider tcp --profile tcp.toml");
    command->callback([options, &run] { run = [options] { return profile(*options); }; });
}

}  // namespace selvage::conformance
