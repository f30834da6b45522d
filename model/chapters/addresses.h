// Socket addresses inside of raw bytes, and nodes as the caller spells them.
//
// Invariants: nothing is resolved and no system call is made; what cannot be known from the text alone is `Name`.  Only
// chapters include this file.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "model/chapters/rules.h"

namespace selvage::model::rules {

inline constexpr unsigned kInfinibandFamily = 27;  // AF_IB
inline constexpr std::size_t kInfinibandLength = 48;

/// The host of an address: 4 bytes, 16 bytes, or none where it is no IP address.
using Host = std::string;

/// The address family that raw bytes begin with; 0 where there are none.
inline unsigned family_of(const Text& bytes) {
    sa_family_t family = 0;
    if (!bytes || bytes->size() < sizeof family) return 0;
    std::memcpy(&family, bytes->data(), sizeof family);
    return family;
}

/// The number of bytes of a socket address of a family; 0 where the family is none that the page names.
inline std::size_t length_of_family(unsigned family) {
    switch (family) {
        case AF_INET:
            return sizeof(sockaddr_in);
        case AF_INET6:
            return sizeof(sockaddr_in6);
        case kInfinibandFamily:
            return kInfinibandLength;
        default:
            return 0;
    }
}

inline bool is_ip(const Text& bytes) {
    const auto family = family_of(bytes);
    return (family == AF_INET || family == AF_INET6) && bytes->size() >= length_of_family(family);
}

struct Span {
    std::size_t at, size;
};
inline Span host_span(const Text& ip) {
    return family_of(ip) == AF_INET ? Span{offsetof(sockaddr_in, sin_addr), 4}
                                    : Span{offsetof(sockaddr_in6, sin6_addr), 16};
}

inline Host host_of(const Text& bytes) {
    if (!is_ip(bytes)) return {};
    const auto s = host_span(bytes);
    return bytes->substr(s.at, s.size);
}

/// Port of an IP address, in host order.
inline unsigned port_of(const Text& ip) {
    in_port_t port = 0;
    std::memcpy(&port, ip->data() + offsetof(sockaddr_in, sin_port), sizeof port);  // the same place in both families
    return ntohs(port);
}

inline Text with_host(Text ip, const Host& host) {
    const auto s = host_span(ip);
    return ip->replace(s.at, s.size, host);
}

inline Text with_port(Text ip, unsigned port) {
    const in_port_t wire = htons(static_cast<in_port_t>(port));
    std::memcpy(ip->data() + offsetof(sockaddr_in, sin_port), &wire, sizeof wire);
    return ip;
}

inline Text with_family(Text bytes, unsigned family) {
    const auto wire = static_cast<sa_family_t>(family);
    std::memcpy(bytes->data(), &wire, sizeof wire);
    return bytes;
}

/// Do these two link-local addresses name different links?  Their hosts alone do not tell.
inline bool on_other_links(const Text& a, const Text& b) {
    if (!is_ip(a) || !is_ip(b) || family_of(a) != AF_INET6 || family_of(b) != AF_INET6) return false;
    sockaddr_in6 one{};
    sockaddr_in6 two{};
    std::memcpy(&one, a->data(), sizeof one);
    std::memcpy(&two, b->data(), sizeof two);
    return IN6_IS_ADDR_LINKLOCAL(&one.sin6_addr) && one.sin6_scope_id != 0 && two.sin6_scope_id != 0 &&
           one.sin6_scope_id != two.sin6_scope_id;
}

/// A host of all zeros stands for any.
inline bool is_any(const Host& host) { return host.find_first_not_of('\0') == Host::npos; }

/// What a node is, as far as its spelling shows.
enum class NodeKind { None, Numeric, String, Unresolvable, Name };

struct Node {
    NodeKind kind = NodeKind::None;
    Host host;  ///< of a numeric node
};

inline Node read_node(const Text& node) {
    if (!node) return {};
    char raw[16];
    if (inet_pton(AF_INET, node->c_str(), raw) == 1) return {NodeKind::Numeric, Host(raw, 4)};
    if (inet_pton(AF_INET6, node->c_str(), raw) == 1) return {NodeKind::Numeric, Host(raw, 16)};
    if (node->starts_with("fi_") && node->find("://") != std::string::npos) return {NodeKind::String, {}};
    constexpr std::string_view kReserved = ".invalid";  // RFC 6761: nobody has such a name
    if (node->ends_with(kReserved)) return {NodeKind::Unresolvable, {}};
    return {NodeKind::Name, {}};
}

/// The port that a service names in digits, or -1.
inline int read_port(const Text& service) {
    if (!service || service->empty() || service->size() > 5) return -1;
    int port = 0;
    for (const char ch : *service) {
        if (ch < '0' || ch > '9') return -1;
        port = port * 10 + (ch - '0');
    }
    return port <= 0xFFFF ? port : -1;
}

/// A service that is a number, and larger than any port.
inline bool is_beyond_ports(const Text& service) {
    if (!service || service->find_first_not_of("0123456789") != std::string::npos) return false;
    const auto first = service->find_first_not_of('0');
    const std::string_view digits = std::string_view(*service).substr(std::min(first, service->size()));
    return digits.size() > 5 || (digits.size() == 5 && digits > "65535");
}

inline bool is_socket_format(std::uint64_t format) {
    return format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6 || format == FI_SOCKADDR_IB;
}
inline bool is_ip_format(std::uint64_t format) { return is_socket_format(format) && format != FI_SOCKADDR_IB; }

/// Where a host stands to the network that an IPv4 fabric is named after ("192.0.2.0/24").
enum class Place { Unknown, Inside, Outside };

inline Place place_in(const Text& network, const Host& host) {
    if (!network || host.size() != 4) return Place::Unknown;
    const auto cut = network->find('/');
    in_addr base{};
    if (cut == std::string::npos || inet_pton(AF_INET, network->substr(0, cut).c_str(), &base) != 1)
        return Place::Unknown;
    const int width = read_port(network->substr(cut + 1));
    if (width < 1 || width > 32) return Place::Unknown;
    in_addr_t other = 0;
    std::memcpy(&other, host.data(), sizeof other);
    const auto mask = static_cast<in_addr_t>(~0ULL << (32 - width));
    return ((ntohl(base.s_addr) ^ ntohl(other)) & mask) == 0 ? Place::Inside : Place::Outside;
}

/// Is this a host of this machine?  Loopback and wildcard addresses are of every machine; groups are of none, and so is
/// what only a mapping would tell.
enum class Owner { Unknown, Ours, Others };

inline bool is_loopback(const Host& host) {
    if (host.size() == 4) return host[0] == 127;
    return host.size() == 16 && host.find_first_not_of('\0') == 15 && host[15] == 1;
}

inline Owner owner_of(const World& world, const Host& host) {
    const auto& own = world.own_hosts;
    if (own.empty() || host.empty()) return Owner::Unknown;
    if (is_any(host) || is_loopback(host) || std::find(own.begin(), own.end(), host) != own.end()) return Owner::Ours;
    if (host.size() == 4) {
        const auto first = static_cast<unsigned char>(host[0]);
        return first >= 224 ? Owner::Unknown : Owner::Others;
    }
    in6_addr v6{};
    std::memcpy(&v6, host.data(), sizeof v6);
    const bool plain = !IN6_IS_ADDR_MULTICAST(&v6) && !IN6_IS_ADDR_V4MAPPED(&v6) && !IN6_IS_ADDR_V4COMPAT(&v6);
    return plain ? Owner::Others : Owner::Unknown;
}

/// An offer that was given, to a call that asked for a local address: no machine has another's.
inline Fit local_granted(const MatchCase& c, const Host& host, Evidence evidence) {
    if (!is_ip_format(c.granted->addr_format) || owner_of(c.world, host) != Owner::Others) return Fit::fits();
    evidence.note = "is no address of this machine, and was granted as a local one";
    return Fit::no(std::move(evidence));
}

/// An offer that was given, to a call that asked for a way to `host`.  FI_LOCAL_COMM alone reaches this machine alone,
/// FI_REMOTE_COMM alone others alone; and from a loopback address nobody else is reached.  Who asks for one of the two
/// words by name may get that one alone from an endpoint that has both: secondary capabilities need not be reported.
inline Fit remote_granted(const MatchCase& c, const Host& host) {
    const Info& offer = *c.granted;
    const auto owner = owner_of(c.world, host);
    if (!is_ip_format(offer.addr_format) || is_any(host) || owner == Owner::Unknown) return Fit::fits();
    constexpr std::uint64_t kWays = FI_LOCAL_COMM | FI_REMOTE_COMM;
    const auto ways = (requested(c.query, Field::caps) & kWays) != 0 ? kWays : offer.caps & kWays;
    if (owner == Owner::Others && ways == FI_LOCAL_COMM) {
        return Fit::no(number(Field::caps, Relation::Contains, FI_REMOTE_COMM, offer.caps,
                              "the destination is another machine's, and the offer reaches this one alone"));
    }
    if (owner == Owner::Ours && ways == FI_REMOTE_COMM) {
        return Fit::no(number(Field::caps, Relation::Contains, FI_LOCAL_COMM, offer.caps,
                              "the destination is this machine's, and the offer reaches others alone"));
    }
    if (owner == Owner::Others && is_loopback(host_of(offer.src_addr))) {
        return Fit::no(texts(Field::src_addr, Relation::Differs, offer.src_addr, offer.src_addr,
                             "the destination is another machine's, and nobody is reached from a loopback address"));
    }
    return Fit::fits();
}

/// match: is `host` an address of this side?  An entry holds the address that it was seen with.  A declared fabric that
/// is named after a network holds no address outside it, and any inside where nothing was seen of it.
inline Fit fit_local(const MatchCase& c, const Host& host, Evidence evidence) {
    if (c.granted != nullptr) return local_granted(c, host, std::move(evidence));
    const Info& offer = c.entry.offer;
    if (!is_ip_format(offer.addr_format) || is_any(host)) return Fit::may(std::move(evidence));
    if (c.profile.origin == Origin::Inferred) {
        return host_of(offer.src_addr) == host ? Fit::fits() : Fit::may(std::move(evidence));
    }
    if (offer.src_addr && host_of(offer.src_addr) == host) return Fit::fits();
    switch (place_in(offer.fabric.name, host)) {
        case Place::Inside:
            return offer.src_addr ? Fit::may(std::move(evidence)) : Fit::fits();
        case Place::Outside:
            return Fit::no(std::move(evidence));
        default:
            return Fit::may(std::move(evidence));
    }
}

/// match: can `host` be reached?  Told for certain only of the own network (declared) or of the own address (inferred).
inline Fit fit_remote(const MatchCase& c, const Host& host, Evidence evidence) {
    if (c.granted != nullptr) return remote_granted(c, host);
    const Info& offer = c.entry.offer;
    if (!is_ip_format(offer.addr_format) || is_any(host)) return Fit::may(std::move(evidence));
    if (c.profile.origin == Origin::Inferred) {
        const auto ways = offer.caps & (FI_LOCAL_COMM | FI_REMOTE_COMM);
        const bool reaches_itself = ways == 0 || (ways & FI_LOCAL_COMM) != 0;
        return reaches_itself && host_of(offer.src_addr) == host ? Fit::fits() : Fit::may(std::move(evidence));
    }
    return place_in(offer.fabric.name, host) == Place::Inside ? Fit::fits() : Fit::may(std::move(evidence));
}

/// Do the members src_addr and dest_addr of the hints count in this call?
inline bool src_counts(const Query& q) {
    return q.hints && q.hints->src_addr && (q.flags & FI_SOURCE) == 0 && !names_only(q);
}
inline bool dest_counts(const Query& q) {
    return q.hints && q.hints->dest_addr && ((!q.node && !q.service) || (q.flags & FI_SOURCE) != 0) && !names_only(q);
}

/// The bytes of a hint's address that its length lets count.
inline Text counted(const Text& bytes, std::uint64_t length) {
    return bytes && length < bytes->size() ? Text(bytes->substr(0, length)) : bytes;
}
inline Text src_hint(const Query& q) { return counted(q.hints->src_addr, q.hints->src_addrlen); }
inline Text dest_hint(const Query& q) { return counted(q.hints->dest_addr, q.hints->dest_addrlen); }

/// Can these bytes be an address of that format?
inline bool agrees(const Text& bytes, std::uint64_t format) {
    const auto family = family_of(bytes);
    const auto fits = [&](unsigned f) { return family == f && bytes->size() >= length_of_family(f); };
    switch (format) {
        case FI_SOCKADDR_IN:
            return fits(AF_INET);
        case FI_SOCKADDR_IN6:
            return fits(AF_INET6);
        case FI_SOCKADDR_IB:
            return fits(kInfinibandFamily);
        case FI_SOCKADDR:
            return length_of_family(family) != 0 && fits(family);
        case FI_FORMAT_UNSPEC:
            return is_ip(bytes);
        case FI_ADDR_STR:
            return bytes->find('\0') != std::string::npos;
        default:
            return true;
    }
}

/// Does the hints' address of that side count, without being one of their format?  What comes of it in the answer is
/// the caller's mistake; that it was granted is judged by the call rules.
inline bool hint_is_malformed(const Query& q, Field address) {
    const bool src = address == Field::src_addr;
    if (src ? !src_counts(q) : !dest_counts(q)) return false;
    return !agrees(src ? src_hint(q) : dest_hint(q), q.hints->addr_format);
}
inline bool some_hint_is_malformed(const Query& q) {
    return hint_is_malformed(q, Field::src_addr) || hint_is_malformed(q, Field::dest_addr);
}

}  // namespace selvage::model::rules
