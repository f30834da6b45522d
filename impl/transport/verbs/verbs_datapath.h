// What a verbs transport does with what arrives: templates over the Sink, so that the engine is called directly.
#pragma once

#include "impl/transport/verbs/verbs_transport.h"

namespace selvage::impl {

template <typename Sink>
[[gnu::always_inline]] inline size_t VerbsTransport::progress(Sink& sink) {
    if (chained_) flush_chains();
    if (due_) repost(*due_);
    const size_t done = take_some(sink);
    if (control_is_due()) look();
    if (broken_) [[unlikely]]
        reap(sink);
    if (waiting_) [[unlikely]]
        give_room(sink);
    if (any_dead_) [[unlikely]]
        reap_failed();
    return done;
}

// Events of connections are looked for all the time while there is something to expect, else now and then.
inline bool VerbsTransport::control_is_due() {
    if (want_look_) [[unlikely]]
        return true;
    if (++rounds_ % verbs::kRoundsPerLook) [[likely]]
        return false;
    return net::now_nanoseconds() - last_look_ >= verbs::kControlInterval;
}

template <typename Sink>
size_t VerbsTransport::take_some(Sink& sink) {
    if (stash_count_) [[unlikely]]
        take_stash(sink);
    ibv_wc completions[verbs::kPoll];
    const int count = ibv_poll_cq(completions_, verbs::kPoll, completions);
    for (int i = 0; i < count; ++i) take(sink, completions[i]);
    return count > 0 ? static_cast<size_t>(count) : 0;
}

template <typename Sink>
[[gnu::noinline, gnu::cold]] void VerbsTransport::take_stash(Sink& sink) {
    const int count = stash_count_;
    stash_count_ = 0;
    for (int i = 0; i < count; ++i) take(sink, stash_[i]);
}

// From here to the engine everything is inlined into take_some().
template <typename Sink>
[[gnu::always_inline]] inline void VerbsTransport::take(Sink& sink, const ibv_wc& completion) {
    const verbs::Ticket ticket = verbs::Ticket::unpack(completion.wr_id);
    Call* call = call_of(ticket);
    if (!call) [[unlikely]]
        return;
    if (ticket.number & verbs::Ticket::kOfLane) [[unlikely]] {
        take_long(sink, *call, completion, ticket.send);
    } else if (ticket.send) {
        take_sent(sink, *call, completion, ticket.number);
    } else if (completion.status == IBV_WC_SUCCESS) [[likely]] {
        take_arrival(sink, *call, completion, ticket.number);
    } else {
        on_failed(*call, completion);
    }
}

// What a failed access is to the application.
inline int access_error(ibv_wc_status status) {
    switch (status) {
        case IBV_WC_REM_ACCESS_ERR:
            return FI_EACCES;
        case IBV_WC_LOC_PROT_ERR:
        case IBV_WC_REM_INV_REQ_ERR:
            return FI_EINVAL;
        case IBV_WC_REM_OP_ERR:
            return FI_EREMOTEIO;
        case IBV_WC_RETRY_EXC_ERR:
        case IBV_WC_RNR_RETRY_EXC_ERR:
            return FI_ETIMEDOUT;
        default:
            return FI_EIO;
    }
}

template <typename Sink>
void VerbsTransport::take_sent(Sink& sink, Call& call, const ibv_wc& completion, uint16_t number) {
    const bool good = completion.status == IBV_WC_SUCCESS;
    // With a queue pair that failed, nothing is known of what came before but was not signalled; all of it ends with
    // the peer. The access that is to blame gets the reason.
    if (!good) {
        const bool flushed = completion.status == IBV_WC_WR_FLUSH_ERR;
        void* token = flushed ? nullptr : call.link.token_at(number);
        if (token && call.peer) sink.accessed(*call.peer, token, access_error(completion.status));
        return on_failed(call, completion);
    }
    Peer* peer = call.peer;
    call.link.completed(number, true, [&](void* token) {
        if (peer) sink.accessed(*peer, token, 0);
    });
    send_credits_now(call);
}

// A frame whose peer is known, and up.
template <typename Sink>
[[gnu::always_inline]] inline void VerbsTransport::take_frame(Sink& sink, Call& call, const verbs::Immediate& told,
                                                              const std::byte* bytes, uint32_t length) {
    Peer* peer = call.peer;
    if (!peer || !peer->is_up()) [[unlikely]] {
        if (!peer) kill(call);  // frames before proof
        return;
    }
    Header header;
    const std::byte* payload = verbs::read_frame(told, bytes, length, &header);
    if (!payload) [[unlikely]] {
        if constexpr (CountsMalformed<Sink, Peer>) sink.malformed(*peer);
        return drop(*peer, FI_ECONNABORTED);
    }
    sink.deliver(*peer, header, payload);
}

template <typename Sink>
[[gnu::always_inline]] inline void VerbsTransport::take_arrival(Sink& sink, Call& call, const ibv_wc& completion,
                                                                uint16_t number) {
    Peer* peer = call.peer;
    verbs::Link& link = call.link;
    const verbs::Immediate told = verbs::Immediate::unpack(completion.imm_data);
    const std::byte* buffer = link.buffer(number);
    bool credited = true;
    if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) [[unlikely]] {
        // Immediate data is the application's.
        if (peer && peer->is_up()) sink.wrote(*peer, completion.byte_len, ntohl(completion.imm_data));
    } else if (!(completion.wc_flags & IBV_WC_WITH_IMM) || !link.take_credits(told.credits)) [[unlikely]] {
        if (peer) drop(*peer, FI_ECONNABORTED);
    } else {
        switch (told.kind) {
            case verbs::Word::Bare:
            case verbs::Word::FirstWord:
            case verbs::Word::Frame:
                take_frame(sink, call, told, buffer, completion.byte_len);
                break;
            case verbs::Word::Note:
                on_note(call, buffer, completion.byte_len);
                break;
            case verbs::Word::Lane:
                on_lane(call, buffer, completion.byte_len);
                break;
            case verbs::Word::Return:
            default:
                credited = false;
        }
    }
    if (!link.is_open()) return;
    link.give_back(number, credited);
    if (link.used() < verbs::kRepost) return;
    const bool may_wait = !due_ || (due_ == &call && link.used() < verbs::kRepostAtOnce);
    if (!may_wait) return repost(call);
    due_ = &call;
}

// A long message was sent, or has come.
template <typename Sink>
[[gnu::noinline]] void VerbsTransport::take_long(Sink& sink, Call& call, const ibv_wc& completion, bool send) {
    if (completion.status != IBV_WC_SUCCESS) return on_failed(call, completion);
    Peer* peer = call.peer;
    if (!call.lane || !peer) return;
    if (send) {
        if (call.lane->idle()) return;
        void* token = call.lane->sent();
        if (!call.lane->push()) mark_broken(*peer, FI_EIO);
        sink.sent(*peer, token, 0);
    } else {
        void* token;
        if (!call.lane->placed(completion.byte_len, &token)) return drop(*peer, FI_ECONNABORTED);
        if (peer->is_up()) sink.placed(*peer, token);
    }
}

// What arrived before the connection failed is handed over first.
template <typename Sink>
void VerbsTransport::reap(Sink& sink) {
    for (int turn = 0; turn < 256; ++turn) {
        if (!take_some(sink)) break;
    }
    while (Peer* peer = broken_) {
        broken_ = peer->next_broken;
        const int error = peer->error;
        const bool was_up = peer->phase == Peer::Phase::Up;
        const bool was_down = peer->phase == Peer::Phase::Down;
        detach_call(*peer);
        peer->phase = Peer::Phase::Down;
        peer->broken = peer->dropped = peer->ending = false;
        peer->features = 0;
        if (was_down) continue;
        sink.down(*peer, error);
        let_fall(*peer);
        if (!connected_ || !events_) continue;
        ConnectionEvents* events = events_;
        events_ = nullptr;  // nothing comes after
        if (was_up || !peer->awaits_answer) {
            events->ended();
        } else {
            events->failed(error, peer->farewell.data, peer->farewell.data_size);
        }
    }
}

template <typename Sink>
void VerbsTransport::give_room(Sink& sink) {
    Peer* list = waiting_;
    waiting_ = nullptr;
    while (Peer* peer = list) {
        list = peer->next_waiting;
        peer->wants_room = false;
        if (peer->phase == Peer::Phase::Down) continue;
        if (peer->phase == Peer::Phase::Up && !peer->broken && peer->call->link.room()) {
            sink.room(*peer);
        } else {
            await_room(*peer);
        }
    }
}

}  // namespace selvage::impl
