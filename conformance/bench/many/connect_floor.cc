// See connect_floor.h.
#include "conformance/bench/many/connect_floor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "conformance/bench/many/endpoints.h"
#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::many {
namespace {

using transfer::Link;

constexpr std::size_t kSamples = 30;

/// A socket that is closed with the object.  Everything on it is busy: it does not wait in the kernel.
class Socket {
public:
    explicit Socket(int fd) : fd_(fd) {}
    ~Socket() {
        if (fd_ >= 0) close(fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    [[nodiscard]] int fd() const { return fd_; }

    void send_message() const {
        const std::uint64_t message = 1;
        if (send(fd_, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) throw CannotMeasure("raw TCP breaks");
    }
    /// @return false once the other end is closed.
    [[nodiscard]] bool receive_message() const {
        std::uint64_t message = 0;
        ssize_t n = 0;
        while ((n = recv(fd_, &message, sizeof message, MSG_DONTWAIT)) < 0 && errno == EAGAIN) continue;
        return n == sizeof message;
    }

private:
    int fd_;
};

void send_at_once(const Socket& socket) {
    const int on = 1;
    setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void answer_all(Link& link) {
    const Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    const bool listens = bind(listener.fd(), at, length) == 0 && listen(listener.fd(), 16) == 0 &&
                         getsockname(listener.fd(), at, &length) == 0;
    if (!listens) throw CannotMeasure("raw TCP does not listen");
    transfer::send_value(link, address);
    while (link.page().ended.load(std::memory_order_relaxed) == 0) {
        const Socket peer(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (peer.fd() < 0) continue;
        send_at_once(peer);
        while (peer.receive_message()) peer.send_message();
    }
}

/// @return nanoseconds
double connect_once(const sockaddr_in& address) {
    const std::int64_t began = now();
    const Socket peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(peer.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw CannotMeasure("raw TCP does not connect");
    send_at_once(peer);
    peer.send_message();
    if (!peer.receive_message()) throw CannotMeasure("raw TCP breaks");
    return static_cast<double>(now() - began);
}

}  // namespace

void connect_floor_session(const std::string&, Rows rows, const Setting& setting, const Tell& tell) {
    if (rows.empty()) return;
    transfer::TwoProcesses both(setting, [&](Link& link) {
        transfer::hurry(setting, true);
        answer_all(link);
    });
    transfer::hurry(setting, true);
    const auto address = transfer::receive_value<sockaddr_in>(both.link());
    for (const auto* row : rows) {
        tell.begin(*row);
        connect_once(address);
        std::vector<double> samples(kSamples);
        for (double& s : samples) s = connect_once(address);
        tell.samples(*row, samples);
    }
    both.link().page().ended.store(1, std::memory_order_relaxed);
}

}  // namespace selvage::conformance::bench::many
