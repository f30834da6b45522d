// See verbs_dgram.h: the calls of the application on an endpoint for datagrams, and how such an endpoint starts.
#include <algorithm>
#include <utility>

#include "impl/engine/datagram_calls.h"
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

inline bool DatagramPath::full(const DatagramSend& request) {
    if (bounded_ && (request.flags & FI_COMPLETION) && !reports_.transmit->room()) return true;
    return !room() && still_full();
}

// With one look at whether something has completed meanwhile.
[[gnu::noinline, gnu::cold]] bool DatagramPath::still_full() {
    looked_ = true;
    take_some();
    return !room();
}

inline ssize_t DatagramPath::send(const DatagramSend& request) {
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

inline ssize_t DatagramPath::send_locked(const DatagramSend& request, size_t size) {
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

inline ssize_t DatagramPath::receive(const DatagramReceive& request) {
    size_t capacity;
    const int invalid = check(request, &capacity);
    if (invalid) return invalid;
    Guard guard(*this);
    if (gone_) return -FI_ENODEV;
    const Posted* receive = prepare(request, capacity);
    if (!receive) return -FI_EAGAIN;
    if (first_arrived_ == last_arrived_) [[likely]] {
        ++last_receive_;
        return 0;
    }
    place(*receive, arrived_[first_arrived_++ % buffers_]);
    return 0;
}

size_t DatagramPath::transmit_left() {
    Guard guard(*this);
    const size_t under_way = pair_.posted() - pair_.completed();
    return endpoint_->tx.size - std::min(under_way, endpoint_->tx.size);
}

}  // namespace selvage::impl::verbs

namespace selvage::impl {

int start_verbs_datagrams(Endpoint& endpoint) { return start_datagrams<verbs::DatagramPath>(endpoint); }

}  // namespace selvage::impl
