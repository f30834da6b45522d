// The peers of an endpoint by address, as the transport gave them, so that the shortest path does not ask it again.
//
// Where addresses name receive contexts (fi_rx_addr), each context has a table of its own behind the first, made when
// it is needed.
//
// What is in the table counts for one generation of the address vector. Where an entry is missing, for lack of memory
// or since the peers were forgotten, the transport is asked; nothing else depends on it. The engine calls it, with its
// lock.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "impl/base/rdma.h"

namespace selvage::impl {

template <typename Peer>
class PeerTable {
public:
    PeerTable() = default;
    ~PeerTable() {
        for (uint64_t i = 0; contexts_ && i < context_count_; ++i) contexts_[i].~PeerTable();
        free(contexts_);
        free(peers_);
    }
    PeerTable(const PeerTable&) = delete;
    PeerTable& operator=(const PeerTable&) = delete;

    // There is one peer, whatever the address.
    void ignore_addresses() { mask_ = 0; }
    // An address names one of so many contexts in some of its bits, from the top.
    void split_addresses(unsigned bits, uint64_t contexts) {
        context_bits_ = bits;
        context_count_ = contexts;
    }
    Peer* find(fi_addr_t to, uint32_t generation) const {
        to &= mask_;
        return to < count_ && generation_ == generation ? peers_[to] : nullptr;
    }
    // The same of an address that names a context other than the first. Apart, and without a call: on the shortest path
    // this one would cost ten instructions.
    Peer* find_named(fi_addr_t to, uint32_t generation) const {
        if (!contexts_) return nullptr;
        const uint64_t context = to >> (64 - context_bits_);
        if (!context || context >= context_count_) return nullptr;
        const PeerTable& table = contexts_[context];
        to = index_of(to);
        return to < table.count_ && table.generation_ == generation ? table.peers_[to] : nullptr;
    }
    void remember(fi_addr_t to, Peer* peer, uint32_t generation) {
        if (context_bits_ && to >> (64 - context_bits_)) return remember_named(to, peer, generation);
        if (generation_ != generation) {
            forget();
            generation_ = generation;
        }
        if (to < count_ || grow(to)) peers_[to] = peer;
    }
    void forget() {
        if (count_) memset(peers_, 0, count_ * sizeof *peers_);
        for (uint64_t i = 0; contexts_ && i < context_count_; ++i) contexts_[i].forget();
    }

private:
    static constexpr uint64_t kMost = uint64_t{1} << 32;

    void remember_named(fi_addr_t to, Peer* peer, uint32_t generation) {
        const uint64_t context = to >> (64 - context_bits_);
        if (context >= context_count_) return;
        if (!contexts_) {
            contexts_ = static_cast<PeerTable*>(malloc(context_count_ * sizeof(PeerTable)));
            for (uint64_t i = 0; contexts_ && i < context_count_; ++i) new (&contexts_[i]) PeerTable;
        }
        if (contexts_) contexts_[context].remember(index_of(to), peer, generation);
    }
    fi_addr_t index_of(fi_addr_t to) const { return to & (~fi_addr_t{0} >> context_bits_); }

    bool grow(fi_addr_t to) {
        uint64_t count = count_ ? count_ : 16;
        while (count <= to && count < kMost) count *= 2;
        auto** grown = to < count ? static_cast<Peer**>(realloc(peers_, count * sizeof *peers_)) : nullptr;
        if (!grown) return false;
        memset(grown + count_, 0, (count - count_) * sizeof *grown);
        peers_ = grown;
        count_ = count;
        return true;
    }

    Peer** peers_ = nullptr;
    uint64_t count_ = 0;
    uint32_t generation_ = 0;
    uint64_t mask_ = ~uint64_t{0};
    unsigned context_bits_ = 0;
    uint64_t context_count_ = 0;
    PeerTable* contexts_ = nullptr;  // so many, or none
};

}  // namespace selvage::impl
