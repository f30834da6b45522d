// selvage info: which library this is, which providers it has, what they offer.
#include <fmt/format.h>

#include <memory>

#include "conformance/base/child.h"
#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/run/runner.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;

struct InfoOptions {
    Plan plan;
};

// Infers what a provider shows in a child and hands it over as text.
std::string shown_by(const Plan& plan, const std::string& provider, model::Version version) {
    std::string out;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, provider, error);
            if (context) channel.send(model::print_profile(context->profile(version)));
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

int info(const InfoOptions& options) {
    const Survey found = survey(options.plan);
    if (!found.error.empty()) return could_not_run(found.error);
    fmt::print("library   {}\nversion   {}\nbuild id  {}\n", found.subject.path, found.subject.version.str(),
               found.subject.build_id.empty() ? "none" : found.subject.build_id);
    for (const auto& p : found.providers) {
        model::Profile profile;
        std::string error;
        fmt::print("\n{}\n", tinted(printable(p), Tint::Bold));
        if (!model::parse_profile(shown_by(options.plan, p, found.subject.version), found.subject.version, profile,
                                  error))
            continue;
        for (const auto& e : profile.entries) fmt::print("  {}\n", printable(in_words(e)));
    }
    return kKept;
}

}  // namespace

void add_info(CLI::App& app, Run& run) {
    auto options = std::make_shared<InfoOptions>();
    auto* command = app.add_subcommand("info", "which library this is, its providers, and what they offer");
    add_library_option(*command, options->plan.library);
    command->footer("Example:  selvage info --library ./libfabric.so.1");
    command->callback([options, &run] { run = [options] { return info(*options); }; });
}

}  // namespace selvage::conformance
