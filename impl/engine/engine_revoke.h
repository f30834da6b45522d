// Engine: what is taken back when a memory region is closed (region_users.h).
//
// With the engine's lock held, no copy is under way; what can outlast a critical section is
//   - a write whose payload the transport is placing: the rest of it is discarded, and the write fails (FI_ENOKEY);
//   - the answer to a read that the transport still has to send out of the region: it gets a copy, as the region was
//     read while it was open;
//   - a grant that the peer pulls by itself: it finds out, and asks again (engine_pull.h).
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_REVOKE_H
#define SELVAGE_IMPL_ENGINE_ENGINE_REVOKE_H

#include "impl/domain/mr.h"
#include "impl/engine/engine_rma.h"

namespace selvage::impl {

template <Transport T, bool Locked>
void Engine<T, Locked>::revoke(const MemoryRegion& region) {
    Guard guard(*this);
    for (PeerState* state = states_.first(); state; state = state->next) {
        if (state->placing.uses(region)) revoke_placement(peer_of(*state), *state);
    }
    if constexpr (CopiesSources<T>) {
        if (region.access & FI_REMOTE_READ) transport_.copy_sources(region.ranges, region.range_count);
    }
    if constexpr (PullsMemory<T>) {
        if (region.access & FI_REMOTE_READ) transport_.revoke_grants();
    }
}

// A write that is in pieces on its way into the region. Its frame is received to the end, and forgotten.
template <Transport T, bool Locked>
void Engine<T, Locked>::revoke_placement(Peer& peer, PeerState& state) {
    if constexpr (DiscardsPlacements<T>) transport_.discard_placement(peer);
    state.placing.region_count = 0;
    if (state.placing.kind == PlacementKind::kWrite) {
        state.placing.kind = PlacementKind::kLostWrite;
    } else if (!state.write.error) {
        state.write.error = FI_ENOKEY;
        write_failed(peer, state.write.reply_id, state.write.frame_flags, FI_ENOKEY);
    }
}

}  // namespace selvage::impl

#endif
