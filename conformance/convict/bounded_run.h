// Runs a program to its end, or to the end of its time, and keeps the last of what it printed.
//
// The program gets a process group of its own.  When it has ended, what it left there is killed, and waited for, a
// second at most: orphans are the system's to reap.  Standard input is /dev/null, standard output and error are one
// pipe; SIGALRM is ignored, as the program's limit is set here; it writes no core file, and dies with the thread that
// started it.  Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage::conformance {

struct BoundedCommand {
    std::vector<std::string> arguments;    ///< the first is the program's path
    std::vector<std::string> environment;  ///< all of it: "NAME=value"
    std::string directory;                 ///< where it starts
    std::chrono::milliseconds limit{};
    /// If set, another limit: time on a processor since it printed something last.  What spins is over sooner so.
    std::chrono::milliseconds work_limit{};
};

/// How a program ended.
struct RunResult {
    enum class Kind : std::uint8_t {
        Exited,      ///< `code` is the exit status
        Signaled,    ///< `code` is the signal
        TimedOut,    ///< it was killed
        NotStarted,  ///< `code` is the errno
    } kind = Kind::NotStarted;
    int code = 0;
    std::string output;  ///< the last kMostOutput bytes of it
};

inline constexpr std::size_t kMostOutput = 16384;

RunResult run_bounded(const BoundedCommand& command);

/// The environment of this process.
std::vector<std::string> own_environment();
/// Sets NAME in an environment.
void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value);

}  // namespace selvage::conformance
