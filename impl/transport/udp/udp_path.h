// FI_EP_DGRAM over UDP: the data path of one enabled endpoint, over a socket that is not connected.
//
// The messages are the application's bytes and nothing else (FI_PROTO_UDP), so other libraries' endpoints over UDP, and
// plain sockets, understand them.
//
// Sends: a datagram is the kernel's when the call returns, and its operation has completed then. Those with more to
// follow (FI_MORE), and those that the kernel has no room for, wait in the endpoint for the next send or the next
// progress, at most kBatch of them; they go in one system call. What is to be injected never waits.
// Receives: the kernel writes into the buffer of the oldest one, as many as there are in one system call. A datagram
// that arrives before a receive is posted waits in the socket, whose buffer the kernel bounds; what finds no room there
// is lost. A datagram of any length and origin does no more than take a receive.
//
// Errors: the socket is not connected and asks for no errors of the network (IP_RECVERR), so no call reports what
// became of an earlier datagram. A send that the kernel refuses fails by itself.
//
// Multicast groups are in groups.h. The calls of the application are in udp_calls.cc, the rest in udp_path.cc.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "impl/engine/datagram.h"
#include "impl/transport/udp/groups.h"

namespace selvage::impl::udp {

// Datagrams in one system call, at most.
inline constexpr uint32_t kBatch = 32;
// Calls of progress() after which a socket that nobody sleeps on is not watched any more: a datagram that arrives at
// one that is costs the kernel 85 ns more. More than a sleeper outside of the library is kept for (progress_list.h).
inline constexpr uint32_t kLooksPerWatch = 64;

class UdpPath final : public DatagramBase {
public:
    static constexpr bool kHasData = false;
    static constexpr bool kHasGroups = true;

    UdpPath() = default;
    ~UdpPath();

    // 0 or a negative fabric errno; the object is destroyed then.
    int open(Endpoint& endpoint);

    ssize_t send(const DatagramSend& request);
    ssize_t receive(const DatagramReceive& request);

    // DataPath.
    void progress() override;
    bool arm() override;
    int wait_descriptor() const override { return epoll_; }
    size_t transmit_left() override;
    void close() override;
    int join(const void* group, uint64_t flags, fid_mc** result, void* context) override;

    // For Group.
    void leave(const Group& group);

private:
    // The way to a peer, by the number it has in the address vector.
    struct Route {
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        uint32_t generation = 0;  // of the address vector
        SocketAddress to;
    };
    static constexpr size_t kRoutes = 64;  // a power of two
    // A send that waits.
    struct Waiting {
        void* context;
        uint64_t flags;
        size_t count;
        iovec ranges[kRangesMax];
        SocketAddress to;
    };

    // As negative fabric errnos are; what passes by itself is -FI_EAGAIN.
    static int error_of_send(int error) {
        return error == ENOBUFS || error == ENOMEM || error == EAGAIN ? -FI_EAGAIN : -error;
    }

    int open_socket();
    int enter(Group& group, bool receives);
    int find_target(const DatagramSend& request, const SocketAddress** out);
    int make_route(fi_addr_t to, uint32_t generation, Route* route);
    ssize_t send_locked(const DatagramSend& request);
    int send_now(const DatagramSend& request, const SocketAddress& to);
    int send_waiting(const DatagramSend& request, const SocketAddress& to);
    void flush();
    void complete(uint64_t flags, void* context);
    void take_all();
    uint32_t take_from(int socket, uint64_t flags, uint32_t most);
    uint32_t take_one(int socket, uint64_t flags);
    void take(size_t size, uint64_t flags, const sockaddr_storage& from);
    void fail_receive(int error);
    bool watch(int socket, int change);
    bool watch_all(uint32_t events);

    int socket_ = -1;
    int epoll_ = -1;
    // Of the sockets: those that wake. All that there are: no socket is watched.
    static constexpr uint32_t kUnwatched = UINT32_MAX;
    uint32_t events_ = kUnwatched;
    uint32_t looks_left_ = 0;     // until the sockets are not watched any more
    uint32_t batch_ = 1;          // datagrams to ask the kernel for
    uint32_t waiting_ = 0;        // sends that wait
    uint32_t waiting_limit_ = 1;  // of them
    uint32_t turn_ = 0;           // of the group that is read first
    GroupList groups_;
    Waiting sends_[kBatch];
    Route routes_[kRoutes];
};

inline void UdpPath::complete(uint64_t flags, void* context) {
    reports_.transmitted(flags, FI_SEND | FI_MSG | (flags & FI_MULTICAST), kSlotSend, context);
}

inline int UdpPath::send_now(const DatagramSend& request, const SocketAddress& to) {
    constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
    long sent;
    if (request.count == 1) [[likely]] {
        sent = syscall(SYS_sendto, socket_, request.ranges[0].iov_base, request.ranges[0].iov_len, kFlags, &to.any,
                       to.length());
    } else {
        msghdr header{};
        header.msg_name = const_cast<sockaddr*>(&to.any);
        header.msg_namelen = static_cast<socklen_t>(to.length());
        header.msg_iov = const_cast<iovec*>(request.ranges);
        header.msg_iovlen = request.count;
        sent = syscall(SYS_sendmsg, socket_, &header, kFlags);
    }
    return sent >= 0 ? 0 : error_of_send(errno);
}

}  // namespace selvage::impl::udp
