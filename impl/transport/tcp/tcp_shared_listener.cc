// See tcp_shared_listener.h.
#include "impl/transport/tcp/tcp_shared_listener.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "impl/base/create.h"
#include "impl/transport/tcp/knobs.h"

namespace selvage::impl::tcp {

SharedListener::~SharedListener() {
    acceptor_.close();
    if (epoll_ >= 0) ::close(epoll_);
}

int SharedListener::open(SocketAddress* address, size_t contexts) {
    contexts_ = contexts;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) return -errno;
    const int error = acceptor_.open(address, kBacklog, epoll_);
    if (error) return error;
    // Without a thread, callers wait for a context to look.
    (void)join_flusher(epoll_);
    return 0;
}

void SharedListener::close() {
    leave_flusher();
    destroy(this);
}

int SharedListener::enter(size_t context, int* event) {
    const int made = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (made < 0) return -errno;
    LockGuard guard(lock_);
    *event = seats_[context].event = made;
    return 0;
}

void SharedListener::leave(size_t context) {
    LockGuard guard(lock_);
    Seat& seat = seats_[context];
    while (net::PendingConnection* caller = take_first(seat)) {
        caller->refuse(net::Refusal::Gone);
        destroy(caller);
    }
    if (seat.event >= 0) ::close(seat.event);
    seat.event = -1;
}

net::PendingConnection* SharedListener::take_first(Seat& seat) {
    net::PendingConnection* caller = seat.first;
    if (!caller) return nullptr;
    seat.first = caller->next;
    if (!seat.first) seat.end = &seat.first;
    caller->next = nullptr;
    --seat.count;
    return caller;
}

net::PendingConnection* SharedListener::next_caller(size_t context) {
    LockGuard guard(lock_);
    Seat& seat = seats_[context];
    net::PendingConnection* caller = take_first(seat);
    uint64_t count_of_calls;
    if (!caller) (void)!read(seat.event, &count_of_calls, sizeof count_of_calls);
    return caller;
}

// Whoever calls a context that is not enabled yet is to call again.
void SharedListener::hand_over(net::PendingConnection* caller) {
    net::Contexts named;
    const bool exists = get_contexts(caller->hello, &named) && named.to < contexts_;
    Seat* seat = exists ? &seats_[named.to] : nullptr;
    if (!seat || seat->event < 0 || seat->count == kCallersMax) {
        caller->refuse(seat ? net::Refusal::Busy : net::Refusal::Gone);
        destroy(caller);
        return;
    }
    *seat->end = caller;
    seat->end = &caller->next;
    ++seat->count;
    const uint64_t one = 1;
    (void)!write(seat->event, &one, sizeof one);
}

void SharedListener::hand_over_proved() {
    while (net::PendingConnection* caller = acceptor_.next_proved()) hand_over(caller);
}

void SharedListener::step() {
    if (!lock_.try_lock()) return;
    constexpr int kBatch = 64;
    epoll_event events[kBatch];
    ++looks_;
    const int count = epoll_wait(epoll_, events, kBatch, 0);
    bool accepts = false;
    for (int i = 0; i < count; ++i) {
        auto* watched = static_cast<net::Watched*>(events[i].data.ptr);
        accepts |= watched->watch == net::Watch::Listener;
        if (watched->watch == net::Watch::Pending) acceptor_.advance(static_cast<net::PendingConnection*>(watched));
    }
    while (accepts && acceptor_.accept_some()) hand_over_proved();
    hand_over_proved();
    acceptor_.sweep(net::now_milliseconds());
    const bool timed = acceptor_.needs_timer();
    looked_.store(net::now_nanoseconds(), std::memory_order_relaxed);
    lock_.unlock();
    timed ? note_timed() : note_untimed();
}

int listen_for_contexts(ScalableEndpoint& endpoint) {
    auto* listener = create<SharedListener>();
    if (!listener) return -FI_ENOMEM;
    const int error = listener->open(&endpoint.address, endpoint.rx_contexts);
    if (error) {
        destroy(listener);
        return error;
    }
    endpoint.listener = listener;
    return 0;
}

}  // namespace selvage::impl::tcp
