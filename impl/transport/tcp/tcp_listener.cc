// The passive endpoint's listener, and the connection calls of the TCP provider (impl/endpoint/connect.h).
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "impl/base/create.h"
#include "impl/endpoint/connect.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/passive.h"
#include "impl/transport/tcp/knobs.h"
#include "impl/transport/tcp/tcp.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {
namespace {

using net::PendingConnection;
using net::Refusal;

// Driven by reading the event queue. A caller that has sent its proof becomes a request; whether the proof holds is
// known here when the passive endpoint was opened with a key, and otherwise when it is accepted on a domain.
class TcpListener final : public Listener {
public:
    explicit TcpListener(PassiveEndpoint& owner) : owner_(owner) {}
    ~TcpListener() {
        acceptor_.close();
        if (timer_ >= 0) ::close(timer_);
        if (epoll_ >= 0) ::close(epoll_);
    }

    int open() {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) return -errno;
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (timer_ < 0) return -errno;
        const int error = net::watch_socket(epoll_, timer_, EPOLLIN | EPOLLET, &timer_watch_);
        if (error) return error;
        backlog_ = owner_.backlog > 0 ? static_cast<size_t>(owner_.backlog) : 1;
        return acceptor_.open(&owner_.address, static_cast<int>(std::min<size_t>(backlog_, 4096)), epoll_);
    }

    void progress() override {
        if (!lock_.try_lock()) return;
        constexpr int kBatch = 64;
        epoll_event events[kBatch];
        const int count = epoll_wait(epoll_, events, kBatch, 0);
        bool accepts = false;
        for (int i = 0; i < count; ++i) {
            auto* watched = static_cast<net::Watched*>(events[i].data.ptr);
            accepts |= watched->watch == net::Watch::Listener;
            if (watched->watch == net::Watch::Pending) acceptor_.advance(static_cast<PendingConnection*>(watched));
        }
        while (accepts && acceptor_.accept_some()) present_proved();
        present_proved();
        if (acceptor_.needs_timer()) acceptor_.sweep(net::now_milliseconds());
        lock_.unlock();
    }

    bool arm() override {
        LockGuard guard(lock_);
        if (!acceptor_.needs_timer()) return true;
        itimerspec when{};
        when.it_value.tv_nsec = net::kAcceptPause * 1'000'000;
        return timerfd_settime(timer_, 0, &when, nullptr) == 0;
    }

    int wait_descriptor() const override { return epoll_; }
    void close() override { destroy(this); }

private:
    void present_proved() {
        while (PendingConnection* pending = acceptor_.next_proved()) present(pending);
    }
    void present(PendingConnection* pending) {
        const net::Key key{owner_.auth_key, owner_.auth_key_size};
        Refusal refusal = Refusal::None;
        if (owner_.auth_key_size && !pending->holds(key)) {
            refusal = Refusal::Key;
        } else if (count_requests(owner_) >= backlog_) {
            refusal = Refusal::Gone;
        } else if (add_request(owner_, pending, net::local_address(pending->socket), pending->from, pending->hello.data,
                               pending->hello.data_size)) {
            refusal = Refusal::Gone;
        }
        if (refusal == Refusal::None) return;
        pending->refuse(refusal);
        destroy(pending);
    }

    PassiveEndpoint& owner_;
    Mutex lock_;  // protects what follows
    int epoll_ = -1;
    int timer_ = -1;
    size_t backlog_ = 0;
    net::Watched timer_watch_{net::Watch::Timer};
    net::Acceptor acceptor_{net::CallKind::Message};
};

// The passive endpoint's lock is held.
int listen_tcp(PassiveEndpoint& endpoint, Listener** result) {
    void* block = malloc(sizeof(TcpListener));
    if (!block) return -FI_ENOMEM;
    auto* listener = new (block) TcpListener(endpoint);
    const int error = listener->open();
    if (error) {
        destroy(listener);
        return error;
    }
    *result = listener;
    return 0;
}

PendingConnection* caller_of(ConnectionRequest& request) {
    auto* pending = static_cast<PendingConnection*>(request.caller);
    request.caller = nullptr;
    return pending;
}

void refuse_tcp(ConnectionRequest& request, bool by_user, const void* data, size_t size) {
    PendingConnection* pending = caller_of(request);
    pending->refuse(by_user ? Refusal::ByUser : Refusal::Gone, static_cast<const uint8_t*>(data), size);
    destroy(pending);
}

TcpTransport& transport_of(Endpoint& endpoint) { return *static_cast<TcpTransport*>(endpoint.path->transport()); }

int connect_tcp(Endpoint& endpoint, const SocketAddress& to, const void* data, size_t size, ConnectionEvents* events) {
    return transport_of(endpoint).connect_to(to, static_cast<const uint8_t*>(data), size, events);
}

int accept_tcp(Endpoint& endpoint, ConnectionRequest& request, const void* data, size_t size,
               ConnectionEvents* events) {
    return transport_of(endpoint).adopt(caller_of(request), static_cast<const uint8_t*>(data), size, events);
}

int shut_down_tcp(Endpoint& endpoint) { return transport_of(endpoint).shut_down(); }

bool is_down_tcp(Endpoint& endpoint) { return transport_of(endpoint).is_down(); }

void local_name_tcp(Endpoint& endpoint, SocketAddress* out) { (void)transport_of(endpoint).local_name(out); }

}  // namespace

const ConnectionOps kTcpConnections = {
    .data_max = kConnectionDataMax,
    .listen = listen_tcp,
    .refuse = refuse_tcp,
    .connect = connect_tcp,
    .accept = accept_tcp,
    .shutdown = shut_down_tcp,
    .is_down = is_down_tcp,
    .local_name = local_name_tcp,
};

}  // namespace selvage::impl
