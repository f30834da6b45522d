// See bell.h.
#include "impl/transport/shm/bell.h"

#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "impl/transport/shm/socket_name.h"

namespace selvage::impl::shm {
namespace {

int membarrier(int command) { return static_cast<int>(syscall(__NR_membarrier, command, 0, 0)); }

constexpr char kKind[] = "selvage-shm";

}  // namespace

bool fenced_by_others() {
    static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    return registered;
}

bool can_fence_others() {
    static const bool able = [] {
        const int commands = membarrier(MEMBARRIER_CMD_QUERY);
        return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    }();
    return able;
}

void fence_senders() {
    full_fence();
    if (can_fence_others()) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

int Bell::open(const uint8_t (&instance)[kIdBytes]) {
    sockaddr_un name;
    const socklen_t length = socket_name(kKind, instance, &name);
    poll_ = epoll_create1(EPOLL_CLOEXEC);
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    if (poll_ >= 0 && socket_ >= 0 && timer_ >= 0 && bind(socket_, reinterpret_cast<sockaddr*>(&name), length) == 0 &&
        epoll_ctl(poll_, EPOLL_CTL_ADD, socket_, &event) == 0 && epoll_ctl(poll_, EPOLL_CTL_ADD, timer_, &event) == 0) {
        return 0;
    }
    const int error = -errno;
    close();
    return error;
}

void Bell::close() {
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
    while (recv(socket_, &byte, sizeof byte, MSG_TRUNC) >= 0) {
    }
    uint64_t expired;
    [[maybe_unused]] const ssize_t ignored = read(timer_, &expired, sizeof expired);
}

void ring_bell(RegionHeader& owner, const Bell& own) {
    // Of many senders one rings. The frame was published before; nothing else depends on the word.
    if (!owner.armed.exchange(0, std::memory_order_acq_rel)) return;
    uint8_t instance[kIdBytes];
    memcpy(instance, owner.instance, sizeof instance);
    sockaddr_un name;
    const socklen_t length = socket_name(kKind, instance, &name);
    const int socket = own.is_open() ? own.socket() : ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return;  // the owner's timer will do
    const char byte = 0;
    // A full socket rings already.
    sendto(socket, &byte, sizeof byte, MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&name), length);
    if (!own.is_open()) ::close(socket);
}

}  // namespace selvage::impl::shm
