// See verdict.h.
#include "conformance/convict/verdict.h"

#include <algorithm>
#include <csignal>
#include <sstream>

#include "conformance/base/patience.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {
namespace {

using Says = Verdict::Says;

constexpr int kBroken = 1, kCannotTell = 77, kNotLoaded = 127;
constexpr std::chrono::seconds kLimit{40}, kLimitOfTransfer{20}, kLimitOfHang{12};
// Twice what the kit gives a call that works and does not come back (worker.cc).
constexpr std::chrono::milliseconds kWorkOfHang{1400};

bool is_crash(int signal) {
    for (const int s : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGPIPE})
        if (s == signal) return true;
    return false;
}

model::Crash crash_of(const Deviation& d) {
    return d.because.empty() ? model::Crash::None : d.because.front().evidence.crash;
}

// Whether the program came to say so.
bool says(const std::string& output, std::string_view word) {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(word)) return true;
    return false;
}

std::string last_line(const std::string& output) {
    std::istringstream lines(output);
    std::string last;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) last = line;
    return last;
}

// Of a transfer or an object's life, what is judged is not that it crashes: a crash there is another finding.
bool crash_shows(const Deviation& d) {
    return d.grade == Grade::Fatal ||
           (d.shown_by.kind != Case::Kind::Traffic && d.shown_by.kind != Case::Kind::Lifecycle &&
            d.shown_by.kind != Case::Kind::Group);
}

Verdict of_hang(const Deviation& d) {
    return {is_hang(d) ? Says::Shown : Says::NotShown, "does not come to an end", true};
}

Verdict of_signal(const Deviation& d, int signal) {
    const bool shows = is_crash(signal) && crash_shows(d);
    return {shows ? Says::Shown : Says::NotShown, "dies of signal " + std::to_string(signal)};
}

Verdict of_status(const Deviation& d, const RunResult& run) {
    const std::string how = "exits with " + std::to_string(run.code);
    if (run.code == kBroken && says(run.output, "broken")) return {Says::Shown, how};
    if (run.code == kCannotTell) {
        const std::string why = last_line(run.output);
        return {Says::CannotTell, why.empty() ? how : why, false, why.starts_with("cannot tell by itself")};
    }
    if (run.code == 0 && says(run.output, "kept")) return {Says::NotShown, how};
    // Some libraries catch the signal of a crash, and exit.
    const bool shows =
        crash_of(d) == model::Crash::EndedTheProcess || (run.code != 0 && crash_of(d) == model::Crash::Died);
    if (run.code == kNotLoaded && crash_of(d) != model::Crash::EndedTheProcess)
        return {Says::CannotTell, last_line(run.output)};
    return {shows ? Says::Shown : Says::NotShown, how + " ahead of its end"};
}

}  // namespace

bool is_hang(const Deviation& finding) { return crash_of(finding) == model::Crash::DidNotReturn; }

Verdict verdict_of(const Deviation& finding, const RunResult& run) {
    switch (run.kind) {
        case RunResult::Kind::Exited:
            return of_status(finding, run);
        case RunResult::Kind::Signaled:
            return of_signal(finding, run.code);
        case RunResult::Kind::TimedOut:
            return of_hang(finding);
        case RunResult::Kind::NotStarted:
            break;
    }
    return {Says::CannotTell, "does not start"};
}

std::chrono::milliseconds time_limit(const Deviation& finding) {
    // A pair of endpoints is given about a second for each exchange that it carries first.
    const std::chrono::seconds before{finding.shown_by.before.size()};
    const auto limit = is_hang(finding)                               ? kLimitOfHang
                       : finding.shown_by.kind == Case::Kind::Traffic ? kLimitOfTransfer
                                                                      : kLimit;
    return (limit + before) * patience_factor();
}

std::chrono::milliseconds work_limit(const Deviation& finding) {
    return is_hang(finding) ? kWorkOfHang * patience_factor() : std::chrono::milliseconds(0);
}

}  // namespace selvage::conformance
