// Engine: messages, as they are sent: the shortest paths, and the way of all others.
#pragma once

#include "impl/domain/work.h"
#include "impl/engine/engine_sender.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineMessages : public EngineSender<T, Locked> {
    using Base = EngineSender<T, Locked>;

protected:
    using typename Base::Guard, typename Base::UnsharedGuard;
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::count_stat, Base::eager_max, Base::endpoint_, Base::kAtOnceMax, Base::kInlines, Base::kUnusual,
        Base::known_context, Base::known_peer, Base::options_, Base::peers_, Base::reports, Base::state_in,
        Base::transport_;
    // From EnginePeers.
    using Base::look_up, Base::state_of;
    // From EnginePull.
    using Base::names_source, Base::offers, Base::put_sources;
    // From EngineDirect.
    using Base::plan_long;
    // From EngineStaging.
    using Base::names_hmem, Base::stage_source;
    // From EngineSender.
    using Base::begin_transmit, Base::check_flags, Base::may_complete, Base::post, Base::refuse, Base::take_ranges,
        Base::transmits_;

public:
    // The shortest path: a message that fits into one frame goes to a peer that is ready. 1 when it cannot be done at
    // once.
    template <FrameOp Op>
    ssize_t send_at_once(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data,
                         uint8_t frame_flags) {
        if (size > kAtOnceMax || this->is_shared()) [[unlikely]]
            return 1;
        UnsharedGuard guard(*this);
        if (!try_send<Op>(bytes, size, to, tag, data, frame_flags, false)) return 1;
        reports.count(kSlotSend);  // no entry tells of it
        return 0;
    }

    template <FrameOp Op>
    ssize_t send_one(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                     void* context, uint64_t flags) {
        if constexpr (kInlines) {
            if (size <= T::kInlineMax && (flags & (kUnusual | FI_COMPLETION)) == FI_COMPLETION) [[likely]] {
                CompletionQueue& queue = *reports.transmit;
                Peer* peer = queue.ring.size() < queue.at_hand ? known_peer(to) : nullptr;
                if (peer && peer->may_send(1) && transport_.takes_inline(*peer)) [[likely]] {
                    const uint64_t first =
                        size | uint64_t{static_cast<uint8_t>(Op)} << 32 | uint64_t{frame_flags} << 40;
                    transport_.send_inline(*peer, first, tag, data, 0, bytes, size);
                    push_sent<Op>(queue, context);
                    peer->spend(1);
                    const unsigned waiting = unsigned{T::owner_sleeps(*peer)} | unsigned{queue.wait.wanted()};
                    if (waiting || reports.counters[kSlotSend]) [[unlikely]]
                        return sent_inline(*peer);
                    return 0;
                }
            }
        }
        // Without a way of its own for the shortest, this is the shortest way.
        if constexpr (kInlines) {
            if (!frame_flags) return send_other<Op>(bytes, size, to, tag, context, flags);
            return send_other_data<Op>(bytes, size, to, tag, data, frame_flags, context, flags);
        }
        return send_plain<Op>(bytes, size, to, tag, data, frame_flags, context, flags);
    }

    // What the region is matters: of long messages, where the device may read them from memory that the application has
    // registered, and of memory of a device.
    static bool by_region([[maybe_unused]] size_t size, [[maybe_unused]] void* region) {
        if constexpr (StagesMemory<T>) {
            if (names_hmem(&region, 1)) return true;
        }
        if constexpr (NativeRma<T>) return size > T::kEagerMax;
        return false;
    }

    // A message that is sent with its region.
    [[gnu::noinline]] ssize_t send_named(FrameOp op, const void* bytes, size_t size, void* region, fi_addr_t to,
                                         uint64_t tag, uint64_t data, bool has_data, void* context, uint64_t flags) {
        const iovec range = range_of(bytes, size);
        return send({.op = op,
                     .ranges = &range,
                     .count = 1,
                     .to = to,
                     .tag = tag,
                     .data = data,
                     .has_data = has_data,
                     .context = context,
                     .flags = flags,
                     .regions = &region});
    }

    // One by itself has a way of its own, which is shorter.
    [[gnu::flatten]] size_t start_sends(const Work& first, size_t count, ssize_t* error) final {
        if (count > 1 || first.send.next) return start_several(first, count, error);
        const uint64_t flags = first.flags | endpoint_->tx_always;
        const uint8_t frame_flags = flags & FI_REMOTE_CQ_DATA ? kFrameHasData : 0;
        const ssize_t result = first.type == FI_OP_SEND ? start_send<FrameOp::Message>(first.send, frame_flags, flags)
                                                        : start_send<FrameOp::Tagged>(first.send, frame_flags, flags);
        if (!result) [[likely]]
            return 1;
        *error = result;
        return 0;
    }

    [[gnu::noinline, gnu::flatten]] size_t start_several(const Work& first, size_t count, ssize_t* error) {
        size_t started = 0;
        for (const Work* work = &first; count > 0; --count, work = work->next) {
            const ssize_t result = work->type == FI_OP_SEND ? start_sends_of<FrameOp::Message>(*work, &started)
                                                            : start_sends_of<FrameOp::Tagged>(*work, &started);
            if (!result) continue;
            *error = result;
            break;
        }
        return started;
    }

    [[gnu::noinline]] ssize_t send_range(FrameOp op, const void* bytes, size_t size, fi_addr_t to, uint64_t tag,
                                         uint64_t data, uint8_t frame_flags, void* context, uint64_t flags) {
        const iovec range = range_of(bytes, size);
        return send({.op = op,
                     .ranges = &range,
                     .count = 1,
                     .to = to,
                     .tag = tag,
                     .data = data,
                     .has_data = (frame_flags & kFrameHasData) != 0,
                     .context = context,
                     .flags = flags});
    }

    ssize_t send(const SendRequest& request) { return this->making_room(try_to_send(request)); }

private:
    ssize_t try_to_send(const SendRequest& request) {
        size_t length;
        if (request.count > options_.iov_max || (request.count && !request.ranges)) return -FI_EINVAL;
        if (!total_of(request.ranges, request.count, &length)) return -FI_EMSGSIZE;
        const ssize_t invalid = check_flags(request.flags, length);
        if (invalid) return invalid;
        constexpr uint64_t kAnswered =
            FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | (DeliversWhenSent<T> ? 0 : FI_TRANSMIT_COMPLETE);
        const bool tagged = request.op == FrameOp::Tagged;
        const bool answered = request.flags & kAnswered;
        Header header{.size = static_cast<uint32_t>(length),
                      .op = static_cast<uint8_t>(request.op),
                      .flags = static_cast<uint8_t>(request.has_data ? kFrameHasData : 0),
                      .aux = 0,
                      .word = {request.tag, request.data, 0}};

        Guard guard(*this);
        if (!may_complete(request.flags)) return -FI_EAGAIN;
        Peer* peer;
        int error = look_up(request.to, &peer);
        if (error) return error;
        const bool hmem = length && names_hmem(request.regions, request.count);
        const bool ready = !hmem && (!peer->state || !state_in(*peer)->busy);
        const bool whole = length <= eager_max(*peer) && peer->units_left() >= units_of(length);
        // What is injected is copied at the call, and never waits for the peer.
        const bool offered = !(whole && request.flags & FI_INJECT) && offers(*peer, length);
        if (ready && whole && !answered && !offered && !(request.flags & FI_FENCE) && length <= kAtOnceMax) {
            const Frame frame{.header = header,
                              .payload = request.ranges,
                              .count = request.count,
                              .token = nullptr,
                              .more = (request.flags & FI_MORE) != 0};
            SendResult result = transport_.send(*peer, frame);
            if (result == SendResult::Down) {
                // Perhaps there is another one behind the address by now.
                peers_.forget();
                error = look_up(request.to, &peer);
                if (error) return error;
                result = transport_.send(*peer, frame);
                if (result == SendResult::Down) return -FI_ENOTCONN;
            }
            if (result == SendResult::Done) {
                peer->spend(units_of(length));
                reports.transmitted(request.flags, FI_SEND | (tagged ? FI_TAGGED : FI_MSG), kSlotSend, request.context);
                return 0;
            }
            if (PeerState* state = state_of(*peer)) state->blocked = true;
        }

        Transmit* op;
        const auto kind = tagged ? Transmit::Kind::Tagged : Transmit::Kind::Message;
        const ssize_t full = begin_transmit(*peer, kind, request.context, request.flags, length, &op);
        if (full) return full;
        if (hmem) {
            error = stage_source(*op, request.ranges, request.regions, request.count);
            if (error) return refuse(*op, error);
        } else if (!take_ranges(*op, request.ranges, request.count, request.flags & FI_INJECT)) {
            return refuse(*op, -FI_EAGAIN);
        }
        if (whole) peer->spend(units_of(length));
        const bool uncharged = !whole && length <= kUnchargedMost && length <= eager_max(*peer);
        const bool announced = (!whole || offered) && !uncharged;
        op->expects_answer = answered || !whole || offered;
        if (op->expects_answer) header.word[2] = transmits_.id(op);
        if (request.flags & FI_MATCH_COMPLETE) header.flags |= kFrameOnMatch;
        if (!whole && length <= eager_max(*peer)) count_stat(*peer, Stat::AnnouncedShort);
        if (uncharged) header.flags |= kFrameUncharged | kFrameOnMatch;
        if (announced) {
            if (whole) header.flags |= kFrameCharged;
            op->way = Transmit::Way::Rts;
            header.op = static_cast<uint8_t>(tagged ? FrameOp::TaggedRts : FrameOp::MessageRts);
            PayloadWriter writer(op->prefix);
            writer.put(uint64_t{length});
            if (!plan_long(request, *op, header, writer)) {
                const bool named = offered || names_source(*peer, length);
                header.aux = static_cast<uint16_t>(named ? put_sources(*op, writer) : 0);
            }
            op->prefix_size = static_cast<uint32_t>(writer.size());
            header.size = op->prefix_size;
        }
        op->header = header;
        return post(*op);
    }

    template <FrameOp Op>
    static constexpr uint64_t kSentFlags = FI_SEND | (Op == FrameOp::Tagged ? FI_TAGGED : FI_MSG);

    // REQUIRES: there is room in the queue's ring.
    template <FrameOp Op>
    [[gnu::always_inline]] static void push_sent(CompletionQueue& queue, void* context) {
        queue.ring.push_at_hand({.context = context,
                                 .flags = kSentFlags<Op>,
                                 .length = 0,
                                 .buffer = nullptr,
                                 .data = 0,
                                 .tag = 0,
                                 .source = FI_ADDR_NOTAVAIL});
    }

    template <FrameOp Op>
    ssize_t start_sends_of(const Work& work, size_t* started) {
        const uint64_t flags = work.flags | endpoint_->tx_always;
        const uint8_t frame_flags = flags & FI_REMOTE_CQ_DATA ? kFrameHasData : 0;
        for (const ShortSend* send = &work.send; send; send = send->next) {
            if constexpr (kInlines) {
                if (send->next && reports.transmit->at_hand) send = start_inline<Op>(send, frame_flags, flags, started);
                if (!send) break;
            }
            const ssize_t result = start_send<Op>(*send, frame_flags, flags);
            if (result) [[unlikely]]
                return result;
            ++*started;
        }
        return 0;
    }

    // As send_one() does with one: as many as are short and to one peer, which is woken once. Returns the first of the
    // rest, or nullptr.
    template <FrameOp Op>
    const ShortSend* start_inline(const ShortSend* send, uint8_t frame_flags, uint64_t flags, size_t* started) {
        Peer* const peer = known_peer(send->to);
        CompletionQueue& queue = *reports.transmit;
        if ((flags & (kUnusual | FI_COMPLETION)) != FI_COMPLETION || !peer || reports.counters[kSlotSend]) return send;
        const fi_addr_t to = send->to;
        const uint64_t kind = uint64_t{static_cast<uint8_t>(Op)} << 32 | uint64_t{frame_flags} << 40;
        const size_t before = *started;
        for (; send && send->to == to && send->size <= T::kInlineMax && !by_region(send->size, send->region);
             send = send->next) {
            if (!peer->may_send(1) || queue.ring.size() >= queue.at_hand || !transport_.takes_inline(*peer)) break;
            transport_.send_inline(*peer, send->size | kind, send->tag, frame_flags ? send->data : 0, 0, send->bytes,
                                   send->size);
            push_sent<Op>(queue, send->context);
            peer->spend(1);
            ++*started;
        }
        if (*started != before && (T::owner_sleeps(*peer) || queue.wait.wanted())) [[unlikely]]
            sent_inline(*peer);
        return send;
    }

    template <FrameOp Op>
    ssize_t start_send(const ShortSend& send, uint8_t frame_flags, uint64_t flags) {
        const uint64_t data = frame_flags ? send.data : 0;
        if (by_region(send.size, send.region)) [[unlikely]]
            return send_named(Op, send.bytes, send.size, send.region, send.to, send.tag, data, frame_flags != 0,
                              send.context, flags);
        return send_one<Op>(send.bytes, send.size, send.to, send.tag, data, frame_flags, send.context, flags);
    }

    template <FrameOp Op>
    bool try_send(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                  bool more) {
        Peer* peer = known_peer(to);
        if (!peer) [[unlikely]]
            peer = known_context(to);
        if (!peer || !peer->may_send(units_of(size))) [[unlikely]]
            return false;
        const iovec range = range_of(bytes, size);
        const Header header{.size = static_cast<uint32_t>(size),
                            .op = static_cast<uint8_t>(Op),
                            .flags = frame_flags,
                            .aux = 0,
                            .word = {tag, data, 0}};
        const Frame frame{.header = header, .payload = &range, .count = 1, .token = nullptr, .more = more};
        if (transport_.send(*peer, frame) != SendResult::Done) return false;
        peer->spend(units_of(size));
        return true;
    }

    // The peer is to pull it. A question of its own, and none for most transports, so that their shortest path is what
    // it was.
    bool is_left_to([[maybe_unused]] fi_addr_t to, [[maybe_unused]] size_t size) {
        if constexpr (PullsMemory<T>) {
            if (size < T::kPullMin) [[likely]]
                return false;
            Peer* peer = known_peer(to);
            if (!peer) peer = known_context(to);
            return peer && offers(*peer, size);
        }
        return false;
    }

    [[gnu::noinline]] ssize_t sent_inline(Peer& peer) {
        if constexpr (kInlines) {
            if (T::owner_sleeps(peer)) transport_.wake_owner(peer);
            reports.transmit->wait.signal_if_wanted();
            reports.count(kSlotSend);
        }
        return 0;
    }

    template <FrameOp Op>
    ssize_t send_plain(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                       void* context, uint64_t flags) {
        if (!(flags & kUnusual) && size <= kAtOnceMax && !this->is_shared()) [[likely]] {
            UnsharedGuard guard(*this);
            if (may_complete(flags) && !is_left_to(to, size) &&
                try_send<Op>(bytes, size, to, tag, data, frame_flags, flags & FI_MORE)) [[likely]] {
                reports.transmitted(flags, kSentFlags<Op>, kSlotSend, context);
                return 0;
            }
        }
        return send_range(Op, bytes, size, to, tag, data, frame_flags, context, flags);
    }

    // Without data or flags of the frame, so that they need not be passed.
    template <FrameOp Op>
    [[gnu::flatten, gnu::noinline]] ssize_t send_other(const void* bytes, size_t size, fi_addr_t to, uint64_t tag,
                                                       void* context, uint64_t flags) {
        return send_plain<Op>(bytes, size, to, tag, 0, 0, context, flags);
    }
    template <FrameOp Op>
    [[gnu::flatten, gnu::noinline]] ssize_t send_other_data(const void* bytes, size_t size, fi_addr_t to, uint64_t tag,
                                                            uint64_t data, uint8_t frame_flags, void* context,
                                                            uint64_t flags) {
        return send_plain<Op>(bytes, size, to, tag, data, frame_flags, context, flags);
    }
};

}  // namespace selvage::impl
