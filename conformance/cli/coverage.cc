// selvage coverage: which promises runs reached, as a page.
#include <fmt/format.h>

#include <memory>

#include "conformance/base/whole_file.h"
#include "conformance/cli/commands.h"
#include "conformance/report/coverage_page.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

struct CoverageOptions {
    std::vector<std::string> reports;
    std::string page;
};

int renew(const CoverageOptions& options, const std::vector<Report>& reports) {
    std::string page, renewed, error;
    if (!read_file(options.page, page, error)) return could_not_run(error);
    if (!renew_coverage(page, reports, renewed))
        return could_not_run(
            fmt::format("{}: has no line \"{}\"; put it where the tables belong", options.page, kCoverageMark));
    if (renewed == page) return kKept;
    return write_whole_file(options.page, renewed, error) ? kKept : could_not_run(error);
}

int coverage(const CoverageOptions& options) {
    std::vector<Report> reports;
    std::string error;
    if (!read_reports(options.reports, reports, error)) return could_not_run(error);
    for (std::size_t i = 0; i < reports.size(); ++i)
        if (reports[i].providers.empty()) return could_not_run(options.reports[i] + ": judges no provider");
    if (!options.page.empty()) return renew(options, reports);
    fmt::print("{}", coverage_markdown(reports));
    return kKept;
}

}  // namespace

void add_coverage(CLI::App& app, Run& run) {
    auto options = std::make_shared<CoverageOptions>();
    auto* command =
        app.add_subcommand("coverage", "tell which promises a run reached, and why not the others, as a page");
    command->add_option("REPORT", options->reports, "reports that selvage check wrote as .json, one per library")
        ->required();
    command
        ->add_option("--page", options->page,
                     "a page in Markdown: what stands behind its line \"What follows is made by ...\" is made anew")
        ->type_name("FILE");
    command->footer(
        "Example:  selvage check --report debian.json\n"
        "          selvage coverage debian.json\n"
        "          selvage coverage debian.json own.json --page docs/coverage.md\n\n"
        "What no provider of the first report reached is listed clause by clause, with whether the others did.\n"
        "Exit status: 0 the page was made, 2 could not run.");
    command->callback([options, &run] { run = [options] { return coverage(*options); }; });
}

}  // namespace selvage::conformance
