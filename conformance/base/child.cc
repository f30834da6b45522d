// See child.h.
#include "conformance/base/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "conformance/base/leftovers.h"
#include "conformance/base/patience.h"
#include "conformance/base/signals.h"
#include "conformance/base/starved.h"

// Counters of a coverage build would be lost by _exit.
extern "C" void __gcov_dump() __attribute__((weak));  // NOLINT: the name is gcov's

namespace selvage::conformance {
namespace {

/// Stands where a record's length would: the work has returned.
constexpr std::uint32_t kEnd = ~std::uint32_t{0};
/// How long the parent sleeps at most before it looks whether the child lives.
constexpr std::chrono::milliseconds kGlance{50};
constexpr const char* kChatterVariable = "SELVAGE_CHATTER";

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// Shared memory: slot[0] is what the child is doing, slot[1] counts its signs of life.
class Slot {
public:
    Slot() {
        void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) fail("mmap");
        words = static_cast<volatile std::uint64_t*>(memory);
    }
    ~Slot() { munmap(const_cast<std::uint64_t*>(words), kSize); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    volatile std::uint64_t* words;

private:
    static constexpr std::size_t kSize = 2 * sizeof(std::uint64_t);
};

volatile std::uint64_t* own_beats = nullptr;  // of this process, if it is a child: slot[1]

/// Puts records together from whatever pieces the pipe gives.
class Records {
public:
    /// @return false at the end of the pipe.
    bool read_some(int fd, const std::function<void(std::string_view)>& receive);
    [[nodiscard]] bool ended() const { return ended_; }

private:
    void hand_out(const std::function<void(std::string_view)>& receive);
    std::string buffer_;
    bool ended_ = false;
};

bool Records::read_some(int fd, const std::function<void(std::string_view)>& receive) {
    char piece[65536];
    const ssize_t n = read(fd, piece, sizeof piece);
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    buffer_.append(piece, static_cast<std::size_t>(n));
    hand_out(receive);
    return true;
}

void Records::hand_out(const std::function<void(std::string_view)>& receive) {
    std::string_view rest = buffer_;
    while (rest.size() >= sizeof(std::uint32_t)) {
        std::uint32_t size = 0;
        std::memcpy(&size, rest.data(), sizeof size);
        if (size == kEnd) {
            ended_ = true;
            break;
        }
        if (rest.size() - sizeof size < size) break;
        receive(rest.substr(sizeof size, size));
        rest.remove_prefix(sizeof size + size);
    }
    buffer_.erase(0, buffer_.size() - rest.size());
}

void write_all(int fd, std::string_view head, std::string_view body) {
    while (!head.empty() || !body.empty()) {
        const iovec pieces[] = {{const_cast<char*>(head.data()), head.size()},
                                {const_cast<char*>(body.data()), body.size()}};
        const ssize_t n = writev(fd, pieces, 2);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) _exit(126);  // the parent is gone
        const auto sent = static_cast<std::size_t>(n);
        const std::size_t of_head = std::min(sent, head.size());
        head.remove_prefix(of_head);
        body.remove_prefix(sent - of_head);
    }
}

/// What the library prints goes nowhere, unless somebody wants to see it.
void silence() {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, STDIN_FILENO);
    if (std::getenv(kChatterVariable) == nullptr) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    if (nowhere > STDERR_FILENO) close(nowhere);
}

}  // namespace

void Channel::send(std::string_view record) {
    const auto size = static_cast<std::uint32_t>(record.size());
    write_all(fd_, {reinterpret_cast<const char*>(&size), sizeof size}, record);
}

void Channel::doing(std::uint64_t what) {
    slot_[0] = what;
    slot_[1] = slot_[1] + 1;
}

void sign_of_life() {
    if (own_beats != nullptr) *own_beats = *own_beats + 1;
}

/// One child, from fork to burial.
class ChildRun {
public:
    ChildRun(const std::function<void(Channel&)>& work, std::chrono::milliseconds quiet,
             std::chrono::milliseconds busy = {});
    ~ChildRun();
    ChildRun(const ChildRun&) = delete;
    ChildRun& operator=(const ChildRun&) = delete;
    Ending watch(const std::function<void(std::string_view)>& receive);
    /// Waits for so many milliseconds at most.  @return false once no more records will come.
    bool look(const std::function<void(std::string_view)>& receive, int millis);
    Ending end();
    [[nodiscard]] int descriptor() const { return pipe_; }

private:
    [[noreturn]] void be_child(const std::function<void(Channel&)>& work, int fd, pid_t parent) noexcept;
    void note_life();
    bool silent_for_too_long();
    bool dead() const;
    int reap();
    Ending ending(int status, bool hung) const;

    Slot slot_;
    Records records_;
    std::chrono::milliseconds quiet_;
    std::chrono::milliseconds busy_;  // 0: no limit
    pid_t pid_ = -1;
    int pipe_ = -1;
    bool hung_ = false;
    std::uint64_t last_beat_ = 0;
    SpentBy silence_{0};
};

ChildRun::ChildRun(const std::function<void(Channel&)>& work, std::chrono::milliseconds quiet,
                   std::chrono::milliseconds busy)
    : quiet_(quiet * patience_factor()), busy_(busy * patience_factor()) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    std::fflush(nullptr);  // else a library that calls exit would print our buffers again
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
        close(ends[0]);
        close(ends[1]);
        fail("fork");
    }
    if (pid_ == 0) {
        close(ends[0]);
        be_child(work, ends[1], parent);
    }
    silence_ = SpentBy(pid_);
    setpgid(pid_, pid_);  // in both processes, so that neither runs ahead
    close(ends[1]);
    pipe_ = ends[0];
    fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

ChildRun::~ChildRun() {
    if (pid_ > 0) {  // receive has thrown
        kill(-pid_, SIGKILL);
        kill(pid_, SIGKILL);
        reap();
    }
    close(pipe_);
}

void ChildRun::be_child(const std::function<void(Channel&)>& work, int fd, pid_t parent) noexcept {
    setpgid(0, 0);
    begin_child(parent);
    silence();
    Channel channel;
    channel.fd_ = fd;
    channel.slot_ = slot_.words;
    own_beats = slot_.words + 1;
    work(channel);
    write_all(fd, {reinterpret_cast<const char*>(&kEnd), sizeof kEnd}, {});
    if (__gcov_dump != nullptr) __gcov_dump();
    _exit(0);
}

void ChildRun::note_life() {
    silence_.restart_time();
    if (busy_.count() > 0) silence_.restart_work();
    sign_of_life();
}

// What it stood in line for a processor is not counted.  Signs of life are looked for last, as this process may lose
// its own between two looks.
bool ChildRun::silent_for_too_long() {
    const bool is_silent = silence_.time_is_over(quiet_) || (busy_.count() > 0 && silence_.work_is_over(busy_));
    const std::uint64_t beat = slot_.words[1];
    if (beat == last_beat_) return is_silent;
    last_beat_ = beat;
    note_life();
    return false;
}

bool ChildRun::dead() const {
    siginfo_t about = {};
    return waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == pid_;
}

// Waits for the child, ends what it has started, and removes what it has left in /dev/shm.
int ChildRun::reap() {
    siginfo_t about = {};
    while (waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
    kill(-pid_, SIGKILL);  // before the process id may be given to somebody else
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    remove_leftovers_of(std::exchange(pid_, -1));
    return status;
}

bool ChildRun::look(const std::function<void(std::string_view)>& receive, int millis) {
    pollfd waiting = {pipe_, POLLIN, 0};
    if (poll(&waiting, 1, millis) > 0) {
        const bool open = records_.read_some(pipe_, receive);
        note_life();  // after receive: our own slowness is not the child's
        return open;
    }
    if (dead()) {
        // A process that the library has started holds the pipe open: what is in it is all there will be.
        while (poll(&waiting, 1, 0) > 0 && records_.read_some(pipe_, receive)) continue;
        return false;
    }
    hung_ = silent_for_too_long();
    if (hung_) kill(pid_, SIGKILL);
    return !hung_;
}

// The pipe may be closed before the process ends.
Ending ChildRun::end() {
    while (!hung_ && !dead()) {
        hung_ = silent_for_too_long();
        if (hung_) kill(pid_, SIGKILL);
        if (!hung_ && !dead()) poll(nullptr, 0, 1);
    }
    return ending(reap(), hung_);
}

Ending ChildRun::watch(const std::function<void(std::string_view)>& receive) {
    const auto step = static_cast<int>(std::clamp(quiet_ / 4, std::chrono::milliseconds(1), kGlance).count());
    while (look(receive, step)) continue;
    return end();
}

Ending ChildRun::ending(int status, bool hung) const {
    Ending e;
    e.doing = slot_.words[0];
    if (hung) {
        e.kind = Ending::Kind::Hung;
    } else if (WIFSIGNALED(status)) {
        e.kind = Ending::Kind::Crashed;
        e.signal = WTERMSIG(status);
    } else if (!records_.ended()) {
        e.kind = Ending::Kind::Exited;
        e.status = WEXITSTATUS(status);
    }
    return e;
}

void begin_child(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    restore_default_signals();
    remove_leftovers_of_namesakes();
}

void end_with_status(int status) {
    if (WIFSIGNALED(status)) {
        std::signal(WTERMSIG(status), SIG_DFL);
        std::raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

Child::Child(const std::function<void(Channel&)>& work, std::chrono::milliseconds quiet)
    : run_(std::make_unique<ChildRun>(work, quiet)) {}
Child::~Child() = default;
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&&) noexcept = default;

int Child::descriptor() const { return run_->descriptor(); }
bool Child::receive(const std::function<void(std::string_view)>& receive) { return run_->look(receive, 0); }
Ending Child::end() { return run_->end(); }

Ending run_once_in_child(const std::function<void(Channel&)>& work,
                         const std::function<void(std::string_view)>& receive, std::chrono::milliseconds quiet,
                         std::chrono::milliseconds busy) {
    return ChildRun(work, quiet, busy).watch(receive);
}

Ending run_in_child(const std::function<void(Channel&)>& work, const std::function<void(std::string_view)>& receive,
                    std::chrono::milliseconds quiet, std::chrono::milliseconds busy) {
    bool has_sent = false;
    const auto receive_from_it = [&](std::string_view record) {
        has_sent = true;
        receive(record);
    };
    for (unsigned killed = 0;; ++killed) {
        const Ending ending = run_once_in_child(work, receive_from_it, quiet, busy);
        if (!was_killed_from_outside(ending) || has_sent || killed == kMostKilled) return ending;
    }
}

}  // namespace selvage::conformance
