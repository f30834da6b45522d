// See udp_path.h: the calls of the application on an endpoint over UDP, and how such an endpoint starts.
#include <sys/epoll.h>

#include "impl/engine/datagram_calls.h"
#include "impl/transport/udp/udp.h"
#include "impl/transport/udp/udp_path.h"

namespace selvage::impl::udp {

// What is on the shortest path is inlined into fi_send and its kin, and the rest is not.

inline int UdpPath::find_target(const DatagramSend& request, const SocketAddress** out) {
    if (request.flags & FI_MULTICAST) [[unlikely]] {
        const Group* group = groups_.find(request.to);
        if (!group || !group->sends) return -FI_EINVAL;
        *out = &group->address;
        return 0;
    }
    Route& route = routes_[request.to % kRoutes];
    const uint32_t generation = __atomic_load_n(generation_word_, __ATOMIC_ACQUIRE) & AvStore::kGenerationMask;
    *out = &route.to;
    if (route.address == request.to && route.generation == generation) [[likely]]
        return 0;
    return make_route(request.to, generation, &route);
}

[[gnu::noinline]] int UdpPath::make_route(fi_addr_t to, uint32_t generation, Route* route) {
    AvEntry entry;
    if (!av_->find_address(to, &entry)) return -FI_EINVAL;
    *route = {.address = to, .generation = generation, .to = entry.socket};
    return 0;
}

inline ssize_t UdpPath::send_locked(const DatagramSend& request) {
    if (bounded_ && (request.flags & FI_COMPLETION) && !reports_.transmit->room()) return -FI_EAGAIN;
    const SocketAddress* to;
    int error = find_target(request, &to);
    if (error) return error;
    if (waiting_ || (request.flags & FI_MORE)) [[unlikely]]
        return send_waiting(request, *to);
    error = send_now(request, *to);
    if (!error) [[likely]] {
        complete(request.flags, request.context);
        return 0;
    }
    return error == -FI_EAGAIN ? send_waiting(request, *to) : error;
}

inline ssize_t UdpPath::send(const DatagramSend& request) {
    constexpr uint64_t kKnown =
        FI_INJECT | FI_TRANSMIT_COMPLETE | FI_INJECT_COMPLETE | FI_COMPLETION | FI_MORE | FI_MULTICAST;
    size_t size;
    if (request.count > send_ranges_max_ || (request.count && !request.ranges)) return -FI_EINVAL;
    if (!total_of(request.ranges, request.count, &size) || size > message_max_) return -FI_EMSGSIZE;
    if (request.flags & ~kKnown) return -FI_EBADFLAGS;
    if ((request.flags & FI_INJECT) && size > inject_max_) return -FI_EMSGSIZE;
    Guard guard(*this);
    return send_locked(request);
}

inline ssize_t UdpPath::receive(const DatagramReceive& request) {
    size_t capacity;
    const int invalid = check(request, &capacity);
    if (invalid) return invalid;
    Guard guard(*this);
    if (!prepare(request, capacity)) return -FI_EAGAIN;
    ++last_receive_;
    if (!(events_ & EPOLLIN)) [[unlikely]]
        (void)watch_all(events_ | EPOLLIN);
    return 0;
}

}  // namespace selvage::impl::udp

namespace selvage::impl {

int start_udp_endpoint(Endpoint& endpoint) {
    // Nobody asks before a datagram arrives, so a key would keep nobody out.
    if (endpoint.domain->attr.auth_key_size) return -FI_EINVAL;
    return start_datagrams<udp::UdpPath>(endpoint);
}

}  // namespace selvage::impl
