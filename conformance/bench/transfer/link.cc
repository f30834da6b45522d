// See link.h.
#include "conformance/bench/transfer/link.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>

#include "conformance/base/child.h"

namespace selvage::conformance::bench::transfer {
namespace {

/// Nothing that is measured takes so long.
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kLongest = 4096;
constexpr rlim_t kRealtimeLimit = 4'000'000;  // microseconds without a pause

[[noreturn]] void be_far(Link& link, const Setting& setting, pid_t near, const std::function<void(Link&)>& far) {
    begin_child(near);
    try {
        stand(setting, setting.cores[1]);
        far(link);
    } catch (const CannotMeasure& e) {
        link.send_error(e.what());
    }
    _exit(0);
}

}  // namespace

void stand(const Setting& setting, int core) {
    if (setting.realtime) {  // what hangs in front of all others is ended by the kernel
        const rlimit limit = {kRealtimeLimit, kRealtimeLimit};
        setrlimit(RLIMIT_RTTIME, &limit);
    }
    if (core < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw CannotMeasure(fmt::format("core {}: {}", core, std::strerror(errno)));
}

Link::~Link() { close(fd_); }

void Link::put(char kind, std::string_view content) {
    const std::string packet = std::string(1, kind).append(content);
    while (::send(fd_, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) {
        if (errno == EINTR) continue;
        look_for_crash();
        throw CannotMeasure("the other process does not listen");
    }
}

void Link::send_error(std::string_view why) {
    page_.failed.store(true, std::memory_order_relaxed);
    const std::string packet = std::string(1, 'E').append(why);
    static_cast<void>(!::send(fd_, packet.data(), packet.size(), MSG_NOSIGNAL));
}

bool Link::receive_some(int flags, std::string& content) {
    char packet[kLongest];
    ssize_t n = 0;
    while ((n = recv(fd_, packet, sizeof packet, flags)) < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && (flags & MSG_DONTWAIT) != 0) return false;
    if (n <= 0) {
        look_for_crash();
        throw CannotMeasure(n == 0 ? "the other process has ended" : "the other process hangs");
    }
    content.assign(packet + 1, static_cast<std::size_t>(n) - 1);
    if (packet[0] == 'E') throw CannotMeasure(content);
    return true;
}

std::string Link::receive() {
    std::string content;
    receive_some(0, content);
    return content;
}

bool Link::poll(std::string& content) { return receive_some(MSG_DONTWAIT, content); }

void Link::look_for_crash() {
    siginfo_t about = {};
    if (other_ == 0 || waitid(P_PID, static_cast<id_t>(other_), &about, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (about.si_pid != other_) return;
    if (about.si_code == CLD_EXITED)
        throw CannotMeasure(fmt::format("the other process ended with status {}", about.si_status));
    if (about.si_status == SIGXCPU)
        throw CannotMeasure(fmt::format("the other process ran for {} s ahead of all others without a pause (SIGXCPU)",
                                        kRealtimeLimit / 1'000'000));
    throw CannotMeasure(fmt::format("the other process died of signal {}", about.si_status));
}

void Link::look(std::chrono::steady_clock::time_point since) {
    if (other_ != 0 && page_.failed.load(std::memory_order_relaxed)) {
        while (true) receive();  // what was sent before the error is of no use
    }
    look_for_crash();
    if (std::chrono::steady_clock::now() - since > kPatience)
        throw CannotMeasure(fmt::format("nothing completes for {} s", kPatience.count()));
}

void hurry(const Setting& setting, bool on) {
    if (!setting.realtime) return;
    sched_param parameters = {};
    parameters.sched_priority = on ? 1 : 0;
    sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &parameters);
    const timespec moment = {0, 1000};
    if (on) nanosleep(&moment, nullptr);  // whoever wakes up has the whole limit again
}

TwoProcesses::TwoProcesses(const Setting& setting, const std::function<void(Link&)>& far) {
    void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw CannotMeasure("no memory to share");
    page_ = new (at) Shared{};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw CannotMeasure("no sockets left");
    const timeval patience = {kPatience.count() * 2, 0};
    for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // a library may read its peer's memory
    const pid_t self = getpid();
    far_ = fork();
    if (far_ == 0) {
        close(ends[0]);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        Link link(ends[1], 0, *page_);
        be_far(link, setting, self, far);
    }
    close(ends[1]);
    link_ = std::make_unique<Link>(ends[0], far_, *page_);
    if (far_ < 0) throw CannotMeasure("no process can be made");
    stand(setting, setting.cores[0]);
}

TwoProcesses::~TwoProcesses() {
    if (far_ > 0) {
        kill(far_, SIGKILL);
        while (waitpid(far_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    munmap(page_, sizeof(Shared));
}

}  // namespace selvage::conformance::bench::transfer
