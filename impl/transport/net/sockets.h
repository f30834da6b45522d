// Sockets as this transport uses them: non-blocking, closed on exec, without Nagle's delay. Errors are negative fabric
// errnos, which are those of the system under the same numbers.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "impl/base/clock.h"
#include "impl/net/address.h"

namespace selvage::impl::net {

// What epoll gives back: the first member of whatever was registered.
enum class Watch : uint8_t { Listener, Pending, Peer, Timer, Setup, Rail };
struct Watched {
    explicit Watched(Watch what) : watch(what) {}
    Watch watch;
};
// Adds (or with `change` alters) a registration. 0 or a negative fabric errno.
int watch_socket(int epoll, int socket, uint32_t events, Watched* owner, bool change = false);
// Before a socket is closed: a child of fork() may keep it open, and its events would go on.
void unwatch_socket(int epoll, int socket);

inline int64_t now_nanoseconds() { return monotonic_nanoseconds(); }
inline int64_t now_milliseconds() { return now_nanoseconds() / 1'000'000; }

// A listening socket; the port that the kernel chose is written back. A port that is taken is -FI_EADDRINUSE.
int listen_at(SocketAddress* address, int backlog, int* socket);
// Starts to connect; *socket is closed by the caller. With port 0 in `from` the kernel chooses one. *result: 0 when
// it is connected already, EINPROGRESS, or what the network said at once (the socket is then of no use but to be waited
// for). Its options are the caller's to set (tune_stream).
int start_connect(const SocketAddress& from, const SocketAddress& to, int* socket, int* result);
// What became of a connect that was started, or of the connection since: 0, or a positive errno, which is taken.
int pending_error(int socket);
// Options of every connection: set at one end as it connects, at the other inherited from the listener.
void tune_stream(int socket);
// Of one whose other end is probed earlier and more often than that: after so many seconds in which nothing comes.
void probe_after(int socket, int seconds);

// What the IP header has of a traffic class (fi_endpoint(3)): a DSCP value as it is, or what RFC 4594 and RFC 8622 have
// for a label. -1 of FI_TC_UNSPEC, and of what is none.
int dscp_of(uint32_t tclass);
// What the socket sends from now on has it; the kernel's default stays if there is none.
void set_traffic_class(int socket, AddressKind kind, uint32_t tclass);

// System calls of the hot path, without the C library's cancellation points: a thread that is cancelled inside would
// keep locks, and in a program with several threads each point costs some 20 ns. Results as the kernel gives them:
// bytes or a negative errno.
inline ssize_t raw_result(long result) { return result < 0 ? -errno : result; }
inline ssize_t raw_send(int socket, const void* bytes, size_t size) {
    return raw_result(syscall(SYS_sendto, socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0));
}
inline ssize_t raw_send_pieces(int socket, const msghdr& message) {
    return raw_result(syscall(SYS_sendmsg, socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}
inline ssize_t raw_receive(int socket, void* bytes, size_t size) {
    return raw_result(syscall(SYS_recvfrom, socket, bytes, size, MSG_DONTWAIT, nullptr, nullptr));
}
inline ssize_t raw_receive_pieces(int socket, msghdr* message) {
    return raw_result(syscall(SYS_recvmsg, socket, message, MSG_DONTWAIT));
}

SocketAddress local_address(int socket);
SocketAddress remote_address(int socket);
// From what accept filled in.
SocketAddress from_storage(const sockaddr_storage& storage);

// Sends bytes that the kernel is expected to take at once (a note on a fresh connection). False: not all of them were
// sent, errno says why, and the connection is of no further use unless it is ENOTCONN.
bool send_all(int socket, const void* bytes, size_t size);

void fill_random(void* bytes, size_t size);

}  // namespace selvage::impl::net
