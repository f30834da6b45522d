// See watch.h.
#include "impl/net/watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
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

namespace {

// Of routes, those that interfaces are ordered by (interfaces.cc). A router has many others, which come and go.
bool matters(const char* bytes, size_t size) {
    constexpr unsigned kLongestDefault = 3;
    nlmsghdr header;
    rtmsg route;
    if (size < NLMSG_LENGTH(sizeof route)) return true;
    memcpy(&header, bytes, sizeof header);
    if (header.nlmsg_type != RTM_NEWROUTE && header.nlmsg_type != RTM_DELROUTE) return true;
    memcpy(&route, bytes + NLMSG_LENGTH(0), sizeof route);
    return route.rtm_dst_len <= kLongestDefault;
}

}  // namespace

// Each message is a datagram. More than the socket had room for (ENOBUFS) may have been anything.
bool InterfaceWatch::drain() {
    char message[4096];
    bool changed = false;
    for (;;) {
        const ssize_t received = recv(socket_, message, sizeof message, MSG_DONTWAIT);
        if (received >= 0) {
            changed = changed || matters(message, static_cast<size_t>(received));
        } else if (errno == ENOBUFS) {
            changed = true;
        } else if (errno != EINTR) {
            return changed;
        }
    }
}

bool InterfaceWatch::changed() {
    if (socket_ < 0) {
        open_socket();
        return true;
    }
    char byte;
    const ssize_t received = recv(socket_, &byte, sizeof byte, MSG_DONTWAIT | MSG_PEEK);
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (is_ours()) return drain();
    socket_ = -1;
    open_socket();
    return true;
}

}  // namespace selvage::impl
