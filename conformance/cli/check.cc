// selvage check: runs every property on every provider and reports.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "conformance/base/kernel_symbols.h"
#include "conformance/base/terminal.h"
#include "conformance/base/whole_file.h"
#include "conformance/case/case_text.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/learn_profile.h"
#include "conformance/cli/role.h"
#include "conformance/cli/session.h"
#include "conformance/cli/shard.h"
#include "conformance/cli/submission.h"
#include "conformance/convict/convict.h"
#include "conformance/drive/endpoint/agent_server.h"
#include "conformance/report/closing.h"
#include "conformance/report/waiver.h"
#include "conformance/report/write.h"
#include "conformance/run/runner.h"
#include "model/spec/clause.h"
#include "model/text/profile_text.h"

namespace selvage::conformance {
namespace {

constexpr std::chrono::seconds kAgentTime{60};  // for the agent of another machine to start

struct CheckOptions {
    Plan plan;
    std::vector<std::string> providers;
    std::vector<std::string> reports;
    std::vector<std::string> profiles;
    std::string save;
    std::string waivers;
    std::string submission;
    std::string shard;
    std::string peer;
    std::string agent;
    unsigned jobs = default_jobs();
    std::string compiler;
    bool no_compiler = false;
    bool dryrun = false;
    bool quiet = false;
    bool verbose = false;
};

bool counts(const Deviation& d, bool strict) { return d.waived.empty() && (strict || is_grave(d.grade)); }

void sort_deviations(Report& report) {
    const auto order = [&](const std::string& provider) {
        const auto it = std::find_if(report.providers.begin(), report.providers.end(),
                                     [&](const auto& p) { return p.provider == provider; });
        return it - report.providers.begin();
    };
    std::stable_sort(report.deviations.begin(), report.deviations.end(), [&](const Deviation& a, const Deviation& b) {
        return std::tuple(a.grade, order(a.provider), a.clause) < std::tuple(b.grade, order(b.provider), b.clause);
    });
}

// Reports name the program that was saved with each finding.
void save_cases(Report& report, const std::string& folder) {
    std::filesystem::create_directories(folder);
    for (std::size_t i = 0; i < report.deviations.size(); ++i) {
        Deviation& d = report.deviations[i];
        const auto name = fmt::format("{:03}-{}", i + 1, case_name(d.provider, model::clause_text(d.clause).id));
        const auto base = std::filesystem::path(folder) / name;
        const auto comment =
            d.intermittent ? fmt::format("{}\nintermittent: {}", d.summary, tries_text(*d.intermittent)) : d.summary;
        std::ofstream(base.string() + ".case") << print_case(d.shown_by, d.clause, comment);
        d.saved_as = name + ".c";
        std::ofstream(base.string() + ".c") << d.reproducer;
    }
}

int write_all(Report& report, const CheckOptions& options) {
    if (!options.save.empty()) save_cases(report, options.save);
    for (const auto& path : options.reports) {
        std::string error;
        if (!write_report(report, path, error)) return could_not_run(error);
    }
    return kKept;
}

// What the report says, with the profile of each provider.
int publish(const CheckOptions& options, const std::string& waivers, const Report& report) {
    Submission out{.report = report, .waivers = waivers, .profiles = {}};
    for (const auto& p : report.providers) {
        const LearntProfile learnt = learn_profile(options.plan, p.provider, report.subject.version);
        if (!learnt.text.empty()) out.profiles.emplace(p.provider, learnt.text);
    }
    std::string error;
    return write_submission(options.submission, out, error) ? kKept : could_not_run(error);
}

int dry_run(const CheckOptions& options, const std::vector<std::unique_ptr<Property>>& properties, const Survey& found,
            const std::vector<std::string>& providers) {
    fmt::print("library   {} ({}, build id {})\n", found.subject.path, found.subject.version.str(),
               found.subject.build_id.empty() ? "none" : found.subject.build_id);
    for (const auto& p : providers) fmt::print("provider  {}\n", printable(p));
    for (const auto& p : properties)
        fmt::print("property  {:<10} {:>8} cases  {}\n", p->name(), p->count(options.plan), p->about());
    for (const auto& c : model::clauses()) {
        if (wants(options.plan, c.clause)) {
            fmt::print("clause    {:<52} {:<6} {:<8} {}\n", c.id, model::name(c.level), model::name(c.status),
                       model::name(c.judges));
        }
    }
    return kKept;
}

bool load_profiles(CheckOptions& options, std::string& error) {
    for (const auto& path : options.profiles) {
        std::string text;
        if (!read_file(path, text, error)) return false;
        for (unsigned minor = 0; minor <= model::kNewest.minor_part(); ++minor) {
            model::Profile p;
            if (!model::parse_profile(text, model::Version(1, minor), p, error)) {
                error = fmt::format("{}: {}", path, error);
                return false;
            }
            options.plan.declared.push_back(std::move(p));
        }
    }
    return true;
}

std::string check_options(const CheckOptions& options) {
    for (const auto& r : options.reports) {
        if (const auto wrong = wrong_ending(r); !wrong.empty()) return "--report " + wrong;
    }
    for (const auto& prefix : options.plan.clauses) {
        const auto all = model::clauses();
        if (std::none_of(all.begin(), all.end(), [&](const auto& c) { return c.id.starts_with(prefix); })) {
            return fmt::format("--clause {}: no clause begins so (selvage clauses lists them)", prefix);
        }
    }
    return {};
}

// Finds out before the run, not after it, that its results can't be written.  Nothing is there before they are.
std::string check_outputs(const CheckOptions& options) {
    for (const auto& path : options.reports) {
        if (const auto why = why_not_writable(path); !why.empty()) return fmt::format("--report {}: {}", path, why);
    }
    std::error_code failed;
    if (!options.submission.empty() && !std::filesystem::is_empty(options.submission, failed) && !failed)
        return fmt::format("--submission {}: is there and not empty; a result is published as it was made",
                           options.submission);
    if (options.save.empty()) return {};
    const bool published = !options.submission.empty();
    const auto why = why_no_folder(options.save);
    if (why.empty()) return {};
    return fmt::format("--{}: {}", published ? "submission " + options.submission : "save " + options.save, why);
}

// Whom to judge: who was asked for, else all that were found.  A library that dies of being asked for its providers is
// judged under a name that says so.
std::vector<std::string> whom_to_judge(const CheckOptions& options, const Survey& found) {
    if (!options.providers.empty()) return options.providers;
    if (found.providers.empty() && !found.deadly.empty()) return {"unknown"};
    return found.providers;
}

// What programs are run with.  @return false and why: a compiler that was asked for is not there.
bool find_court(const CheckOptions& options, const Survey& found, Court& out, std::string& error) {
    out.library = found.subject.path;
    out.remote = !options.plan.peer.empty();
    if (options.no_compiler) {
        out.why_none = "--no-compiler";
        return true;
    }
    out.compiler = Compiler::find(options.compiler, error);
    if (out.compiler) return true;
    if (!options.compiler.empty()) {
        error = "--compiler: " + error;
        return false;
    }
    out.why_none = "no compiler (" + std::exchange(error, {}) + ")";
    return true;
}

// A report of which nothing is known yet but whom it judges.
Report report_to_be(const CheckOptions& options, const Role& role, const Survey& found,
                    const std::vector<std::string>& providers) {
    Report out;
    out.subject = found.subject;
    out.seed = options.plan.seed;
    out.cases = options.plan.cases;
    out.transfers = role.kind == Role::Kind::Driver ? "on two machines"
                    : options.plan.processes == 2   ? "in two processes"
                                                    : "in one process";
    for (const auto& p : providers) {
        out.providers.emplace_back().provider = p;
        if (found.died.empty()) continue;
        out.providers.back().notes.push_back("the library " + found.died + " while it was asked for its providers");
    }
    return out;
}

// Does what a driver says until its run is over.
int be_agent(const CheckOptions& options, const Role& role) {
    HostPort at;
    parse_host_port(role.at, at);
    const std::string error = serve_agent(options.plan.library, at);
    return error.empty() ? kKept : could_not_run(error);
}

int check_as(CheckOptions& options, const Role& role) {
    if (!options.submission.empty()) options.save = options.submission + "/cases";
    std::string error = check_options(options);
    Shard shard;
    // The tasks of a launcher are no parts of the run if they are its two sides.
    const bool has_parts = role.kind == Role::Kind::Alone || !options.shard.empty();
    if (error.empty() && has_parts && !find_shard(options.shard, shard, error)) return could_not_run(error);
    if (!options.submission.empty() && !shard.alone())
        return could_not_run("--submission is of a whole run, and this is a part of one");
    for (auto& r : options.reports) r = with_shard(r, shard);
    options.save = with_shard(options.save, shard);
    if (!error.empty() || !load_profiles(options, error)) return could_not_run(error);
    std::vector<Waiver> waivers;
    std::string waivers_text;
    if (!options.waivers.empty()) {
        if (!read_file(options.waivers, waivers_text, error)) return could_not_run(error);
        const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
        if (!parse_waivers(waivers_text, today, waivers, error)) return could_not_run(options.waivers + ": " + error);
    }
    const Survey found = survey(options.plan, options.providers);
    if (!found.error.empty()) return could_not_run(found.error);
    if (error = unknown_provider(options.providers, found); !error.empty()) return could_not_run(error);
    const auto providers = whom_to_judge(options, found);
    if (providers.empty()) return could_not_run(fmt::format("{}: no provider offers anything", found.subject.path));
    const auto properties = all_properties();
    if (options.dryrun) return dry_run(options, properties, found, providers);
    if (error = check_outputs(options); !error.empty()) return could_not_run(error);
    Court court;
    if (!find_court(options, found, court, error)) return could_not_run(error);

    Progress progress(options.quiet);
    ProgramQueue programs(court);
    Session session;
    session.programs = &programs;
    session.plan = &options.plan;
    session.at_once = options.jobs;
    session.progress = &progress;
    session.report = report_to_be(options, role, found, providers);
    run_session(session, properties, shard);
    explain_session(session, properties, shard);
    run_programs(court, session);
    sort_deviations(session.report);
    apply_waivers(waivers, session.report);
    if (const int status = write_all(session.report, options); status != kKept) return status;
    if (!options.submission.empty())
        if (const int status = publish(options, waivers_text, session.report); status != kKept) return status;
    if (options.verbose) fmt::print("{}", deviations_text(session.report));
    if (!options.quiet) fmt::print("{}", closing_text(session.report, options.reports));
    if (const auto troubles = troubles_of(session); !troubles.empty()) return could_not_run(troubles);
    if (shard.alone()) error = unneeded_waiver(waivers, session.report);
    if (!error.empty()) return could_not_run(options.waivers + ": " + error);
    return has_deviation(session.report, options.plan.strict) ? kDeviates : kKept;
}

int check(CheckOptions& options) {
    const KernelSymbols symbols;  // for all processes that are started from here on
    Role role;
    std::string error;
    if (!find_role(options.peer, options.agent, role, error)) return could_not_run(error);
    if (role.kind == Role::Kind::Agent) return be_agent(options, role);
    if (role.kind == Role::Kind::Alone) return check_as(options, role);
    options.plan.processes = 2;
    options.plan.peer = role.at;
    const int run = connect_to_agent(role.at, AgentSession::WholeRun, kAgentTime, error);
    if (run < 0) return could_not_run(error);
    const int status = check_as(options, role);
    close(run);
    return status;
}

// Why the text is no seed; empty if it is one.  CLI11 takes the largest number for one that is too large.
std::string no_seed(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    std::strtoull(text.c_str(), &end, 0);
    const bool whole = !text.empty() && text.front() != '-' && *end == '\0' && errno == 0;
    return whole ? std::string() : "a seed is a whole number from 0 to 2^64 - 1, not " + text;
}

}  // namespace

bool has_deviation(const Report& report, bool strict) {
    return std::any_of(report.deviations.begin(), report.deviations.end(),
                       [&](const Deviation& d) { return counts(d, strict); });
}

void add_check(CLI::App& app, Run& run) {
    auto options = std::make_shared<CheckOptions>();
    options->plan.processes = 2;  // as nearly all programs are
    auto* command = app.add_subcommand("check", "query a library, judge every answer, report each broken promise");
    add_library_option(*command, options->plan.library);
    command
        ->add_option("--provider", options->providers,
                     "judge only this provider (again for more; default: all that it offers)")
        ->type_name("NAME");
    command->add_option("--cases", options->plan.cases, "cases per suite and provider")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
    command->add_option("--seed", options->plan.seed, "the same seed makes the same cases")
        ->capture_default_str()
        ->check(no_seed);
    command->add_option("--clause", options->plan.clauses, "judge only clauses whose id begins so (again for more)")
        ->type_name("PREFIX");
    command
        ->add_option("--profile", options->profiles,
                     "a declared profile to judge by, instead of one inferred by probing")
        ->type_name("FILE");
    command->add_option("--waivers", options->waivers, "deviations that are known and accepted (docs/formats.md)")
        ->type_name("FILE");
    command
        ->add_option("--report", options->reports,
                     "write a report; its form follows the ending .txt, .json, .xml, .html or .sarif")
        ->type_name("FILE");
    auto* save =
        command->add_option("--save", options->save, "write each minimal case and its C program into this folder")
            ->type_name("FOLDER");
    command
        ->add_option("--submission", options->submission,
                     "write what publishing the result takes into this folder: reports, cases, profiles, environment, "
                     "verdicts by level, digests (selvage verify re-reads it)")
        ->type_name("FOLDER")
        ->excludes(save);
    command
        ->add_option("--shard", options->shard,
                     "do one part of the run (default: as GoogleTest's, Open MPI's or Slurm's variables say)")
        ->type_name("INDEX/TOTAL");
    command
        ->add_option(
            "--processes", options->plan.processes,
            "how many processes the two endpoints of a transfer are opened in: 2 runs what a library does when "
            "its peer is another program, 1 is quick")
        ->capture_default_str()
        ->check(CLI::Range(1U, 2U));
    command
        ->add_option(
            "--peer", options->peer,
            "open the other endpoint on another machine, by the agent that listens there; of two tasks of mpirun "
            "or srun the second is the agent")
        ->type_name("HOST:PORT");
    command->add_option("--agent", options->agent, "be that agent: listen there, serve one run of --peer, and end")
        ->type_name("HOST:PORT")
        ->excludes("--peer");
    command->add_option("--jobs", options->jobs, "properties that run at the same time; the report is the same")
        ->capture_default_str()
        ->check(CLI::Range(1U, 64U));
    auto* compiler = command
                         ->add_option("--compiler", options->compiler,
                                      "the C compiler, with options, for the programs of findings (default: what CC "
                                      "says, else tcc, where there is one, and cc for what its programs do not "
                                      "show)")
                         ->type_name("COMMAND");
    command->add_flag("--no-compiler", options->no_compiler, "run no programs: the kit's own judgement counts")
        ->excludes(compiler);
    command->add_flag("--first", options->plan.first,
                      "end each property at its first deviation, and do not make its case smaller");
    command->add_flag("--strict", options->plan.strict,
                      "weaknesses and disputed clauses count for the exit status too");
    command->add_flag("--dryrun", options->dryrun, "say what would be asked and judged, ask nothing");
    auto* quiet = command->add_flag("--quiet", options->quiet, "print nothing but errors");
    command->add_flag("--verbose", options->verbose, "print each finding at the end, not only how many and the worst")
        ->excludes(quiet);
    command->footer(
        "Example:  selvage check --provider shm --report report.html --save cases\n"
        "          selvage check --library ./libfabric.so.1 --provider tcp --clause getinfo.caps --strict\n\n"
        "Each property on each provider is a test named PROPERTY.PROVIDER: GTEST_FILTER and the GTEST_TOTAL_SHARDS\n"
        "and GTEST_SHARD_INDEX variables choose among them, and so do those of a task of mpirun or srun; \"{shard}\" "
        "in\n"
        "--report and --save stands for the part. selvage merge puts the reports together.\n"
        "With --peer the tasks are no parts, but the two sides of one run: the first judges, the second is its agent.\n"
        "    mpirun -n 2 --host node1,node2 selvage check --provider tcp --peer node2:7471\n"
        "    node2$ selvage check --agent node2:7471      node1$ selvage check --provider tcp --peer node2:7471\n"
        "What was found between two processes (or machines) and shows in one is reported as a case in one; of the "
        "rest\n"
        "the case says \"processes = 2\", and the C program forks. Of what shows between machines alone none is run.\n"
        "The C program of each finding is compiled and run on the library. A fatal finding or a violation that none of "
        "four\n"
        "runs shows is graded intermittent; it counts for the exit status all the same.\n"
        "Exit status: 0 all promises kept, 1 deviations found, 2 could not run (or a property ended without a "
        "verdict).");
    command->callback([options, &run] { run = [options] { return check(*options); }; });
}

}  // namespace selvage::conformance
