// See process.h.
#include "conformance/bench/rival/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace selvage::conformance::bench::rival {
namespace {

using namespace std::chrono_literals;

/// What a program under SCHED_FIFO may use of its processor without a pause, in microseconds.
constexpr rlim_t kRealtimeLimit = 4'000'000;

void place(const Command& command) {
    if (command.core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<std::size_t>(command.core), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    if (!command.realtime) return;
    const rlimit limit = {kRealtimeLimit, kRealtimeLimit};
    setrlimit(RLIMIT_RTTIME, &limit);
    // In turn with threads of its own: one of them may be waited for.
    sched_param parameters = {};
    parameters.sched_priority = 1;
    sched_setscheduler(0, SCHED_RR, &parameters);
}

[[noreturn]] void become(const Command& command, int output, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, STDIN_FILENO);
    for (const auto& variable : command.environment) putenv(const_cast<char*>(variable.c_str()));
    place(command);
    std::vector<char*> words;
    for (const auto& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    static_cast<void>(!write(STDOUT_FILENO, "it can't be run\n", 16));
    _exit(127);
}

/// A terminal that changes nothing of what is written to it.
struct Terminal {
    int ours = -1;
    int theirs = -1;
    ~Terminal() {
        if (theirs >= 0) close(theirs);
    }
    Terminal() {
        ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        char name[64];
        if (ours < 0 || grantpt(ours) != 0 || unlockpt(ours) != 0 || ptsname_r(ours, name, sizeof name) != 0) return;
        theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        termios mode = {};
        if (theirs < 0 || tcgetattr(theirs, &mode) != 0) return;
        cfmakeraw(&mode);
        tcsetattr(theirs, TCSANOW, &mode);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
};

int left_until(Deadline deadline) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

}  // namespace

Process::Process(const Command& command) {
    const Terminal terminal;
    output_ = terminal.ours;
    const pid_t self = getpid();
    if (terminal.theirs >= 0) pid_ = fork();
    if (pid_ == 0) become(command, terminal.theirs, self);
    if (pid_ < 0) {
        if (output_ >= 0) close(output_);
        throw CannotMeasure("no process can be made");
    }
    setpgid(pid_, pid_);
}

Process::~Process() {
    close(output_);
    if (!ended_) {  // mpirun ends its ranks when it is asked to
        kill(-pid_, SIGTERM);
        end(after(1s));
    }
    kill(-pid_, SIGKILL);
    while (!ended_ && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool Process::read_line(std::string& line, Deadline deadline) {
    while (true) {
        if (const auto at = buffer_.find('\n'); at != std::string::npos) {
            line = buffer_.substr(0, at);
            buffer_.erase(0, at + 1);
            if (line.find_first_not_of(" \t\r") != std::string::npos) last_ = line;
            return true;
        }
        pollfd ready = {output_, POLLIN, 0};
        if (poll(&ready, 1, left_until(deadline)) <= 0) return false;
        char bytes[4096];
        const ssize_t n = read(output_, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        buffer_.append(bytes, static_cast<std::size_t>(n));
    }
}

bool Process::reaped(int& status) {
    if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    status = status_;
    return ended_;
}

std::string Process::end(Deadline deadline) {
    int status = 0;
    while (!reaped(status)) {
        if (left_until(deadline) == 0) return "takes too long";
        poll(nullptr, 0, 2);
    }
    if (WIFSIGNALED(status)) return fmt::format("died of signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with status {}", WEXITSTATUS(status));
}

std::string find_program(std::string_view name) {
    const char* const path = std::getenv("PATH");
    std::string_view left = path != nullptr ? path : "/usr/bin:/bin";
    while (true) {
        const auto colon = left.find(':');
        const std::string file = fmt::format("{}/{}", left.substr(0, colon), name);
        if (access(file.c_str(), X_OK) == 0) return file;
        if (colon == std::string_view::npos) return {};
        left.remove_prefix(colon + 1);
    }
}

std::vector<std::string> lines_of_run(const Command& command, std::chrono::milliseconds limit, std::string& why) {
    const Deadline deadline = after(limit);
    Process process(command);
    std::vector<std::string> lines;
    for (std::string line; process.read_line(line, deadline);) lines.push_back(line);
    why = process.end(deadline);
    return lines;
}

}  // namespace selvage::conformance::bench::rival
