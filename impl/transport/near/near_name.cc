// See near_name.h.
#include "impl/transport/near/near_name.h"

#include <endian.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>

#include "impl/net/context_id.h"

namespace selvage::impl::near {
namespace {

// Returns the length.
size_t write_beginning(const Namespace& space, char (&out)[kShmTextMax]) {
    memset(out, 0, sizeof out);
    return static_cast<size_t>(snprintf(out, sizeof out, "%stcp-%llx-%llx-", kShmScheme.data(),
                                        static_cast<unsigned long long>(space.device),
                                        static_cast<unsigned long long>(space.inode)));
}

struct Halves {
    unsigned long long high, low;
};

Halves host_of(const sockaddr_in6& address) {
    uint64_t words[2];
    memcpy(words, &address.sin6_addr, sizeof words);
    return {be64toh(words[0]), be64toh(words[1])};
}

void set_host(sockaddr_in6* address, const Halves& host) {
    const uint64_t words[2] = {htobe64(host.high), htobe64(host.low)};
    memcpy(&address->sin6_addr, words, sizeof words);
}

}  // namespace

bool Namespace::current(Namespace* out) {
    struct stat status {};
    if (stat("/proc/thread-self/ns/net", &status)) return false;
    *out = {.device = status.st_dev, .inode = status.st_ino};
    return true;
}

bool write_name(const Namespace& space, const SocketAddress& address, char (&out)[kShmTextMax]) {
    if (address.kind != AddressKind::Inet && address.kind != AddressKind::Inet6) return false;
    if (address.is_wildcard() || !address.port()) return false;
    const size_t begun = write_beginning(space, out);
    if (address.kind == AddressKind::Inet) {
        snprintf(out + begun, sizeof out - begun, "4-%x-%x", address.port(), ntohl(address.v4.sin_addr.s_addr));
    } else {
        const Halves host = host_of(address.v6);
        snprintf(out + begun, sizeof out - begun, "6-%x-%x-%llx-%llx", address.port(), address.v6.sin6_scope_id,
                 host.high, host.low);
    }
    return add_context(address.context, out);
}

bool read_name(const Namespace& space, const char (&text)[kShmTextMax], SocketAddress* out) {
    char again[kShmTextMax], plain[kShmTextMax];
    uint16_t context;
    memcpy(plain, text, sizeof plain);
    if (!take_context(plain, &context)) return false;
    const size_t begun = write_beginning(space, again);
    const size_t length = strnlen(text, sizeof text);
    if (length == sizeof text || length < begun || memcmp(text, again, begun) != 0) return false;
    uint16_t port;
    uint32_t number;  // host or scope
    Halves host;
    SocketAddress address;
    if (sscanf(plain + begun, "4-%hx-%x", &port, &number) == 2) {
        address = SocketAddress::wildcard(AddressKind::Inet, port);
        address.v4.sin_addr.s_addr = htonl(number);
    } else if (sscanf(plain + begun, "6-%hx-%x-%llx-%llx", &port, &number, &host.high, &host.low) == 4) {
        address = SocketAddress::wildcard(AddressKind::Inet6, port);
        address.v6.sin6_scope_id = number;
        set_host(&address.v6, host);
    } else {
        return false;
    }
    address.context = context;
    // One address has one name: whatever else was understood is none.
    if (!write_name(space, address, again) || strcmp(again, text) != 0) return false;
    *out = address;
    return true;
}

}  // namespace selvage::impl::near
