// Engine: the peers: found by address, with a state from the first operation that needs one, dropped when what they
// send does not fit.
#pragma once

#include "impl/engine/engine_counting.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EnginePeers : public EngineCounting<T, Locked> {
    using Base = EngineCounting<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::av_, Base::av_generation, Base::known_context, Base::known_peer, Base::options_, Base::peers_,
        Base::raw_address_of, Base::states_, Base::transport_;
    // From EngineCounting.
    using Base::count_drop, Base::count_return, Base::lost_, Base::name_peer, Base::record_of;

public:
    [[gnu::noinline, gnu::cold]] void malformed(Peer& peer) { count_drop(peer, state_of(peer), kBrokenProtocol); }

    [[gnu::noinline, gnu::cold]] void connected(Peer& peer) {
        if (!peer.state) {
            char name[kStatNameMax];
            name_peer(peer, name);
            if (!lost_.has(name)) return;
        }
        if (PeerState* state = state_of(peer)) count_return(state->stat);
    }

protected:
    int look_up(fi_addr_t to, Peer** peer) {
        if (options_.connected) to = 0;
        *peer = known_peer(to);
        if (!*peer) *peer = known_context(to);
        if (*peer) return 0;
        const int error = transport_.find_peer(to, peer);
        if (error) return error;
        peers_.remember(to, *peer, av_generation());
        if (!lost_.empty()) find_again(**peer);
        return 0;
    }

    PeerState* state_of(PeerBase& peer) final {
        return peer.state ? static_cast<PeerState*>(peer.state) : make_state(peer);
    }

    fi_addr_t address_of(PeerBase& peer) final {
        if (!av_) return FI_ADDR_NOTAVAIL;
        const uint32_t generation = av_generation();
        if (peer.address_generation != generation) {
            AvEntry entry;
            if (!raw_address_of(peer, &entry)) return FI_ADDR_NOTAVAIL;
            peer.address = av_->reverse(entry);
            peer.address_generation = generation;
        }
        return peer.address;
    }

    [[gnu::noinline, gnu::cold]] void drop(Peer& peer, int error) {
        count_drop(peer, state_of(peer), error);
        if constexpr (DropsPeers<T>) transport_.drop(peer, error);
    }

private:
    [[gnu::noinline]] PeerState* make_state(PeerBase& peer) {
        void* block = malloc(sizeof(PeerState));
        if (!block) return nullptr;
        auto* state = new (block) PeerState(peer);
        states_.append(state);
        peer.state = state;
        state->stat = record_of(static_cast<Peer&>(peer));
        if constexpr (!ReportsConnections<T>) count_return(state->stat);
        return state;
    }

    // A peer that was looked up, while some are lost: it may be one of these.
    void find_again(Peer& peer) {
        if constexpr (ReportsConnections<T>) {
            if (!transport_.is_connected(peer)) return;
        }
        connected(peer);
    }
};

}  // namespace selvage::impl
