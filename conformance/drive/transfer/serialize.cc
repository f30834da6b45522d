// See serialize.h.
#include "conformance/drive/transfer/serialize.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <type_traits>

namespace selvage::conformance {
namespace {

using model::Completion;
using model::Operation;
using model::Traffic;

static_assert(std::is_trivially_copyable_v<Operation> && std::is_trivially_copyable_v<Completion>);

// What is not a list.
struct Numbers {
    std::uint64_t region_length;
    std::int64_t open_ret;
    model::Counted counted[2];
    bool counters, drained;
};

template <typename T>
void put(std::string& out, const std::vector<T>& values) {
    const std::uint64_t n = values.size();
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
    if (n > 0) out.append(reinterpret_cast<const char*>(values.data()), n * sizeof(T));
}

template <typename T>
bool take(std::string_view& from, std::vector<T>& values) {
    std::uint64_t n = 0;
    if (from.size() < sizeof n) return false;
    std::memcpy(&n, from.data(), sizeof n);
    from.remove_prefix(sizeof n);
    if (from.size() / sizeof(T) < n) return false;
    values.resize(n);
    if (n > 0) std::memcpy(static_cast<void*>(values.data()), from.data(), n * sizeof(T));
    from.remove_prefix(n * sizeof(T));
    return true;
}

bool write_all(int fd, const char* at, std::size_t size) {
    while (size > 0) {
        const ssize_t n = ::send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

bool read_all(int fd, char* at, std::size_t size, int timeout_millis) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(timeout_millis);
    while (size > 0) {
        pollfd waiting = {fd, POLLIN, 0};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (timeout_millis >= 0 && left <= 0) return errno = ETIMEDOUT, false;
        const int ready = ::poll(&waiting, 1, timeout_millis < 0 ? -1 : static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) continue;
        const ssize_t n = ::recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return errno = ECONNRESET, false;
        at += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

}  // namespace

std::string pack_operations(const std::vector<Operation>& operations) {
    std::string out;
    put(out, operations);
    return out;
}

bool unpack_operations(std::string_view bytes, std::vector<Operation>& out) { return take(bytes, out); }

std::string pack_traffic(const Traffic& t) {
    const Numbers n = {t.region_length, t.open_ret, {t.counted[0], t.counted[1]}, t.counters, t.drained};
    std::string out(reinterpret_cast<const char*>(&n), sizeof n);
    put(out, t.operations);
    put(out, t.entries);
    return out + t.detail;
}

bool unpack_traffic(std::string_view bytes, Traffic& t) {
    Numbers n{};
    if (bytes.size() < sizeof n) return false;
    std::memcpy(&n, bytes.data(), sizeof n);
    bytes.remove_prefix(sizeof n);
    t.region_length = n.region_length;
    t.open_ret = n.open_ret;
    t.counted[0] = n.counted[0];
    t.counted[1] = n.counted[1];
    t.counters = n.counters;
    t.drained = n.drained;
    if (!take(bytes, t.operations) || !take(bytes, t.entries)) return false;
    t.detail = bytes;
    return true;
}

bool send_record(int fd, std::string_view record) {
    const std::uint64_t size = record.size();
    return write_all(fd, reinterpret_cast<const char*>(&size), sizeof size) &&
           write_all(fd, record.data(), record.size());
}

bool receive_record(int fd, std::string& out, int timeout_millis) {
    std::uint64_t size = 0;
    if (!read_all(fd, reinterpret_cast<char*>(&size), sizeof size, timeout_millis)) return false;
    out.resize(size);
    return read_all(fd, out.data(), size, timeout_millis);
}

}  // namespace selvage::conformance
