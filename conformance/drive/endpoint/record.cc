// See record.h.
#include "conformance/drive/endpoint/record.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

namespace selvage::conformance {
namespace {

bool write_all(int fd, iovec* parts, std::size_t count) {
    while (count > 0) {
        msghdr m = {};
        m.msg_iov = parts;
        m.msg_iovlen = count;
        ssize_t n = ::sendmsg(fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        for (; count > 0 && static_cast<std::size_t>(n) >= parts->iov_len; --count, ++parts)
            n -= static_cast<ssize_t>(parts->iov_len);
        if (count == 0) return true;
        parts->iov_base = static_cast<char*>(parts->iov_base) + n;
        parts->iov_len -= static_cast<std::size_t>(n);
    }
    return true;
}

bool read_all(int fd, char* at, std::size_t size, int timeout_millis) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(timeout_millis);
    while (size > 0) {
        if (timeout_millis >= 0) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
            if (left <= 0) return errno = ETIMEDOUT, false;
            pollfd waiting = {fd, POLLIN, 0};
            if (::poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
        }
        const ssize_t n = ::recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return errno = ECONNRESET, false;
        at += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

}  // namespace

bool send_record(int fd, std::string_view record) {
    std::uint64_t size = record.size();
    iovec parts[] = {{&size, sizeof size}, {const_cast<char*>(record.data()), record.size()}};
    return write_all(fd, parts, record.empty() ? 1 : 2);
}

bool receive_record(int fd, std::string& out, int timeout_millis, std::size_t most) {
    std::uint64_t size = 0;
    if (!read_all(fd, reinterpret_cast<char*>(&size), sizeof size, timeout_millis) || size > most) return false;
    out.resize(size);
    return read_all(fd, out.data(), size, timeout_millis);
}

}  // namespace selvage::conformance
