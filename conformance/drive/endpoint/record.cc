// See record.h.
#include "conformance/drive/endpoint/record.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>

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

using Clock = std::chrono::steady_clock;

// @return how many bytes came, at least one; 0: none will, or not in time.
std::size_t read_some(int fd, char* at, std::size_t size, std::optional<Clock::time_point> until) {
    for (;;) {
        if (until) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now()).count();
            if (left <= 0) return errno = ETIMEDOUT, 0;
            pollfd waiting = {fd, POLLIN, 0};
            if (::poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
        }
        const ssize_t n = ::recv(fd, at, size, 0);
        if (n > 0) return static_cast<std::size_t>(n);
        if (n == 0 || errno != EINTR) return errno = ECONNRESET, 0;
    }
}

std::optional<Clock::time_point> end_of(int timeout_millis) {
    if (timeout_millis < 0) return std::nullopt;
    return Clock::now() + std::chrono::milliseconds(timeout_millis);
}

// A record, by what reads up to so many bytes and returns how many came; 0: none will.
template <typename ReadSome>
bool read_record(std::string& out, std::size_t most, const ReadSome& some) {
    const auto read_all = [&](char* at, std::size_t size) {
        while (size > 0) {
            const std::size_t n = some(at, size);
            if (n == 0) return false;
            at += n;
            size -= n;
        }
        return true;
    };
    std::uint64_t size = 0;
    if (!read_all(reinterpret_cast<char*>(&size), sizeof size) || size > most) return false;
    out.resize(size);
    return read_all(out.data(), size);
}

}  // namespace

bool send_record(int fd, std::string_view record) {
    std::uint64_t size = record.size();
    iovec parts[] = {{&size, sizeof size}, {const_cast<char*>(record.data()), record.size()}};
    return write_all(fd, parts, record.empty() ? 1 : 2);
}

bool receive_record(int fd, std::string& out, int timeout_millis, std::size_t most) {
    const auto until = end_of(timeout_millis);
    return read_record(out, most, [&](char* at, std::size_t size) { return read_some(fd, at, size, until); });
}

bool RecordReader::receive(std::string& out, int timeout_millis) {
    const auto until = end_of(timeout_millis);
    return read_record(out, kLongestRecord, [&](char* at, std::size_t size) {
        if (begin_ == end_) {
            begin_ = 0;
            end_ = read_some(fd_, kept_.data(), kept_.size(), until);
        }
        const std::size_t n = std::min(size, end_ - begin_);
        std::memcpy(at, kept_.data() + begin_, n);
        begin_ += n;
        return n;
    });
}

}  // namespace selvage::conformance
