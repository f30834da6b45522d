// selvage bench SUITE: what a library and its rivals cost, side by side, in one run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "conformance/base/terminal.h"
#include "conformance/base/whole_file.h"
#include "conformance/bench/cores.h"
#include "conformance/bench/history.h"
#include "conformance/bench/instructions.h"
#include "conformance/bench/pairs.h"
#include "conformance/bench/print.h"
#include "conformance/bench/suites.h"
#include "conformance/bench/tools.h"
#include "conformance/cli/commands.h"

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
    std::string suite;
    std::string library;
    std::vector<std::string> against;
    std::vector<std::string> only;
    std::vector<int> cores;
    std::string report;
    std::string history;
    std::string compare;
    bool realtime = false;
    unsigned pairs = 9;
    unsigned milliseconds = 30;
    bool quick = false;
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

/// Whether a workload is meant: by its name, or by the words that begin it ("shm", "tcp.tagged").
bool is_meant(const bench::Workload& w, const std::string& name) {
    return w.name == name || w.name.starts_with(name + ".");
}

/// What can be named: names, or what stands before their first dots.
std::string known_names(const std::vector<bench::Workload>& workloads) {
    std::vector<std::string> known;
    for (const auto& w : workloads) {
        const auto second = w.name.find('.', w.name.find('.') + 1);
        const std::string name = w.name.substr(0, second);
        if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    }
    return fmt::format("{}", fmt::join(known, ", "));
}

/// Keeps those that were named, and the rows that they are held against.  @return why that can't be, as one line.
std::string choose(std::vector<bench::Workload>& workloads, const BenchOptions& options) {
    for (const auto& name : options.only) {
        const auto meant = [&](const bench::Workload& w) { return is_meant(w, name); };
        if (std::none_of(workloads.begin(), workloads.end(), meant)) {
            return fmt::format("--only {}: there is no such workload (there are {})", name, known_names(workloads));
        }
    }
    const auto is_chosen = [&](const bench::Workload& w) {
        const auto named = [&](const std::string& name) { return is_meant(w, name); };
        if (options.quick && !w.quick) return false;
        return options.only.empty() || std::any_of(options.only.begin(), options.only.end(), named);
    };
    std::set<std::string> kept;
    for (const auto& w : workloads) {
        if (is_chosen(w)) kept.insert({w.name, w.beside});
    }
    std::erase_if(workloads, [&](const bench::Workload& w) { return !kept.contains(w.name); });
    return workloads.empty() ? "nothing is left to measure" : "";
}

/// Floors that the workloads are held against, those that stand beside them, and those that tell a steady machine.
std::vector<bench::Workload> floors_for(const bench::Suite& suite, const std::vector<bench::Workload>& workloads) {
    if (suite.floors == nullptr) return {};
    auto floors = suite.floors();
    std::erase_if(floors, [&](const bench::Workload& f) {
        return std::none_of(workloads.begin(), workloads.end(), [&](const bench::Workload& w) {
            const bool same = w.place.provider == f.place.provider;
            const bool beside = w.place.kind == "bandwidth" && f.place.kind == "vmread" && w.place.size == f.place.size;
            return w.floor == f.name || (same && (f.steady || beside));
        });
    });
    return floors;
}

void measure(const BenchOptions& options, const std::vector<bench::Workload>& workloads,
             const std::vector<bench::Workload>& floors, bench::Bench& out) {
    const bench::Suite& suite = *bench::find_suite(options.suite);
    Progress progress(options.quiet);
    const std::uint64_t total = out.sides.size() * options.pairs * workloads.size();
    std::uint64_t done = 0;
    progress.expect(total);
    const auto step = progress.begin("measuring", total);
    const auto at = [&] { progress.at(step, ++done); };
    if (suite.session != nullptr) {
        auto began = std::chrono::steady_clock::now();
        const auto over = [&](const std::string& provider) {
            const auto now = std::chrono::steady_clock::now();
            progress.note(fmt::format("{}: {:.0f} s", provider, std::chrono::duration<double>(now - began).count()));
            began = now;
        };
        auto found = bench::run_sessions(suite, workloads, floors, out.sides, options.pairs, out.setting, at, over);
        out.results = std::move(found.results);
        out.floors = std::move(found.floors);
        out.again = found.again;
        out.unsteady = found.unsteady;
        return;
    }
    for (const auto& w : workloads)
        out.results.push_back(bench::run_pairs(w, out.sides, options.pairs, out.setting.effort, at));
}

void count(const BenchOptions& options, const std::vector<bench::Workload>& workloads, bench::Bench& out) {
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
    progress.expect(out.sides.size());
    const auto step = progress.begin("counting instructions", out.sides.size());
    for (std::size_t s = 0; s < out.sides.size() && out.not_counted.empty(); ++s) {
        if (out.sides[s].tool != nullptr) continue;
        const auto counts = bench::count_instructions(options.suite, out.sides[s].path, names);
        out.not_counted = counts.why_not;
        for (auto& r : out.results) {
            if (const auto found = counts.per_call.find(r.workload->name); found != counts.per_call.end())
                r.sides[s].instructions = found->second;
        }
        progress.at(step, s + 1);
    }
}

bool all_goals_met(const bench::Bench& bench) {
    return std::all_of(bench.results.begin(), bench.results.end(), [](const bench::Result& r) {
        return r.met() == bench::Met::Yes || r.met() == bench::Met::NoGoal;
    });
}

/// Two cores for a suite with a peer: those named, or the first two that this process may use.
/// @return why not; empty if they are found.
std::string place(const BenchOptions& options, bench::Bench& out) {
    if (bench::find_suite(options.suite)->session == nullptr) return {};
    auto cores = options.cores;
    if (cores.empty()) cores = bench::cores_allowed();
    if (cores.size() < 2) return "two cores are needed, one for each process (--cores A,B)";
    const auto allowed = bench::cores_allowed();
    for (std::size_t i = 0; i < 2; ++i) {
        if (std::find(allowed.begin(), allowed.end(), cores[i]) == allowed.end())
            return fmt::format("--cores {}: this process may not use it (it may use {})", cores[i],
                               fmt::join(allowed, ","));
    }
    if (cores[0] == cores[1]) return fmt::format("--cores {},{}: two different cores are needed", cores[0], cores[1]);
    out.setting.cores = {cores[0], cores[1]};
    out.placement = bench::placement_of(out.setting.cores);
    return {};
}

/// Compares with earlier runs, then joins them.  @return why that can't be, as one line.
std::string look_back(const BenchOptions& options, const bench::Bench& bench, bool& slower) {
    if (!options.compare.empty()) {
        bench::Comparison found;
        if (auto error = bench::compare_with(options.compare, bench, found); !error.empty()) return error;
        fmt::print(options.json ? stderr : stdout, "{}", bench::as_text(found, options.compare));
        slower = !found.slower.empty();
    }
    if (options.history.empty()) return {};
    return bench::append_run(options.history, bench, bench::now_in_words());
}

/// A rival as it was asked for: a tool's name, or a library.
bench::Side rival_named(const std::string& what, std::size_t number) {
    bench::Side side;
    side.tool = bench::find_tool(what);
    side.name = side.tool != nullptr ? side.tool->name : std::string(1, static_cast<char>('A' + number % 26));
    side.path = side.tool != nullptr ? what : full_name(what);
    return side;
}

/// The library under test and its rivals; those that can't be used are left out.
/// @return why that can't be, as one line: the library is none, or no rival is left.
std::string find_sides(const BenchOptions& options, const std::string& library, bench::Bench& out) {
    bench::Side first = {.name = "A", .path = full_name(library)};
    if (auto error = bench::identify(first); !error.empty()) return error;
    out.sides.push_back(std::move(first));
    const bool has_peer = bench::find_suite(options.suite)->session != nullptr;
    for (const auto& what : options.against.empty() ? std::vector<std::string>{""} : options.against) {
        bench::Side rival = rival_named(what, out.sides.size());
        std::string error = rival.tool != nullptr && !has_peer ? "it has no counterpart of this suite's rows" : "";
        if (error.empty()) error = bench::identify(rival);
        if (error.empty()) {
            out.sides.push_back(std::move(rival));
        } else {
            out.left_out.push_back({what, error});
        }
    }
    return out.sides.size() > 1 ? "" : out.left_out.front().why;
}

/// Finds out before the run, not after it, that a file can't be read or written.  @return why, as one line.
std::string check_files(const BenchOptions& options, const bench::Bench& bench) {
    if (!options.compare.empty()) {
        bench::Comparison ignored;
        if (auto error = bench::compare_with(options.compare, bench, ignored); !error.empty()) return error;
    }
    for (const auto& path : {options.report, options.history}) {
        if (path.empty()) continue;
        if (const auto why = why_not_writable(path); !why.empty()) return fmt::format("{}: {}", path, why);
    }
    return {};
}

int run_bench(const BenchOptions& options) {
    const bench::Suite& suite = *bench::find_suite(options.suite);
    setenv("FI_SELVAGE_LOCAL", "0", 0);  // rows of tcp stand beside raw TCP, so they are of sockets if nothing is said
    auto workloads = suite.workloads();
    if (const auto error = choose(workloads, options); !error.empty()) return could_not_run(error);
    const auto floors = floors_for(suite, workloads);
    const std::string first = options.library.empty() ? bundled_library() : options.library;
    if (first.empty()) return could_not_run("no library lies beside the tool; --library SO names one");
    bench::Bench bench;
    bench.suite = options.suite;
    bench.pairs = options.pairs;
    bench.setting.effort.time = std::chrono::milliseconds(options.milliseconds);
    bench.setting.realtime = options.realtime;
    if (const auto error = place(options, bench); !error.empty()) return could_not_run(error);
    if (const auto error = find_sides(options, first, bench); !error.empty()) return could_not_run(error);
    if (const auto error = check_files(options, bench); !error.empty()) return could_not_run(error);
    measure(options, workloads, floors, bench);
    count(options, workloads, bench);
    fmt::print("{}", options.json ? bench::as_json(bench) : bench::as_table(bench, options.tail));
    if (std::string error; !options.report.empty() && !write_whole_file(options.report, bench::as_page(bench), error))
        return could_not_run(error);
    bool slower = false;
    if (const auto error = look_back(options, bench, slower); !error.empty()) return could_not_run(error);
    return slower || (options.require_goals && !all_goals_met(bench)) ? kDeviates : kKept;
}

/// "ucx (what it is), openmpi (what it is)"
std::string known_tools() {
    std::string out;
    for (const auto& tool : bench::tools())
        out += fmt::format("{}{} ({})", out.empty() ? "" : " or ", tool.name, tool.about);
    return out;
}

/// BenchOptions of suites whose workloads have a peer.
void add_places(CLI::App& command, BenchOptions& options) {
    command.add_option("--cores", options.cores, "the two cores, A,B (default: the first two that may be used)")
        ->type_name("A,B")
        ->delimiter(',')
        ->expected(2);
    command.add_flag("--realtime", options.realtime,
                     "run under SCHED_FIFO while a workload is measured (as root, on a busy machine)");
}

void add_suite(CLI::App& bench, const bench::Suite& suite, Run& run) {
    auto options = std::make_shared<BenchOptions>();
    options->suite = suite.name;
    const bool peers = suite.session != nullptr;
    options->pairs = peers ? 5 : 9;
    options->milliseconds = peers ? 15 : 30;
    auto* command = bench.add_subcommand(suite.name, suite.about);
    command->add_option("--library", options->library, "A: the library to measure (default: the one beside the tool)")
        ->type_name("SO");
    command
        ->add_option("--against", options->against,
                     fmt::format("a rival: a library (default: the one the loader finds){}; again for more",
                                 peers ? fmt::format(", or {}", known_tools()) : ""))
        ->type_name(peers ? "SO|TOOL" : "SO")
        ->allow_extra_args(false);
    auto* pairs = command
                      ->add_option("--pairs", options->pairs,
                                   fmt::format("runs of each library, in turn (default: {})", options->pairs))
                      ->type_name("N")
                      ->check(CLI::Range(1, 10'000));
    auto* milliseconds =
        command
            ->add_option("--milliseconds", options->milliseconds,
                         fmt::format("how long each workload is sampled in a run (default: {})", options->milliseconds))
            ->type_name("N")
            ->check(CLI::Range(1, 60'000));
    command
        ->add_option("--only", options->only,
                     "only this workload, or all whose names begin so: shm, tcp.tagged (again for more)")
        ->type_name("NAME");
    if (peers) add_places(*command, *options);
    command->add_flag("--quick", options->quick, "a short run: few sizes, two pairs, 5 ms, unless given");
    command->add_option("--report", options->report, "write a page with plots, too")->type_name("FILE.html");
    command->add_option("--history", options->history, "add this run to a file of runs, one JSON object a line")
        ->type_name("FILE");
    command
        ->add_option("--compare", options->compare,
                     "tell what is slower or faster than in the runs of such a file; exit 1 if anything is slower")
        ->type_name("FILE")
        ->check(CLI::ExistingFile);
    command->add_flag("--json", options->json, "print JSON, with every pair's ratio");
    command->add_flag("--tail", options->tail, "show the 99th percentile, too");
    command->add_flag("--no-count", options->no_count, "do not count instructions");
    command->add_flag("--quiet", options->quiet, "no progress");
    command->add_flag("--require-goals", options->require_goals,
                      "exit 1 if a goal is missed, or can't be judged for want of the other library's figure");
    command->callback([options, pairs, milliseconds, &run] {
        if (options->quick && pairs->count() == 0) options->pairs = 2;
        if (options->quick && milliseconds->count() == 0) options->milliseconds = 5;
        run = [options] { return run_bench(*options); };
    });
}

// Hidden: the tool calls itself so under valgrind (bench/instructions.h).
void add_bench_count(CLI::App& app, Run& run) {
    auto options = std::make_shared<BenchOptions>();
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
    auto* command = app.add_subcommand("bench", "what a library and its rivals cost, side by side");
    command->require_subcommand(1);
    command->footer(
        "Examples:  selvage bench transfer --report bench.html       all of it, in some four minutes\n"
        "           selvage bench transfer --quick --only shm        shared memory alone, in some seconds\n"
        "           selvage bench transfer --only tcp.tagged --tail  with the 99th percentile\n"
        "           FI_SELVAGE_LOCAL=1 selvage bench transfer --only tcp     tcp as neighbours have it: in memory\n"
        "           selvage bench getinfo --only copy --pairs 31 --json\n"
        "           selvage bench transfer --only shm --against libfabric.so.1 --against ucx --against openmpi\n"
        "           selvage bench transfer --only shm --history runs.jsonl        remember this run\n"
        "           selvage bench transfer --only shm --compare runs.jsonl        what is slower since");
    for (const auto& suite : bench::suites()) add_suite(*command, suite, run);
    add_bench_count(app, run);
}

}  // namespace selvage::conformance
