// See raw_tcp.h.
#include "conformance/bench/transfer/raw_tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::transfer {
namespace {

constexpr std::size_t kAnswer = 4;

sockaddr_in loopback(in_port_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = port;
    return address;
}

int new_socket() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw CannotMeasure("no socket for raw TCP");
    return fd;
}

const sockaddr* as_address(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

}  // namespace

RawTcp::RawTcp(Link& link, int fd) : link_(&link), fd_(fd), buffer_(kLargest, std::byte{1}) {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd_, F_SETFL, O_NONBLOCK);
}

RawTcp::RawTcp(RawTcp&& other) noexcept
    : link_(other.link_), fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

RawTcp::~RawTcp() {
    if (fd_ >= 0) close(fd_);
}

RawTcp RawTcp::connect(Link& link) {
    const auto address = receive_value<sockaddr_in>(link);
    const int fd = new_socket();
    if (::connect(fd, as_address(address), sizeof address) != 0) throw CannotMeasure("raw TCP does not connect");
    return RawTcp(link, fd);
}

RawTcp RawTcp::accept(Link& link) {
    const int listener = new_socket();
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    const bool bound = bind(listener, as_address(address), sizeof address) == 0 && listen(listener, 1) == 0 &&
                       getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    if (!bound) throw CannotMeasure("raw TCP does not listen");
    send_value(link, address);
    const int fd = ::accept(listener, nullptr, nullptr);
    close(listener);
    if (fd < 0) throw CannotMeasure("raw TCP does not accept");
    return RawTcp(link, fd);
}

void RawTcp::send_all(std::size_t size) {
    const auto since = std::chrono::steady_clock::now();
    for (std::size_t done = 0, tries = 0; done < size;) {
        const ssize_t n = send(fd_, buffer_.data() + done, size - done, MSG_NOSIGNAL);
        if (n > 0) done += static_cast<std::size_t>(n);
        if (n < 0 && errno != EAGAIN && errno != EINTR) throw CannotMeasure("raw TCP breaks");
        if (n < 0 && ++tries % 4096 == 0) link_->look(since);
    }
}

void RawTcp::take_all(std::size_t size) {
    const auto since = std::chrono::steady_clock::now();
    for (std::size_t done = 0, tries = 0; done < size;) {
        const ssize_t n = recv(fd_, buffer_.data(), std::min(size - done, buffer_.size()), 0);
        if (n > 0) done += static_cast<std::size_t>(n);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) throw CannotMeasure("raw TCP breaks");
        if (n < 0 && ++tries % 4096 == 0) link_->look(since);
    }
}

void RawTcp::ping(std::size_t size) {
    send_all(size);
    take_all(size);
}

void RawTcp::pong(std::size_t size) {
    take_all(size);
    send_all(size);
}

void RawTcp::send_window(std::size_t size) {
    for (std::size_t i = window_of(size); i > 0; --i) send_all(size);
    take_all(kAnswer);
}

void RawTcp::take_window(std::size_t size) {
    take_all(window_of(size) * size);
    send_all(kAnswer);
}

}  // namespace selvage::conformance::bench::transfer
