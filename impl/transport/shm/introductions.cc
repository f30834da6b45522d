// See introductions.h.
#include "impl/transport/shm/introductions.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "impl/transport/shm/socket_file.h"

namespace selvage::impl::shm {
namespace {

constexpr int kTakenMost = 16;  // datagrams at a time that are no introductions

// What is sent, beside what the kernel adds.
struct Message {
    uint32_t slot;
    uint8_t instance[kIdBytes];
};

// Credentials of the sender, if the kernel added them and it is of this user; else no process.
pid_t sender_of(msghdr& message) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
        ucred who;
        if (part->cmsg_len != CMSG_LEN(sizeof who)) return 0;
        memcpy(&who, CMSG_DATA(part), sizeof who);
        return who.uid == geteuid() ? who.pid : 0;
    }
    return 0;
}

}  // namespace

int Introductions::open(const uint8_t (&instance)[kIdBytes]) {
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return -errno;
    const int on = 1;
    int error = setsockopt(socket_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) ? -errno : 0;
    if (!error) error = bind_socket_file(socket_, SocketKind::Introductions, instance);
    if (error) {
        forget();
        return error;
    }
    memcpy(instance_, instance, sizeof instance_);
    return 0;
}

void Introductions::close() {
    if (socket_ >= 0) remove_socket_file(SocketKind::Introductions, instance_);
    forget();
}

void Introductions::forget() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
}

bool Introductions::take(Introduction* out) const {
    if (socket_ < 0) return false;
    for (int i = 0; i < kTakenMost; ++i) {
        Message said;
        iovec bytes{.iov_base = &said, .iov_len = sizeof said};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
        msghdr message = {};
        message.msg_iov = &bytes;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t got = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
        if (got < 0) return false;
        out->process = sender_of(message);
        if (got != sizeof said || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || out->process <= 0) continue;
        out->slot = said.slot;
        memcpy(out->instance, said.instance, sizeof out->instance);
        return true;
    }
    return false;
}

Introductions::Introduced Introductions::introduce(const uint8_t (&owner)[kIdBytes], uint32_t slot,
                                                   const uint8_t (&self)[kIdBytes]) {
    Message say{.slot = slot, .instance = {}};
    memcpy(say.instance, self, sizeof say.instance);
    sockaddr_un name;
    const socklen_t length = socket_file_name(SocketKind::Introductions, owner, &name);
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return Introduced::Later;
    const ssize_t sent = sendto(socket, &say, sizeof say, MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&name), length);
    const int error = errno;
    ::close(socket);
    if (sent == static_cast<ssize_t>(sizeof say)) return Introduced::Yes;
    return error == EAGAIN || error == ENOBUFS || error == ENOMEM ? Introduced::Later : Introduced::Never;
}

}  // namespace selvage::impl::shm
