// See proxy.h.
#include "impl/test/crowd/proxy.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace selvage::impl::test {
namespace {

// What the kernel's buffers hold is enough to keep both ends busy: bytes that are not taken are lost, which is damage,
// too.
constexpr size_t kPiece = 65536;

const sockaddr* raw(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

}  // namespace

int call(const sockaddr_in& target) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket >= 0 && connect(socket, raw(target), sizeof target) == 0) return socket;
    if (socket >= 0) close(socket);
    return -1;
}

Proxy::Proxy(const sockaddr_in& target, Random& random)
    : random_(random),
      target_(target),
      // The handshake is some hundred bytes in each direction. Now and then it is damaged, too.
      clean_(random.below(4) ? 200 + random.below(100'000) : random.below(200)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = sizeof address_;
    if (bind(listener_, raw(address_), size) == 0) listen(listener_, 1);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size);
}

Proxy::~Proxy() {
    for (const int socket : {listener_, caller_, callee_}) {
        if (socket >= 0) close(socket);
    }
}

// Bits turned over, bytes repeated, pieces of noise: a few places each time.
void Proxy::damage(std::byte* bytes, size_t size) {
    for (uint64_t left = random_.below(3); left; --left) {
        const size_t at = random_.below(size);
        switch (random_.below(3)) {
            case 0:
                bytes[at] ^= static_cast<std::byte>(1u << random_.below(8));
                break;
            case 1:
                bytes[at] = static_cast<std::byte>(random_.next());
                break;
            default:
                for (size_t i = at; i < size && i < at + 40; ++i) bytes[i] = static_cast<std::byte>(random_.next());
        }
    }
}

bool Proxy::move(int from, int to, size_t* passed) {
    static std::byte bytes[kPiece];
    const ssize_t got = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (!got) return false;
    const auto size = static_cast<size_t>(got);
    if (*passed + size > clean_) {
        const size_t start = *passed > clean_ ? 0 : clean_ - *passed;
        damage(bytes + start, size - start);
    }
    *passed += size;
    return send(to, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN;
}

bool Proxy::pump() {
    if (caller_ < 0) {
        caller_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (caller_ < 0) return true;
        callee_ = call(target_);
        return callee_ >= 0;
    }
    return move(caller_, callee_, &passed_[0]) && move(callee_, caller_, &passed_[1]);
}

}  // namespace selvage::impl::test
