// See verbs_dgram_address.h.
#include "impl/transport/verbs/verbs_dgram_address.h"

#include <arpa/inet.h>

#include <algorithm>

namespace selvage::impl::verbs {
namespace {

// The kernel's tables are shorter; a driver's word is not taken for it.
constexpr int kTableMax = 256;
constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// The GID of an interface on Ethernet is its address, IPv4 as IPv6 writes it.
void gid_of(const SocketAddress& interface, uint8_t (&gid)[16]) {
    if (interface.kind == AddressKind::Inet6) {
        memcpy(gid, &interface.v6.sin6_addr, sizeof gid);
        return;
    }
    memcpy(gid, kMapped, sizeof kMapped);
    memcpy(gid + sizeof kMapped, &interface.v4.sin_addr, 4);
}

// Of several entries the last: an address stands there once for each version of RoCE, the newest behind the others.
bool find_gid(const RdmaLibrary& library, ibv_context* context, uint8_t port, const ibv_port_attr& attr,
              const uint8_t (&gid)[16], uint8_t* index) {
    bool found = false;
    for (int i = 0; i < std::min(attr.gid_tbl_len, kTableMax); ++i) {
        ibv_gid entry;
        if (library.query_gid(context, port, i, &entry) || memcmp(entry.raw, gid, sizeof gid) != 0) continue;
        *index = static_cast<uint8_t>(i);
        found = true;
    }
    return found;
}

void complete(const RdmaLibrary& library, ibv_context* context, uint8_t port, const ibv_port_attr& attr,
              IbAddress* out) {
    out->queue_pair = 0;
    out->local_id = attr.lid;
    __be16 key;
    out->partition_key = library.query_pkey(context, port, 0, &key) ? uint16_t{0xffff} : ntohs(key);
}

}  // namespace

int find_own_gid(const RdmaLibrary& library, ibv_context* context, uint8_t port, const ibv_port_attr& attr,
                 IbAddress* out, uint8_t* index) {
    if (!find_gid(library, context, port, attr, out->gid, index)) return -FI_ENODEV;
    complete(library, context, port, attr, out);
    return 0;
}

int find_own_address(const RdmaLibrary& library, ibv_context* context, uint8_t port, const ibv_port_attr& attr,
                     const SocketAddress& interface, IbAddress* out, uint8_t* index) {
    *out = {};
    if (attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
        gid_of(interface, out->gid);
        return find_own_gid(library, context, port, attr, out, index);
    }
    // A port of InfiniBand has one of its own, whatever addresses its interfaces have.
    ibv_gid own;
    if (attr.gid_tbl_len <= 0 || library.query_gid(context, port, 0, &own)) return -FI_ENODEV;
    memcpy(out->gid, own.raw, sizeof out->gid);
    *index = 0;
    complete(library, context, port, attr, out);
    return 0;
}

// A route header of InfiniBand looks like IPv6. Over IPv4 it is the header of that, at the end, and what is before it
// may be anything. Which of the two it is shows in the destination, which is this port. (A checksum would not: a device
// in software leaves it out when it talks to itself.)
bool source_gid(const std::byte* route, const uint8_t (&own)[16], uint8_t (&gid)[16]) {
    constexpr size_t kSourceAt = 8, kDestinationAt = 24;
    constexpr size_t kIpv4At = 20, kIpv4SourceAt = 32, kIpv4DestinationAt = 36;
    constexpr auto kIpv4Start = std::byte{0x45};
    if (memcmp(route + kDestinationAt, own, sizeof own) == 0) {
        memcpy(gid, route + kSourceAt, sizeof gid);
        return true;
    }
    const bool mapped = memcmp(own, kMapped, sizeof kMapped) == 0;
    if (!mapped || route[kIpv4At] != kIpv4Start || memcmp(route + kIpv4DestinationAt, own + sizeof kMapped, 4) != 0)
        return false;
    memcpy(gid, kMapped, sizeof kMapped);
    memcpy(gid + sizeof kMapped, route + kIpv4SourceAt, 4);
    return true;
}

}  // namespace selvage::impl::verbs
