// See raw_udp.h.
#include "conformance/bench/transfer/raw_udp.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::transfer {
namespace {

constexpr std::size_t kAnswer = 4;
constexpr std::size_t kMost = 65507;

/// The address that libraries open first: the kernel takes longer to one of an interface than to the loopback one.
sockaddr_in address_of_default_route() {
    sockaddr_in far = {};
    far.sin_family = AF_INET;
    far.sin_port = htons(9);
    far.sin_addr.s_addr = inet_addr("203.0.113.1");  // for documentation: nobody has it, and nothing is sent
    sockaddr_in own = far;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof own;
    if (connect(probe, reinterpret_cast<const sockaddr*>(&far), sizeof far) == 0)
        getsockname(probe, reinterpret_cast<sockaddr*>(&own), &length);
    close(probe);
    own.sin_port = 0;
    return own;
}

}  // namespace

RawUdp::RawUdp(Link& link)
    : link_(&link), fd_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)), buffer_(kMost, std::byte{1}) {
    sockaddr_in own = address_of_default_route();
    socklen_t length = sizeof own;
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    if (fd_ < 0 || bind(fd_, address, length) != 0 || getsockname(fd_, address, &length) != 0)
        throw CannotMeasure("no socket for raw UDP");
    send_value(link, own);
    peer_ = receive_value<sockaddr_in>(link);
}

RawUdp::~RawUdp() {
    if (fd_ >= 0) close(fd_);
}

void RawUdp::send(std::size_t size) {
    const auto since = std::chrono::steady_clock::now();
    const auto* const to = reinterpret_cast<const sockaddr*>(&peer_);
    for (std::size_t tries = 0; sendto(fd_, buffer_.data(), size, MSG_NOSIGNAL, to, sizeof peer_) < 0;) {
        if (errno != EAGAIN && errno != EINTR) throw CannotMeasure("raw UDP breaks");
        if (++tries % 4096 == 0) link_->look(since);
    }
}

void RawUdp::take() {
    const auto since = std::chrono::steady_clock::now();
    for (std::size_t tries = 0; recvfrom(fd_, buffer_.data(), buffer_.size(), 0, nullptr, nullptr) < 0;) {
        if (errno != EAGAIN && errno != EINTR) throw CannotMeasure("raw UDP breaks");
        if (++tries % 4096 == 0) link_->look(since);
    }
}

void RawUdp::ping(std::size_t size) {
    send(size);
    take();
}

void RawUdp::pong(std::size_t size) {
    take();
    send(size);
}

void RawUdp::send_window(std::size_t size) {
    for (std::size_t i = window_of(size); i > 0; --i) send(size);
    take();
}

void RawUdp::take_window(std::size_t size) {
    for (std::size_t i = window_of(size); i > 0; --i) take();
    send(kAnswer);
}

}  // namespace selvage::conformance::bench::transfer
