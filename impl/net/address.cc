// See address.h.
#include "impl/net/address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "impl/net/context_id.h"
#include "impl/text/tostr_addr.h"

namespace selvage::impl {

uint16_t SocketAddress::port() const {
    if (kind == AddressKind::IbUd) return 0;
    return ntohs(kind == AddressKind::Inet ? v4.sin_port : v6.sin6_port);
}

void SocketAddress::set_port(uint16_t port) {
    if (kind == AddressKind::IbUd) return;
    (kind == AddressKind::Inet ? v4.sin_port : v6.sin6_port) = htons(port);
}

bool SocketAddress::is_wildcard() const {
    if (kind == AddressKind::Inet) return v4.sin_addr.s_addr == htonl(INADDR_ANY);
    return kind == AddressKind::Inet6 && IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
}

size_t SocketAddress::stored_size(AddressKind kind) {
    if (kind == AddressKind::Inet) return offsetof(SocketAddress, v4) + offsetof(sockaddr_in, sin_zero);
    return kind == AddressKind::Inet6 ? offsetof(SocketAddress, v6) + sizeof(sockaddr_in6) : sizeof(SocketAddress);
}

SocketAddress SocketAddress::wildcard(AddressKind family, uint16_t port) {
    SocketAddress address;
    memset(&address.v6, 0, sizeof address.v6);
    address.kind = family;
    address.any.sa_family = family == AddressKind::Inet ? AF_INET : AF_INET6;
    address.set_port(port);
    return address;
}

bool SocketAddress::is_loopback() const {
    if (kind == AddressKind::Inet) return (ntohl(v4.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
    return kind == AddressKind::Inet6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

bool SocketAddress::same_host(const SocketAddress& other) const {
    if (kind != other.kind || kind == AddressKind::None) return false;
    if (kind == AddressKind::Inet) return v4.sin_addr.s_addr == other.v4.sin_addr.s_addr;
    if (kind == AddressKind::IbUd) return memcmp(ib.gid, other.ib.gid, sizeof ib.gid) == 0;
    const bool scoped = v6.sin6_scope_id && other.v6.sin6_scope_id;
    if (scoped && v6.sin6_scope_id != other.v6.sin6_scope_id) return false;
    return memcmp(&v6.sin6_addr, &other.v6.sin6_addr, sizeof v6.sin6_addr) == 0;
}

bool SocketAddress::same_endpoint(const SocketAddress& other) const {
    if (!same_host(other)) return false;
    return kind == AddressKind::IbUd ? ib.queue_pair == other.ib.queue_pair : port() == other.port();
}

bool SocketAddress::names_endpoint() const {
    if (kind != AddressKind::IbUd) return !is_wildcard() && port() != 0;
    constexpr uint8_t kNoGid[sizeof ib.gid] = {};
    return ib.queue_pair && ib.queue_pair <= kQueuePairMax && memcmp(ib.gid, kNoGid, sizeof kNoGid) != 0;
}

namespace {

struct Scheme {
    std::string_view name;
    uint32_t format;
};

constexpr Scheme kSchemes[] = {
    {"fi_sockaddr", FI_SOCKADDR},
    {"fi_sockaddr_in", FI_SOCKADDR_IN},
    {"fi_sockaddr_in6", FI_SOCKADDR_IN6},
    {"fi_shm", FI_ADDR_STR},
};

const Scheme* find_scheme(std::string_view name) {
    for (const Scheme& scheme : kSchemes) {
        if (scheme.name == name) return &scheme;
    }
    return nullptr;
}

bool parse_port(std::string_view text, uint16_t* port) {
    if (text.empty()) return true;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *port);
    return error == std::errc() && end == text.data() + text.size();
}

bool copy_host(std::string_view host, char (&buffer)[INET6_ADDRSTRLEN + IF_NAMESIZE]) {
    if (host.size() >= sizeof buffer) return false;
    memcpy(buffer, host.data(), host.size());
    buffer[host.size()] = '\0';
    return true;
}

bool parse_v4(const char* host, SocketAddress* out) {
    if (inet_pton(AF_INET, host, &out->v4.sin_addr) != 1) return false;
    out->kind = AddressKind::Inet;
    out->v4.sin_family = AF_INET;
    return true;
}

bool parse_scope(const char* text, uint32_t* scope) {
    *scope = if_nametoindex(text);
    if (*scope) return true;
    const std::string_view digits(text);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *scope);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
}

bool parse_v6(char* host, SocketAddress* out) {
    char* percent = strchr(host, '%');
    if (percent) *percent = '\0';
    if (inet_pton(AF_INET6, host, &out->v6.sin6_addr) != 1) return false;
    uint32_t scope = 0;
    if (percent && !parse_scope(percent + 1, &scope)) return false;
    out->v6.sin6_scope_id = scope;
    out->kind = AddressKind::Inet6;
    out->v6.sin6_family = AF_INET6;
    return true;
}

// "host", "host:port", "[v6]:port", ":port", "" ; what follows '/' or '?' carries nothing that this library uses.
bool split_host_port(std::string_view text, std::string_view* host, std::string_view* port) {
    text = text.substr(0, text.find_first_of("/?"));
    *port = {};
    if (!text.empty() && text.front() == '[') {
        const size_t close = text.find(']');
        if (close == std::string_view::npos) return false;
        *host = text.substr(1, close - 1);
        text.remove_prefix(close + 1);
        if (text.empty()) return true;
        if (text.front() != ':') return false;
        *port = text.substr(1);
        return true;
    }
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        *host = text;
        return true;
    }
    *host = text.substr(0, colon);
    *port = text.substr(colon + 1);
    return true;
}

bool parse_socket_text(uint32_t format, std::string_view rest, ParsedAddress* out) {
    std::string_view host, port_text;
    uint16_t port = 0;
    if (!split_host_port(rest, &host, &port_text) || !parse_port(port_text, &port)) return false;
    if (host.empty()) {
        out->any_host = true;
        out->socket.kind = format == FI_SOCKADDR_IN6 ? AddressKind::Inet6 : AddressKind::Inet;
        out->socket.any.sa_family = format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET;
        out->socket.set_port(port);
        return true;
    }
    char buffer[INET6_ADDRSTRLEN + IF_NAMESIZE];
    if (!copy_host(host, buffer)) return false;
    const bool parsed = (format != FI_SOCKADDR_IN6 && parse_v4(buffer, &out->socket)) ||
                        (format != FI_SOCKADDR_IN && parse_v6(buffer, &out->socket));
    if (!parsed) return false;
    out->socket.set_port(port);
    out->kind = out->socket.kind;
    return true;
}

bool read_raw_socket(const void* bytes, size_t length, ParsedAddress* out) {
    sa_family_t family;
    if (length < offsetof(sockaddr, sa_family) + sizeof family) return false;
    memcpy(&family, static_cast<const char*>(bytes) + offsetof(sockaddr, sa_family), sizeof family);
    if (family == AF_INET && length >= sizeof(sockaddr_in)) {
        memcpy(&out->socket.v4, bytes, sizeof(sockaddr_in));
        out->kind = out->socket.kind = AddressKind::Inet;
        return true;
    }
    if (family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
        memcpy(&out->socket.v6, bytes, sizeof(sockaddr_in6));
        out->kind = out->socket.kind = AddressKind::Inet6;
        return true;
    }
    return false;
}

bool read_raw_ib(const void* bytes, size_t length, ParsedAddress* out) {
    if (length < sizeof(IbAddress)) return false;
    memcpy(&out->socket.ib, bytes, sizeof(IbAddress));
    out->kind = out->socket.kind = AddressKind::IbUd;
    return true;
}

std::string_view bounded_text(const void* bytes, size_t length) {
    const auto* text = static_cast<const char*>(bytes);
    return {text, strnlen(text, length)};
}

}  // namespace

bool looks_like_text_address(std::string_view text) {
    if (!text.starts_with("fi_")) return false;
    return text.find("://") != std::string_view::npos || find_scheme(text) != nullptr;
}

bool parse_text_address(std::string_view text, ParsedAddress* out) {
    *out = {};
    const size_t separator = text.find("://");
    const Scheme* scheme = find_scheme(text.substr(0, separator));
    if (!scheme) return false;
    out->format = scheme->format;
    const std::string_view rest = separator == std::string_view::npos ? std::string_view() : text.substr(separator + 3);
    if (scheme->format != FI_ADDR_STR) return parse_socket_text(scheme->format, rest, out);
    out->kind = AddressKind::Shm;
    return make_shm_text(rest, out->shm);
}

bool read_address(uint32_t format, const void* bytes, size_t length, ParsedAddress* out) {
    *out = {};
    if (!bytes || length == 0) return false;
    if (format == FI_ADDR_STR) return parse_text_address(bounded_text(bytes, length), out);
    if (format == FI_FORMAT_UNSPEC) {
        const std::string_view text = bounded_text(bytes, std::min(length, kAddressBytesMax));
        if (looks_like_text_address(text)) return parse_text_address(text, out);
    }
    if (format == FI_ADDR_IB_UD) return read_raw_ib(bytes, length, out);
    if (!read_raw_socket(bytes, length, out)) return false;
    if (format == FI_SOCKADDR_IN) return out->kind == AddressKind::Inet;
    if (format == FI_SOCKADDR_IN6) return out->kind == AddressKind::Inet6;
    return format == FI_SOCKADDR || format == FI_FORMAT_UNSPEC;
}

bool make_shm_text(std::string_view name, char (&out)[kShmTextMax]) {
    if (kShmScheme.size() + name.size() >= kShmTextMax) return false;
    const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!printable || name.find('/') != std::string_view::npos) return false;
    memcpy(out, kShmScheme.data(), kShmScheme.size());
    name.copy(out + kShmScheme.size(), name.size());  // memcpy may not be given the null pointer of an empty name
    out[kShmScheme.size() + name.size()] = '\0';
    return true;
}

size_t write_text_address(const SocketAddress& address, uint32_t scheme, char* out, size_t size) {
    if (address.kind == AddressKind::IbUd) {
        char text[kAddressBytesMax];
        TextWriter writer(text, sizeof text);
        write_address(writer, FI_ADDR_IB_UD, &address.ib, sizeof address.ib);
        return static_cast<size_t>(snprintf(out, size, "%.*s", static_cast<int>(writer.position() - text), text)) + 1;
    }
    char host[INET6_ADDRSTRLEN] = "";
    const bool v4 = address.kind == AddressKind::Inet;
    const void* raw = v4 ? static_cast<const void*>(&address.v4.sin_addr) : &address.v6.sin6_addr;
    inet_ntop(v4 ? AF_INET : AF_INET6, raw, host, sizeof host);
    char zone[16] = "";
    if (!v4 && address.v6.sin6_scope_id) snprintf(zone, sizeof zone, "%%%u", address.v6.sin6_scope_id);
    const char* name = scheme == FI_SOCKADDR ? "fi_sockaddr" : v4 ? "fi_sockaddr_in" : "fi_sockaddr_in6";
    char context[8];
    write_context(address.context, context);
    const int length =
        snprintf(out, size, v4 ? "%s://%s%s:%u%s" : "%s://[%s%s]:%u%s", name, host, zone, address.port(), context);
    return static_cast<size_t>(length) + 1;
}

}  // namespace selvage::impl
