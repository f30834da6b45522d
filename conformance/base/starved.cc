// See starved.h.
#include "conformance/base/starved.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

// This part of the time by a disk counts, so that a thread that waits for one for ever is noticed, too.
constexpr int kOfDisk = 10;
constexpr int kDeepest = 3;  // the child, what it starts, and what that starts

Starved::Times times_of(const fs::path& task) {
    std::uint64_t ran = 0, stood = 0;
    std::ifstream in(task / "schedstat");
    in >> ran >> stood;
    return {std::chrono::nanoseconds(ran), std::chrono::nanoseconds(stood)};
}

// Of a thread, as the kernel names it: R runs or could, D waits for a disk, T and t are stopped; and how many of its
// pages had to be read from the disk so far.
struct State {
    char letter = '?';
    std::uint64_t disk_faults = 0;
};

State state_of(const fs::path& task) {
    constexpr int kFieldsBefore = 8;  // of the line, between the letter and the faults
    State state;
    std::string line;
    std::ifstream in(task / "stat");
    std::getline(in, line);
    const auto name_ends = line.rfind(')');  // a name may hold one
    if (name_ends == std::string::npos) return state;
    std::istringstream fields(line.substr(name_ends + 1));
    fields >> state.letter;
    std::string skipped;
    for (int i = 0; i < kFieldsBefore; ++i) fields >> skipped;
    fields >> state.disk_faults;
    return state;
}

}  // namespace

std::chrono::nanoseconds work_of(pid_t pid) {
    if (pid <= 0) return {};
    const std::string id = std::to_string(pid);
    const auto ran = times_of(fs::path("/proc") / id / "task" / id).ran;
    if (ran.count() > 0) return ran;
    // The kernel does not tell: that of all its threads has to do.
    clockid_t clock = 0;
    timespec t = {};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return {};
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// @return how long it stood.
std::chrono::nanoseconds Starved::look_at_thread(const fs::path& task, pid_t id, std::chrono::nanoseconds passed) {
    // The one that looks can say nothing of itself.
    const State state = id == gettid() ? State{} : state_of(task);
    Times now = times_of(task);
    now.disk_faults = state.disk_faults;
    // One that is new has begun since.
    const Times before = std::exchange(times_[id], now);
    std::chrono::nanoseconds stood = now.stood - before.stood;
    // The kernel reports how long a thread stood in line once it has its turn, as the one that looks has.
    const bool stopped = stopped_ == Stopped::Stands && (state.letter == 'T' || state.letter == 't');
    if (state.letter == 'R' || stopped) stood = std::max(stood, passed - (now.ran - before.ran));
    // Nor does it tell how long one waited for a disk.
    if (state.letter == 'D' || now.disk_faults != before.disk_faults)
        stood = std::max(stood, passed - passed / kOfDisk);
    return std::min(stood, passed);
}

void Starved::look(pid_t pid, std::chrono::nanoseconds passed, int depth) {
    std::error_code gone;
    for (fs::directory_iterator task(fs::path("/proc") / std::to_string(pid) / "task", gone), end; !gone && task != end;
         task.increment(gone)) {
        const pid_t id = std::atoi(task->path().filename().c_str());
        const auto stood = look_at_thread(task->path(), id, passed);
        auto& longest = id == pid_ ? seen_.first : seen_.others;
        longest = std::max(longest, stood);
        std::ifstream children(task->path() / "children");
        for (pid_t child = 0; depth < kDeepest && children >> child;) look(child, passed, depth + 1);
    }
}

void Starved::begin() {
    look(pid_, {}, 0);
    looked_at_ = Clock::now();
}

std::chrono::nanoseconds Starved::since_last_look(std::chrono::nanoseconds least) {
    constexpr std::chrono::milliseconds kSeen{250};  // twice what lies between two looks, mostly
    const auto now = Clock::now();
    const std::chrono::nanoseconds passed = now - looked_at_;
    if (passed < least) return {};
    looked_at_ = now;
    seen_ = {};
    look(pid_, passed, 0);
    return std::max({seen_.first, seen_.others, passed - kSeen});
}

void SpentBy::look(std::chrono::nanoseconds least) {
    const auto stood = starved_.since_last_look(least);
    if (stood.count() == 0) return;
    began_ += stood;
    const auto worked = work_();
    const auto alone = std::max(starved_.seen().others - starved_.seen().first, std::chrono::nanoseconds(0));
    work_before_ += std::min(alone, worked - work_seen_);
    work_seen_ = worked;
}

bool SpentBy::time_is_over(std::chrono::nanoseconds limit) {
    const auto now = Clock::now();
    look(Starved::kBetweenLooks);
    return now - began_ > limit;
}

bool SpentBy::work_is_over(std::chrono::nanoseconds limit) {
    look(Starved::kBetweenLooks);
    const auto worked = work_();
    if (worked - work_before_ > limit) look(std::chrono::nanoseconds(1));
    return worked - work_before_ > limit;
}

}  // namespace selvage::conformance
