// selvage diff: what a release mended and what it broke.
#include <fmt/format.h>

#include <memory>

#include "conformance/cli/commands.h"
#include "conformance/report/difference.h"

namespace selvage::conformance {
namespace {

struct DiffOptions {
    std::string before, after;
    bool strict = false;
};

int diff(const DiffOptions& options) {
    std::vector<Report> reports;
    std::string error;
    if (!read_reports({options.before, options.after}, reports, error)) return could_not_run(error);
    const ReportDifference difference = difference_of(reports[0], reports[1]);
    fmt::print("{}", difference_text(reports[0], reports[1], difference));
    return is_worse(difference, options.strict) ? kDeviates : kKept;
}

}  // namespace

void add_diff(CLI::App& app, Run& run) {
    auto options = std::make_shared<DiffOptions>();
    auto* command =
        app.add_subcommand("diff", "what two reports say differently: what a release mended, what it broke");
    command->add_option("OLD", options->before, "a report that selvage check wrote as .json")->required();
    command->add_option("NEW", options->after, "a later one, of the same providers")->required();
    command->add_flag("--strict", options->strict, "weaknesses and disputed clauses count for the exit status too");
    command->footer(
        "Example:  selvage check --library old/libfabric.so.1 --report old.json\n"
        "          selvage check --library new/libfabric.so.1 --report new.json\n"
        "          selvage diff old.json new.json\n\n"
        "Exit status: 0 nothing is worse, 1 a promise is broken that was not, or more gravely, 2 could not run.");
    command->callback([options, &run] { run = [options] { return diff(*options); }; });
}

}  // namespace selvage::conformance
