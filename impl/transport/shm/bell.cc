// See bell.h.
#include "impl/transport/shm/bell.h"

#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "impl/transport/shm/socket_file.h"

namespace selvage::impl::shm {
namespace {

int membarrier(int command) { return static_cast<int>(syscall(__NR_membarrier, command, 0, 0)); }

}  // namespace

bool fenced_by_others() {
    // Each time: it costs nothing again, and holds for the process that asks, whatever it was forked from.
    return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

bool can_fence_others() {
    static const bool able = [] {
        const int commands = membarrier(MEMBARRIER_CMD_QUERY);
        return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    }();
    return able;
}

bool fence_senders() {
    full_fence();
    return !can_fence_others() || membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

int Bell::open(const uint8_t (&instance)[kIdBytes]) {
    poll_ = epoll_create1(EPOLL_CLOEXEC);
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    int error = 0;
    if (poll_ < 0 || socket_ < 0 || timer_ < 0 || epoll_ctl(poll_, EPOLL_CTL_ADD, socket_, &event) ||
        epoll_ctl(poll_, EPOLL_CTL_ADD, timer_, &event)) {
        error = -errno;
    }
    if (!error) error = bind_socket_file(socket_, SocketKind::Bell, instance);
    if (error) {
        close_descriptors();
        return error;
    }
    memcpy(instance_, instance, sizeof instance_);
    return 0;
}

void Bell::close() {
    if (is_open()) remove_socket_file(SocketKind::Bell, instance_);
    close_descriptors();
}

void Bell::forget() { close_descriptors(); }

void Bell::close_descriptors() {
    for (int* file : {&poll_, &socket_, &timer_}) {
        if (*file >= 0) ::close(*file);
        *file = -1;
    }
    period_ = 0;
}

void Bell::set_timer(unsigned milliseconds) {
    if (milliseconds == period_) return;
    itimerspec when{};
    when.it_value.tv_sec = milliseconds / 1000;
    when.it_value.tv_nsec = static_cast<long>(milliseconds % 1000) * 1000000;
    when.it_interval = when.it_value;
    if (timerfd_settime(timer_, 0, &when, nullptr) == 0) period_ = milliseconds;
}

void Bell::silence() {
    char byte;
    for (int i = 0; i < kSilencedMost && recv(socket_, &byte, sizeof byte, MSG_TRUNC) >= 0; ++i) {
    }
    uint64_t expired;
    [[maybe_unused]] const ssize_t ignored = read(timer_, &expired, sizeof expired);
}

namespace {

// A full socket rings already.
bool send_ring(const RegionHeader& owner, const Bell& own) {
    uint8_t instance[kIdBytes];
    memcpy(instance, owner.instance, sizeof instance);
    sockaddr_un name;
    const socklen_t length = socket_file_name(SocketKind::Bell, instance, &name);
    const int socket = own.is_open() ? own.socket() : ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return false;
    const char byte = 0;
    const bool rung = sendto(socket, &byte, sizeof byte, MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&name), length) >= 0;
    const bool full = !rung && errno == EAGAIN;
    if (!own.is_open()) ::close(socket);
    return rung || full;
}

}  // namespace

void ring_bell(RegionHeader& owner, const Bell& own) {
    const uint32_t sleep = owner.armed.exchange(0, std::memory_order_acq_rel);
    if (!sleep || send_ring(owner, own)) return;
    uint32_t awake = 0;
    owner.armed.compare_exchange_strong(awake, sleep, std::memory_order_relaxed);
}

}  // namespace selvage::impl::shm
