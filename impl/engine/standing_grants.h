// Regions of a peer's that this side reads or writes without asking again (EngineRma::read_at_once, write_granted).
//
// The target of a read or write that asks for it grants the whole region, at the epoch that it had before it looked the
// key up. Such a grant stands until the target closes a region that may be reached, whichever: then its epoch is
// another one.
//   - Who reads looks for that behind the last byte (transport.h, still_granted), as for a grant that is used once, and
//     throws away what came. So nothing that was stored after fi_close(mr) returned is ever read successfully
//     (models/grant.pml).
//   - Who writes says so before it looks, and until the last byte is written; the target waits for it before fi_close
//     returns. So nothing is written afterwards (models/write_grant.pml).
//
// A target grants nothing for good where its application counts accesses (FI_RMA_EVENT).
//
// Private to the endpoint that uses them, a part of PeerState. Called with the endpoint's lock held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/engine/protocol.h"

namespace selvage::impl {

class StandingGrants {
public:
    struct Grant {
        uint64_t epoch = 0;
        uint64_t key = 0;
        StandingGrant region{};
    };

    // A grant of all these bytes for that access, FI_REMOTE_READ or FI_REMOTE_WRITE, or nullptr. Whether it still
    // stands is not known.
    Grant* find(const Target& target, uint64_t access) {
        for (Grant& grant : kept_) {
            if (grant.key == target.key && (grant.region.access & access) && grant.region.covers(target)) return &grant;
        }
        return nullptr;
    }
    // In the place of one of that key, if there is one, or of the oldest.
    void add(uint64_t epoch, uint64_t key, const StandingGrant& region) {
        Grant* place = nullptr;
        for (Grant& grant : kept_) {
            if (grant.region.length && grant.key == key) place = &grant;
        }
        if (!place) place = &kept_[next_++ % kKept];
        *place = {.epoch = epoch, .key = key, .region = region};
    }
    static void forget(Grant& grant) { grant = {}; }

    // There is none for an access that is to be sent: whether that asks for one. Each of many regions that take turns
    // would be granted in vain, and a read that is granted is pulled, whatever is faster.
    bool asks() { return asked_++ % kAsked == 0; }

    // A read or write was answered behind so many frames to the peer (PullsMemory::frames_sent): the peer has done what
    // was sent before it.
    void answered(uint64_t frames) { answered_ = frames; }
    // All that was sent to the peer was done there.
    bool all_done(uint64_t frames) const { return answered_ == frames; }

private:
    static constexpr size_t kKept = 8;
    static constexpr uint32_t kAsked = 16;

    Grant kept_[kKept];
    uint32_t next_ = 0;
    uint32_t asked_ = 0;
    uint64_t answered_ = UINT64_MAX;
};

}  // namespace selvage::impl
