// Entries in the completion queue that no receive accounts for: how many each peer caused (window.h). The target of
// writes with data calls it, with the engine's lock.
//
// 1. units() is the sum of PeerState::unread_units over all peers, and of the entries of lost peers.
// 2. A peer is in the list as long as it has any.
// 3. The queue is read in order, so when it holds fewer entries than units(), the oldest of them have been read: those
//    of lost peers count as the oldest.
#pragma once

#include "impl/engine/peer_state.h"

namespace selvage::impl {

class UnreadEntries {
public:
    uint32_t units() const { return units_; }
    // Lost peers left as many as may be kept of all of them.
    bool orphans_full() const { return orphans_ >= kOrphanUnits; }
    void add(PeerState& state) {
        if (!state.unread_units++) peers_.append(&state);
        ++units_;
    }
    // The peer is lost.
    void orphan(PeerState& state) {
        if (state.unread_units) peers_.remove(&state);
        orphans_ += state.unread_units;
        state.unread_units = 0;
    }
    // Of the entries so many are left; `give_back(peer, units)` for those that were read.
    template <typename GiveBack>
    void shrink_to(size_t left, GiveBack give_back) {
        if (units_ > left) {
            const uint32_t read = std::min(orphans_, static_cast<uint32_t>(units_ - left));
            orphans_ -= read;
            units_ -= read;
        }
        while (units_ > left) {
            PeerState& state = *peers_.first();
            const uint32_t read = std::min(state.unread_units, static_cast<uint32_t>(units_ - left));
            state.unread_units -= read;
            units_ -= read;
            if (!state.unread_units) peers_.remove(&state);
            give_back(*state.peer, read);
        }
    }

private:
    List<PeerState, &PeerState::next_unread, &PeerState::previous_unread> peers_;
    uint32_t units_ = 0;
    uint32_t orphans_ = 0;
};

}  // namespace selvage::impl
