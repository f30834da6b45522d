// See watch.h.
#include "impl/core/watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace selvage::impl {

InterfaceWatch::~InterfaceWatch() { close_socket(); }

void InterfaceWatch::close_socket() {
    if (socket_ >= 0 && is_ours()) close(socket_);
    socket_ = -1;
}

void InterfaceWatch::forget() { close_socket(); }

bool InterfaceWatch::open_socket() {
    socket_ = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (socket_ < 0) return false;
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    socklen_t length = sizeof cookie_;
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        getsockopt(socket_, SOL_SOCKET, SO_COOKIE, &cookie_, &length) == 0) {
        return true;
    }
    close(socket_);
    socket_ = -1;
    return false;
}

bool InterfaceWatch::is_ours() const {
    uint64_t cookie = 0;
    socklen_t length = sizeof cookie;
    return getsockopt(socket_, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 && cookie == cookie_;
}

void InterfaceWatch::drain() {
    char scrap[4096];
    ssize_t received;
    do {
        received = recv(socket_, scrap, sizeof scrap, MSG_DONTWAIT);
    } while (received >= 0 || errno == EINTR || errno == ENOBUFS);
}

bool InterfaceWatch::changed() {
    if (socket_ < 0) {
        open_socket();
        return true;
    }
    char byte;
    const ssize_t received = recv(socket_, &byte, sizeof byte, MSG_DONTWAIT | MSG_PEEK);
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (is_ours()) {
        drain();
    } else {
        socket_ = -1;
        open_socket();
    }
    return true;
}

}  // namespace selvage::impl
