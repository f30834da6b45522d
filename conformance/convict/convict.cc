// See convict.h.
#include "conformance/convict/convict.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <semaphore>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/base/kernel_symbols.h"
#include "conformance/base/tunables.h"
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
using Key = std::tuple<std::string, Grade, bool, Case::Kind>;
using Group = std::vector<std::size_t>;  // by their place in the report

Key key_of(const Deviation& d) { return {d.reproducer, d.grade, is_hang(d), d.shown_by.kind}; }

std::vector<Group> groups_of(const Report& report) {
    std::map<Key, Group> by_program;
    for (std::size_t i = 0; i < report.deviations.size(); ++i) by_program[key_of(report.deviations[i])].push_back(i);
    std::vector<Group> out;
    for (auto& [key, group] : by_program) out.push_back(std::move(group));
    std::sort(out.begin(), out.end());  // as the report has them, and not by the text of programs
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
        : compiler_(*court.compiler),
          library_(loadable(court.library, scratch_)),
          remote_(court.remote),
          environment_(own_environment()) {
        const auto preloaded = std::find_if(environment_.begin(), environment_.end(),
                                            [](const std::string& e) { return e.starts_with("LD_PRELOAD="); });
        const std::string others = preloaded != environment_.end() ? preloaded->substr(11) + ":" : "";
        // Whatever name the program knows the library by, this very file is loaded already.
        set_variable(environment_, "LD_PRELOAD", others + shared_symbols() + library_);
        std::erase(environment_, std::string(kTunables) + "=" + kHugePages);
        // As in the kit itself (TestContext::open): no answers of name servers.
        if (std::none_of(environment_.begin(), environment_.end(),
                         [](const std::string& e) { return e.starts_with("RES_OPTIONS="); }))
            set_variable(environment_, "RES_OPTIONS", "attempts:0");
    }

    /// Any thread.
    ProgramRun run(const Deviation& finding) const {
        if (remote_ && finding.shown_by.sequence.processes > 1)
            return {.result = Result::NotRun, .tries = {}, .detail = "it shows between two machines alone"};
        try {
            return compile_and_run(finding);
        } catch (const std::system_error& e) {
            return {.result = Result::NotRun, .tries = {}, .detail = e.what()};
        }
    }

private:
    // A library by which programs read the run's copy of the symbols, and a colon; empty: each asks the kernel.
    [[nodiscard]] std::string shared_symbols() const {
        const std::string source = scratch_.path("kernel_symbols_hook.c"), made = scratch_.path("kernel_symbols.so");
        std::ofstream(source, std::ios::binary) << kernel_symbols_hook();
        return compiler_.compile_preloaded(source, made, scratch_.path()) ? made + ":" : "";
    }

    // What the quick compiler's program does not show is no answer yet.
    [[nodiscard]] ProgramRun compile_and_run(const Deviation& finding) const {
        if (compiler_.has_quick()) {
            ProgramRun quick = compile_and_run(Compiler::Which::Quick, finding);
            if (quick.result == Result::Shown) return quick;
        }
        return compile_and_run(Compiler::Which::Usual, finding);
    }

    [[nodiscard]] ProgramRun compile_and_run(Compiler::Which which, const Deviation& finding) const {
        const ScratchDirectory own(scratch_.path());
        const std::string source = own.path("program.c"), program = own.path("program");
        std::ofstream(source, std::ios::binary) << finding.reproducer;
        ProgramRun out;
        std::optional<Processor> processor(std::in_place);
        out.detail = compiler_.compile(which, source, library_, program, own.path());
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
            if (verdict.never_tells) {
                ++out.tries.of;
                break;
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
    const bool remote_;
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

// Lanes take programs from it.
class ProgramQueue::Lanes {
public:
    explicit Lanes(const Court& court) : trials_(court) {}
    ~Lanes() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        waiting_.clear();
        more_.notify_all();
    }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

    /// Gives a program to the lanes, unless they have it.
    void add(const Deviation& finding) {
        const std::lock_guard lock(mutex_);
        auto [at, is_new] = jobs_.try_emplace(key_of(finding));
        if (!is_new) return;
        at->second.finding = finding;
        // What takes longest begins first.
        is_hang(finding) ? waiting_.push_front(&at->second) : waiting_.push_back(&at->second);
        more_.notify_one();
        if (threads_.size() >= processors() * kLanesPerProcessor) return;
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {
            if (threads_.empty()) throw;  // else as many as there are have to do
        }
    }

    /// Waits for it.  REQUIRES: it was added.
    ProgramRun result_of(const Deviation& finding) {
        std::unique_lock lock(mutex_);
        Job& job = jobs_.at(key_of(finding));
        done_.wait(lock, [&job] { return job.run.has_value(); });
        return *job.run;
    }

private:
    struct Job {
        Deviation finding;
        std::optional<ProgramRun> run;
    };

    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            more_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            Job& job = *waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            ProgramRun run = trials_.run(job.finding);
            lock.lock();
            job.run = std::move(run);
            done_.notify_all();
        }
    }

    const Trials trials_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable more_, done_;
    std::map<Key, Job> jobs_;
    std::deque<Job*> waiting_;
    bool closed_ = false;
    std::vector<std::jthread> threads_;  // last: they use what stands above
};

ProgramQueue::ProgramQueue(const Court& court) : court_(court) {}
ProgramQueue::~ProgramQueue() = default;

void ProgramQueue::begin(const Deviation& finding) {
    if (!court_.compiler) return;
    try {
        if (!lanes_) lanes_ = std::make_unique<Lanes>(court_);
        lanes_->add(finding);
    } catch (const std::system_error&) {
        // finish() says why, if it can't either.
    }
}

void ProgramQueue::finish(Report& report, const std::function<void(std::size_t)>& on_done) {
    if (!court_.compiler) return run_none(report, court_.why_none);
    const std::vector<Group> groups = groups_of(report);
    if (groups.empty()) return;
    try {
        if (!lanes_) lanes_ = std::make_unique<Lanes>(court_);
        for (const Group& g : groups) lanes_->add(report.deviations[g.front()]);
        for (std::size_t done = 0; done < groups.size(); ++done) {
            note(report, groups[done], lanes_->result_of(report.deviations[groups[done].front()]));
            on_done(done + 1);
        }
    } catch (const std::system_error& e) {
        run_none(report, e.what());
    }
}

void convict(Report& report, const Court& court, const std::function<void(std::size_t)>& on_done) {
    ProgramQueue(court).finish(report, on_done);
}

}  // namespace selvage::conformance
