// See near_name.h.
#include "impl/transport/near/near_name.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstring>

namespace selvage::impl::near {
namespace {

constexpr size_t kHostMax = 16;
constexpr size_t kNameMax = 96;

// Port, scope and host, as they are in memory: both ends are on one machine.
struct Key {
    uint16_t port;
    uint16_t unused;
    uint32_t scope;
    uint8_t host[kHostMax];
};

size_t key_bytes(AddressKind kind) { return offsetof(Key, host) + (kind == AddressKind::Inet ? 4 : kHostMax); }

int write_beginning(const Namespace& space, char (&out)[kNameMax]) {
    return snprintf(out, sizeof out, "%stcp-%llx-%llx-", kShmScheme.data(),
                    static_cast<unsigned long long>(space.device), static_cast<unsigned long long>(space.inode));
}

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool read_bytes(const char* text, uint8_t* out, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        const int high = digit_value(text[2 * i]);
        const int low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = static_cast<uint8_t>(high << 4 | low);
    }
    return true;
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
    Key key{};
    key.port = address.port();
    if (address.kind == AddressKind::Inet) {
        memcpy(key.host, &address.v4.sin_addr, 4);
    } else {
        memcpy(key.host, &address.v6.sin6_addr, kHostMax);
        key.scope = address.v6.sin6_scope_id;
    }
    char beginning[kNameMax];
    int length = write_beginning(space, beginning);
    memset(out, 0, sizeof out);
    memcpy(out, beginning, static_cast<size_t>(length));
    const auto* bytes = reinterpret_cast<const uint8_t*>(&key);
    for (size_t i = 0; i < key_bytes(address.kind); ++i) length += snprintf(out + length, 3, "%02x", bytes[i]);
    return true;
}

bool read_name(const Namespace& space, const char (&text)[kShmTextMax], SocketAddress* out) {
    char beginning[kNameMax];
    const auto skipped = static_cast<size_t>(write_beginning(space, beginning));
    const size_t length = strnlen(text, sizeof text);
    if (length < skipped || memcmp(text, beginning, skipped) != 0) return false;
    const size_t digits = length - skipped;
    const bool v4 = digits == 2 * key_bytes(AddressKind::Inet);
    if (!v4 && digits != 2 * key_bytes(AddressKind::Inet6)) return false;
    Key key{};
    if (!read_bytes(text + skipped, reinterpret_cast<uint8_t*>(&key), digits / 2)) return false;
    SocketAddress address = SocketAddress::wildcard(v4 ? AddressKind::Inet : AddressKind::Inet6, key.port);
    if (v4) {
        memcpy(&address.v4.sin_addr, key.host, 4);
    } else {
        memcpy(&address.v6.sin6_addr, key.host, kHostMax);
        address.v6.sin6_scope_id = key.scope;
    }
    // One address has one name.
    char again[kShmTextMax];
    if (!write_name(space, address, again) || memcmp(again, text, length + 1) != 0) return false;
    *out = address;
    return true;
}

}  // namespace selvage::impl::near
