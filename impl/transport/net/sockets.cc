// See sockets.h.
#include "impl/transport/net/sockets.h"

#include <netinet/tcp.h>
#include <rdma/fabric.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "impl/transport/net/congestion.h"
#include "impl/transport/net/knobs.h"
#include "impl/transport/net/settings.h"

namespace selvage::impl::net {
namespace {

int fail(int socket) {
    const int error = errno;
    if (socket >= 0) close(socket);
    return -error;
}

int open_stream(AddressKind kind) {
    return socket(kind == AddressKind::Inet ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

void set_option(int socket, int level, int option, int value) {
    // A kernel that does not know an option goes on without it.
    (void)setsockopt(socket, level, option, &value, sizeof value);
}

const sockaddr* raw(const SocketAddress& address) { return &address.any; }

socklen_t raw_length(const SocketAddress& address) { return static_cast<socklen_t>(address.length()); }

}  // namespace

int watch_socket(int epoll, int socket, uint32_t events, Watched* owner, bool change) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = owner;
    return epoll_ctl(epoll, change ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) ? -errno : 0;
}

void unwatch_socket(int epoll, int socket) { (void)epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr); }

namespace {

int listen_at_port(SocketAddress* address, int backlog, int* out) {
    const int socket = open_stream(address->kind);
    if (socket < 0) return fail(socket);
    // So that a program can be started again at once on the port it had; two listeners on one port stay impossible.
    set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    if (address->kind == AddressKind::Inet6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    // Connections that are accepted have the options of the listener.
    tune_stream(socket);
    begin_unpaced(socket);
    if (bind(socket, raw(*address), raw_length(*address))) return fail(socket);
    if (listen(socket, backlog)) return fail(socket);
    const SocketAddress bound = local_address(socket);
    if (bound.kind == AddressKind::None) return fail(socket);
    address->set_port(bound.port());
    *out = socket;
    return 0;
}

}  // namespace

// In a range, from a random port on, so that processes that start together seldom try the same.
int listen_at(SocketAddress* address, int backlog, int* out) {
    const PortRange range = port_range();
    if (address->port() || !range.low) return listen_at_port(address, backlog, out);
    uint32_t random = 0;
    fill_random(&random, sizeof random);
    const uint32_t ports = uint32_t{range.high} - range.low + 1;
    int error = -FI_EADDRINUSE;
    for (uint32_t i = 0; i < ports && error == -FI_EADDRINUSE; ++i) {
        address->set_port(static_cast<uint16_t>(range.low + (random + i) % ports));
        error = listen_at_port(address, backlog, out);
    }
    return error;
}

int start_connect(const SocketAddress& from, const SocketAddress& to, int* out, int* result) {
    *result = EINPROGRESS;
    const int socket = open_stream(to.kind);
    if (socket < 0) return fail(socket);
    if (from.kind == to.kind && !(from.is_wildcard() && from.port() == 0)) {
        // The port is chosen together with the destination, so that a thousand of them do not exhaust the range.
        if (from.port() == 0) set_option(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        if (from.port() != 0) set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
        if (bind(socket, raw(from), raw_length(from))) return fail(socket);
    }
    begin_unpaced(socket);
    if (connect(socket, raw(to), raw_length(to)) == 0) {
        *result = 0;
    } else if (errno != EINPROGRESS && errno != EINTR) {
        if (errno == ENOMEM || errno == ENOBUFS || errno == EADDRINUSE) return fail(socket);
        *result = errno;
    }
    *out = socket;
    return 0;
}

int pending_error(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

void tune_stream(int socket) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdle);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepInterval);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
    const int limit = peer_timeout();
    if (limit > 0) set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, limit);
}

void probe_after(int socket, int seconds) {
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
}

int dscp_of(uint32_t tclass) {
    if ((tclass & ~0x3fU) == FI_TC_DSCP) return static_cast<int>(tclass & 0x3f);
    switch (tclass) {
        case FI_TC_BEST_EFFORT:
            return 0;  // DF
        case FI_TC_LOW_LATENCY:
            return 46;  // EF
        case FI_TC_DEDICATED_ACCESS:
            return 40;  // CS5
        case FI_TC_BULK_DATA:
            return 10;  // AF11
        case FI_TC_SCAVENGER:
            return 1;  // LE
        case FI_TC_NETWORK_CTRL:
            return 48;  // CS6
        default:
            return -1;
    }
}

void set_traffic_class(int socket, AddressKind kind, uint32_t tclass) {
    const int dscp = dscp_of(tclass);
    if (dscp < 0) return;
    // The two bits below are those of congestion notification, the kernel's.
    if (kind == AddressKind::Inet6) {
        set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, dscp << 2);
    } else {
        set_option(socket, IPPROTO_IP, IP_TOS, dscp << 2);
    }
}

SocketAddress from_storage(const sockaddr_storage& storage) {
    SocketAddress address;
    if (storage.ss_family == AF_INET) {
        address.kind = AddressKind::Inet;
        memcpy(&address.v4, &storage, sizeof address.v4);
    } else if (storage.ss_family == AF_INET6) {
        address.kind = AddressKind::Inet6;
        memcpy(&address.v6, &storage, sizeof address.v6);
    }
    return address;
}

SocketAddress local_address(int socket) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size)) return {};
    return from_storage(storage);
}

SocketAddress remote_address(int socket) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    if (getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &size)) return {};
    return from_storage(storage);
}

bool send_all(int socket, const void* bytes, size_t size) {
    const auto* at = static_cast<const std::byte*>(bytes);
    for (size_t left = size; left;) {
        const ssize_t sent = send(socket, at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) {
            // A note of which a part was sent can only be followed by its rest.
            if (left != size && errno == EAGAIN) errno = ENOBUFS;
            return false;
        }
        at += sent;
        left -= static_cast<size_t>(sent);
    }
    return true;
}

void fill_random(void* bytes, size_t size) {
    auto* at = static_cast<uint8_t*>(bytes);
    while (size) {
        const ssize_t got = getrandom(at, size, 0);
        if (got < 0) continue;  // interrupted
        at += got;
        size -= static_cast<size_t>(got);
    }
}

}  // namespace selvage::impl::net
