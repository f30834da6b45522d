// Engine: opening and closing, peers, progress, cancelling.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_CONTROL_H
#define SELVAGE_IMPL_ENGINE_ENGINE_CONTROL_H

#include "impl/base/create.h"
#include "impl/engine/engine_arrive.h"
#include "impl/engine/shared_receiver.h"

namespace selvage::impl {

// 0, or a negative fabric errno and nothing is open.
template <Transport T, bool Locked>
int Engine<T, Locked>::open(Endpoint& endpoint) {
    endpoint_ = &endpoint;
    options_ = engine_options(endpoint);
    if (options_.connected) peers_.ignore_addresses();
    av_ = options_.connected ? nullptr : endpoint.av;
    if (av_) generation_word_ = av_->store.generation_word();
    transmits_.set_limit(endpoint.tx.size);
    own_context_.set_size(endpoint.rx.size);
    own_context_.directed = !options_.connected && (endpoint.rx.caps & FI_DIRECTED_RECV);
    ReceiveContext* context = endpoint.srx ? &static_cast<SharedReceiver*>(endpoint.srx)->context : &own_context_;
    open_stat();
    const int error = transport_.open(endpoint);
    if (error) {
        close_stat();
        return error;
    }
    name_stat();
    context->lock.lock();
    open_receiver(endpoint, context);
    context->lock.unlock();
    endpoint.domain->region_users.add(*this);
    return 0;
}

template <Transport T, bool Locked>
int Engine<T, Locked>::attach() {
    return reports.attach(*endpoint_, this);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::detach() {
    reports.detach(*endpoint_, this);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::close() {
    detach();
    close_unattached();
}

template <Transport T, bool Locked>
void Engine<T, Locked>::close_unattached() {
    endpoint_->domain->region_users.remove(*this);
    // Receives of a shared context are posted by threads that know nothing of this endpoint's end.
    context_->lock.lock();
    transport_.close();
    log_stat();
    while (PeerState* state = states_.first()) drop_state(*state);
    close_receiver();
    close_stat();
    context_->lock.unlock();
    destroy(this);
}

template <Transport T, bool Locked>
void Engine<T, Locked>::progress() {
    if constexpr (Locked) {
        if (!context_->lock.try_lock()) return;
    }
    transport_.progress(*this);
    if (unread_.units()) [[unlikely]]
        return_units();
    if (!working_.empty()) [[unlikely]]
        work();
    if constexpr (Locked) context_->lock.unlock();
}

template <Transport T, bool Locked>
void Engine<T, Locked>::set_counter(CounterSlot slot, Counter* counter) {
    Guard guard(*this);
    reports.counters[slot] = counter;
}

// Two queues may ask at once, and the transport may make the descriptor only now.
template <Transport T, bool Locked>
int Engine<T, Locked>::wait_descriptor() const {
    Guard guard(const_cast<Engine&>(*this));
    return transport_.wait_descriptor();
}

template <Transport T, bool Locked>
bool Engine<T, Locked>::arm() {
    Guard guard(*this);
    return working_.empty() && transport_.arm();
}

template <Transport T, bool Locked>
size_t Engine<T, Locked>::transmit_left() {
    Guard guard(*this);
    return transmits_.left();
}

template <Transport T, bool Locked>
size_t Engine<T, Locked>::receive_left() {
    Guard guard(*this);
    return context_->left();
}

template <Transport T, bool Locked>
int Engine<T, Locked>::cancel(void* context) {
    Guard guard(*this);
    if (cancel_receive(context)) return 0;
    for (PeerState* state = states_.first(); state; state = state->next) {
        for (Transmit* op = state->sending.unsent; op; op = op->next) {
            if (op->context != context || op->stage != Transmit::Stage::kQueued) continue;
            fail(*op, FI_ECANCELED);
            resume(*state);
            return 0;
        }
    }
    return -FI_ENOENT;
}

// Peers.

template <Transport T, bool Locked>
int Engine<T, Locked>::look_up(fi_addr_t to, Peer** peer) {
    if (options_.connected) to = 0;
    *peer = known_peer(to);
    if (*peer) return 0;
    const int error = transport_.find_peer(to, peer);
    if (error) return error;
    peers_.remember(to, *peer, av_generation());
    if (!lost_.empty()) find_again(**peer);
    return 0;
}

template <Transport T, bool Locked>
PeerState* Engine<T, Locked>::state_of(PeerBase& peer) {
    if (peer.state) return static_cast<PeerState*>(peer.state);
    void* block = malloc(sizeof(PeerState));
    if (!block) return nullptr;
    auto* state = new (block) PeerState(peer);
    states_.append(state);
    peer.state = state;
    state->stat = record_of(static_cast<Peer&>(peer));
    if constexpr (!ReportsConnections<T>) count_return(state->stat);
    return state;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::drop_state(PeerState& state) {
    set_working(state, false);
    while (Response* response = state.responses.first()) {
        state.responses.remove_first();
        count_answered(state, *response);
        free(response->owned);
        responses_.give(response);
    }
    while (Transmit* op = state.sending.operations.first()) {
        state.sending.operations.remove(op);
        release_mr(*op);
        transmits_.give(op);
    }
    free(state.placing.bounce);
    unread_.orphan(state);
    release_stat_record(state.stat);
    states_.remove(&state);
    destroy(&state);
}

template <Transport T, bool Locked>
Transmit* Engine<T, Locked>::first_unfinished(const PeerState& state) {
    Transmit* op = state.sending.operations.first();
    while (op && op->is_finished()) op = op->next;
    return op;
}

template <Transport T, bool Locked>
void Engine<T, Locked>::set_working(PeerState& state, bool working) {
    if (state.working == working) return;
    state.working = working;
    working ? working_.append(&state) : working_.remove(&state);
}

template <Transport T, bool Locked>
[[gnu::noinline, gnu::cold]] void Engine<T, Locked>::drop(Peer& peer, int error) {
    count_drop(peer, error);
    if constexpr (DropsPeers<T>) transport_.drop(peer, error);
}

template <Transport T, bool Locked>
fi_addr_t Engine<T, Locked>::address_of(PeerBase& peer) {
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

template <Transport T, bool Locked>
bool Engine<T, Locked>::raw_address_of(PeerBase& peer, AvEntry* out) {
    if constexpr (ReportsAddresses<T>) {
        return transport_.address_of(static_cast<Peer&>(peer), out);
    } else {
        static_cast<void>(peer), static_cast<void>(out);
        return false;
    }
}

template <Transport T, bool Locked>
inline ssize_t Engine<T, Locked>::receive(ReceiveRequest request) {
    if (request.count > options_.receive_iov_max) [[unlikely]]
        return -FI_EINVAL;
    if (request.flags & FI_PEEK) [[unlikely]]
        advance();
    Guard guard(*this);
    if (!context_->directed) [[likely]] {
        request.source = FI_ADDR_UNSPEC;
    } else if (request.source != FI_ADDR_UNSPEC && av_) {
        request.source = av_->compared(request.source);
    }
    return post_receive(*context_, request);
}

}  // namespace selvage::impl

#endif
