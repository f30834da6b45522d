// See interfaces.h. Links, addresses and default routes come from one routing socket; getifaddrs(3) would ask the same
// and not say what a link is.
#include "impl/net/interfaces.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "impl/net/route_socket.h"

namespace selvage::impl {
namespace {

// Every address of the machine, in the kernel's order.
class AddressList final : public RouteSocket::Visitor {
public:
    AddressList() = default;
    ~AddressList() { free(list_); }
    AddressList(const AddressList&) = delete;
    AddressList& operator=(const AddressList&) = delete;

    void visit(const nlmsghdr& message) override {
        if (message.nlmsg_type != RTM_NEWADDR || message.nlmsg_len < NLMSG_LENGTH(sizeof(ifaddrmsg))) return;
        const auto& fixed = *static_cast<const ifaddrmsg*>(NLMSG_DATA(&message));
        InterfaceAddress entry{};
        entry.index = fixed.ifa_index;
        entry.prefix = fixed.ifa_prefixlen;
        if (!read(fixed, RouteAttributes::of<ifaddrmsg>(message), &entry)) return;
        if (!grow()) return;
        entry.order = static_cast<unsigned>(count_);
        new (&list_[count_++]) InterfaceAddress(entry);
    }

    bool complete() const { return !failed_; }
    InterfaceAddress* begin() { return list_; }
    InterfaceAddress* end() { return list_ + count_; }
    size_t size() const { return count_; }
    void shrink(size_t count) { count_ = count; }
    InterfaceAddress* release() {
        InterfaceAddress* list = list_;
        list_ = nullptr;
        return list;
    }

private:
    // Of a link with a peer, IFA_ADDRESS is the peer's and IFA_LOCAL its own.
    static bool read(const ifaddrmsg& fixed, RouteAttributes attributes, InterfaceAddress* entry) {
        bool found = false, local = false;
        while (const rtattr* attribute = attributes.next()) {
            if (attribute->rta_type == IFA_LABEL) read_text(*attribute, entry->name, sizeof entry->name);
            if (attribute->rta_type != IFA_LOCAL && (attribute->rta_type != IFA_ADDRESS || local)) continue;
            if (!read_address(fixed, *attribute, entry)) continue;
            found = true;
            local = attribute->rta_type == IFA_LOCAL;
        }
        return found;
    }
    static bool read_address(const ifaddrmsg& fixed, const rtattr& attribute, InterfaceAddress* entry) {
        SocketAddress& address = entry->address;
        if (fixed.ifa_family == AF_INET) {
            address.kind = AddressKind::Inet;
            address.v4 = {};
            address.v4.sin_family = AF_INET;
            return read_attribute(attribute, &address.v4.sin_addr);
        }
        if (fixed.ifa_family != AF_INET6) return false;
        address.kind = AddressKind::Inet6;
        address.v6 = {};
        address.v6.sin6_family = AF_INET6;
        if (!read_attribute(attribute, &address.v6.sin6_addr)) return false;
        entry->link_local = IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr);
        if (entry->link_local) address.v6.sin6_scope_id = fixed.ifa_index;
        return true;
    }

    bool grow() {
        if (count_ < capacity_) return true;
        const size_t capacity = capacity_ ? capacity_ * 2 : 16;
        auto* larger =
            static_cast<InterfaceAddress*>(realloc(static_cast<void*>(list_), capacity * sizeof(InterfaceAddress)));
        if (!larger) {
            failed_ = true;
            return false;
        }
        list_ = larger;
        capacity_ = capacity;
        return true;
    }

    InterfaceAddress* list_ = nullptr;
    size_t count_ = 0;
    size_t capacity_ = 0;
    bool failed_ = false;
};

// IFLA_INFO_KIND; hardware has none.
LinkType type_of(std::string_view kind) {
    constexpr std::string_view kOnHardware[] = {"vlan", "bond", "team", "macvlan", "ipvlan", "macsec", "ipoib", "hsr"};
    if (kind.empty() || std::ranges::find(kOnHardware, kind) != std::end(kOnHardware)) return LinkType::Hardware;
    return kind == "bridge" || kind == "openvswitch" ? LinkType::Bridge : LinkType::Software;
}

// Asked of the kernel, not of /sys, which may show another network namespace.
long link_speed(const RouteSocket& socket, const char* name) {
    ethtool_cmd settings{};
    settings.cmd = ETHTOOL_GSET;
    ifreq request{};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_data = reinterpret_cast<char*>(&settings);
    if (ioctl(socket.descriptor(), SIOCETHTOOL, &request)) return 0;
    const uint32_t speed = ethtool_cmd_speed(&settings);
    return speed == static_cast<uint32_t>(SPEED_UNKNOWN) ? 0 : static_cast<long>(speed);
}

// Tells each address what its link is. REQUIRES: the list is sorted by index.
class LinkReader final : public RouteSocket::Visitor {
public:
    LinkReader(const RouteSocket& socket, AddressList& list) : socket_(socket), list_(list) {}

    void visit(const nlmsghdr& message) override {
        if (message.nlmsg_type != RTM_NEWLINK || message.nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) return;
        const auto& fixed = *static_cast<const ifinfomsg*>(NLMSG_DATA(&message));
        const auto own =
            std::ranges::equal_range(list_, static_cast<unsigned>(fixed.ifi_index), {}, &InterfaceAddress::index);
        if (own.empty() || !(fixed.ifi_flags & IFF_UP)) return;
        char name[16] = "", kind[32] = "";
        unsigned mtu = 0;
        read(RouteAttributes::of<ifinfomsg>(message), name, kind, &mtu);
        const bool loopback = fixed.ifi_flags & IFF_LOOPBACK;
        const long speed = loopback ? 0 : link_speed(socket_, name);
        for (InterfaceAddress& entry : own) {
            if (!*entry.name) memcpy(entry.name, name, sizeof name);
            entry.up = true;
            entry.running = fixed.ifi_flags & IFF_RUNNING;
            entry.loopback = loopback;
            entry.speed = speed;
            entry.mtu = mtu;
            entry.type = type_of(kind);
        }
    }

private:
    static void read(RouteAttributes attributes, char (&name)[16], char (&kind)[32], unsigned* mtu) {
        while (const rtattr* attribute = attributes.next()) {
            if (attribute->rta_type == IFLA_IFNAME) read_text(*attribute, name, sizeof name);
            if (attribute->rta_type == IFLA_MTU) (void)read_attribute(*attribute, mtu);
            if ((attribute->rta_type & NLA_TYPE_MASK) != IFLA_LINKINFO) continue;
            RouteAttributes nested(payload(*attribute), payload_size(*attribute));
            while (const rtattr* inner = nested.next()) {
                if (inner->rta_type == IFLA_INFO_KIND) read_text(*inner, kind, sizeof kind);
            }
        }
    }

    const RouteSocket& socket_;
    AddressList& list_;
};

// The link of a default route: the first of several at once. 0: none.
class DefaultRoute final : public RouteSocket::Visitor {
public:
    explicit DefaultRoute(unsigned longest_prefix) : longest_prefix_(longest_prefix) {}

    void visit(const nlmsghdr& message) override {
        if (message.nlmsg_type != RTM_NEWROUTE || message.nlmsg_len < NLMSG_LENGTH(sizeof(rtmsg))) return;
        const auto& fixed = *static_cast<const rtmsg*>(NLMSG_DATA(&message));
        if (fixed.rtm_type != RTN_UNICAST || fixed.rtm_dst_len > longest_prefix_) return;
        RouteAttributes attributes = RouteAttributes::of<rtmsg>(message);
        while (const rtattr* attribute = attributes.next()) {
            if (index) return;
            if (attribute->rta_type == RTA_OIF) (void)read_attribute(*attribute, &index);
            rtnexthop first;
            if (attribute->rta_type != RTA_MULTIPATH || payload_size(*attribute) < sizeof first) continue;
            memcpy(&first, payload(*attribute), sizeof first);
            index = static_cast<unsigned>(first.rtnh_ifindex);
        }
    }

    unsigned index = 0;

private:
    unsigned longest_prefix_;
};

// The kernel chooses among default routes (metric, rules) for an address that no other route is for: it is of a range
// that nobody was ever given. A table may have a million routes; this looks at one. What stands for a default route,
// two halves of the addresses or all that are in use, counts as one.
unsigned default_link(const RouteSocket& socket, sa_family_t family) {
    constexpr uint8_t kNobody4[4] = {240, 0, 0, 1};
    constexpr uint8_t kNobody6[16] = {0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const bool v4 = family == AF_INET;
    DefaultRoute route(v4 ? 1 : 3);
    const int error = socket.find_route(family, v4 ? static_cast<const void*>(kNobody4) : kNobody6, v4 ? 4 : 16, route);
    return error ? 0 : route.index;
}

void mark_default_routes(const RouteSocket& socket, AddressList& list) {
    const unsigned v4 = default_link(socket, AF_INET);
    const unsigned v6 = default_link(socket, AF_INET6);
    for (InterfaceAddress& entry : list) {
        const bool is_v4 = entry.address.kind == AddressKind::Inet;
        const unsigned own = is_v4 ? v4 : v6;
        entry.has_default_route = entry.index == (own ? own : is_v4 ? v6 : v4);
    }
}

bool better(const InterfaceAddress& a, const InterfaceAddress& b) {
    if (a.loopback != b.loopback) return b.loopback;
    if (a.link_local != b.link_local) return b.link_local;
    if (a.running != b.running) return a.running;
    if (a.has_default_route != b.has_default_route) return a.has_default_route;
    if (a.type != b.type) return a.type < b.type;
    if (a.speed != b.speed) return a.speed > b.speed;
    if (a.index != b.index) return a.index < b.index;
    if (a.address.kind != b.address.kind) return a.address.kind < b.address.kind;
    return a.order < b.order;
}

// A machine that lets nobody ask has no interfaces to offer. What may pass (no descriptor, no memory) is an error of
// the call.
int cannot_list(int error) {
    switch (error) {
        case EAFNOSUPPORT:
        case EPROTONOSUPPORT:
        case EOPNOTSUPP:
        case EACCES:
        case EPERM:
        case ENOSYS:
            return 0;
        case EMFILE:
        case ENFILE:
            return -FI_EMFILE;
        default:
            return -FI_ENOMEM;
    }
}

}  // namespace

int list_interfaces(InterfaceAddress** out, size_t* count) {
    *out = nullptr;
    *count = 0;
    RouteSocket socket;
    AddressList list;
    int error = socket.open();
    if (!error) error = socket.dump_addresses(list);
    if (!error && !list.complete()) error = ENOMEM;
    if (error) return cannot_list(error);
    std::ranges::sort(list, {}, &InterfaceAddress::index);
    LinkReader links(socket, list);
    error = socket.dump_links(links);
    if (error) return cannot_list(error);
    const auto gone = std::ranges::partition(list, &InterfaceAddress::up);
    list.shrink(list.size() - gone.size());
    mark_default_routes(socket, list);
    std::ranges::sort(list, better);
    *count = list.size();
    *out = list.release();
    return 0;
}

namespace {

using Interfaces = std::span<const InterfaceAddress>;

// A name stands for the interface that has it; what is the name of none, for all that begin with it.
bool is_selected_by(std::string_view item, const InterfaceAddress& interface, Interfaces all) {
    const std::string_view name = interface.name;
    const auto has_it = [&](const InterfaceAddress& each) { return item == each.name; };
    return std::ranges::any_of(all, has_it) ? item == name : !item.empty() && name.starts_with(item);
}

}  // namespace

bool is_selected(const InterfaceAddress& interface, Interfaces all, const char* names) {
    if (!names) return true;
    std::string_view rest = names;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(','), rest.size());
        if (is_selected_by(rest.substr(0, end), interface, all)) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

void write_subnet(const SocketAddress& address, unsigned prefix, char* out, size_t size) {
    const bool v4 = address.kind == AddressKind::Inet;
    uint8_t bytes[16];
    const size_t length = v4 ? 4 : 16;
    memcpy(bytes, v4 ? static_cast<const void*>(&address.v4.sin_addr) : &address.v6.sin6_addr, length);
    for (size_t bit = prefix; bit < length * 8; ++bit) {
        bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] & ~(0x80u >> (bit % 8)));
    }
    char host[INET6_ADDRSTRLEN] = "";
    inet_ntop(v4 ? AF_INET : AF_INET6, bytes, host, sizeof host);
    snprintf(out, size, "%s/%u", host, prefix);
}

}  // namespace selvage::impl
