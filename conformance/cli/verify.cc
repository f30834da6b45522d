// selvage verify: re-reads a published result, and replays a sample of it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/submission.h"
#include "conformance/report/levels.h"
#include "conformance/run/runner.h"

namespace selvage::conformance {
namespace {

struct VerifyOptions {
    Plan plan;
    std::string folder;
    std::size_t sample = 20;
};

// Cases that show what they showed each time, spread over all findings.
std::vector<const Deviation*> sample_of(const Report& report, std::size_t count) {
    std::vector<const Deviation*> steady, out;
    for (const auto& d : report.deviations)
        if (!d.intermittent && d.grade != Grade::Intermittent) steady.push_back(&d);
    const std::size_t n = std::min(count, steady.size());
    for (std::size_t i = 0; i < n; ++i) out.push_back(steady[i * steady.size() / n]);
    return out;
}

bool still_shows(const Plan& plan, const Deviation& d, std::string& error) {
    const Replayed seen = replay_case(plan, d.shown_by);
    error = seen.error;
    return std::any_of(seen.broken.begin(), seen.broken.end(),
                       [&](const model::Because& b) { return b.clause == d.clause; });
}

int replay_sample(const VerifyOptions& options, const Report& report) {
    const Survey found = survey(options.plan);
    if (!found.error.empty()) return could_not_run(found.error);
    if (found.subject.build_id != report.subject.build_id)
        return could_not_run(fmt::format("{}: is another library (build id {}) than the one that was judged ({})",
                                         found.subject.path, found.subject.build_id, report.subject.build_id));
    const auto sample = sample_of(report, options.sample);
    std::size_t shown = 0;
    for (const auto* d : sample) {
        std::string error;
        if (still_shows(options.plan, *d, error)) {
            ++shown;
        } else {
            fmt::print("{} {} {}: {}\n", tinted("not shown", Tint::Bad), printable(d->provider),
                       model::clause_text(d->clause).id, error.empty() ? "the case breaks nothing" : printable(error));
        }
    }
    fmt::print("replayed {} of {} findings: {} show what is said of them\n", sample.size(), report.deviations.size(),
               shown);
    return shown == sample.size() ? kKept : kDeviates;
}

// Why the folder is no result at all, as one line; empty if it may be one.
std::string no_submission(const std::string& folder) {
    std::error_code failed;
    if (!std::filesystem::is_directory(folder, failed)) return folder + ": is no folder";
    if (!std::filesystem::exists(folder + "/MANIFEST", failed))
        return folder + ": has no MANIFEST; selvage check --submission writes one with the result";
    return {};
}

int verify(const VerifyOptions& options) {
    if (const auto why = no_submission(options.folder); !why.empty()) return could_not_run(why);
    Report report;
    std::string error;
    if (!verify_submission(options.folder, report, error)) {
        fmt::print("{} {}\n", tinted("refused", Tint::Bad), printable(error));
        return kDeviates;
    }
    fmt::print("{} {}: {} version {}, {} cases, seed {}\n", tinted("as it was written", Tint::Good), options.folder,
               printable(report.subject.path), report.subject.version.str(), report.cases, report.seed);
    for (const auto& p : report.providers) fmt::print("{:<14} {}\n", printable(p.provider), levels_text(report, p));
    return options.plan.library.empty() ? kKept : replay_sample(options, report);
}

}  // namespace

void add_verify(CLI::App& app, Run& run) {
    auto options = std::make_shared<VerifyOptions>();
    auto* command =
        app.add_subcommand("verify", "re-read a result that check --submission wrote, and replay some of it");
    command->add_option("FOLDER", options->folder, "what selvage check --submission wrote")->required();
    command
        ->add_option("--library", options->plan.library,
                     "the library that was judged: a sample of findings is replayed on it")
        ->type_name("SO");
    command->add_option("--sample", options->sample, "how many findings to replay")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}));
    command->footer(
        "Looked at are the digest of each file, the report in all its forms, the verdicts and the badges, which must\n"
        "follow from the report; with --library its build id, and whether cases still show what is said of them.\n\n"
        "Example:  selvage check --library ./libfabric.so.1 --submission result\n"
        "          selvage verify result --library ./libfabric.so.1\n\n"
        "Exit status: 0 it is as it was written (and replays), 1 it is not, 2 could not run.");
    command->callback([options, &run] { run = [options] { return verify(*options); }; });
}

}  // namespace selvage::conformance
