// The peers of an endpoint by address, as the transport gave them, so that the shortest path does not ask it again.
//
// What is in the table counts for one generation of the address vector. Where an entry is missing, for lack of memory
// or since the peers were forgotten, the transport is asked; nothing else depends on it. The engine calls it, with its
// lock.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "impl/base/rdma.h"

namespace selvage::impl {

template <typename Peer>
class PeerTable {
public:
    PeerTable() = default;
    ~PeerTable() { free(peers_); }
    PeerTable(const PeerTable&) = delete;
    PeerTable& operator=(const PeerTable&) = delete;

    // There is one peer, whatever the address.
    void ignore_addresses() { mask_ = 0; }
    Peer* find(fi_addr_t to, uint32_t generation) const {
        to &= mask_;
        return to < count_ && generation_ == generation ? peers_[to] : nullptr;
    }
    void remember(fi_addr_t to, Peer* peer, uint32_t generation) {
        if (generation_ != generation) {
            forget();
            generation_ = generation;
        }
        if (to < count_ || grow(to)) peers_[to] = peer;
    }
    void forget() {
        if (count_) memset(peers_, 0, count_ * sizeof *peers_);
    }

private:
    static constexpr uint64_t kMost = uint64_t{1} << 32;

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
};

}  // namespace selvage::impl
