// How long a process has been on a processor, and how long it and those that it has started have stood in line for one:
// a machine that does many other things is no fault of theirs.
//
// Read from /proc (schedstat, children); where the kernel does not tell, nobody has stood in line.  Single-threaded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>

namespace selvage::conformance {

/// How long a process has been on a processor; zero if there is none.
std::chrono::nanoseconds work_of(pid_t pid);

class Starved {
public:
    explicit Starved(pid_t pid) : pid_(pid) {}

    /// Since the last look the one of its threads that stood longest, or what the looker was late: whoever looks
    /// seldom, as a machine that does many other things lets him, has seen little of the time that went by, and that is
    /// no silence.  At most that time, which begins with this object; zero where the last look is less than a tenth of
    /// a second ago.
    std::chrono::nanoseconds since_last_look();

    /// Of a thread, since it began.
    struct Times {
        std::chrono::nanoseconds ran{}, stood{};
    };

private:
    using Clock = std::chrono::steady_clock;
    std::chrono::nanoseconds look(pid_t pid, std::chrono::nanoseconds passed, int depth);

    pid_t pid_;
    std::map<pid_t, Times> times_;  // by thread
    Clock::time_point looked_at_ = Clock::now();
};

}  // namespace selvage::conformance
