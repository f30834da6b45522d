// See jobs.h.
#include "conformance/run/jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "conformance/base/child.h"
#include "conformance/base/own_shm.h"
#include "conformance/run/crash_triage.h"
#include "conformance/run/ipc.h"
#include "conformance/run/merge.h"
#include "conformance/run/runner.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr unsigned kMostJobs = 4;
constexpr auto kLook = 50ms;      // how often jobs are looked at that send nothing
constexpr auto kProgress = 50ms;  // between two reports of how far a job is
// The children of a job are watched by it; the job itself is our own code.
constexpr auto kNoLimit = std::chrono::hours(24 * 365);

// What a record is, as its first letter.
constexpr char kAt = 'P', kDeviation = 'D', kFatal = 'F', kNote = 'N', kUnjudged = 'U', kCounts = 'C';
constexpr char kEarly = 'E';  // ahead of the record of a deviation: the result is still to come

// What a job counted, as it is sent between two processes of one program.
struct Counts {
    model::Tally tally;
    std::uint64_t judged = 0;
    double seconds = 0;
    double call_seconds = 0;
    bool finished = false;
};
static_assert(std::is_trivially_copyable_v<Counts>);

// A job waits at its gate until it may begin.
class Gate {
public:
    Gate() {
        if (pipe2(ends_, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    }
    ~Gate() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open() const {
        while (write(ends_[1], "", 1) < 0 && errno == EINTR) continue;
    }
    void pass() const {
        char byte = 0;
        while (read(ends_[0], &byte, 1) < 0 && errno == EINTR) continue;
    }

private:
    int ends_[2];
};

// The job's side.
std::string record_of(const Deviation& d) {
    return (d.grade == Grade::Fatal ? kFatal : kDeviation) +
           pack({.because = d.because, .shown_by = d.shown_by, .seen = d.seen, .intermittent = d.intermittent});
}

void send_result(Channel& channel, const ProviderResult& result, const Report& report) {
    for (const Deviation& d : report.deviations) channel.send(record_of(d));
    for (const auto& note : result.notes) channel.send(kNote + note);
    const Counts counts{.tally = result.tally,
                        .judged = result.judged,
                        .seconds = result.seconds,
                        .call_seconds = result.call_seconds,
                        .finished = !result.finished.empty()};
    if (!result.unjudged.empty()) channel.send(kUnjudged + result.unjudged);
    std::string record(1 + sizeof counts, kCounts);
    std::memcpy(record.data() + 1, &counts, sizeof counts);
    channel.send(record);
}

void do_job(const Plan& plan, const Job& job, Channel& channel) {
    ProviderResult result;
    result.provider = job.provider;
    Report report;
    Clock::time_point reported{};
    std::size_t sent = 0;
    run_property(plan, *job.property, result, report, [&](std::uint64_t done, std::uint64_t) {
        for (; sent < report.deviations.size(); ++sent) channel.send(kEarly + record_of(report.deviations[sent]));
        const auto now = Clock::now();
        if (now - reported < kProgress) return;
        reported = now;
        channel.send(kAt + std::to_string(done));
    });
    send_result(channel, result, report);
}

// The parent's side of one job.
class Run {
public:
    Run(const Plan& plan, const Job& job)
        : name_(job.property->name()),
          child_(
              [&](Channel& channel) {
                  gate_.pass();
                  // The peer's agent is a process of somebody else, and may be on this machine.
                  if (plan.peer.empty()) use_own_shm(plan.library);
                  do_job(plan, job, channel);
              },
              kNoLimit) {
        result_.counts.provider = job.provider;
    }

    void begin() const { gate_.open(); }
    [[nodiscard]] int descriptor() const { return child_.descriptor(); }
    using At = std::function<void(std::uint64_t)>;
    using Early = std::function<void(const Deviation&)>;
    /// @return false once it has ended.
    bool look(const At& at, const Early& early) {
        if (child_.receive([&](std::string_view record) { take(record, at, early); })) return true;
        const Ending ending = child_.end();
        if (ending.kind != Ending::Kind::Done || !complete_) give_up(ending);
        return false;
    }
    [[nodiscard]] const JobResult& result() const { return result_; }
    JobResult take_result() { return std::move(result_); }

private:
    void take(std::string_view record, const At& at, const Early& early) {
        if (record.empty()) return;
        const auto rest = record.substr(1);
        switch (record.front()) {
            case kAt:
                return at(std::strtoull(std::string(rest).c_str(), nullptr, 10));
            case kDeviation:
            case kFatal:
                if (auto d = read(record)) result_.deviations.push_back(std::move(*d));
                return;
            case kEarly:
                if (const auto d = read(rest)) early(*d);
                return;
            case kNote:
                result_.counts.notes.emplace_back(rest);
                return;
            case kUnjudged:
                result_.trouble = name_ + ": " + std::string(rest);
                return;
            case kCounts:
                return count(rest);
            default:
                return;
        }
    }

    static std::optional<Deviation> read(std::string_view record) {
        auto found = record.empty() ? std::nullopt : unpack(record.substr(1));
        if (!found) return std::nullopt;
        Deviation d =
            make_deviation(found->shown_by, std::move(found->because), record.front() == kFatal, found->intermittent);
        d.seen = found->seen;
        return d;
    }

    void count(std::string_view bytes) {
        Counts counts;
        if (bytes.size() != sizeof counts) return;
        std::memcpy(&counts, bytes.data(), sizeof counts);
        ProviderResult& r = result_.counts;
        r.tally = counts.tally;
        r.judged = counts.judged;
        r.seconds = counts.seconds;
        r.call_seconds = counts.call_seconds;
        if (counts.finished) r.finished.insert(name_);
        complete_ = true;
    }

    void give_up(const Ending& ending) {
        const std::string provider = result_.counts.provider;
        result_ = {};
        result_.counts.provider = provider;
        result_.trouble = name_ + " has no verdict: its process " + crash_text(ending);
        result_.counts.notes.push_back(result_.trouble);
    }

    std::string name_;
    Gate gate_;
    JobResult result_;
    bool complete_ = false;
    Child child_;  // last: its process uses what stands above
};

// Waits until one of them has something to say.
void wait_for(const std::vector<std::unique_ptr<Run>>& runs, const std::vector<std::size_t>& under_way) {
    std::vector<pollfd> waiting;
    for (const std::size_t i : under_way) waiting.push_back({runs[i]->descriptor(), POLLIN, 0});
    poll(waiting.data(), waiting.size(), static_cast<int>(kLook.count()));
}

// Indices of the jobs, those that take longest last.
std::vector<std::size_t> by_property(const std::vector<Job>& jobs) {
    std::vector<const Property*> properties;
    const auto rank = [&properties](const Job& job) {
        return std::find(properties.begin(), properties.end(), job.property) - properties.begin();
    };
    std::vector<std::size_t> out(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        out[i] = i;
        if (rank(jobs[i]) == std::ssize(properties)) properties.push_back(jobs[i].property);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return rank(jobs[a]) < rank(jobs[b]); });
    return out;
}

}  // namespace

unsigned default_jobs() { return std::clamp(std::thread::hardware_concurrency() + 1, 2U, kMostJobs); }

std::vector<JobResult> run_jobs(const Plan& plan, const std::vector<Job>& jobs, unsigned at_once,
                                const JobEvents& events) {
    std::vector<std::unique_ptr<Run>> runs;
    for (const Job& job : jobs) runs.push_back(std::make_unique<Run>(plan, job));
    std::vector<std::size_t> left = by_property(jobs);
    std::vector<std::size_t> under_way;
    while (!left.empty() || !under_way.empty()) {
        while (!left.empty() && under_way.size() < at_once) {
            const std::size_t next = left.back();
            left.pop_back();
            under_way.push_back(next);
            events.began(next);
            runs[next]->begin();
        }
        wait_for(runs, under_way);
        std::erase_if(under_way, [&](std::size_t i) {
            const auto early = [&](const Deviation& d) {
                if (events.found) events.found(i, d);
            };
            if (runs[i]->look([&](std::uint64_t done) { events.at(i, done); }, early)) return false;
            events.ended(i, runs[i]->result());
            return true;
        });
    }
    std::vector<JobResult> out;
    for (auto& run : runs) out.push_back(run->take_result());
    return out;
}

void add_result(const JobResult& result, Report& report) {
    for (auto& p : report.providers)
        if (p.provider == result.counts.provider) add_counts(p, result.counts);
    for (const Deviation& d : result.deviations) add_deviation(report, d);
}

}  // namespace selvage::conformance
