// selvage merge: the reports of the parts of a run as one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "conformance/base/markup.h"
#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/report/write.h"
#include "conformance/run/merge.h"

namespace selvage::conformance {
namespace {

struct MergeOptions {
    std::vector<std::string> parts;
    std::vector<std::string> reports;
    bool strict = false;
};

int merge(const MergeOptions& options) {
    std::vector<Report> parts;
    std::string error;
    if (!read_reports(options.parts, parts, error)) return could_not_run(error);
    Report whole;
    if (!merge_reports(parts, whole, error)) return could_not_run("these are not parts of one run: " + error);
    for (const auto& path : options.reports)
        if (!write_report(whole, path, error)) return could_not_run(error);
    std::uint64_t judged = 0;
    for (const auto& p : whole.providers) judged += p.judged;
    const auto intermittent = std::count_if(whole.deviations.begin(), whole.deviations.end(), [](const Deviation& d) {
        return d.intermittent || d.grade == Grade::Intermittent;
    });
    fmt::print("{}: {} cases, {}, {} of them intermittent\n{}\n", counted(parts.size(), "report"), judged,
               counted(whole.deviations.size(), "deviation"), intermittent, coverage_text(coverage_of(whole)));
    return has_deviation(whole, options.strict) ? kDeviates : kKept;
}

}  // namespace

bool read_reports(const std::vector<std::string>& paths, std::vector<Report>& out, std::string& error) {
    for (const auto& path : paths) {
        std::string text;
        if (!read_file(path, text, error)) return false;
        if (!read_report_json(text, out.emplace_back(), error)) {
            error = path + ": " + error;
            return false;
        }
    }
    return true;
}

void add_merge(CLI::App& app, Run& run) {
    auto options = std::make_shared<MergeOptions>();
    auto* command = app.add_subcommand("merge", "put the reports of the parts of a run together");
    command->add_option("REPORT", options->parts, "reports that selvage check wrote as .json")->required();
    command
        ->add_option("--report", options->reports,
                     "write the whole; its form follows the ending .txt, .json, .xml, .html or .sarif")
        ->type_name("FILE");
    command->add_flag("--strict", options->strict, "weaknesses and disputed clauses count for the exit status too");
    command->footer(
        "Example:  mpirun -n 4 selvage check --quiet --report 'part-{shard}.json'\n"
        "          selvage merge part-*.json --report whole.html\n\n"
        "Exit status: 0 all promises kept, 1 deviations found, 2 could not run.");
    command->callback([options, &run] { run = [options] { return merge(*options); }; });
}

}  // namespace selvage::conformance
