// See resolve.h.
#include "impl/discovery/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace selvage::impl {
namespace {

bool add(AddressSpec* spec, const SocketAddress& address) {
    if (spec->count == AddressSpec::kMax) return false;
    for (size_t i = 0; i < spec->count; ++i) {
        if (spec->list[i].same_host(address)) return true;
    }
    spec->list[spec->count++] = address;
    spec->has_socket = true;
    return true;
}

bool from_parsed(const ParsedAddress& parsed, AddressSpec* out) {
    out->given = true;
    out->format = parsed.format;
    if (parsed.kind == AddressKind::Shm) {
        memcpy(out->shm, parsed.shm, sizeof out->shm);
        out->has_shm = true;
        return true;
    }
    if (parsed.any_host) {
        out->any_host = true;
        out->has_socket = true;
        out->port = parsed.socket.port();
        return true;
    }
    return add(out, parsed.socket);
}

bool numeric_port(std::string_view text, uint16_t* port) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *port);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Releases what getaddrinfo returned.
class AddressInfo {
public:
    ~AddressInfo() {
        if (list_) freeaddrinfo(list_);
    }
    int issue(const char* node, const char* service, int flags) {
        addrinfo hints{};
        hints.ai_flags = flags;
        hints.ai_socktype = SOCK_STREAM;
        return getaddrinfo(node, service, &hints, &list_);
    }
    const addrinfo* list() const { return list_; }

private:
    addrinfo* list_ = nullptr;
};

int port_of_service(const char* service, uint16_t* port, bool* known) {
    *known = true;
    if (!service || numeric_port(service, port)) return 0;
    *known = false;
    if (all_digits(service)) return 0;
    AddressInfo answer;
    const int error = answer.issue(nullptr, service, AI_PASSIVE);
    if (error == EAI_MEMORY) return -FI_ENOMEM;
    if (error || !answer.list()) return 0;
    *known = true;
    const sockaddr* first = answer.list()->ai_addr;
    *port = ntohs(first->sa_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(first)->sin6_port
                                               : reinterpret_cast<const sockaddr_in*>(first)->sin_port);
    return 0;
}

bool numeric_host(const char* node, SocketAddress* out) {
    if (inet_pton(AF_INET, node, &out->v4.sin_addr) == 1) {
        out->kind = AddressKind::Inet;
        out->v4.sin_family = AF_INET;
        return true;
    }
    if (strchr(node, '%') || inet_pton(AF_INET6, node, &out->v6.sin6_addr) != 1) return false;
    out->kind = AddressKind::Inet6;
    out->v6.sin6_family = AF_INET6;
    return true;
}

int hosts_of_node(const char* node, uint64_t flags, uint16_t port, AddressSpec* out) {
    SocketAddress numeric;
    if (numeric_host(node, &numeric)) {
        numeric.set_port(port);
        add(out, numeric);
        return 0;
    }
    AddressInfo answer;
    // "fe80::1%eth0" is numeric too, and the resolver knows how to read it.
    const int error = answer.issue(node, nullptr, flags & FI_NUMERICHOST ? AI_NUMERICHOST : 0);
    if (error == EAI_MEMORY) return -FI_ENOMEM;
    for (const addrinfo* entry = error ? nullptr : answer.list(); entry; entry = entry->ai_next) {
        SocketAddress address;
        if (entry->ai_family == AF_INET) {
            address.kind = AddressKind::Inet;
            memcpy(&address.v4, entry->ai_addr, sizeof address.v4);
        } else if (entry->ai_family == AF_INET6) {
            address.kind = AddressKind::Inet6;
            memcpy(&address.v6, entry->ai_addr, sizeof address.v6);
        } else {
            continue;
        }
        address.set_port(port);
        add(out, address);
    }
    return 0;
}

// Shared memory reaches this machine only, so a node counts when it is this machine under any of its names.
bool names_this_machine(const char* node, const AddressSpec& hosts, const Table* table) {
    if (!node || strcmp(node, "localhost") == 0) return true;
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) == 0 && strcmp(name, node) == 0) return true;
    for (size_t i = 0; i < hosts.count; ++i) {
        if (hosts.list[i].is_loopback() || hosts.list[i].is_wildcard()) return true;
        if (table && table->is_local(hosts.list[i])) return true;
    }
    return false;
}

void add_shm_form(const char* node, const char* service, const Table* table, AddressSpec* out) {
    if (!names_this_machine(node, *out, table)) return;
    char name[kShmTextMax] = "";
    const std::string_view tail = service ? service : "";
    if (tail.size() + 1 >= sizeof name) return;
    if (service) {
        name[0] = ':';
        memcpy(name + 1, tail.data(), tail.size());
    }
    out->has_shm = make_shm_text(name, out->shm);
}

}  // namespace

int resolve_node(const char* node, const char* service, uint64_t flags, const Table* table, AddressSpec* out) {
    *out = {};
    out->given = true;
    if (node && looks_like_text_address(node)) {
        ParsedAddress parsed;
        // A text address says everything itself: a service beside it is an error of the caller.
        if (service || !parse_text_address(node, &parsed) || !from_parsed(parsed, out)) return -FI_ENODATA;
        return 0;
    }
    bool port_known = false;
    int result = port_of_service(service, &out->port, &port_known);
    if (result) return result;
    if (node) {
        result = hosts_of_node(node, flags, out->port, out);
        if (result) return result;
    } else {
        out->any_host = true;
        out->has_socket = true;
    }
    add_shm_form(node, service, table, out);
    if (!port_known) out->has_socket = false;
    return out->has_socket || out->has_shm ? 0 : -FI_ENODATA;
}

namespace {

// `out` is as it was constructed.
int from_hint(uint32_t format, const void* bytes, size_t length, AddressSpec* out) {
    if (!bytes) return 0;
    ParsedAddress parsed;
    if (!read_address(format, bytes, length, &parsed) || !from_parsed(parsed, out)) return -FI_ENODATA;
    out->format = FI_FORMAT_UNSPEC;
    return 0;
}

}  // namespace

int resolve_addresses(Query& query, const Table& table) {
    const fi_info& hints = query.hints.info;
    const bool named = query.node || query.service;
    const bool for_source = query.flags & FI_SOURCE;
    int result = 0;
    if (named) {
        AddressSpec* side = for_source ? &query.source : &query.destination;
        result = resolve_node(query.node, query.service, query.flags, &table, side);
    }
    if (!result && !for_source) result = from_hint(hints.addr_format, hints.src_addr, hints.src_addrlen, &query.source);
    if (!result && (for_source || !named)) {
        result = from_hint(hints.addr_format, hints.dest_addr, hints.dest_addrlen, &query.destination);
    }
    return result;
}

}  // namespace selvage::impl
