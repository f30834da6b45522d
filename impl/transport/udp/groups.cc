// See groups.h.
#include "impl/transport/udp/groups.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "impl/base/create.h"
#include "impl/events/eq.h"
#include "impl/transport/net/sockets.h"
#include "impl/transport/udp/udp_path.h"

namespace selvage::impl::udp {
namespace {

int set_option(int socket, int level, int option, const void* value, socklen_t size) {
    return setsockopt(socket, level, option, value, size) ? -errno : 0;
}
int set_option(int socket, int level, int option, int value) {
    return set_option(socket, level, option, &value, sizeof value);
}

ip_mreqn membership(const Domain& domain) {
    ip_mreqn request{};
    request.imr_ifindex = static_cast<int>(domain.interface);
    return request;
}

int join_socket(int socket, const SocketAddress& group, const Domain& domain) {
    if (group.kind == AddressKind::Inet) {
        ip_mreqn request = membership(domain);
        request.imr_multiaddr = group.v4.sin_addr;
        return set_option(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
    }
    ipv6_mreq request{};
    request.ipv6mr_multiaddr = group.v6.sin6_addr;
    request.ipv6mr_interface = domain.interface;
    return set_option(socket, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &request, sizeof request);
}

bool is_group(const SocketAddress& address) {
    if (!address.port()) return false;
    return address.kind == AddressKind::Inet ? IN_MULTICAST(ntohl(address.v4.sin_addr.s_addr))
                                             : IN6_IS_ADDR_MULTICAST(&address.v6.sin6_addr);
}

// The address of a group, in the format of the endpoint.
bool read_group(const Domain& domain, const void* bytes, SocketAddress* out) {
    const size_t size = domain.addr_format == FI_ADDR_STR ? strnlen(static_cast<const char*>(bytes), kAddressBytesMax)
                                                          : domain.source.length();
    ParsedAddress parsed;
    if (!read_address(domain.addr_format, bytes, size, &parsed) || parsed.any_host) return false;
    if (parsed.kind != domain.kind || !is_group(parsed.socket)) return false;
    *out = parsed.socket;
    if (out->kind == AddressKind::Inet6) out->v6.sin6_scope_id = domain.interface;
    return true;
}

int close_group(fid* descriptor) {
    auto* group = object_of<Group>(descriptor);
    group->path->leave(*group);
    group->endpoint->uses.release();
    destroy(group);
    return 0;
}

constexpr fi_ops kGroupOps = make_fid_ops(close_group);

}  // namespace

fi_addr_t GroupList::add(Group& group) {
    Group** free_place = std::find(list_, list_ + size_, nullptr);
    if (free_place == list_ + size_) {
        auto** larger = static_cast<Group**>(realloc(list_, (size_ + 1) * sizeof *list_));
        if (!larger) return FI_ADDR_NOTAVAIL;
        list_ = larger;
        free_place = list_ + size_++;
    }
    *free_place = &group;
    return static_cast<fi_addr_t>(free_place - list_);
}

void GroupList::remove(const Group& group) {
    std::replace(list_, list_ + size_, const_cast<Group*>(&group), static_cast<Group*>(nullptr));
    while (size_ && !list_[size_ - 1]) --size_;
}

int choose_interface(int socket, const Domain& domain) {
    if (domain.kind == AddressKind::Inet) {
        const ip_mreqn request = membership(domain);
        (void)set_option(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0);
        return set_option(socket, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
    }
    (void)set_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);  // a kernel before 4.20 does not know it
    return set_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(domain.interface));
}

int open_group(const SocketAddress& group, const Domain& domain, int* out) {
    const int socket = ::socket(group.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return -errno;
    int error = set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    if (!error) error = choose_interface(socket, domain);
    if (!error && bind(socket, &group.any, static_cast<socklen_t>(group.length()))) error = -errno;
    if (!error) error = join_socket(socket, group, domain);
    if (error) {
        ::close(socket);
        return error;
    }
    *out = socket;
    return 0;
}

// What an endpoint is not able to do it cannot join a group for.
int UdpPath::join(const void* address, uint64_t flags, fid_mc** result, void* context) {
    const bool can_send = endpoint_->tx.caps & FI_SEND, can_receive = endpoint_->rx.caps & FI_RECV;
    if (!address || !result) return -FI_EINVAL;
    if (flags & ~(FI_SEND | FI_RECV)) return -FI_EBADFLAGS;
    if (((flags & FI_SEND) && !can_send) || ((flags & FI_RECV) && !can_receive)) return -FI_EINVAL;
    EventQueue* queue = endpoint_->eq ? endpoint_->eq : endpoint_->domain->eq;
    if (!queue) return -FI_ENOEQ;
    auto* group = create<Group>();
    if (!group) return -FI_ENOMEM;
    const auto refuse = [&](int error) {
        destroy(group);
        return error;
    };
    if (!read_group(*endpoint_->domain, address, &group->address)) return refuse(-FI_EINVAL);
    group->path = this;
    group->endpoint = endpoint_;
    group->sends = flags ? flags & FI_SEND : can_send;
    Event* joined = make_completion(FI_JOIN_COMPLETE, &group->descriptor.fid, context, 0);
    if (!joined) return refuse(-FI_ENOMEM);
    init_fid(group->descriptor.fid, FI_CLASS_MC, context, kGroupOps);
    const int error = enter(*group, flags ? flags & FI_RECV : can_receive);
    if (error) {
        free(joined);
        return refuse(error);
    }
    *result = &group->descriptor;
    queue->push(joined);
    return 0;
}

int UdpPath::enter(Group& group, bool receives) {
    Use use(endpoint_->uses);
    if (!use) return -FI_EINVAL;
    Guard guard(*this);
    if (receives) {
        // An endpoint at every address may have the port of the group. It shares it for the moment in which the other
        // socket is bound; whoever could share it longer would be given what is sent to the endpoint.
        const bool shares = endpoint_->address.is_wildcard() && endpoint_->address.port() == group.address.port();
        if (shares) (void)set_option(socket_, SOL_SOCKET, SO_REUSEADDR, 1);
        const int error = open_group(group.address, *endpoint_->domain, &group.socket);
        if (shares) (void)set_option(socket_, SOL_SOCKET, SO_REUSEADDR, 0);
        if (error) return error;
    }
    const fi_addr_t number = groups_.add(group);
    const bool watched = receives && events_ != kUnwatched;
    if (number == FI_ADDR_NOTAVAIL || (watched && !watch(group.socket, EPOLL_CTL_ADD))) {
        groups_.remove(group);
        if (receives) ::close(group.socket);
        return -FI_ENOMEM;
    }
    group.descriptor.fi_addr = number;
    use.keep();
    return 0;
}

// Sends to the group that wait still leave.
void UdpPath::leave(const Group& group) {
    Guard guard(*this);
    groups_.remove(group);
    if (group.socket < 0) return;
    net::unwatch_socket(epoll_, group.socket);
    ::close(group.socket);
}

}  // namespace selvage::impl::udp
