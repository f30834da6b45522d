// See udp_path.h: opening and closing, what the kernel takes and gives, sleeping.
#include "impl/transport/udp/udp_path.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "impl/base/create.h"
#include "impl/transport/net/sockets.h"

namespace selvage::impl::udp {

UdpPath::~UdpPath() {
    if (socket_ >= 0) ::close(socket_);
    if (epoll_ >= 0) ::close(epoll_);
}

int UdpPath::open(Endpoint& endpoint) {
    int error = open_common(endpoint);
    if (!error) error = open_socket();
    if (error) return error;
    waiting_limit_ = static_cast<uint32_t>(std::min<size_t>(kBatch, std::max<size_t>(endpoint.tx.size, 1)));
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    return epoll_ < 0 ? -errno : 0;
}

int UdpPath::open_socket() {
    SocketAddress& address = endpoint_->address;
    const Domain& domain = *endpoint_->domain;
    socket_ = ::socket(address.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return -errno;
    constexpr int kOn = 1;
    if (address.kind == AddressKind::Inet6 && setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &kOn, sizeof kOn))
        return -errno;
    net::set_traffic_class(socket_, address.kind, endpoint_->tx.tclass ? endpoint_->tx.tclass : domain.attr.tclass);
    const int error = choose_interface(socket_, domain);
    if (error && (endpoint_->caps & FI_MULTICAST)) return error;
    if (bind(socket_, &address.any, static_cast<socklen_t>(address.length()))) return -errno;
    const SocketAddress bound = net::local_address(socket_);
    if (bound.kind == AddressKind::None) return -errno;
    address.set_port(bound.port());
    return 0;
}

// No group is open: each holds a use of the endpoint.
void UdpPath::close() {
    reports_.detach(*endpoint_, this);
    flush();
    destroy(this);
}

// Sending.

// Waits behind others, or for others to follow it.
[[gnu::noinline]] int UdpPath::send_waiting(const DatagramSend& request, const SocketAddress& to) {
    if (waiting_ == waiting_limit_ || (request.flags & FI_INJECT)) flush();
    if (request.flags & FI_INJECT) {
        const int error = waiting_ ? -FI_EAGAIN : send_now(request, to);
        if (!error) complete(request.flags, request.context);
        return error;
    }
    if (waiting_ == waiting_limit_) return -FI_EAGAIN;
    Waiting& send = sends_[waiting_++];
    send.context = request.context;
    send.flags = request.flags;
    send.count = request.count;
    send.to = to;
    std::copy_n(request.ranges, request.count, send.ranges);
    if (!(request.flags & FI_MORE) || waiting_ == waiting_limit_) flush();
    return 0;
}

// As far as the kernel takes them. One that it refuses fails, and those behind it are offered again.
void UdpPath::flush() {
    if (!waiting_) [[likely]]
        return;
    mmsghdr messages[kBatch];
    for (uint32_t i = 0; i < waiting_; ++i) {
        messages[i] = {};
        msghdr& header = messages[i].msg_hdr;
        header.msg_name = &sends_[i].to.any;
        header.msg_namelen = static_cast<socklen_t>(sends_[i].to.length());
        header.msg_iov = sends_[i].ranges;
        header.msg_iovlen = sends_[i].count;
    }
    uint32_t done = 0;
    while (done < waiting_) {
        const long sent = syscall(SYS_sendmmsg, socket_, messages + done, waiting_ - done, MSG_DONTWAIT | MSG_NOSIGNAL);
        for (long i = 0; i < sent; ++i, ++done) complete(sends_[done].flags, sends_[done].context);
        if (sent > 0) continue;
        const int error = error_of_send(errno);
        if (error == -FI_EAGAIN) break;
        reports_.transmit_failed(FI_SEND | FI_MSG | (sends_[done].flags & FI_MULTICAST), kSlotSend,
                                 sends_[done].context, -error);
        ++done;
    }
    std::move(sends_ + done, sends_ + waiting_, sends_);
    waiting_ -= done;
}

size_t UdpPath::transmit_left() {
    Guard guard(*this);
    return endpoint_->tx.size - waiting_;
}

// Receiving.

void UdpPath::progress() {
    if (locked_ && !lock_.try_lock()) return;
    flush();
    if (first_receive_ != last_receive_) [[likely]]
        take_all();
    if (events_ != kUnwatched && --looks_left_ == 0) [[unlikely]]
        watch_all(kUnwatched);
    unlock();
}

// As many are asked for as there were lately: what is asked for in vain costs time, too.
void UdpPath::take_all() {
    const uint32_t most = std::min(receives(), batch_);
    uint32_t taken = 0;
    for (size_t i = 0; i < groups_.size() && taken < most; ++i) {
        const Group* group = groups_.find((turn_ + i) % groups_.size());
        if (group && group->socket >= 0) taken += take_from(group->socket, FI_MULTICAST, most - taken);
    }
    ++turn_;
    if (taken < most) taken += take_from(socket_, 0, most - taken);
    batch_ = taken == batch_ ? std::min(2 * batch_, kBatch) : std::max(taken, uint32_t{1});
}

uint32_t UdpPath::take_from(int socket, uint64_t flags, uint32_t most) {
    if (most == 1) return take_one(socket, flags);
    mmsghdr messages[kBatch];
    sockaddr_storage from[kBatch];
    for (uint32_t i = 0; i < most; ++i) {
        Posted& receive = receive_at(first_receive_ + i);
        messages[i].msg_hdr = {.msg_name = sources_ ? &from[i] : nullptr,
                               .msg_namelen = sources_ ? socklen_t{sizeof from[i]} : 0,
                               .msg_iov = receive.ranges,
                               .msg_iovlen = receive.count,
                               .msg_control = nullptr,
                               .msg_controllen = 0,
                               .msg_flags = 0};
    }
    const long got = syscall(SYS_recvmmsg, socket, messages, most, MSG_DONTWAIT | MSG_TRUNC, nullptr);
    for (long i = 0; i < got; ++i) take(messages[i].msg_len, flags, from[i]);
    if (got < 0 && errno == EFAULT) fail_receive(EFAULT);
    return got < 0 ? 0 : static_cast<uint32_t>(got);
}

uint32_t UdpPath::take_one(int socket, uint64_t flags) {
    Posted& receive = receive_at(first_receive_);
    sockaddr_storage from;
    socklen_t from_size = sizeof from;
    ssize_t size;
    if (receive.count <= 1) [[likely]] {
        size = syscall(SYS_recvfrom, socket, receive.ranges[0].iov_base, receive.capacity, MSG_DONTWAIT | MSG_TRUNC,
                       sources_ ? &from : nullptr, sources_ ? &from_size : nullptr);
    } else {
        msghdr header{};
        header.msg_name = sources_ ? &from : nullptr;
        header.msg_namelen = sources_ ? from_size : 0;
        header.msg_iov = receive.ranges;
        header.msg_iovlen = receive.count;
        size = syscall(SYS_recvmsg, socket, &header, MSG_DONTWAIT | MSG_TRUNC);
    }
    if (size >= 0) {
        take(static_cast<size_t>(size), flags, from);
        return 1;
    }
    if (errno == EFAULT) fail_receive(EFAULT);
    return 0;
}

void UdpPath::take(size_t size, uint64_t flags, const sockaddr_storage& from) {
    const Posted& receive = receive_at(first_receive_++);
    const Taken taken{.size = size, .placed = std::min(size, receive.capacity), .flags = flags, .data = 0};
    if (!sources_) return report(receive, taken);
    AvEntry source;
    source.socket = net::from_storage(from);
    const fi_addr_t address = av_->reverse(source);
    report_from(receive, taken, source, address);
}

// The application's buffer is not there.
void UdpPath::fail_receive(int error) {
    reports_.receive_failed(FI_RECV | FI_MSG, receive_at(first_receive_++).context, 0, error);
}

// Sleeping. The sockets are level-triggered, so what is left to take, or has room again, wakes at once.

bool UdpPath::arm() {
    Guard guard(*this);
    const uint32_t before = waiting_;
    flush();
    if (waiting_ != before) return false;
    const bool receives = first_receive_ != last_receive_;
    looks_left_ = kLooksPerWatch;
    return watch_all((receives ? uint32_t{EPOLLIN} : 0) | (waiting_ ? uint32_t{EPOLLOUT} : 0));
}

bool UdpPath::watch(int socket, int change) {
    epoll_event event{};
    event.events = socket == socket_ ? events_ : events_ & EPOLLIN;
    return epoll_ctl(epoll_, change, socket, &event) == 0;
}

// Datagrams that nobody has posted a receive for do not wake anybody. False: there is no memory for it, and nothing is
// watched.
bool UdpPath::watch_all(uint32_t events) {
    if (events == events_) return true;
    const int change = events_ == kUnwatched ? EPOLL_CTL_ADD : events == kUnwatched ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    events_ = events;
    bool all = watch(socket_, change);
    for (size_t i = 0; i < groups_.size(); ++i) {
        const Group* group = groups_.find(i);
        if (group && group->socket >= 0) all &= watch(group->socket, change);
    }
    if (!all && change == EPOLL_CTL_ADD) watch_all(kUnwatched);
    return all;
}

}  // namespace selvage::impl::udp
