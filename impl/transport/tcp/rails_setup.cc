// See tcp_rails.h: what is said in handshakes, and which links there are.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "impl/base/create.h"
#include "impl/net/interfaces.h"
#include "impl/transport/tcp/tcp.h"
#include "impl/transport/tcp/tcp_rails.h"

namespace selvage::impl::tcp {
namespace {

constexpr uint8_t kInvitationType = 2;
constexpr uint8_t kAsks = 0x80;  // in the first byte of a call

size_t address_size(AddressKind kind) { return kind == AddressKind::Inet ? sizeof(in_addr) : sizeof(in6_addr); }
void* address_bytes(SocketAddress& address) {
    return address.kind == AddressKind::Inet ? static_cast<void*>(&address.v4.sin_addr) : &address.v6.sin6_addr;
}

// The address that the kernel would send from; no packet is sent.
SocketAddress source_towards(const SocketAddress& to) {
    const int family = to.kind == AddressKind::Inet ? AF_INET : AF_INET6;
    const int socket = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    SocketAddress from;
    if (socket < 0) return from;
    if (connect(socket, &to.any, static_cast<socklen_t>(to.length())) == 0) from = net::local_address(socket);
    close(socket);
    return from;
}

// Addresses of one family of this machine's own, of links that are up and that the user lets the provider use; the best
// first.
class OwnAddresses {
public:
    explicit OwnAddresses(AddressKind kind) {
        if (list_interfaces(&list_, &count_)) count_ = 0;
        for (size_t i = 0; i < count_; ++i) {
            InterfaceAddress& each = list_[i];
            each.up = each.address.kind == kind && !each.loopback && !each.link_local && each.running &&
                      is_selected(each, {list_, count_}, tcp_interfaces());
        }
        InterfaceAddress* const end = list_ + count_;
        count_ = static_cast<size_t>(std::remove_if(list_, end, [](const auto& each) { return !each.up; }) - list_);
    }
    ~OwnAddresses() { free(list_); }
    OwnAddresses(const OwnAddresses&) = delete;
    OwnAddresses& operator=(const OwnAddresses&) = delete;

    size_t size() const { return count_; }
    const InterfaceAddress& operator[](size_t i) const { return list_[i]; }
    bool is_first_of_link(size_t i) const {
        return std::none_of(list_, list_ + i, [&](const InterfaceAddress& a) { return a.index == list_[i].index; });
    }
    bool find_link(const SocketAddress& address, unsigned* out) const {
        for (size_t i = 0; i < count_; ++i) {
            if (!list_[i].address.same_host(address)) continue;
            *out = list_[i].index;
            return true;
        }
        return false;
    }

private:
    InterfaceAddress* list_ = nullptr;
    size_t count_ = 0;
};

}  // namespace

Invitation* copy_of(const Invitation& invitation, size_t count) {
    const size_t size = offsetof(Invitation, addresses) + count * sizeof(SocketAddress);
    void* const copy = malloc(size);
    if (copy) memcpy(copy, static_cast<const void*>(&invitation), size);
    return static_cast<Invitation*>(copy);
}

void write_invitation(const Invitation& invitation, AddressKind kind, net::Note* welcome) {
    const size_t each = address_size(kind);
    uint8_t* at = welcome->data;
    *at++ = kInvitationType;
    memcpy(at, invitation.secret, kSecretBytes);
    at += kSecretBytes;
    for (size_t i = 0; i < invitation.count; ++i, at += each) {
        SocketAddress address = invitation.addresses[i];
        memcpy(at, address_bytes(address), each);
    }
    welcome->data_size = static_cast<uint16_t>(at - welcome->data);
}
static_assert(1 + kSecretBytes + kAdvertisedMax * sizeof(in6_addr) <= net::kPrivateMax);

bool read_invitation(const net::Note& welcome, AddressKind kind, uint16_t port, Invitation* out) {
    const size_t each = address_size(kind);
    const size_t before = 1 + kSecretBytes;
    if (welcome.data_size <= before || welcome.data[0] != kInvitationType) return false;
    const size_t size = welcome.data_size - before;
    if (size % each || size / each > kAdvertisedMax) return false;
    memcpy(out->secret, welcome.data + 1, kSecretBytes);
    out->count = size / each;
    for (size_t i = 0; i < out->count; ++i) {
        out->addresses[i] = SocketAddress::wildcard(kind, port);
        memcpy(address_bytes(out->addresses[i]), welcome.data + before + i * each, each);
    }
    return true;
}

void write_rail_call(const RailCall& call, uint8_t (&out)[9]) {
    out[0] = static_cast<uint8_t>(call.rail | (call.asks ? kAsks : 0));
    for (int i = 0; i < 8; ++i) out[1 + i] = static_cast<uint8_t>(call.taken >> (8 * i));
}

void write_rail_call(const RailCall& call, net::Note* note) {
    uint8_t bytes[9];
    write_rail_call(call, bytes);
    memcpy(note->data, bytes, sizeof bytes);
    note->data_size = sizeof bytes;
}

bool read_rail_call(const net::Note& note, RailCall* out) {
    if (note.data_size != 9) return false;
    out->asks = note.data[0] & kAsks;
    out->rail = static_cast<uint8_t>(note.data[0] & ~kAsks);
    if (out->rail > kFirstStream) return false;
    out->taken = 0;
    for (int i = 0; i < 8; ++i) out->taken |= uint64_t{note.data[1 + i]} << (8 * i);
    return true;
}

RailKey::RailKey(const net::Key& key, const uint8_t (&secret)[kSecretBytes]) {
    Hmac hmac(key.bytes, key.size);
    hmac.add("rail", 4);
    hmac.add(secret, sizeof secret);
    hmac.finish(bytes);
}

Rail::~Rail() {
    if (dial) destroy(dial);
    if (socket >= 0) close(socket);
}

Rails::~Rails() { free(behind); }

size_t addresses_to_advertise(AddressKind kind, SocketAddress (&out)[kAdvertisedMax]) {
    const OwnAddresses own(kind);
    size_t count = 0;
    for (size_t i = 0; i < own.size() && count < kAdvertisedMax; ++i) {
        if (own.is_first_of_link(i)) out[count++] = own[i].address;
    }
    return count;
}

size_t choose_rails(const Invitation& invitation, const SocketAddress& first, SocketAddress (&from)[kRailsMax],
                    SocketAddress (&to)[kRailsMax]) {
    const OwnAddresses own(first.kind);
    unsigned links[1 + kRailsMax];
    if (!own.find_link(first, &links[0])) return 0;
    size_t count = 0;
    for (size_t i = 0; i < invitation.count && count < kRailsMax; ++i) {
        const SocketAddress& address = invitation.addresses[i];
        unsigned link = 0;
        // Also a bridge inside of the other machine: here, the same address is this machine's own.
        if (own.find_link(address, &link)) continue;
        SocketAddress source = source_towards(address);
        if (source.kind != address.kind || !own.find_link(source, &link)) continue;
        if (std::find(links, links + 1 + count, link) != links + 1 + count) continue;
        source.set_port(0);
        from[count] = source;
        to[count] = address;
        links[++count] = link;
    }
    return count;
}

}  // namespace selvage::impl::tcp
