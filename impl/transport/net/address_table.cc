// See address_table.h.
#include "impl/transport/net/address_table.h"

namespace selvage::impl::net {

bool same_address(const SocketAddress& a, const SocketAddress& b) {
    return a.same_host(b) && a.port() == b.port() && a.context == b.context;
}

size_t hash_address(const SocketAddress& address, uint64_t seed) {
    uint64_t words[2] = {};
    if (address.kind == AddressKind::Inet) {
        words[0] = address.v4.sin_addr.s_addr;
    } else {
        memcpy(words, &address.v6.sin6_addr, sizeof words);
    }
    uint64_t hash = seed ^ address.port() ^ uint64_t { address.context } << 16;
    for (const uint64_t word : words) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    return static_cast<size_t>(hash);
}

}  // namespace selvage::impl::net
