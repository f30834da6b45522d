// Engine: the tables of functions behind fi_send, fi_recv and their kin, for one transport and locking.
//
// The calls that send one range are flattened: whatever they need of the transport and the queue is inlined into them,
// and what is not on the shortest path is not.
//
// An alias shares the data path of its base and has its own default flags. `tx_always` and `rx_always` are
// FI_COMPLETION unless the queue was bound with FI_SELECTIVE_COMPLETION; the defaults contain them.
#pragma once

#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/triggered.h"
#include "impl/engine/engine_control.h"

namespace selvage::impl {

template <Transport T, bool Locked>
struct MessageCalls {
    using Path = Engine<T, Locked>;
    static Path& path(const Endpoint* endpoint) { return static_cast<Path&>(*endpoint->path); }

    static constexpr uint64_t kReceiveFlags =
        FI_COMPLETION | FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MORE | FI_TRANSMIT_COMPLETE;

    // fi_send and fi_tsend and what differs from them by data and FI_INJECT.
    template <FrameOp Op>
    [[gnu::always_inline]] static inline ssize_t one(fid_ep* ep, const void* bytes, size_t size, void* region,
                                                     fi_addr_t to, uint64_t tag, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        if (Path::by_region(size, region)) [[unlikely]]
            return path(endpoint).send_named(Op, bytes, size, region, to, tag, 0, false, context,
                                             endpoint->tx_defaults);
        return path(endpoint).template send_one<Op>(bytes, size, to, tag, 0, 0, context, endpoint->tx_defaults);
    }
    template <FrameOp Op>
    [[gnu::always_inline]] static inline ssize_t one_data(fid_ep* ep, const void* bytes, size_t size, void* region,
                                                          uint64_t data, fi_addr_t to, uint64_t tag, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        if (Path::by_region(size, region)) [[unlikely]]
            return path(endpoint).send_named(Op, bytes, size, region, to, tag, data, true, context,
                                             endpoint->tx_defaults);
        return path(endpoint).template send_one<Op>(bytes, size, to, tag, data, kFrameHasData, context,
                                                    endpoint->tx_defaults);
    }
    // Nothing is reported of it but an error, and it never waits for an answer.
    template <FrameOp Op>
    [[gnu::always_inline]] static inline ssize_t inject(fid_ep* ep, const void* bytes, size_t size, uint64_t data,
                                                        fi_addr_t to, uint64_t tag, uint8_t frame_flags) {
        const Endpoint* endpoint = Endpoint::of(ep);
        Path& self = path(endpoint);
        if (size > self.inject_max()) [[unlikely]]
            return -FI_EMSGSIZE;
        const ssize_t done = self.template send_at_once<Op>(bytes, size, to, tag, data, frame_flags);
        if (done <= 0) [[likely]]
            return done;
        return self.send_range(Op, bytes, size, to, tag, data, frame_flags, nullptr, FI_INJECT);
    }

    [[gnu::flatten]] static ssize_t send(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to,
                                         void* context) {
        return one<FrameOp::Message>(ep, bytes, size, region, to, 0, context);
    }
    static ssize_t sendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).send({.op = FrameOp::Message,
                                    .ranges = ranges,
                                    .count = count,
                                    .to = to,
                                    .tag = 0,
                                    .data = 0,
                                    .has_data = false,
                                    .context = context,
                                    .flags = endpoint->tx_defaults,
                                    .regions = regions});
    }
    static ssize_t sendmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered_send(ep, *message, flags);
        return send_now(ep, message, flags);
    }
    // A function of its own, as its registers would be saved for what waits, too.
    [[gnu::noinline]] static ssize_t send_now(fid_ep* ep, const fi_msg* message, uint64_t flags) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).send({.op = FrameOp::Message,
                                    .ranges = message->msg_iov,
                                    .count = message->iov_count,
                                    .to = message->addr,
                                    .tag = 0,
                                    .data = flags & FI_REMOTE_CQ_DATA ? message->data : 0,
                                    .has_data = (flags & FI_REMOTE_CQ_DATA) != 0,
                                    .context = message->context,
                                    .flags = flags | endpoint->tx_always,
                                    .regions = message->desc});
    }
    [[gnu::flatten]] static ssize_t inject_message(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to) {
        return inject<FrameOp::Message>(ep, bytes, size, 0, to, 0, 0);
    }
    [[gnu::flatten]] static ssize_t senddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data,
                                             fi_addr_t to, void* context) {
        return one_data<FrameOp::Message>(ep, bytes, size, region, data, to, 0, context);
    }
    [[gnu::flatten]] static ssize_t injectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data,
                                               fi_addr_t to) {
        return inject<FrameOp::Message>(ep, bytes, size, data, to, 0, kFrameHasData);
    }

    [[gnu::flatten]] static ssize_t tsend(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to,
                                          uint64_t tag, void* context) {
        return one<FrameOp::Tagged>(ep, bytes, size, region, to, tag, context);
    }
    static ssize_t tsendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t tag,
                          void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).send({.op = FrameOp::Tagged,
                                    .ranges = ranges,
                                    .count = count,
                                    .to = to,
                                    .tag = tag,
                                    .data = 0,
                                    .has_data = false,
                                    .context = context,
                                    .flags = endpoint->tx_defaults,
                                    .regions = regions});
    }
    static ssize_t tsendmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered_tagged_send(ep, *message, flags);
        return send_now(ep, message, flags);
    }
    // A function of its own, as its registers would be saved for what waits, too.
    [[gnu::noinline]] static ssize_t send_now(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return path(endpoint).send({.op = FrameOp::Tagged,
                                    .ranges = message->msg_iov,
                                    .count = message->iov_count,
                                    .to = message->addr,
                                    .tag = message->tag,
                                    .data = flags & FI_REMOTE_CQ_DATA ? message->data : 0,
                                    .has_data = (flags & FI_REMOTE_CQ_DATA) != 0,
                                    .context = message->context,
                                    .flags = flags | endpoint->tx_always,
                                    .regions = message->desc});
    }
    [[gnu::flatten]] static ssize_t tinject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to, uint64_t tag) {
        return inject<FrameOp::Tagged>(ep, bytes, size, 0, to, tag, 0);
    }
    [[gnu::flatten]] static ssize_t tsenddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data,
                                              fi_addr_t to, uint64_t tag, void* context) {
        return one_data<FrameOp::Tagged>(ep, bytes, size, region, data, to, tag, context);
    }
    [[gnu::flatten]] static ssize_t tinjectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to,
                                                uint64_t tag) {
        return inject<FrameOp::Tagged>(ep, bytes, size, data, to, tag, kFrameHasData);
    }

    // `region`: of the only range, where the application has to name it. `regions`: of all, looked at for memory of
    // devices.
    static ssize_t post(const Endpoint* endpoint, const iovec* ranges, const void* region,
                        [[maybe_unused]] void* const* regions, size_t count, fi_addr_t from, bool tagged, uint64_t tag,
                        uint64_t ignore, void* context, uint64_t flags) {
        if constexpr (StagesMemory<T>) {
            if (names_hmem(regions, count)) {
                region = regions;
                flags |= kOnHmem;
            }
        }
        return path(endpoint).receive({.ranges = ranges,
                                       .count = count,
                                       .tagged = tagged,
                                       .source = from,
                                       .tag = tag,
                                       .ignore = ignore,
                                       .context = context,
                                       .flags = flags,
                                       .least = endpoint->base->min_multi_recv,
                                       .region = region});
    }
    // Of several ranges none.
    static const void* region_of(const Endpoint* endpoint, void* const* regions, size_t count) {
        return path(endpoint).names_regions() && regions && count == 1 ? regions[0] : nullptr;
    }
    [[gnu::flatten]] static ssize_t recv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from,
                                         void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        const iovec range = range_of(bytes, size);
        return post(endpoint, &range, region, &region, 1, from, false, 0, 0, context, endpoint->rx_defaults);
    }
    static ssize_t recvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return post(endpoint, ranges, region_of(endpoint, regions, count), regions, count, from, false, 0, 0, context,
                    endpoint->rx_defaults);
    }
    static ssize_t recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered(ep, {FI_OP_RECV, message, flags});
        if (flags & ~kReceiveFlags) return -FI_EBADFLAGS;
        const Endpoint* endpoint = Endpoint::of(ep);
        return post(endpoint, message->msg_iov, region_of(endpoint, message->desc, message->iov_count), message->desc,
                    message->iov_count, message->addr, false, 0, 0, message->context, flags | endpoint->rx_always);
    }
    [[gnu::flatten]] static ssize_t trecv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from,
                                          uint64_t tag, uint64_t ignore, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        const iovec range = range_of(bytes, size);
        return post(endpoint, &range, region, &region, 1, from, true, tag, ignore, context,
                    endpoint->rx_defaults & ~FI_MULTI_RECV);
    }
    static ssize_t trecvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, uint64_t tag,
                          uint64_t ignore, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return post(endpoint, ranges, region_of(endpoint, regions, count), regions, count, from, true, tag, ignore,
                    context, endpoint->rx_defaults & ~FI_MULTI_RECV);
    }
    static ssize_t trecvmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered(ep, {FI_OP_TRECV, message, flags});
        if (flags & ~kReceiveFlags) return -FI_EBADFLAGS;
        const Endpoint* endpoint = Endpoint::of(ep);
        return post(endpoint, message->msg_iov, region_of(endpoint, message->desc, message->iov_count), message->desc,
                    message->iov_count, message->addr, true, message->tag, message->ignore, message->context,
                    flags | endpoint->rx_always);
    }

    // What the endpoint's capabilities leave out answers -FI_ENOSYS.
    static constexpr fi_ops_msg message_table(bool sends, bool receives) {
        constexpr fi_ops_msg kAll = {.size = sizeof(fi_ops_msg),
                                     .recv = recv,
                                     .recvv = recvv,
                                     .recvmsg = recvmsg,
                                     .send = send,
                                     .sendv = sendv,
                                     .sendmsg = sendmsg,
                                     .inject = inject_message,
                                     .senddata = senddata,
                                     .injectdata = injectdata};
        return granted(kAll, answering_msg<-FI_ENOSYS>(), sends, receives);
    }
    static constexpr fi_ops_tagged tagged_table(bool sends, bool receives) {
        constexpr fi_ops_tagged kAll = {.size = sizeof(fi_ops_tagged),
                                        .recv = trecv,
                                        .recvv = trecvv,
                                        .recvmsg = trecvmsg,
                                        .send = tsend,
                                        .sendv = tsendv,
                                        .sendmsg = tsendmsg,
                                        .inject = tinject,
                                        .senddata = tsenddata,
                                        .injectdata = tinjectdata};
        return granted(kAll, answering_tagged<-FI_ENOSYS>(), sends, receives);
    }
    static constexpr fi_ops_msg kMessageTables[2][2] = {{message_table(false, false), message_table(false, true)},
                                                        {message_table(true, false), message_table(true, true)}};
    static constexpr fi_ops_tagged kTaggedTables[2][2] = {{tagged_table(false, false), tagged_table(false, true)},
                                                          {tagged_table(true, false), tagged_table(true, true)}};
};

}  // namespace selvage::impl
