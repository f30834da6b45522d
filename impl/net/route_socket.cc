// See route_socket.h.
#include "impl/net/route_socket.h"

#include <linux/if_link.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace selvage::impl {
namespace {

constexpr uint32_t kSkipStatistics = 1U << 3;  // RTEXT_FILTER_SKIP_STATS, half of a link's message

template <typename Fixed>
struct Request {
    nlmsghdr header{};
    Fixed fixed{};
    rtattr attribute{};
    uint8_t payload[16] = {};

    Request(uint16_t type, uint16_t flags, uint16_t attribute_type, const void* bytes, size_t size) {
        attribute.rta_type = attribute_type;
        attribute.rta_len = static_cast<uint16_t>(RTA_LENGTH(size));
        memcpy(payload, bytes, size);
        header.nlmsg_len = static_cast<uint32_t>(offsetof(Request, payload) + size);
        header.nlmsg_type = type;
        header.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
    }
};

}  // namespace

const rtattr* RouteAttributes::next() {
    if (left_ < sizeof(rtattr)) return nullptr;
    const auto* attribute = reinterpret_cast<const rtattr*>(at_);
    if (attribute->rta_len < RTA_LENGTH(0) || attribute->rta_len > left_) return nullptr;
    const size_t step = std::min<size_t>(RTA_ALIGN(attribute->rta_len), left_);
    at_ += step;
    left_ -= step;
    return attribute;
}

void read_text(const rtattr& attribute, char* out, size_t size) {
    const size_t length = strnlen(static_cast<const char*>(payload(attribute)), payload_size(attribute));
    const size_t kept = std::min(length, size - 1);
    memcpy(out, payload(attribute), kept);
    out[kept] = '\0';
}

RouteSocket::~RouteSocket() {
    if (socket_ >= 0) close(socket_);
    free(answer_);
}

int RouteSocket::open() {
    answer_ = static_cast<char*>(malloc(kAnswerBytes));
    if (!answer_) return ENOMEM;
    socket_ = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return socket_ < 0 ? errno : 0;
}

int RouteSocket::dump_links(Visitor& visitor) const {
    const Request<ifinfomsg> request(RTM_GETLINK, NLM_F_DUMP, IFLA_EXT_MASK, &kSkipStatistics, sizeof kSkipStatistics);
    return query(&request, request.header.nlmsg_len, visitor);
}

int RouteSocket::dump_addresses(Visitor& visitor) const {
    struct {
        nlmsghdr header;
        ifaddrmsg fixed;
    } request{};
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.fixed);
    request.header.nlmsg_type = RTM_GETADDR;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    return query(&request, request.header.nlmsg_len, visitor);
}

int RouteSocket::find_route(sa_family_t family, const void* address, size_t size, Visitor& visitor) const {
    Request<rtmsg> request(RTM_GETROUTE, 0, RTA_DST, address, size);
    request.fixed.rtm_family = static_cast<uint8_t>(family);
    request.fixed.rtm_dst_len = static_cast<uint8_t>(size * 8);
    request.fixed.rtm_flags = RTM_F_FIB_MATCH;
    return query(&request, request.header.nlmsg_len, visitor);
}

int RouteSocket::query(const void* request, size_t size, Visitor& visitor) const {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    const ssize_t sent =
        sendto(socket_, request, size, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&kernel), sizeof kernel);
    if (sent < 0) return errno;
    if (static_cast<size_t>(sent) != size) return EIO;
    bool done = false;
    int error = 0;
    while (!done && !error) error = receive(visitor, &done);
    return error;
}

// One part of an answer: one message, or several of which the last may say that it is the last.
int RouteSocket::receive(Visitor& visitor, bool* done) const {
    sockaddr_nl sender{};
    iovec range{.iov_base = answer_, .iov_len = kAnswerBytes};
    msghdr message{};
    message.msg_name = &sender;
    message.msg_namelen = sizeof sender;
    message.msg_iov = &range;
    message.msg_iovlen = 1;
    const ssize_t received = recvmsg(socket_, &message, MSG_DONTWAIT);
    if (received < 0) return errno == EINTR ? 0 : errno;
    if (sender.nl_pid) return 0;
    if (message.msg_flags & MSG_TRUNC) return ENOBUFS;
    size_t left = static_cast<size_t>(received);
    for (const char* at = answer_; left >= sizeof(nlmsghdr) && !*done;) {
        const auto& header = *reinterpret_cast<const nlmsghdr*>(at);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > left) return EIO;
        if (header.nlmsg_type == NLMSG_ERROR) {
            if (header.nlmsg_len < NLMSG_LENGTH(sizeof(nlmsgerr))) return EIO;
            const int error = reinterpret_cast<const nlmsgerr*>(at + NLMSG_LENGTH(0))->error;
            return error ? -error : EIO;
        }
        *done = header.nlmsg_type == NLMSG_DONE || !(header.nlmsg_flags & NLM_F_MULTI);
        if (header.nlmsg_type != NLMSG_DONE) visitor.visit(header);
        const size_t step = std::min<size_t>(NLMSG_ALIGN(header.nlmsg_len), left);
        at += step;
        left -= step;
    }
    return left && !*done ? EIO : 0;
}

}  // namespace selvage::impl
