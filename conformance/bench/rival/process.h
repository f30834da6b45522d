// A program that bench runs and reads: one rival's tool, or one side of it.
//
// It stands in a process group of its own, dies with this process, and is ended with the object.  Standard output and
// errors come through one terminal, since a program holds lines for a pipe back until they are many.  One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench::rival {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline after(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

struct Command {
    std::vector<std::string> words;        ///< the program, found by PATH, and its arguments
    std::vector<std::string> environment;  ///< "NAME=value", beside what this process has
    int core = -1;                         ///< where it is pinned; -1: not
    bool realtime = false;                 ///< before all others (SCHED_RR), where that is allowed
};

class Process {
public:
    /// @throws CannotMeasure if no process can be made.
    explicit Process(const Command& command);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// @return false: it has closed its output, or the time is up.
    bool read_line(std::string& line, Deadline deadline);
    /// Waits for its end.  @return why it gave no result, in a few words; empty if it exited with 0 in time.
    std::string end(Deadline deadline);
    /// The last line that it wrote and that has text; empty: none.
    [[nodiscard]] const std::string& last_line() const { return last_; }

private:
    bool reaped(int& status);
    pid_t pid_ = -1;
    int output_ = -1;
    bool ended_ = false;
    int status_ = 0;
    std::string buffer_;
    std::string last_;
};

/// A program's file by PATH; empty: there is none.
std::string find_program(std::string_view name);
/// All lines of a short run.  @param why set where it failed.
std::vector<std::string> lines_of_run(const Command& command, std::chrono::milliseconds limit, std::string& why);

}  // namespace selvage::conformance::bench::rival
