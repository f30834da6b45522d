// See tcp_transport.h: control.
#include "impl/transport/tcp/tcp_transport.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdlib>

#include "impl/base/create.h"
#include "impl/catalog/registry.h"
#include "impl/config/log.h"
#include "impl/transport/net/settings.h"

namespace selvage::impl {

int TcpTransport::open_epoll(const net::Key& key) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) return -errno;
    setup_epoll_ = epoll_create1(EPOLL_CLOEXEC);
    int error = setup_epoll_ < 0 ? -errno : net::watch_socket(epoll_, setup_epoll_, EPOLLIN, &setup_watch_);
    if (!error) {
        arrivals_ = static_cast<std::byte*>(malloc(tcp::kReceiveBuffer));
        if (!arrivals_) error = -FI_ENOMEM;
        if (arrivals_) *arrivals_ = {};  // its first page is there when the first message comes
    }
    if (error) {
        close();
        return error;
    }
    key_ = key;
    want_look_ = true;
    net::fill_random(&instance_, sizeof instance_);
    net::fill_random(next_random_, sizeof next_random_);
    peers_.choose_seed();
    hosts_.choose_seed();
    return 0;
}

int TcpTransport::open_datagram(const SocketAddress& address, const net::Key& key) {
    int error = open_epoll(key);
    if (error) return error;
    address_ = address;
    error = acceptor_.open(&address_, tcp::kBacklog, setup_epoll_);
    if (error) {
        close();
        return error;
    }
    host_limit_ = net::peers_per_host();
    prepare_invitation();
    // Without a thread, callers wait for the application, and frames in the engine until there is a connection.
    (void)join_thread();
    return 0;
}

int TcpTransport::open_context(const SocketAddress& address, tcp::SharedListener* listener, const net::Key& key) {
    int error = open_epoll(key);
    if (error) return error;
    address_ = address;
    host_limit_ = net::peers_per_host();
    if (!is_transmit_context(address.context)) {  // nobody calls the others
        int event = -1;
        error = listener->enter(address.context, &event);
        if (!error) {
            listener_ = listener;
            error = net::watch_socket(setup_epoll_, event, EPOLLIN, &callers_watch_);
        }
        if (error) {
            close();
            return error;
        }
    }
    (void)join_thread();
    return 0;
}

int TcpTransport::open_connected(const SocketAddress& address, const net::Key& key) {
    const int error = open_epoll(key);
    if (error) return error;
    address_ = address;
    connected_ = true;
    return 0;
}

void TcpTransport::close() {
    leave_flusher();
    if (arrivals_) linger();
    acceptor_.close();
    if (listener_) listener_->leave(address_.context);
    listener_ = nullptr;
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        forget_dial(*peer);
        report_lost(*peer);
        close_sockets(*peer);
        if (tcp::Rails* rails = take_rails(*peer)) destroy(rails);
        if (peer->buffer) peer->buffer->abandon();
        free(peer->buffer);
        free(peer->left);
    }
    while (net::PendingConnection* caller = take_rail_caller()) destroy(caller);
    discard_rails();
    peers_.clear();
    hosts_.clear();
    free_buffers();
    free(arrivals_);
    arrivals_ = nullptr;
    for (int* descriptor : {&epoll_, &setup_epoll_, &timer_}) {
        if (*descriptor >= 0) ::close(*descriptor);
        *descriptor = -1;
    }
    queued_ = broken_ = fallen_ = railed_ = dialing_ = outcomes_ = only_ = nullptr;
    any_outcome_ = false;
    hot_count_ = up_ = 0;
    connected_ = waiting_for_room_ = closing_ = false;
    invitation_.count = 0;
    rails_anywhere_ = rails_busy_ = false;
    events_ = nullptr;
    av_ = nullptr;
    note_flushed();
    note_untimed();
}

// Frames that were reported as sent and that no peer will ever get.
void TcpTransport::report_lost(Peer& peer) {
    if (peer.taken && peer.phase == Peer::Phase::Dialing && frames_wait(peer)) {
        log_for(
            "tcp", FI_LOG_WARN, FI_LOG_EP_DATA,
            "%u messages that were reported as sent are lost: no connection to port %u of their peer came about (%s)",
            peer.taken, peer.remote.port(), strerror(peer.failure ? peer.failure : peer.last_error));
    }
    peer.taken = 0;
}

bool TcpTransport::is_self(const SocketAddress& address) const {
    if (!acceptor_.is_open()) return false;
    if (!address_.is_wildcard()) return net::same_address(address, address_);
    if (address.kind != address_.kind || address.port() != address_.port()) return false;
    TableRef table;
    return address.is_loopback() || (!current_table(true, &table) && table->is_local(address));
}

int TcpTransport::peer_at(const SocketAddress& address, Peer** out) {
    LockGuard setup(setup_);
    Peer* peer = peers_.find(address);
    if (!peer) peer = peers_.add(address);
    if (!peer) return -FI_ENOMEM;
    *out = peer;
    if (peer->phase != Peer::Phase::Down) return 0;
    if (peer->ready) {  // it has called meanwhile
        raise_peer(*peer);
        return 0;
    }
    const int error = is_self(address) ? connect_self(*peer) : dial(*peer);
    if (!error) return 0;
    let_fall(*peer);
    *out = nullptr;
    return error;
}

TcpTransport::Peer* TcpTransport::living_at(const SocketAddress& address) {
    LockGuard setup(setup_);
    Peer* peer = peers_.find(address);
    return peer && peer->phase != Peer::Phase::Down ? peer : nullptr;
}

// To itself through a pair of sockets, so that every path of sending and receiving is the one that others take.
int TcpTransport::connect_self(Peer& peer) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair)) return -errno;
    if (net::watch_socket(epoll_, pair[1], 0, &peer)) {
        ::close(pair[0]);
        ::close(pair[1]);
        return -FI_ENOMEM;
    }
    if (!become_ready(peer, pair[0], instance_, 0)) {
        ::close(pair[1]);
        return -FI_ENOMEM;
    }
    {
        SpinGuard guard(guard_);
        peer.tx = pair[1];
    }
    raise_peer(peer);
    return 0;
}

void TcpTransport::close_sockets(Peer& peer) {
    if (peer.rx >= 0) ::close(peer.rx);
    if (peer.tx >= 0 && peer.tx != peer.rx) ::close(peer.tx);
    peer.tx = peer.rx = -1;
}

// Everything but telling; afterwards the peer may come up again. It may stay in the list of queued peers, without a
// buffer.
void TcpTransport::bring_down(Peer& peer, Fallen* fallen) {
    LockGuard setup(setup_);
    fallen->was_up = peer.phase == Peer::Phase::Up;
    fallen->placement = peer.placement_active || peer.splitting;
    forget_dial(peer);
    remove_outcome(peer);
    leave_host(peer);
    report_lost(peer);
    {
        SpinGuard guard(guard_);
        close_sockets(peer);
        if (peer.buffer) {
            peer.buffer->abandon();
            while (peer.buffer->pop_done(&fallen->tokens[fallen->token_count])) ++fallen->token_count;
            spare_buffer(peer.buffer);
            peer.buffer = nullptr;
        }
    }
    // The flusher sends nothing any more: what is kept and not sent again goes, and nothing may be sent without it.
    fallen->rails = take_rails(peer);
    if (fallen->was_up) {
        cool(peer);
        --up_;
    }
    for (Peer** at = &broken_; peer.broken && *at; at = &(*at)->next_broken) {
        if (*at != &peer) continue;
        *at = peer.next_broken;
        break;
    }
    peer.phase = Peer::Phase::Down;
    peer.ready = false;
    peer.received = 0;
    peer.failure = 0;
    peer.dropped = peer.unread = peer.broken = peer.blocked = peer.watches_room = peer.wants_room =
        peer.placement_active = false;
    peer.bulk = 0;
    free(peer.left);
    peer.left = nullptr;
    peer.left_size = 0;
    want_look_ = true;
}

// A peer is down, and may be discarded if it stays so.
void TcpTransport::let_fall(Peer& peer) {
    if (connected_ || peer.fallen) return;
    peer.fallen = true;
    peer.next_fallen = fallen_;
    fallen_ = &peer;
}

// By the owner, with no peer in hand. Those that came up again go on; those that a list still has wait for a later
// look.
void TcpTransport::discard_fallen() {
    LockGuard setup(setup_);
    for (Peer** at = &fallen_; Peer* peer = *at;) {
        const bool idle = peer->idle();
        if (!idle && peer->phase == Peer::Phase::Down && !peer->ready) {
            at = &peer->next_fallen;
            continue;
        }
        *at = peer->next_fallen;
        peer->fallen = false;
        if (idle) peers_.remove(*peer);
    }
}

void TcpTransport::make_hot(Peer& peer) {
    peer.misses = 0;
    if (peer.hot) return;
    if (hot_count_ == tcp::kHotMax) cool(*hot_[0]);
    hot_[hot_count_++] = &peer;
    peer.hot = true;
}

// Epoll reported the peer, and it had something. Read without epoll, one that shares its turns with others has mostly
// nothing.
void TcpTransport::note_arrival(Peer& peer) {
    if (last_arrival_ != &peer) {
        last_arrival_ = &peer;
        arrivals_in_row_ = 0;
        while (hot_count_) cool(*hot_[0]);
    }
    ++arrivals_in_row_;
    if (arrivals_in_row_ >= tcp::kHotAfter && peer.phase == Peer::Phase::Up) make_hot(peer);
}

void TcpTransport::cool(Peer& peer) {
    if (!peer.hot) return;
    peer.hot = false;
    for (uint32_t i = 0; i < hot_count_; ++i) {
        if (hot_[i] != &peer) continue;
        hot_[i] = hot_[--hot_count_];
        return;
    }
}

// The rest of what was read, too short to be a frame; freed with nothing left.
bool TcpTransport::keep_left(Peer& peer, const std::byte* at, size_t size) {
    if (!size) {
        free(peer.left);
        peer.left = nullptr;
        return true;
    }
    if (!peer.left) peer.left = static_cast<std::byte*>(malloc(tcp::kLeftMax));
    if (!peer.left) return false;
    memcpy(peer.left, at, size);
    peer.left_size = static_cast<uint32_t>(size);
    return true;
}

bool TcpTransport::arm_peer(Peer& peer) {
    if (peer.phase != Peer::Phase::Up) return true;  // an outcome wakes
    SpinGuard guard(guard_);
    if (!peer.buffer || peer.tx < 0) return true;
    if (push_out(peer)) return false;  // the next progress finds the error
    if (peer.buffer->empty() || peer.buffer->has_done()) return false;
    if (peer.kept && !peer.kept->room()) {  // whatever room the socket has; a timer wakes (rails_wait)
        watch_room(peer, false);
        return true;
    }
    watch_room(peer, true);
    return peer.watches_room;
}

bool TcpTransport::arm() {
    if (broken_ || waiting_for_room_ || any_outcome_.load(std::memory_order_acquire)) return false;
    for (Peer* peer = queued_; peer; peer = peer->next_queued) {
        if (!arm_peer(*peer)) return false;
    }
    for (Peer* peer = railed_; peer; peer = peer->rails->next) {
        if (!arm_rails(*peer)) return false;
    }
    return set_timer();
}

// Wakes a sleeper for what is due without anything arriving.
bool TcpTransport::set_timer() {
    LockGuard setup(setup_);
    const int64_t rails = rails_wait();
    const bool due = dialing_ || acceptor_.needs_timer() || rails >= 0;
    if (!due && !invitation_.count) return true;
    if (timer_ < 0) {
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (timer_ < 0 || net::watch_socket(epoll_, timer_, EPOLLIN | EPOLLET, &timer_watch_)) return false;
    }
    if (!due) return !any_outcome_.load(std::memory_order_relaxed);
    const int64_t now = net::now_milliseconds();
    int64_t wait = acceptor_.needs_timer() ? net::kAcceptPause : 1000;
    for (Peer* peer = dialing_; peer; peer = peer->next_dialing) {
        if (peer->phase != Peer::Phase::Dialing || peer->ready || peer->failure) continue;
        wait = std::min(wait, (peer->dial ? peer->deadline : std::min(peer->deadline, peer->dial_again)) - now);
    }
    if (rails >= 0) wait = std::min(wait, rails);
    wait = std::max<int64_t>(wait, 1);
    itimerspec when{};
    when.it_value = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
    // An outcome that came meanwhile may have set the timer off.
    return timerfd_settime(timer_, 0, &when, nullptr) == 0 && !any_outcome_.load(std::memory_order_relaxed);
}

}  // namespace selvage::impl
