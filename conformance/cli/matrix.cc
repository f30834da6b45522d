// selvage matrix: libraries and their providers side by side.
#include "conformance/report/matrix.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "conformance/base/whole_file.h"
#include "conformance/cli/commands.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

struct MatrixOptions {
    std::vector<std::string> reports;
    std::string output;
};

int matrix(const MatrixOptions& options) {
    std::vector<Report> reports;
    std::string error;
    if (!options.output.empty() && std::filesystem::path(options.output).extension() != ".html")
        return could_not_run(fmt::format("--output {}: the ending must be .html", options.output));
    if (!read_reports(options.reports, reports, error)) return could_not_run(error);
    const Matrix m = matrix_of(reports);
    if (options.output.empty()) {
        fmt::print("{}", matrix_text(m));
        return kKept;
    }
    return write_whole_file(options.output, matrix_html(m), error) ? kKept : could_not_run(error);
}

}  // namespace

void add_matrix(CLI::App& app, Run& run) {
    auto options = std::make_shared<MatrixOptions>();
    auto* command =
        app.add_subcommand("matrix", "libraries and their providers side by side, by area of the interface");
    command->add_option("REPORT", options->reports, "reports that selvage check wrote as .json, one per library")
        ->required();
    command
        ->add_option("--output", options->output, "write it there as a page (.html; default: text to standard output)")
        ->type_name("FILE");
    command->footer(
        "Example:  selvage check --library ours/libfabric.so.1 --report ours.json\n"
        "          selvage check --report system.json\n"
        "          selvage matrix ours.json system.json --output matrix.html\n\n"
        "3/57 is three promises broken of 57 that the run reached; what is waived counts as broken.\n"
        "Exit status: 0 it was made, 2 could not run.");
    command->callback([options, &run] { run = [options] { return matrix(*options); }; });
}

}  // namespace selvage::conformance
