// See verbs_dgram.h: the calls of the application on an endpoint for datagrams, and how such an endpoint starts.
#include <algorithm>
#include <utility>

#include "impl/base/create.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/transport/verbs/verbs_dgram.h"

namespace selvage::impl::verbs {

// Sending. What is on the shortest path is inlined into fi_send and its kin, and the rest is not.

inline int DatagramPath::find_route(fi_addr_t to, Route** out) {
    Route& route = routes_[to % kRoutes];
    const uint32_t generation = __atomic_load_n(generation_word_, __ATOMIC_ACQUIRE) & AvStore::kGenerationMask;
    *out = &route;
    const bool known = route.address == to && route.generation == generation && route.handle;
    if (known && route.handle->stamp == route.stamp) [[likely]]
        return 0;
    return make_route(to, generation, &route);
}

[[gnu::noinline]] int DatagramPath::make_route(fi_addr_t to, uint32_t generation, Route* route) {
    AvEntry entry;
    if (!av_->find_address(to, &entry)) return -FI_EINVAL;
    HandleCache::Handle* handle;
    const int error = handles_.find(entry.socket.ib, pair_.posted(), pair_.completed(), &handle);
    if (error) return error;
    *route = {.address = to,
              .generation = generation,
              .queue_pair = entry.socket.ib.queue_pair,
              .stamp = handle->stamp,
              .handle = handle};
    return 0;
}

// All handles are in use by requests under way, of which some may have completed.
[[gnu::noinline, gnu::cold]] int DatagramPath::wait_for_route(fi_addr_t to, Route** out) {
    int error;
    do {
        looked_ = true;
        if (!take_some()) return -FI_EAGAIN;
        error = find_route(to, out);
    } while (error == -FI_EAGAIN);
    return error;
}

inline bool DatagramPath::full(const SendRequest& request) {
    if (bounded_ && (request.flags & FI_COMPLETION) && !reports_.transmit->room()) return true;
    return !room() && still_full();
}

// With one look at whether something has completed meanwhile.
[[gnu::noinline, gnu::cold]] bool DatagramPath::still_full() {
    looked_ = true;
    take_some();
    return !room();
}

inline ssize_t DatagramPath::send(const SendRequest& request) {
    constexpr uint64_t kKnown =
        FI_INJECT | FI_TRANSMIT_COMPLETE | FI_INJECT_COMPLETE | FI_COMPLETION | FI_MORE | FI_REMOTE_CQ_DATA;
    size_t size;
    if (request.count > send_ranges_max_ || (request.count && !request.ranges)) return -FI_EINVAL;
    if (!total_of(request.ranges, request.count, &size) || size > message_max_) return -FI_EMSGSIZE;
    if (request.flags & ~kKnown) return -FI_EBADFLAGS;
    if ((request.flags & FI_INJECT) && size > inject_max_) return -FI_EMSGSIZE;

    ssize_t result;
    bool looked;
    {
        Guard guard(*this);
        result = send_locked(request, size);
        looked = std::exchange(looked_, false);
    }
    if (looked) [[unlikely]]
        after_progress();
    return result;
}

inline ssize_t DatagramPath::send_locked(const SendRequest& request, size_t size) {
    if (gone_) [[unlikely]]
        return -FI_ENODEV;
    if (broken_ || full(request)) [[unlikely]]
        return -FI_EAGAIN;
    Route* route;
    int error = find_route(request.to, &route);
    if (error) [[unlikely]] {
        if (error == -FI_EAGAIN) error = wait_for_route(request.to, &route);
        if (error) return error;
    }
    sent_[pair_.next_place()] = {.context = request.context, .flags = request.flags};
    const int refused = pair_.send({.ranges = request.ranges,
                                    .count = request.count,
                                    .size = size,
                                    .queue_pair = route->queue_pair,
                                    .data = static_cast<uint32_t>(request.data),
                                    .has_data = request.has_data},
                                   *route->handle);
    if (!refused) [[likely]]
        return 0;
    if (refused == -FI_ENOMEM || refused == -FI_EAGAIN) return -FI_EAGAIN;
    broken_ = true;  // the next progress finds out what is left
    return refused;
}

inline ssize_t DatagramPath::receive(const ReceiveRequest& request) {
    size_t capacity;
    if (request.count > receive_ranges_max_ || (request.count && !request.ranges)) return -FI_EINVAL;
    if (!total_of(request.ranges, request.count, &capacity)) return -FI_EINVAL;
    constexpr uint64_t kKnown = FI_COMPLETION | FI_MORE | FI_TRANSMIT_COMPLETE;
    if (request.flags & ~kKnown) return -FI_EBADFLAGS;

    Guard guard(*this);
    if (gone_) return -FI_ENODEV;
    if (last_receive_ - first_receive_ >= receive_limit_) return -FI_EAGAIN;
    Posted& receive = receive_at(last_receive_);
    receive.context = request.context;
    receive.flags = request.flags;
    receive.capacity = capacity;
    receive.count = request.count;
    std::copy_n(request.ranges, request.count, receive.ranges);
    if (first_arrived_ == last_arrived_) [[likely]] {
        ++last_receive_;
        return 0;
    }
    place(receive, arrived_[first_arrived_++ % buffers_]);
    return 0;
}

// The receives behind it move up.
int DatagramPath::cancel(void* context) {
    Guard guard(*this);
    for (uint32_t i = first_receive_; i != last_receive_; ++i) {
        if (receive_at(i).context != context) continue;
        reports_.receive_failed(FI_RECV | FI_MSG, receive_at(i).context, 0, FI_ECANCELED);
        for (; i + 1 != last_receive_; ++i) receive_at(i) = receive_at(i + 1);
        --last_receive_;
        return 0;
    }
    return -FI_ENOENT;
}

size_t DatagramPath::transmit_left() {
    Guard guard(*this);
    const size_t under_way = pair_.posted() - pair_.completed();
    return endpoint_->tx.size - std::min(under_way, endpoint_->tx.size);
}

size_t DatagramPath::receive_left() {
    Guard guard(*this);
    return receive_limit_ - (last_receive_ - first_receive_);
}

namespace {

DatagramPath& path(const Endpoint* endpoint) { return static_cast<DatagramPath&>(*endpoint->path); }

[[gnu::always_inline]] inline ssize_t send_range(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to,
                                                 uint64_t data, bool has_data, void* context, uint64_t flags) {
    const iovec range = range_of(bytes, size);
    return path(Endpoint::of(ep))
        .send({.ranges = &range,
               .count = 1,
               .to = to,
               .data = data,
               .has_data = has_data,
               .context = context,
               .flags = flags});
}

[[gnu::flatten]] ssize_t send(fid_ep* ep, const void* bytes, size_t size, void*, fi_addr_t to, void* context) {
    return send_range(ep, bytes, size, to, 0, false, context, Endpoint::of(ep)->tx_defaults);
}
[[gnu::flatten]] ssize_t senddata(fid_ep* ep, const void* bytes, size_t size, void*, uint64_t data, fi_addr_t to,
                                  void* context) {
    return send_range(ep, bytes, size, to, data, true, context, Endpoint::of(ep)->tx_defaults);
}
[[gnu::flatten]] ssize_t inject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to) {
    return send_range(ep, bytes, size, to, 0, false, nullptr, FI_INJECT);
}
[[gnu::flatten]] ssize_t injectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to) {
    return send_range(ep, bytes, size, to, data, true, nullptr, FI_INJECT);
}
ssize_t sendv(fid_ep* ep, const iovec* ranges, void**, size_t count, fi_addr_t to, void* context) {
    const Endpoint* endpoint = Endpoint::of(ep);
    return path(endpoint).send({.ranges = ranges,
                                .count = count,
                                .to = to,
                                .data = 0,
                                .has_data = false,
                                .context = context,
                                .flags = endpoint->tx_defaults});
}
ssize_t sendmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    const Endpoint* endpoint = Endpoint::of(ep);
    return path(endpoint).send({.ranges = message->msg_iov,
                                .count = message->iov_count,
                                .to = message->addr,
                                .data = flags & FI_REMOTE_CQ_DATA ? message->data : 0,
                                .has_data = (flags & FI_REMOTE_CQ_DATA) != 0,
                                .context = message->context,
                                .flags = flags | endpoint->tx_always});
}

[[gnu::flatten]] ssize_t recv(fid_ep* ep, void* bytes, size_t size, void*, fi_addr_t, void* context) {
    const Endpoint* endpoint = Endpoint::of(ep);
    const iovec range = range_of(bytes, size);
    return path(endpoint).receive({.ranges = &range, .count = 1, .context = context, .flags = endpoint->rx_defaults});
}
ssize_t recvv(fid_ep* ep, const iovec* ranges, void**, size_t count, fi_addr_t, void* context) {
    const Endpoint* endpoint = Endpoint::of(ep);
    return path(endpoint).receive(
        {.ranges = ranges, .count = count, .context = context, .flags = endpoint->rx_defaults});
}
ssize_t recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    const Endpoint* endpoint = Endpoint::of(ep);
    return path(endpoint).receive({.ranges = message->msg_iov,
                                   .count = message->iov_count,
                                   .context = message->context,
                                   .flags = flags | endpoint->rx_always});
}

// What the endpoint's capabilities leave out answers -FI_ENOSYS.
constexpr fi_ops_msg message_table(bool sends, bool receives) {
    constexpr fi_ops_msg kAll = {.size = sizeof(fi_ops_msg),
                                 .recv = recv,
                                 .recvv = recvv,
                                 .recvmsg = recvmsg,
                                 .send = send,
                                 .sendv = sendv,
                                 .sendmsg = sendmsg,
                                 .inject = inject,
                                 .senddata = senddata,
                                 .injectdata = injectdata};
    return granted(kAll, answering_msg<-FI_ENOSYS>(), sends, receives);
}
constexpr fi_ops_msg kMessageTables[2][2] = {{message_table(false, false), message_table(false, true)},
                                             {message_table(true, false), message_table(true, true)}};
constexpr fi_ops_tagged kNoTagged = answering_tagged<-FI_ENOSYS>();
constexpr fi_ops_rma kNoRma = answering_rma<-FI_ENOSYS>();
constexpr fi_ops_atomic kNoAtomic = answering_atomic<-FI_ENOSYS>();

void install_tables(Endpoint& endpoint) {
    const auto has = [](uint64_t caps, uint64_t direction) { return (caps & FI_MSG) && (caps & direction); };
    fid_ep& ep = endpoint.descriptor;
    ep.msg = const_cast<fi_ops_msg*>(&kMessageTables[has(endpoint.tx.caps, FI_SEND)][has(endpoint.rx.caps, FI_RECV)]);
    ep.tagged = const_cast<fi_ops_tagged*>(&kNoTagged);
    ep.rma = const_cast<fi_ops_rma*>(&kNoRma);
    ep.atomic = const_cast<fi_ops_atomic*>(&kNoAtomic);
}

}  // namespace
}  // namespace selvage::impl::verbs

namespace selvage::impl {

int start_verbs_datagrams(Endpoint& endpoint) {
    // Contexts that endpoints share are of the engine; the offer has none.
    if (endpoint.stx || endpoint.srx) return -FI_EINVAL;
    auto* path = create<verbs::DatagramPath>();
    if (!path) return -FI_ENOMEM;
    int error = path->open(endpoint);
    if (!error) error = path->attach();
    if (error) {
        destroy(path);
        return error;
    }
    endpoint.path = path;
    verbs::install_tables(endpoint);
    return 0;
}

}  // namespace selvage::impl
