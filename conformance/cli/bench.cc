// selvage bench SUITE: what two libraries cost, side by side, in one run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "conformance/bench/instructions.h"
#include "conformance/bench/pairs.h"
#include "conformance/bench/print.h"
#include "conformance/bench/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/terminal.h"

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::string suite;
    std::string library;
    std::string against;
    std::vector<std::string> only;
    unsigned pairs = 9;
    unsigned milliseconds = 30;
    bool json = false;
    bool tail = false;
    bool quiet = false;
    bool no_count = false;
    bool require_goals = false;
};

/// The library that comes with the tool: in a build tree or installed.  Empty: none lies there.
std::string bundled_library() {
    std::error_code ignored;
    const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    std::vector<fs::path> places = {here / "../impl", here / "../lib/selvage", here / "../lib64/selvage"};
    for (const auto& entry : fs::directory_iterator(here / "../lib", ignored)) {
        places.push_back(entry.path() / "selvage");  // lib/<architecture>/selvage
    }
    for (const auto& place : places) {
        const fs::path file = place / "libfabric.so.1";
        if (fs::exists(file, ignored)) return fs::weakly_canonical(file, ignored).string();
    }
    return {};
}

/// A file by its full name, so that every child opens the same; other names are left to the loader.
std::string full_name(const std::string& library) {
    std::error_code ignored;
    if (library.empty()) return "libfabric.so.1";
    return fs::exists(library, ignored) ? fs::canonical(library, ignored).string() : library;
}

/// Keeps those that were named.  @return why that can't be, as one line.
std::string choose(std::vector<bench::Workload>& workloads, const std::vector<std::string>& only) {
    if (only.empty()) return {};
    std::string known;
    for (const auto& w : workloads) known += (known.empty() ? "" : ", ") + w.name;
    for (const auto& name : only) {
        const auto is_it = [&](const bench::Workload& w) { return w.name == name; };
        if (std::none_of(workloads.begin(), workloads.end(), is_it)) {
            return fmt::format("--only {}: there is no such workload (there are {})", name, known);
        }
    }
    std::erase_if(workloads,
                  [&](const bench::Workload& w) { return std::find(only.begin(), only.end(), w.name) == only.end(); });
    return {};
}

void measure(const Options& options, const std::vector<bench::Workload>& workloads, bench::Bench& out) {
    Progress progress(options.quiet);
    const std::uint64_t total = std::uint64_t{2} * options.pairs * workloads.size();
    std::uint64_t done = 0;
    progress.expect(total);
    progress.begin("measuring", total);
    const bench::Effort effort{std::chrono::milliseconds(options.milliseconds)};
    for (const auto& w : workloads) {
        out.results.push_back(bench::run_pairs(w, out.sides, options.pairs, effort, [&] { progress.at(++done); }));
    }
}

void count(const Options& options, const std::vector<bench::Workload>& workloads, bench::Bench& out) {
    if (options.no_count) {
        out.not_counted = "not asked for";
        return;
    }
    std::vector<std::string> names;
    for (const auto& w : workloads) {
        if (w.ready) names.push_back(w.name);
    }
    if (names.empty()) return;
    Progress progress(options.quiet);
    progress.expect(2);
    progress.begin("counting instructions", 2);
    for (std::size_t s = 0; s < 2 && out.not_counted.empty(); ++s) {
        const auto counts = bench::count_instructions(options.suite, out.sides[s].path, names);
        out.not_counted = counts.why_not;
        for (auto& r : out.results) {
            if (const auto found = counts.per_call.find(r.workload->name); found != counts.per_call.end())
                r.sides[s].instructions = found->second;
        }
        progress.at(s + 1);
    }
}

bool all_goals_met(const bench::Bench& bench) {
    return std::all_of(bench.results.begin(), bench.results.end(), [](const bench::Result& r) {
        return r.met() == bench::Met::Yes || r.met() == bench::Met::NoGoal;
    });
}

int run_bench(const Options& options) {
    auto workloads = bench::find_suite(options.suite)->workloads();
    if (const auto error = choose(workloads, options.only); !error.empty()) return could_not_run(error);
    const std::string first = options.library.empty() ? bundled_library() : options.library;
    if (first.empty()) return could_not_run("no library lies beside the tool; --library SO names one");
    bench::Bench bench;
    bench.suite = options.suite;
    bench.pairs = options.pairs;
    bench.sides[0].path = full_name(first);
    bench.sides[1].path = full_name(options.against);
    for (auto& side : bench.sides) {
        if (const auto error = bench::identify(side); !error.empty()) return could_not_run(error);
    }
    measure(options, workloads, bench);
    count(options, workloads, bench);
    fmt::print("{}", options.json ? bench::as_json(bench) : bench::as_table(bench, options.tail));
    return options.require_goals && !all_goals_met(bench) ? kDeviates : kKept;
}

void add_suite(CLI::App& bench, const bench::Suite& suite, Run& run) {
    auto options = std::make_shared<Options>();
    options->suite = suite.name;
    auto* command = bench.add_subcommand(suite.name, suite.about);
    command->add_option("--library", options->library, "A: the library to measure (default: the one beside the tool)")
        ->type_name("SO");
    command
        ->add_option("--against", options->against,
                     "B: the library to compare with (default: the one the loader finds)")
        ->type_name("SO");
    command->add_option("--pairs", options->pairs, "runs of each library, in turn (default: 9)")
        ->type_name("N")
        ->check(CLI::Range(1, 10'000));
    command->add_option("--milliseconds", options->milliseconds, "how long each run samples (default: 30)")
        ->type_name("N")
        ->check(CLI::Range(1, 60'000));
    command->add_option("--only", options->only, "only this workload (again for more)")->type_name("NAME");
    command->add_flag("--json", options->json, "print JSON, with every pair's ratio");
    command->add_flag("--tail", options->tail, "show the 99th percentile, too");
    command->add_flag("--no-count", options->no_count, "do not count instructions");
    command->add_flag("--quiet", options->quiet, "no progress");
    command->add_flag("--require-goals", options->require_goals,
                      "exit 1 if a goal is missed, or can't be judged for want of the other library's figure");
    command->callback([options, &run] { run = [options] { return run_bench(*options); }; });
}

// Hidden: the tool calls itself so under valgrind (bench/instructions.h).
void add_bench_count(CLI::App& app, Run& run) {
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("bench-count", "")->group("");
    command->add_option("--suite", options->suite)->required();
    command->add_option("--library", options->library)->required();
    command->add_option("--only", options->only);
    command->callback([options, &run] {
        run = [options] {
            const auto* suite = bench::find_suite(options->suite);
            return suite != nullptr ? bench::count_here(*suite, options->library, options->only) : kCouldNotRun;
        };
    });
}

}  // namespace

void add_bench(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("bench", "what two libraries cost, side by side");
    command->require_subcommand(1);
    command->footer(
        "Example:  selvage bench getinfo\n"
        "          selvage bench getinfo --only copy --pairs 31 --json");
    for (const auto& suite : bench::suites()) add_suite(*command, suite, run);
    add_bench_count(app, run);
}

}  // namespace selvage::conformance
