// See interfaces.h.
#include "impl/core/interfaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace selvage::impl {
namespace {

long link_speed(const char* interface) {
    char path[64];
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", interface);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[24] = {};
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? std::max(0L, strtol(text, nullptr, 10)) : 0;
}

unsigned prefix_length(const sockaddr* mask) {
    if (!mask) return 0;
    if (mask->sa_family == AF_INET) {
        return static_cast<unsigned>(std::popcount(reinterpret_cast<const sockaddr_in*>(mask)->sin_addr.s_addr));
    }
    unsigned bits = 0;
    for (const uint8_t byte : reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr.s6_addr) {
        bits += static_cast<unsigned>(std::popcount(byte));
    }
    return bits;
}

bool usable(const ifaddrs& entry) {
    if (!entry.ifa_addr || !(entry.ifa_flags & IFF_UP)) return false;
    return entry.ifa_addr->sa_family == AF_INET || entry.ifa_addr->sa_family == AF_INET6;
}

void fill(const ifaddrs& entry, InterfaceAddress* out) {
    new (out) InterfaceAddress{};
    snprintf(out->name, sizeof out->name, "%s", entry.ifa_name);
    out->index = if_nametoindex(entry.ifa_name);
    out->loopback = entry.ifa_flags & IFF_LOOPBACK;
    out->speed = out->loopback ? 0 : link_speed(entry.ifa_name);
    out->prefix = prefix_length(entry.ifa_netmask);
    if (entry.ifa_addr->sa_family == AF_INET) {
        out->address.kind = AddressKind::kInet;
        memcpy(&out->address.v4, entry.ifa_addr, sizeof(sockaddr_in));
    } else {
        out->address.kind = AddressKind::kInet6;
        memcpy(&out->address.v6, entry.ifa_addr, sizeof(sockaddr_in6));
        out->link_local = IN6_IS_ADDR_LINKLOCAL(&out->address.v6.sin6_addr);
    }
}

bool better(const InterfaceAddress& a, const InterfaceAddress& b) {
    if (a.loopback != b.loopback) return b.loopback;
    if (a.link_local != b.link_local) return b.link_local;  // of no use to who is not told the link
    if (a.speed != b.speed) return a.speed > b.speed;
    if (a.index != b.index) return a.index < b.index;
    return a.address.kind < b.address.kind;
}

// A machine that lets nobody ask has no interfaces to offer. What may pass (no descriptor, no memory; the C library
// does not always say which) is an error of the call.
int cannot_list(int error) {
    switch (error) {
        case EAFNOSUPPORT:
        case EPROTONOSUPPORT:
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
    ifaddrs* all = nullptr;
    errno = 0;
    if (getifaddrs(&all)) return cannot_list(errno);
    size_t usable_count = 0;
    for (const ifaddrs* entry = all; entry; entry = entry->ifa_next) usable_count += usable(*entry);
    auto* list = static_cast<InterfaceAddress*>(calloc(usable_count ? usable_count : 1, sizeof(InterfaceAddress)));
    if (!list) {
        freeifaddrs(all);
        return -FI_ENOMEM;
    }
    size_t filled = 0;
    for (const ifaddrs* entry = all; entry; entry = entry->ifa_next) {
        if (usable(*entry)) fill(*entry, &list[filled++]);
    }
    freeifaddrs(all);
    // Insertion sort: stable, allocates nothing, and the list is short.
    for (size_t i = 1; i < filled; ++i) {
        for (size_t j = i; j > 0 && better(list[j], list[j - 1]); --j) std::swap(list[j], list[j - 1]);
    }
    *out = list;
    *count = filled;
    return 0;
}

void write_subnet(const SocketAddress& address, unsigned prefix, char* out, size_t size) {
    const bool v4 = address.kind == AddressKind::kInet;
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
