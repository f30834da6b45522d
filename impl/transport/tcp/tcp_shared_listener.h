// The listener of a scalable endpoint: one port, and callers that name the receive context that they want.
//
// A caller proves itself here and is then handed to the data path of its context, which answers it. The flusher's
// thread drives the handshakes, and so do the data paths of receive contexts when they look at their connections: those
// that have peers share one look in kControlInterval, as a look is a system call, and each of many contexts would make
// its own for every few messages.
//
// Locks: any thread. The lock is taken with a transport's setup lock held, and calls nothing that takes another.
#pragma once

#include "impl/base/lock.h"
#include "impl/endpoint/scalable.h"
#include "impl/transport/net/acceptor.h"
#include "impl/transport/tcp/flusher.h"
#include "impl/transport/tcp/knobs.h"

namespace selvage::impl::tcp {

class SharedListener final : public ContextListener, private Deferring {
public:
    SharedListener() = default;
    ~SharedListener();
    SharedListener(const SharedListener&) = delete;
    SharedListener& operator=(const SharedListener&) = delete;

    // Listens for callers of so many contexts; the port is written back.
    int open(SocketAddress* address, size_t contexts);
    // REQUIRES: every context has left.
    void close() override;

    // From now on callers of the context are kept for it. *event becomes readable when there is one, and is closed by
    // leave().
    int enter(size_t context, int* event);
    void leave(size_t context);
    // A caller of the context, who is the caller's then; nullptr: none (now).
    net::PendingConnection* next_caller(size_t context);
    // Looks at what is being set up, unless somebody else does just now.
    void step();
    // Whether a context that has peers is to do so: a connection is being set up, or none looked for a while.
    bool is_due(int64_t now) const {
        return timed() || now - looked_.load(std::memory_order_relaxed) >= kControlInterval;
    }
    // How often step() has looked, for tests.
    uint64_t looks() {
        LockGuard guard(lock_);
        return looks_;
    }

private:
    static constexpr size_t kCallersMax = 64;  // that wait for a context to look

    struct Seat {
        int event = -1;
        size_t count = 0;
        net::PendingConnection* first = nullptr;
        net::PendingConnection** end = &first;
    };

    void flush_deferred() override {}
    void advance_setup() override { step(); }
    void hand_over(net::PendingConnection* caller);
    void hand_over_proved();
    net::PendingConnection* take_first(Seat& seat);

    // When step() looked, in nanoseconds of the monotonic clock. A guess that all threads share: one that misses a
    // store looks once more.
    std::atomic<int64_t> looked_{0};

    Mutex lock_;  // protects what follows
    int epoll_ = -1;
    size_t contexts_ = 0;
    uint64_t looks_ = 0;
    Seat seats_[kContextsMax];
    net::Acceptor acceptor_{net::CallKind::ReliableDatagram};
};

int listen_for_contexts(ScalableEndpoint& endpoint);

}  // namespace selvage::impl::tcp
