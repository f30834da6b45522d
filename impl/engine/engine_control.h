// The engine as a whole, over its parts (engine_base.h): opening and closing, progress, cancelling, the end of a peer,
// and of a region of memory (region_users.h).
//
// When a region is closed, no copy is under way, as the engine's lock is held; what can outlast a critical section is
//   - a write whose payload the transport is placing: the rest of it is discarded, and the write fails (FI_ENOKEY);
//   - the answer to a read that the transport still has to send out of the region: it gets a copy, as the region was
//     read while it was open;
//   - a grant that the peer pulls by itself: it finds out, and asks again (engine_pull.h).
#pragma once

#include "impl/base/create.h"
#include "impl/domain/mr.h"
#include "impl/engine/engine_arrivals.h"
#include "impl/engine/shared_receiver.h"
#include "impl/events/event_reading.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class Engine final : public EngineArrivals<T, Locked>, private RegionUser {
    using Base = EngineArrivals<T, Locked>;
    using typename Base::Guard, typename Base::UnsharedGuard;
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::av_, Base::cancel_receive, Base::close_receiver, Base::context_, Base::endpoint_, Base::finish_receive,
        Base::for_joins_, Base::forget_peer, Base::generation_word_, Base::open_receiver, Base::options_, Base::peer_of,
        Base::peers_, Base::reports, Base::reset_window, Base::shared_, Base::sharers_, Base::state_in, Base::states_,
        Base::transport_;
    // From EngineCounting.
    using Base::close_stat, Base::count_answered, Base::count_loss, Base::log_stat, Base::name_stat, Base::open_stat;
    // From EngineResponder.
    using Base::responses_;
    // From EngineStaging.
    using Base::release_buffers;
    // From EngineSender.
    using Base::due_, Base::fail, Base::resume, Base::set_due, Base::set_working, Base::transmits_, Base::work,
        Base::working_;
    // From EngineCollectives and Receiver.
    using Base::advance_collectives, Base::close_collective, Base::collective_, Base::has_collective_work,
        Base::lose_collective_peer, Base::open_collectives;
    // From EngineRmaTarget.
    using Base::return_units, Base::revoke_placement, Base::unread_;
    // From EngineAnnouncements.
    using Base::finish_pulls, Base::forget_pulls;

public:
    // 0, or a negative fabric errno and nothing is open.
    int open(Endpoint& endpoint) {
        endpoint_ = &endpoint;
        options_ = engine_options(endpoint);
        if (options_.connected) peers_.ignore_addresses();
        av_ = options_.connected ? nullptr : endpoint.av;
        if (av_) {
            generation_word_ = av_->store.generation_word();
            peers_.split_addresses(av_->context_bits, av_->contexts());
        }
        transmits_.set_limit(endpoint.tx.size);
        own_context_.set_size(endpoint.rx.size);
        own_context_.directed = !options_.connected && (endpoint.rx.caps & FI_DIRECTED_RECV);
        ReceiveContext* context = endpoint.srx ? &static_cast<SharedReceiver*>(endpoint.srx)->context : &own_context_;
        int error = open_collectives(endpoint);
        if (error) return error;
        open_stat();
        error = transport_.open(endpoint);
        if (error) {
            close_stat();
            close_collective();
            return error;
        }
        name_stat();
        context->lock.lock();
        open_receiver(endpoint, context);
        context->lock.unlock();
        for_joins_ = endpoint.domain->serialised() && !options_.connected;
        endpoint.domain->region_users.add(*this);
        return 0;
    }

    int attach() { return reports.attach(*endpoint_, this); }

    void progress() override {
        if (EventReading::is_active()) [[unlikely]]
            return progress_for_events();
        if (Locked || shared_) [[unlikely]]
            return progress_locked();
        make_progress();
    }

    bool arm() override {
        if (!EventReading::is_active()) {
            Guard guard(*this);
            return has_nothing_to_do();
        }
        context_->lock.lock();
        const bool armed = (for_joins_ && !sharers_) || has_nothing_to_do();
        context_->lock.unlock();
        return armed;
    }

    // Two queues may ask at once, and the transport may make the descriptor only now.
    int wait_descriptor() const override {
        if (!EventReading::is_active()) {
            Guard guard(const_cast<Engine&>(*this));
            return transport_.wait_descriptor();
        }
        context_->lock.lock();
        const int descriptor = for_joins_ && !sharers_ ? Progressive::kNoDescriptor : transport_.wait_descriptor();
        context_->lock.unlock();
        return descriptor;
    }

    void share() override {
        if (!for_joins_) return;
        if (!shared_) {
            reports.share();
            options_.domain_locked = true;
            shared_ = true;
        }
        Guard guard(*this);
        ++sharers_;
    }
    void unshare() override {
        if (for_joins_) --sharers_;
    }

    int cancel(void* context) override {
        Guard guard(*this);
        if (cancel_receive(context)) return 0;
        for (PeerState* state = states_.first(); state; state = state->next) {
            for (Transmit* op = state->sending.unsent; op; op = op->next) {
                if (op->context != context || op->stage != Transmit::Stage::Queued) continue;
                fail(*op, FI_ECANCELED);
                resume(*state);
                return 0;
            }
        }
        return -FI_ENOENT;
    }

    void set_counter(CounterSlot slot, Counter* counter) override {
        Guard guard(*this);
        Counter*& bound = reports.counters[slot];
        if (shared_ && bound) bound->unshare();
        bound = counter;
        if (shared_ && bound) bound->share();
    }

    size_t transmit_left() override {
        Guard guard(*this);
        return transmits_.left();
    }

    size_t receive_left() override {
        Guard guard(*this);
        return context_->left();
    }

    void close() override {
        detach();
        close_unattached();
    }

    void close_unattached() {
        if (shared_) reports.unshare();
        // Receives of a shared context are posted by threads that know nothing of this endpoint's end.
        context_->lock.lock();
        transport_.close();
        closed_ = true;
        log_stat();
        while (PeerState* state = states_.first()) drop_state(*state);
        close_receiver();
        close_collective();
        close_stat();
        context_->lock.unlock();
        // Behind the transport's end: until then it may send from regions, and be read from.
        endpoint_->domain->region_users.remove(*this);
        destroy(this);
    }

    // The end of a peer: what it was to do, and what it was doing, fails; nothing else does.
    void down(Peer& peer, int error) {
        peers_.forget();
        forget_peer(peer);
        if (collective_) lose_collective_peer(peer, error);
        count_loss(peer, error);
        forget_pulls(peer);
        PeerState* state = state_in(peer);
        if (!state) return reset_window(peer);
        state->blocked = true;  // nothing more is sent
        while (Receive* receive = state->receiving.arriving.first()) finish_receive(receive, error);
        while (Transmit* op = first_unfinished(*state)) {
            op->held = 0;
            fail(*op, error);
        }
        drop_state(*state);
        peer.state = nullptr;
        reset_window(peer);
    }

    ssize_t receive(ReceiveRequest request) {
        if (request.count > options_.receive_iov_max) [[unlikely]]
            return -FI_EINVAL;
        if (request.flags & FI_PEEK) [[unlikely]]
            this->advance();
        if (this->is_shared()) [[unlikely]]
            return receive_shared(request);
        UnsharedGuard guard(*this);
        return post_from_source(request);
    }

private:
    [[gnu::noinline, gnu::cold]] ssize_t receive_shared(ReceiveRequest request) {
        Guard guard(*this);
        return post_from_source(request);
    }
    // With the lock, if there is one.
    [[gnu::always_inline]] ssize_t post_from_source(ReceiveRequest& request) {
        if (!context_->directed) [[likely]] {
            request.source = FI_ADDR_UNSPEC;
        } else if (request.source != FI_ADDR_UNSPEC && av_) {
            request.source = av_->compared(request.source);
        }
        return post_receive(*context_, request);
    }

    // With the lock, if there is one.
    [[gnu::always_inline]] void make_progress() {
        transport_.progress(*this);
        if (unread_.units()) [[unlikely]]
            return_units();
        if (due_) [[unlikely]]
            do_due();
    }
    bool has_nothing_to_do() { return working_.empty() && !has_collective_work() && transport_.arm(); }

    // Called by the threads that the application serialises, where it does: while nobody shares, no other is inside.
    void progress_locked() {
        if (!context_->lock.try_lock()) return;
        make_progress();
        if (shared_ && !sharers_) [[unlikely]]
            end_sharing();
        context_->lock.unlock();
    }
    void end_sharing() {
        shared_ = false;
        options_.domain_locked = endpoint_->domain->attr.threading != FI_THREAD_DOMAIN;
        reports.unshare();
    }
    // Called by who reads an event queue. Who sleeps in a read of the endpoint's queues and counters has armed a
    // transport that is not armed any more, and arms it again: when all joins are over, this thread must not.
    [[gnu::noinline]] void progress_for_events() {
        if (!context_->lock.try_lock()) return;
        const bool moves = !for_joins_ || sharers_;
        if (moves) make_progress();
        const bool ended = moves && for_joins_ && !sharers_;
        if (ended) reports.wake_waiters();
        context_->lock.unlock();
    }

    [[gnu::noinline]] void do_due() {
        finish_pulls();
        work();
        if (advance_collectives()) set_due();
    }
    void detach() { reports.detach(*endpoint_, this); }

    void drop_state(PeerState& state) {
        set_working(state, false);
        while (Response* response = state.responses.first()) {
            state.responses.remove_first();
            count_answered(state, *response);
            free(response->owned);
            responses_.give(response);
        }
        while (Transmit* op = state.sending.operations.first()) {
            state.sending.operations.remove(op);
            release_buffers(*op);
            transmits_.give(op);
        }
        free(state.placing.bounce);
        unread_.orphan(state);
        release_stat_record(state.stat);
        states_.remove(&state);
        destroy(&state);
    }

    Transmit* first_unfinished(const PeerState& state) {
        Transmit* op = state.sending.operations.first();
        while (op && op->is_finished()) op = op->next;
        return op;
    }

    void revoke(const MemoryRegion& region) override {
        Guard guard(*this);
        if (closed_) return;
        for (PeerState* state = states_.first(); state; state = state->next) {
            if (state->placing.uses(region)) revoke_placement(peer_of(*state), *state);
        }
        if constexpr (CopiesSources<T>) {
            if (region.access & FI_REMOTE_READ) transport_.copy_sources(region.ranges, region.range_count);
        }
        if constexpr (PullsMemory<T>) {
            if (region.access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) transport_.revoke_grants();
        }
    }

    ReceiveContext own_context_;  // unless the endpoint has a shared receive context
    bool closed_ = false;         // the transport is; protected by the lock
};

}  // namespace selvage::impl
