// selvage info: which library this is, which providers it has, what they offer.
// selvage profile: what a provider offers, as a declared profile; or how it differs from one.
#include <fmt/format.h>

#include <memory>

#include "conformance/cli/commands.h"
#include "conformance/cli/terminal.h"
#include "conformance/subject/child.h"
#include "conformance/suite/runner.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;

struct Options {
    Plan plan;
    std::vector<std::string> providers;
    std::string version;
    std::string diff;
};

// Infers the profile of a provider in a child and hands it over as text.
std::string profile_of(const Plan& plan, const std::string& provider, model::Version version) {
    std::string out;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto lab = Lab::open(plan, provider, error);
            if (lab) channel.send(model::print_profile(lab->profile(version)));
        },
        [&](std::string_view record) { out = std::string(record); }, 20s);
    return out;
}

std::string in_words(const model::Entry& e) {
    using model::Field;
    return fmt::format("{:<12} {:<20} {:<16} {:<10} {}\n    caps {}\n    mode {}  mr_mode {}  threading {}",
                       model::print_field(e.offer, Field::ep_type), model::print_field(e.offer, Field::ep_protocol),
                       model::print_field(e.offer, Field::addr_format), e.offer.domain.name.value_or("-"),
                       e.offer.fabric.name.value_or("-"), model::print_field(e.offer, Field::caps),
                       model::print_field(e.offer, Field::mode), model::print_field(e.offer, Field::domain_mr_mode),
                       model::print_field(e.offer, Field::domain_threading));
}

int info(const Options& options) {
    const Survey found = survey(options.plan);
    if (!found.error.empty()) return could_not_run(found.error);
    fmt::print("library   {}\nversion   {}\nbuild id  {}\n", found.subject.path, found.subject.version.str(),
               found.subject.build_id.empty() ? "none" : found.subject.build_id);
    for (const auto& p : found.providers) {
        model::Profile profile;
        std::string error;
        fmt::print("\n{}\n", tinted(printable(p), Tint::Bold));
        if (!model::parse_profile(profile_of(options.plan, p, found.subject.version), found.subject.version, profile,
                                  error))
            continue;
        for (const auto& e : profile.entries) fmt::print("  {}\n", printable(in_words(e)));
    }
    return kKept;
}

int profile(const Options& options) {
    const Survey found = survey(options.plan);
    if (!found.error.empty()) return could_not_run(found.error);
    model::Version version = std::min(found.subject.version, model::kNewest);
    if (!options.version.empty() && !model::parse_version(options.version, version)) {
        return could_not_run(fmt::format("--api {}: a version is MAJOR.MINOR, such as 1.17", options.version));
    }
    if (const auto error = unknown_provider(options.providers, found); !error.empty()) return could_not_run(error);
    const auto providers = options.providers.empty() ? found.providers : options.providers;
    int status = kKept;
    for (const auto& p : providers) {
        const std::string seen = profile_of(options.plan, p, version);
        if (options.diff.empty()) {
            fmt::print("{}", seen);
            continue;
        }
        std::string text;
        std::string error;
        model::Profile declared;
        model::Profile inferred;
        if (!read_file(options.diff, text, error)) return could_not_run(error);
        if (!model::parse_profile(text, version, declared, error)) return could_not_run(options.diff + ": " + error);
        if (declared.provider != p && options.providers.empty()) continue;
        if (!model::parse_profile(seen, version, inferred, error)) return could_not_run(error);
        for (const auto& line : model::diff_profiles(declared, inferred)) {
            fmt::print("{}\n", printable(line));
            status = kDeviates;
        }
    }
    return status;
}

}  // namespace

void add_info(CLI::App& app, Run& run) {
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("info", "which library this is, its providers, and what they offer");
    add_library_option(*command, options->plan.library);
    command->footer("Example:  selvage info --library ./libfabric.so.1");
    command->callback([options, &run] { run = [options] { return info(*options); }; });
}

void add_profile(CLI::App& app, Run& run) {
    auto options = std::make_shared<Options>();
    auto* command =
        app.add_subcommand("profile", "what a provider offers, as a profile file; or how it differs from one");
    add_library_option(*command, options->plan.library);
    command->add_option("--provider", options->providers, "only this provider (again for more)")->type_name("NAME");
    command->add_option("--api", options->version, "API version to ask for (default: the library's)")
        ->type_name("VERSION");
    command
        ->add_option("--diff", options->diff, "a declared profile to hold against what is seen; exit 1 if they differ")
        ->type_name("FILE");
    command->footer(
        "Example:  selvage profile --provider tcp > tcp.toml\n"
        "          selvage profile --provider tcp --diff tcp.toml");
    command->callback([options, &run] { run = [options] { return profile(*options); }; });
}

}  // namespace selvage::conformance
