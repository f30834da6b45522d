// Engine: answers to a peer. Each is sent at once if none waits and the transport has room; else it is kept, with a
// copy of its payload, or with the targets of a read that is streamed (response_queue.h).
#pragma once

#include "impl/engine/engine_peers.h"
#include "impl/engine/hmem_targets.h"
#include "impl/engine/pool.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineResponder : public EnginePeers<T, Locked> {
    using Base = EnginePeers<T, Locked>;

protected:
    using typename Base::Peer;
    using typename Base::Step;
    // From EngineBase and Receiver.
    using Base::endpoint_, Base::frame_max, Base::kInlines, Base::options_, Base::stat_, Base::state_in,
        Base::transport_, Base::widen_window;
    // From EngineCounting.
    using Base::count_answered;
    // From EnginePeers.
    using Base::drop, Base::state_of;

    void respond(Peer& peer, const Header& header, const void* payload) {
        const iovec range = range_of(payload, header.size);
        reply_with(peer, header, &range, header.size ? 1U : 0U);
    }

    void reply(PeerBase& base, uint64_t reply_id, int error) final {
        Peer& peer = static_cast<Peer&>(base);
        if constexpr (kInlines) {
            const PeerState* state = state_in(peer);
            if ((!state || (!state->blocked && state->responses.empty())) && transport_.takes_inline(peer)) [[likely]] {
                transport_.send_inline(peer, uint64_t{static_cast<uint8_t>(FrameOp::Ack)} << 32, reply_id,
                                       static_cast<uint64_t>(error), 0, nullptr, 0);
                if (T::owner_sleeps(peer)) [[unlikely]]
                    transport_.wake_owner(peer);
                return;
            }
        }
        const Header header{.size = 0,
                            .op = static_cast<uint8_t>(FrameOp::Ack),
                            .flags = 0,
                            .aux = 0,
                            .word = {reply_id, static_cast<uint64_t>(error), 0}};
        respond(peer, header, nullptr);
    }

    // A read that is answered at once, from memory that later writes may change.
    [[gnu::noinline]] void reply_with(Peer& peer, const Header& header, const iovec* pieces, size_t count) {
        PeerState* state = state_in(peer);
        if (!state || (state->responses.empty() && (!state->blocked || !header.size))) {
            const Frame frame{.header = header,
                              .payload = pieces,
                              .count = count,
                              .token = nullptr,
                              .more = false,
                              .answer = !header.size};
            if (transport_.send(peer, frame) != SendResult::Again) return;
            state = state_of(peer);
            if (state) state->blocked = true;
        }
        Response* response = queue_response(peer, header);
        if (!response || !header.size) return;
        const bool affordable = state_in(peer)->responses.affords(header.size);
        response->owned = affordable ? malloc(header.size) : nullptr;
        if (!response->owned) {
            response->header.size = 0;
            return drop(peer, affordable ? FI_ENOMEM : FI_ENOBUFS);
        }
        state_in(peer)->responses.charge(header.size);
        add_stat(stat_, Stat::AnswerBytes, header.size);
        add_stat(state_in(peer)->stat, Stat::AnswerBytes, header.size);
        gather(pieces, count, 0, response->owned, header.size);
    }

    // A long read is to be answered in segments, as the sender has room for them. False: the peer is dropped.
    bool reply_in_parts(Peer& peer, const Header& header, const Target* targets, size_t count, uint64_t length) {
        Response* response = queue_response(peer, header);
        if (!response) return false;
        response->streams = true;
        response->length = length;
        response->target_count = static_cast<uint32_t>(count);
        response->owned = malloc(count * sizeof *targets);
        if (!response->owned) {
            response->streams = false;
            drop(peer, FI_ENOMEM);
            return false;
        }
        memcpy(response->owned, targets, count * sizeof *targets);
        return true;
    }

    [[gnu::noinline]] void give_credit(PeerBase& base) final {
        const uint64_t units = base.owed + uint64_t{widen_window(base)};
        base.owed = 0;
        send_credit(base, units, 0);
    }

    void allow_announcements(PeerBase& peer, uint32_t more) final { send_credit(peer, 0, more); }

    // False when there was no room for the next.
    bool send_responses(Peer& peer, PeerState& state) {
        while (Response* response = state.responses.first()) {
            const Step step = send_response(peer, *response);
            if (step == Step::Blocked) return false;
            if (response->streams && response->offset < response->length && step == Step::Sent) continue;
            state.responses.remove_first();
            count_answered(state, *response);
            free(response->owned);
            responses_.give(response);
        }
        return true;
    }

    Pool<Response> responses_;
    HmemWindow hmem_window_;

private:
    void send_credit(PeerBase& peer, uint64_t units, uint64_t announcements) {
        const Header header{.size = 0,
                            .op = static_cast<uint8_t>(FrameOp::Credit),
                            .flags = 0,
                            .aux = 0,
                            .word = {units, announcements, 0}};
        respond(static_cast<Peer&>(peer), header, nullptr);
    }

    [[gnu::noinline]] Response* queue_response(Peer& peer, const Header& header) {
        PeerState* state = state_of(peer);
        Response* response = state && !state->responses.full() ? responses_.take() : nullptr;
        if (!response) {
            drop(peer, state ? FI_ENOBUFS : FI_ENOMEM);
            return nullptr;
        }
        response->header = header;
        response->length = header.size;
        response->offset = 0;
        response->streams = false;
        response->owned = nullptr;
        response->target_count = 0;
        state->responses.append(response);
        add_stat(stat_, Stat::Answers);
        add_stat(state->stat, Stat::Answers);
        return response;
    }

    // The next part of the memory of a device, as a copy that the transport copies once more.
    int read_hmem(const Peer& peer, const Response& response, iovec* part, uint64_t* size) {
        const uint64_t left = response.length - response.offset;
        const uint64_t next = std::min<uint64_t>({left, frame_max(peer), T::kCopied, HmemWindow::kBytes});
        std::byte* copy = hmem_window_.find(Pool<Response>::id(&response), response.offset, next);
        if (!copy) {
            copy = hmem_window_.acquire();
            const uint64_t more = std::min<uint64_t>(left, HmemWindow::kBytes);
            const Target* targets = response.targets();
            Domain& domain = *endpoint_->domain;
            int error = copy ? check_hmem_targets(domain, targets, response.target_count, FI_REMOTE_READ) : FI_ENOMEM;
            if (!error) {
                error = read_hmem_targets(domain, targets, response.target_count, response.offset, copy, more);
            }
            if (error) return error;
            hmem_window_.holds(Pool<Response>::id(&response), response.offset, more);
        }
        *part = range_of(copy, next);
        *size = next;
        return 0;
    }

    Step send_response(Peer& peer, Response& response) {
        Resolved memory;
        iovec pieces[Resolved::kPieces];
        size_t count = 0;
        uint64_t size = response.header.size;
        if (response.streams) {
            response.header.word[1] = response.offset;
            int error = resolve_targets(*endpoint_->domain, options_.domain_locked, response.targets(),
                                        response.target_count, FI_REMOTE_READ, &memory);
            size = error ? 0 : std::min<uint64_t>(response.length - response.offset, frame_max(peer));
            count = slice(memory.pieces, memory.count, response.offset, size, pieces);
            if constexpr (StagesMemory<T>) {
                if (error == FI_EACCES) error = read_hmem(peer, response, pieces, &size);
                if (size) count = std::max<size_t>(count, 1);
            }
            if (error) {
                response.header.op = static_cast<uint8_t>(FrameOp::Ack);
                response.header.word[1] = static_cast<uint64_t>(error);
                response.length = response.offset;
            }
            response.header.size = static_cast<uint32_t>(size);
        } else if (size) {
            pieces[count++] = range_of(response.owned, size);
        }
        const Frame frame{.header = response.header,
                          .payload = pieces,
                          .count = count,
                          .token = nullptr,
                          .more = response.next || response.offset + size < response.length,
                          .answer = !size && !response.streams};
        switch (transport_.send(peer, frame)) {
            case SendResult::Again:
                return Step::Blocked;
            case SendResult::Down:
                return Step::Down;
            default:
                response.offset += size;
                return Step::Sent;
        }
    }
};

}  // namespace selvage::impl
