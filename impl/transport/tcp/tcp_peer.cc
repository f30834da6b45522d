// See tcp_peer.h.
#include "impl/transport/tcp/tcp_peer.h"

#include <cstdlib>

#include "impl/core/create.h"

namespace selvage::impl::tcp {

bool same_address(const SocketAddress& a, const SocketAddress& b) { return a.same_host(b) && a.port() == b.port(); }

PeerTable::~PeerTable() { clear(); }

void PeerTable::clear() {
    while (Peer* peer = first_) {
        first_ = peer->next;
        destroy(peer);
    }
    free(buckets_);
    buckets_ = nullptr;
    mask_ = count_ = 0;
}

// The scope of a link-local address is not part of it, as same_host may ignore it. The seed keeps others from choosing
// addresses that collide.
size_t PeerTable::bucket(const SocketAddress& address) const {
    uint64_t words[2] = {};
    if (address.kind == AddressKind::kInet) {
        words[0] = address.v4.sin_addr.s_addr;
    } else {
        memcpy(words, &address.v6.sin6_addr, sizeof words);
    }
    uint64_t hash = seed_ ^ address.port();
    for (const uint64_t word : words) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    return static_cast<size_t>(hash) & mask_;
}

Peer* PeerTable::find(const SocketAddress& address) const {
    if (!buckets_) return nullptr;
    for (Peer* peer = buckets_[bucket(address)]; peer; peer = peer->next_same_hash) {
        if (same_address(peer->remote, address)) return peer;
    }
    return nullptr;
}

bool PeerTable::grow() {
    const size_t size = mask_ ? 2 * (mask_ + 1) : 64;
    auto** buckets = static_cast<Peer**>(calloc(size, sizeof(Peer*)));
    if (!buckets) return buckets_ != nullptr;  // longer chains will do
    free(buckets_);
    buckets_ = buckets;
    mask_ = size - 1;
    if (!seed_) fill_random(&seed_, sizeof seed_);
    for (Peer* peer = first_; peer; peer = peer->next) {
        Peer*& chain = buckets_[bucket(peer->remote)];
        peer->next_same_hash = chain;
        chain = peer;
    }
    return true;
}

Peer* PeerTable::add(const SocketAddress& address) {
    if ((!buckets_ || count_ > mask_) && !grow()) return nullptr;
    void* block = malloc(sizeof(Peer));
    if (!block) return nullptr;
    auto* peer = new (block) Peer(address);
    Peer*& chain = buckets_[bucket(address)];
    peer->next_same_hash = chain;
    chain = peer;
    peer->next = first_;
    first_ = peer;
    ++count_;
    return peer;
}

}  // namespace selvage::impl::tcp
