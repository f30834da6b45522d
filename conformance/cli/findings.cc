// selvage findings: what runs found on a library, as a page with what people wrote of it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "conformance/base/whole_file.h"
#include "conformance/cli/commands.h"
#include "conformance/report/findings.h"

namespace selvage::conformance {
namespace {

struct FindingsOptions {
    std::vector<std::string> reports;
    std::string prose, output, digest, check;
};

bool read_all(const std::vector<std::string>& paths, Findings& out, std::string& error) {
    for (const auto& path : paths) {
        std::string text;
        if (!read_file(path, text, error)) return false;
        Findings more;
        if (!read_findings(text, more, error)) {
            error = path + ": " + error;
            return false;
        }
        if (out.providers.empty()) {
            out = std::move(more);
            continue;
        }
        if (out.subject.build_id != more.subject.build_id || out.subject.path != more.subject.path ||
            out.cases != more.cases) {
            error = path + ": is of another library or number of cases than " + paths.front();
            return false;
        }
        merge_findings(out, more);
    }
    return true;
}

bool read_prose(const std::string& folder, std::map<std::string, std::string>& out, std::string& error) {
    std::error_code failed;
    for (const auto& file : std::filesystem::directory_iterator(folder, failed)) {
        const auto& path = file.path();
        if (path.extension() == ".md" && !read_file(path, out[path.stem()], error)) return false;
    }
    if (failed) error = fmt::format("{}: {}", folder, failed.message());
    return !failed;
}

int findings(const FindingsOptions& options) {
    Findings found;
    std::map<std::string, std::string> prose;
    std::string page, error;
    if (!read_all(options.reports, found, error)) return could_not_run(error);
    if (!options.prose.empty() && !read_prose(options.prose, prose, error)) return could_not_run(error);
    if (!findings_page(found, prose, page, error)) return could_not_run(options.prose + "/" + error);
    if (!options.digest.empty() && !write_whole_file(options.digest, findings_json(found), error))
        return could_not_run(error);
    if (!options.check.empty()) {
        std::string there;
        if (!read_file(options.check, there, error)) return could_not_run(error);
        if (there == page) return kKept;
        fmt::print("{}: is not what the reports and the prose make; --output makes it anew\n", options.check);
        return kDeviates;
    }
    if (!options.output.empty()) return write_whole_file(options.output, page, error) ? kKept : could_not_run(error);
    if (options.digest.empty()) fmt::print("{}", page);
    return kKept;
}

}  // namespace

void add_findings(CLI::App& app, Run& run) {
    auto options = std::make_shared<FindingsOptions>();
    auto* command = app.add_subcommand("findings", "what runs found on a library, clause by clause, as a page");
    command->add_option("REPORT", options->reports, "reports that selvage check wrote as .json, or digests of them")
        ->required();
    command
        ->add_option("--prose", options->prose,
                     "a folder with what people wrote: CLAUSE-ID.md for a clause, introduction.md, appendix.md")
        ->type_name("FOLDER");
    command->add_option("--output", options->output, "write the page there (default: standard output)")
        ->type_name("FILE");
    command
        ->add_option("--digest", options->digest,
                     "write what the page needs of the reports: a case for each clause, and who broke it")
        ->type_name("FILE");
    command->add_option("--check", options->check, "write no page; hold this one against what would be written")
        ->type_name("FILE")
        ->excludes("--output");
    command->footer(
        "Example:  selvage check --cases 2000 --report debian.json\n"
        "          selvage findings debian.json --digest docs/findings/debian-1.17.json\n"
        "          selvage findings docs/findings/debian-1.17.json --prose docs/findings --output docs/findings.md\n\n"
        "The reports are of one library; those of several providers are put together. The last line of a text may be\n"
        "\"Also: ID, ID\", with other clauses that it speaks of. A finding needs no text; a text whose clause nobody "
        "broke\n"
        "is an error.\n"
        "Exit status: 0 the page was made or is up to date, 1 it is not, 2 could not run.");
    command->callback([options, &run] { run = [options] { return findings(*options); }; });
}

}  // namespace selvage::conformance
