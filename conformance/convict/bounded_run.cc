// See bounded_run.h.
#include "conformance/convict/bounded_run.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "conformance/base/leftovers.h"
#include "conformance/base/starved.h"

namespace selvage::conformance {
namespace {

constexpr std::chrono::milliseconds kGlance{10};  // between two looks whether the program has ended

class Descriptor {
public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void reset(int fd = -1) {
        if (fd_ >= 0) close(fd_);
        fd_ = fd;
    }
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (const auto& s : strings) out.push_back(const_cast<char*>(s.c_str()));
    out.push_back(nullptr);
    return out;
}

// What the child needs, made ahead of the fork: behind it nothing may be allocated, as other threads may hold locks.
struct Start {
    char* const* arguments;
    char* const* environment;
    const char* directory;
    int output;   // write end
    int control;  // a byte comes when it may start; an errno goes back when it can't
};

void default_signals() {
    for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const Start& start) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // 1, as 0 does not keep the kernel from piping a core into a program.
    const rlimit no_core = {1, 1};
    setrlimit(RLIMIT_CORE, &no_core);
    default_signals();
    // Its own limit is by the wall, which says nothing where it stood in line.
    std::signal(SIGALRM, SIG_IGN);
    char go = 0;
    const int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool ready = read(start.control, &go, 1) == 1 && nowhere >= 0 && dup2(nowhere, STDIN_FILENO) == 0 &&
                       dup2(start.output, STDOUT_FILENO) >= 0 && dup2(start.output, STDERR_FILENO) >= 0 &&
                       chdir(start.directory) == 0 && close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
    if (ready) execve(start.arguments[0], start.arguments, start.environment);
    const int why = errno;
    static_cast<void>(!write(start.control, &why, sizeof why));
    _exit(127);
}

// Reads what is there, keeps the last of it.  @return false at the end.
bool read_some(int fd, std::string& output) {
    char piece[4096];
    const ssize_t n = read(fd, piece, sizeof piece);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    output.append(piece, static_cast<std::size_t>(n));
    if (output.size() > 2 * kMostOutput) output.erase(0, output.size() - kMostOutput);
    return n > 0;
}

bool has_ended(pid_t pid) {
    siginfo_t about = {};
    return waitid(P_PID, static_cast<id_t>(pid), &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid == pid;
}

// @return false: the time is over.  What it stands in line for a processor is not counted.
bool wait_for_end(pid_t pid, int output, const BoundedCommand& command, std::string& printed) {
    SpentBy spent(pid);  // time since it began, work since it printed something last
    bool open = true;
    while (!has_ended(pid)) {
        // What it says, or how it ends, while these are looked at is seen first.
        const bool late = spent.time_is_over(command.limit);
        const bool silent = command.work_limit.count() > 0 && spent.work_is_over(command.work_limit);
        pollfd watched = {.fd = open ? output : -1, .events = POLLIN, .revents = 0};
        poll(&watched, 1, late || silent ? 0 : static_cast<int>(kGlance.count()));
        if (late || (silent && watched.revents == 0)) return has_ended(pid);
        if (watched.revents == 0) continue;
        const std::size_t before = printed.size();
        open = read_some(output, printed);
        if (printed.size() != before) spent.restart_work();
    }
    return true;
}

// Kills what is left of the group, and waits until all of it is gone.  @return how its leader ended.
int end_group(pid_t leader) {
    constexpr int kLooks = 1000;  // where the reaper of orphans does its work, few are needed
    kill(-leader, SIGKILL);       // its id is not given out again as long as a process is in it
    int status = 0;
    while (waitpid(leader, &status, 0) < 0 && errno == EINTR) continue;
    // Orphans go to the system's reaper: were it this process, it would have those of all that it starts.
    for (int i = 0; i < kLooks && kill(-leader, 0) == 0; ++i) poll(nullptr, 0, 1);
    return status;
}

void drain(int output, std::string& printed) {
    pollfd watched = {.fd = output, .events = POLLIN, .revents = 0};
    while (poll(&watched, 1, 0) > 0 && read_some(output, printed)) continue;
    if (printed.size() > kMostOutput) printed.erase(0, printed.size() - kMostOutput);
}

}  // namespace

RunResult run_bounded(const BoundedCommand& command) {
    RunResult out;
    const auto failed = [&] {
        out.code = errno;
        return out;
    };
    int pipes[2];
    int controls[2];
    if (pipe2(pipes, O_CLOEXEC) != 0) return failed();
    const Descriptor output(pipes[0]);
    Descriptor written(pipes[1]);
    fcntl(output.get(), F_SETFL, O_NONBLOCK);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, controls) != 0) return failed();
    const Descriptor control(controls[0]);
    Descriptor other(controls[1]);
    const auto arguments = pointers(command.arguments);
    const auto environment = pointers(command.environment);
    const Start start{arguments.data(), environment.data(), command.directory.c_str(), written.get(), other.get()};
    const pid_t pid = fork();
    if (pid < 0) return failed();
    if (pid == 0) become(start);
    setpgid(pid, pid);
    written.reset();
    other.reset();
    remove_leftovers_of(pid);  // of a killed namesake, before it starts
    const char go = 1;
    static_cast<void>(send(control.get(), &go, 1, MSG_NOSIGNAL));
    const bool in_time = wait_for_end(pid, output.get(), command, out.output);
    const int status = end_group(pid);
    drain(output.get(), out.output);
    remove_leftovers_of(pid);
    out.kind = !in_time              ? RunResult::Kind::TimedOut
               : WIFSIGNALED(status) ? RunResult::Kind::Signaled
                                     : RunResult::Kind::Exited;
    out.code = !in_time ? 0 : WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    int why = 0;
    if (recv(control.get(), &why, sizeof why, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof why)) {
        out.kind = RunResult::Kind::NotStarted;
        out.code = why;
    }
    return out;
}

std::vector<std::string> own_environment() {
    std::vector<std::string> out;
    for (char** e = environ; e != nullptr && *e != nullptr; ++e) out.emplace_back(*e);
    return out;
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
    const std::string start = name + "=";
    std::erase_if(environment, [&](const std::string& e) { return e.starts_with(start); });
    environment.push_back(start + value);
}

}  // namespace selvage::conformance
