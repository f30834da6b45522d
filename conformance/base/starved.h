// How long a process has worked, and how long it and those that it has started have stood in line for a processor, or
// waited for a disk: a machine that does many other things, or has too little memory to keep a library's own pages, is
// no fault of theirs.
//
// Read from /proc (schedstat, children); where the kernel does not tell, nobody has stood in line.  Single-threaded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

namespace selvage::conformance {

/// How long the first thread of a process, which makes the calls, has been on a processor; zero if there is none.  The
/// others may be the library's own, and work however long that one sleeps.
std::chrono::nanoseconds work_of(pid_t pid);

class Starved {
public:
    /// Whether a process that is stopped (SIGSTOP) counts as one that stands in line.
    enum class Stopped : std::uint8_t { Stands, Waits };

    explicit Starved(pid_t pid, Stopped stopped = Stopped::Waits) : pid_(pid), stopped_(stopped) {}

    /// Since the last look the one of its threads that stood longest, or what the looker was late: whoever looks
    /// seldom, as a machine that does many other things lets him, has seen little of the time that went by, and that is
    /// no silence.  At most that time, which begins with this object; zero where the last look is less than `least`
    /// ago.  A process may look at itself.
    std::chrono::nanoseconds since_last_look(std::chrono::nanoseconds least = kBetweenLooks);

    /// Notes what its threads have stood so far.  Without, the first look takes all of it for what came since.
    void begin();

    /// A look opens some files, and costs the kernel 0.7 ms when the process ends, if it has threads: most waits are
    /// over before the first.
    static constexpr std::chrono::milliseconds kBetweenLooks{100};

    /// Of a thread, since it began.
    struct Times {
        std::chrono::nanoseconds ran{}, stood{};
        std::uint64_t disk_faults = 0;
    };

    /// What the last look saw, by threads: how long the process's first stood, and the one of the others that stood
    /// longest.
    struct Stood {
        std::chrono::nanoseconds first{}, others{};
    };
    [[nodiscard]] const Stood& seen() const { return seen_; }

private:
    using Clock = std::chrono::steady_clock;
    void look(pid_t pid, std::chrono::nanoseconds passed, int depth);
    std::chrono::nanoseconds look_at_thread(const std::filesystem::path& task, pid_t id,
                                            std::chrono::nanoseconds passed);

    pid_t pid_;
    Stopped stopped_;
    std::map<pid_t, Times> times_;  // by thread
    Stood seen_;
    Clock::time_point looked_at_ = Clock::now();
};

/// What a process has spent since something, of time and of work, without what was lost to others:
/// - of the time, what it and those that it has started stood, or waited for a disk;
/// - of the work, what was done while another thread of these stood longer than its first: what works may be waiting
/// for
///   that one, and it is no fault of theirs that only one of them had a processor.
class SpentBy {
public:
    using Work = std::function<std::chrono::nanoseconds()>;

    explicit SpentBy(pid_t pid) : SpentBy(pid, [pid] { return work_of(pid); }) {}
    /// @param work  what is counted, if it is not the process's own alone
    SpentBy(pid_t pid, Work work) : work_(std::move(work)), starved_(pid) {}
    void restart_time() { began_ = Clock::now(); }
    /// Reads /proc.
    void restart_work() { work_before_ = work_seen_ = work_(); }
    /// Looks at the process, which takes long itself where memory is short: that is part of what the next look sees.
    bool time_is_over(std::chrono::nanoseconds limit);
    /// Looks at it closely before it says so.
    bool work_is_over(std::chrono::nanoseconds limit);

private:
    using Clock = std::chrono::steady_clock;
    void look(std::chrono::nanoseconds least);

    Work work_;
    Starved starved_;
    Clock::time_point began_ = Clock::now();
    std::chrono::nanoseconds work_before_ = work_();
    std::chrono::nanoseconds work_seen_ = work_before_;  // by the last look
};

}  // namespace selvage::conformance
