// See convict.h.
#include "conformance/convict/convict.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/convict/bounded_run.h"
#include "conformance/convict/scratch.h"
#include "conformance/convict/verdict.h"

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;
using Result = ProgramRun::Result;

constexpr unsigned kMostTries = 4;
constexpr unsigned kMostHung = 2;  // of which so many run out of their time
// A program sleeps for nine tenths of its time, so several share a processor; a compiler or a program that hangs has
// one for itself.
constexpr unsigned kLanesPerProcessor = 4;
constexpr unsigned kMostProcessors = 4;

// Findings whose programs are alike, and that would take the same for a proof.
using Group = std::vector<std::size_t>;  // by their place in the report

std::vector<Group> groups_of(const Report& report) {
    std::map<std::tuple<std::string_view, Grade, bool, Case::Kind>, Group> by_program;
    for (std::size_t i = 0; i < report.deviations.size(); ++i) {
        const Deviation& d = report.deviations[i];
        by_program[{d.reproducer, d.grade, is_hang(d), d.shown_by.kind}].push_back(i);
    }
    std::vector<Group> out;
    for (auto& [key, group] : by_program) out.push_back(std::move(group));
    std::sort(out.begin(), out.end());  // as the report has them, and not by the text of programs
    // What takes longest begins first.
    std::stable_partition(out.begin(), out.end(),
                          [&](const Group& g) { return is_hang(report.deviations[g.front()]); });
    return out;
}

// A name of the library that LD_PRELOAD takes: no blanks and no colons.  Its own, where that can be, as some libraries
// look at it, and look for others beside themselves.
std::string loadable(const std::string& library, const ScratchDirectory& scratch) {
    const auto plain = [](const std::string& s) { return s.find_first_of(" \t\n:;$%") == std::string::npos; };
    std::error_code ignored;
    const fs::path at = fs::absolute(library, ignored);
    if (plain(at.string())) return at.string();
    const std::string directory = scratch.path("library");
    fs::create_directory_symlink(at.parent_path(), directory, ignored);
    if (plain(at.filename().string())) return directory + "/" + at.filename().string();
    fs::create_symlink(at, scratch.path("libfabric.so.1"), ignored);
    return scratch.path("libfabric.so.1");
}

unsigned processors() { return std::clamp(std::thread::hardware_concurrency(), 2U, kMostProcessors); }

// As many of these live at a time as there are processors.
class Processor {
public:
    Processor() { free().acquire(); }
    ~Processor() { free().release(); }
    Processor(const Processor&) = delete;
    Processor& operator=(const Processor&) = delete;

private:
    static std::counting_semaphore<kMostProcessors>& free() {
        static std::counting_semaphore<kMostProcessors> semaphore(processors());
        return semaphore;
    }
};

class Trials {
public:
    explicit Trials(const Court& court)
        : compiler_(*court.compiler), library_(loadable(court.library, scratch_)), environment_(own_environment()) {
        const auto preloaded = std::find_if(environment_.begin(), environment_.end(),
                                            [](const std::string& e) { return e.starts_with("LD_PRELOAD="); });
        const std::string others = preloaded != environment_.end() ? preloaded->substr(11) + ":" : "";
        // Whatever name the program knows the library by, this very file is loaded already.
        set_variable(environment_, "LD_PRELOAD", others + library_);
        // As in the kit itself (TestContext::open): no answers of name servers.
        if (std::none_of(environment_.begin(), environment_.end(),
                         [](const std::string& e) { return e.starts_with("RES_OPTIONS="); }))
            set_variable(environment_, "RES_OPTIONS", "attempts:0");
    }

    /// Any thread.
    ProgramRun run(const Deviation& finding) const {
        try {
            return compile_and_run(finding);
        } catch (const std::system_error& e) {
            return {.result = Result::NotRun, .tries = {}, .detail = e.what()};
        }
    }

private:
    [[nodiscard]] ProgramRun compile_and_run(const Deviation& finding) const {
        const ScratchDirectory own(scratch_.path());
        const std::string source = own.path("program.c"), program = own.path("program");
        std::ofstream(source, std::ios::binary) << finding.reproducer;
        ProgramRun out;
        std::optional<Processor> processor(std::in_place);
        out.detail = compiler_.compile(source, library_, program, own.path());
        if (!out.detail.empty()) return out;
        if (!is_hang(finding)) processor.reset();
        unsigned hung = 0;
        bool could_tell = false;
        for (; out.tries.of < kMostTries && hung < kMostHung; ++out.tries.of) {
            const ScratchDirectory directory(own.path());
            std::vector<std::string> arguments = {program};
            const bool hasty = finding.shown_by.kind == Case::Kind::Traffic && out.tries.of % 2 != 0;
            if (hasty) arguments.emplace_back("hasty");
            const RunResult ended = run_bounded({.arguments = arguments,
                                                 .environment = environment_,
                                                 .directory = directory.path(),
                                                 .limit = time_limit(finding),
                                                 .work_limit = work_limit(finding)});
            const Verdict verdict = verdict_of(finding, ended);
            out.detail = verdict.how;
            if (verdict.says == Verdict::Says::Shown) {
                out.tries = {.shown = 1, .of = out.tries.of + 1};
                out.result = Result::Shown;
                if (hasty) out.detail += ", run hasty";
                return out;
            }
            could_tell = could_tell || verdict.says == Verdict::Says::NotShown;
            hung += verdict.hung ? 1 : 0;
        }
        out.result = could_tell ? Result::NotShown : Result::CannotTell;
        return out;
    }

    const ScratchDirectory scratch_;
    const Compiler& compiler_;
    const std::string library_;
    std::vector<std::string> environment_;
};

void note(Report& report, const Group& group, const ProgramRun& run) {
    const bool lacking = run.result == Result::NotShown || run.result == Result::CannotTell;
    for (const std::size_t i : group) {
        Deviation& d = report.deviations[i];
        d.program = run;
        if (lacking && (d.grade == Grade::Fatal || d.grade == Grade::Violation)) d.grade = Grade::Intermittent;
    }
}

void run_none(Report& report, const std::string& why) {
    for (Deviation& d : report.deviations) d.program = ProgramRun{.result = Result::NotRun, .tries = {}, .detail = why};
}

}  // namespace

std::size_t count_programs(const Report& report) { return groups_of(report).size(); }

void convict(Report& report, const Court& court, const std::function<void(std::size_t)>& on_done) {
    if (!court.compiler) return run_none(report, court.why_none);
    const std::vector<Group> groups = groups_of(report);
    if (groups.empty()) return;
    try {
        const Trials trials(court);
        std::atomic<std::size_t> next{0};
        std::size_t done = 0;
        std::mutex noting;  // guards done and the findings
        const auto work = [&] {
            for (std::size_t i = next++; i < groups.size(); i = next++) {
                const ProgramRun run = trials.run(report.deviations[groups[i].front()]);
                const std::lock_guard lock(noting);
                note(report, groups[i], run);
                on_done(++done);
            }
        };
        const std::size_t lanes = std::min<std::size_t>(groups.size(), processors() * kLanesPerProcessor);
        std::vector<std::jthread> others;
        try {
            while (others.size() + 1 < lanes) others.emplace_back(work);
        } catch (const std::system_error&) {
            // As many as there are have to do.
        }
        work();
    } catch (const std::system_error& e) {
        run_none(report, e.what());
    }
}

}  // namespace selvage::conformance
