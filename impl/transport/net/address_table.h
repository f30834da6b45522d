// The peers of an endpoint by the address at which they listen; both transports over internet addresses use it.
//
// Peer has: SocketAddress remote; Peer* next_same_hash; Peer *next, *previous (of all); and is made from its address.
// Records never move and stay until remove() or clear(), which free them; what they own was released before.
#pragma once

#include <cstdlib>

#include "impl/base/create.h"
#include "impl/transport/net/sockets.h"

namespace selvage::impl::net {

bool same_address(const SocketAddress& a, const SocketAddress& b);
// The scope of a link-local address is not part of it, as same_host may ignore it. The seed keeps others from choosing
// addresses that collide.
size_t hash_address(const SocketAddress& address, uint64_t seed);

template <typename Peer>
class AddressTable {
public:
    ~AddressTable() { clear(); }
    AddressTable() = default;
    AddressTable(const AddressTable&) = delete;
    AddressTable& operator=(const AddressTable&) = delete;

    // Before the first peer, as a random number takes a system call; otherwise it is chosen with the first.
    void choose_seed() {
        if (!seed_) fill_random(&seed_, sizeof seed_);
    }
    Peer* find(const SocketAddress& address) const;
    // A peer that was not there; nullptr when memory is short.
    Peer* add(const SocketAddress& address);
    Peer* first() const { return first_; }
    // REQUIRES: the peer is in the table.
    void remove(Peer& peer);
    void clear();

private:
    bool grow();
    size_t bucket(const SocketAddress& address) const { return hash_address(address, seed_) & mask_; }

    Peer** buckets_ = nullptr;
    size_t mask_ = 0;
    size_t count_ = 0;
    uint64_t seed_ = 0;
    Peer* first_ = nullptr;
};

template <typename Peer>
void AddressTable<Peer>::clear() {
    while (Peer* peer = first_) {
        first_ = peer->next;
        destroy(peer);
    }
    free(buckets_);
    buckets_ = nullptr;
    mask_ = count_ = 0;
}

template <typename Peer>
Peer* AddressTable<Peer>::find(const SocketAddress& address) const {
    if (!buckets_) return nullptr;
    for (Peer* peer = buckets_[bucket(address)]; peer; peer = peer->next_same_hash) {
        if (same_address(peer->remote, address)) return peer;
    }
    return nullptr;
}

template <typename Peer>
bool AddressTable<Peer>::grow() {
    const size_t size = mask_ ? 2 * (mask_ + 1) : 64;
    auto** buckets = static_cast<Peer**>(calloc(size, sizeof(Peer*)));
    if (!buckets) return buckets_ != nullptr;  // longer chains will do
    free(buckets_);
    buckets_ = buckets;
    mask_ = size - 1;
    choose_seed();
    for (Peer* peer = first_; peer; peer = peer->next) {
        Peer*& chain = buckets_[bucket(peer->remote)];
        peer->next_same_hash = chain;
        chain = peer;
    }
    return true;
}

template <typename Peer>
Peer* AddressTable<Peer>::add(const SocketAddress& address) {
    if ((!buckets_ || count_ > mask_) && !grow()) return nullptr;
    void* block = malloc(sizeof(Peer));
    if (!block) return nullptr;
    auto* peer = new (block) Peer(address);
    Peer*& chain = buckets_[bucket(address)];
    peer->next_same_hash = chain;
    chain = peer;
    peer->next = first_;
    if (first_) first_->previous = peer;
    first_ = peer;
    ++count_;
    return peer;
}

template <typename Peer>
void AddressTable<Peer>::remove(Peer& peer) {
    Peer** link = &buckets_[bucket(peer.remote)];
    while (*link != &peer) link = &(*link)->next_same_hash;
    *link = peer.next_same_hash;
    (peer.previous ? peer.previous->next : first_) = peer.next;
    if (peer.next) peer.next->previous = peer.previous;
    --count_;
    destroy(&peer);
}

}  // namespace selvage::impl::net
