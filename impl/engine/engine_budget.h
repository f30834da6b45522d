// Engine: what peers make this side keep in its completion queue (unread_entries.h), as target of writes with data.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_BUDGET_H
#define SELVAGE_IMPL_ENGINE_ENGINE_BUDGET_H

#include "impl/engine/engine_control.h"

namespace selvage::impl {

// The peer causes an entry in the receive queue: it has its unit back once the application has read that. False: it has
// sent more than it may, or memory is short.
template <Transport T, bool Locked>
bool Engine<T, Locked>::keep_unread(PeerBase& peer) {
    PeerState* state = state_of(peer);
    if (!state) return false;
    over_budget_ = state->receiving.unexpected_units + state->unread_units >= peer.window() || unread_.orphans_full();
    if (over_budget_) return false;
    unread_.add(*state);
    return true;
}

template <Transport T, bool Locked>
[[gnu::noinline]] void Engine<T, Locked>::return_units() {
    unread_.shrink_to(reports.receive->ring.size(), [this](PeerBase& peer, uint32_t units) {
        peer.owed = static_cast<uint16_t>(peer.owed + units);
        if (peer.owed >= peer.credit_at) give_credit(peer);
    });
}

}  // namespace selvage::impl

#endif
