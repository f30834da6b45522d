// See tcp_transport.h: control.
#include "impl/transport/tcp/tcp_transport.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdlib>

#include "impl/core/create.h"
#include "impl/transport/tcp/settings.h"

namespace selvage::impl {

using tcp::Note;
using tcp::NoteType;
using tcp::Refusal;

namespace {

constexpr int kBacklog = 4096;  // the kernel's limit cuts it

}  // namespace

int TcpTransport::open_epoll(const tcp::Key& key) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) return -errno;
    arrivals_ = static_cast<std::byte*>(malloc(tcp::kReceiveBuffer));
    if (!arrivals_) {
        close();
        return -FI_ENOMEM;
    }
    key_ = key;
    want_look_ = true;
    tcp::fill_random(&instance_, sizeof instance_);
    return 0;
}

int TcpTransport::open_datagram(const SocketAddress& address, const tcp::Key& key) {
    int error = open_epoll(key);
    if (error) return error;
    address_ = address;
    error = gate_.open(&address_, kBacklog, epoll_);
    if (error) close();
    return error;
}

int TcpTransport::open_connected(const SocketAddress& address, const tcp::Key& key) {
    const int error = open_epoll(key);
    if (error) return error;
    address_ = address;
    connected_ = true;
    return 0;
}

void TcpTransport::close() {
    leave_flusher();
    if (epoll_ >= 0) linger();
    gate_.close();
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        forget_dial(*peer);
        close_sockets(*peer);
        free(peer->buffer);
        free(peer->left);
    }
    peers_.clear();
    free_buffers();
    free(arrivals_);
    arrivals_ = nullptr;
    for (int* descriptor : {&epoll_, &timer_}) {
        if (*descriptor >= 0) ::close(*descriptor);
        *descriptor = -1;
    }
    queued_ = broken_ = dialing_ = only_ = nullptr;
    hot_count_ = up_ = 0;
    connected_ = starved_ = false;
    events_ = nullptr;
    av_ = nullptr;
    note_flushed();
}

// Frames that were reported as sent leave before the sockets are closed, as far as the peers take them in time.
void TcpTransport::linger() {
    const int64_t deadline = tcp::now_milliseconds() + tcp::kLinger;
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        if (peer->phase == Peer::Phase::kUp && !peer->broken) hand_over(*peer, deadline);
    }
}

// What arrives is read and forgotten: unread input would make the close a reset, which discards what
// the kernel has not sent yet.
void TcpTransport::hand_over(Peer& peer, int64_t deadline) {
    for (;;) {
        {
            SpinGuard guard(guard_);
            if (peer.buffer && push_out(peer)) break;
        }
        const bool empty = !peer.buffer || peer.buffer->empty();
        int unsent = 0;
        while (recv(peer.rx, arrivals_, tcp::kReceiveBuffer, MSG_DONTWAIT) > 0) continue;
        if (empty && (ioctl(peer.tx, SIOCOUTQNSD, &unsent) || unsent == 0)) break;
        const int64_t left = deadline - tcp::now_milliseconds();
        if (left <= 0) break;
        pollfd wait{.fd = peer.tx, .events = static_cast<short>(empty ? 0 : POLLOUT), .revents = 0};
        // Input wakes nobody here, so the other end gets a turn now and then.
        const int pause = static_cast<int>(std::min<int64_t>(left, empty ? 1 : 20));
        if (poll(&wait, 1, pause) > 0 && (wait.revents & (POLLERR | POLLHUP))) break;
    }
    shutdown(peer.tx, SHUT_WR);
}

bool TcpTransport::is_self(const SocketAddress& address) const {
    return gate_.is_open() && tcp::same_address(address, address_);
}

int TcpTransport::peer_at(const SocketAddress& address, Peer** out) {
    Peer* peer = peers_.find(address);
    if (!peer && !(peer = peers_.add(address))) return -FI_ENOMEM;
    *out = peer;
    if (peer->phase != Peer::Phase::kDown) return 0;
    const int error = is_self(address) ? connect_self(*peer) : dial(*peer);
    if (error) *out = nullptr;
    return error;
}

// To itself through a pair of sockets, so that every path of sending and receiving is the one that others take.
int TcpTransport::connect_self(Peer& peer) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair)) return -errno;
    if (!raise_peer(peer, pair[0])) {
        ::close(pair[1]);
        return -FI_ENOMEM;
    }
    if (tcp::watch_socket(epoll_, pair[1], 0, &peer)) {
        ::close(pair[1]);
        Fallen fallen;
        bring_down(peer, &fallen);
        return -FI_ENOMEM;
    }
    peer.tx = pair[1];
    return 0;
}

// Gives the peer time, and calls.
int TcpTransport::dial(Peer& peer) {
    peer.deadline = tcp::now_milliseconds() + tcp::connect_timeout();
    const int error = start_dial(peer);
    if (error) return error;
    peer.phase = Peer::Phase::kDialing;
    if (!peer.in_dialing) {
        peer.in_dialing = true;
        peer.next_dialing = dialing_;
        dialing_ = &peer;
    }
    return 0;
}

int TcpTransport::start_dial(Peer& peer) {
    auto* dial = create<tcp::Dial>();
    if (!dial) return -FI_ENOMEM;
    Note hello;
    hello.type = NoteType::kHello;
    hello.kind = connected_ ? tcp::CallKind::kMessage : tcp::CallKind::kReliableDatagram;
    hello.port = connected_ ? uint16_t{0} : address_.port();
    hello.instance = instance_;
    hello.sequence = ++sequence_;
    tcp::fill_random(hello.random, sizeof hello.random);
    if (connected_ && private_size_) {
        hello.data_size = static_cast<uint16_t>(private_size_);
        memcpy(hello.data, private_data_, private_size_);
    }
    SocketAddress from = address_;
    if (!connected_) from.set_port(0);
    int error = dial->start(from, peer.remote, hello);
    if (!error) error = tcp::watch_socket(epoll_, dial->socket(), dial->events(), &peer);
    if (error) {
        destroy(dial);
        return error;
    }
    peer.dial = dial;
    peer.dial_again = 0;
    want_look_ = true;
    return 0;
}

void TcpTransport::forget_dial(Peer& peer) {
    if (peer.dial) destroy(peer.dial);
    peer.dial = nullptr;
}

// The other side does not want this call, but there may be another: its own, or a later one.
bool TcpTransport::retry_later(Peer& peer, Refusal refusal) {
    if (connected_) return false;
    if (refusal != Refusal::kCrossed && refusal != Refusal::kTaken && refusal != Refusal::kBusy) return false;
    forget_dial(peer);
    peer.dial_again = tcp::now_milliseconds() + (refusal == Refusal::kCrossed ? tcp::kCrossedPause : tcp::kBusyPause);
    return true;
}

// True when the peer is to be given up.
bool TcpTransport::over_time(Peer& peer, int64_t now, int* error) {
    if (peer.phase != Peer::Phase::kDialing) return false;
    if (connected_ && peer.dial && peer.dial->waits_for_welcome()) return false;
    *error = FI_ETIMEDOUT;
    if (now >= peer.deadline) return true;
    if (peer.dial || now < peer.dial_again) return false;
    *error = -start_dial(peer);
    return *error != 0;
}

TcpTransport::Verdict TcpTransport::judge(const Peer& peer, const Note& hello) const {
    switch (peer.phase) {
        case Peer::Phase::kDown:
            return Verdict::kAdopt;
        case Peer::Phase::kDialing:
            // Both call: the lower instance's call counts. Without a call of our own under way, the other's does.
            return !peer.dial || hello.instance < instance_ ? Verdict::kAdopt : Verdict::kRefuse;
        case Peer::Phase::kUp:
            break;
    }
    if (peer.instance != hello.instance) return Verdict::kProbe;
    // The same endpoint calls again: it has lost the connection, unless the call is older than the connection.
    return static_cast<int32_t>(hello.sequence - peer.sequence) > 0 ? Verdict::kReplace : Verdict::kRefuse;
}

void TcpTransport::welcome(tcp::Stranger* stranger, Peer& peer) {
    const bool welcomed = stranger->welcome(key_, {.instance = instance_, .sequence = sequence_}, nullptr, 0);
    if (welcomed) {
        forget_dial(peer);
        peer.instance = stranger->hello.instance;
        peer.sequence = stranger->hello.sequence;
        const bool dialing = peer.phase == Peer::Phase::kDialing;
        if (!raise_peer(peer, stranger->release_socket()) && dialing) peer.dial_again = tcp::now_milliseconds();
    }
    destroy(stranger);
}

// The socket carries frames from now on. False: it was closed, and the peer is as it was.
bool TcpTransport::raise_peer(Peer& peer, int socket) {
    const bool watched = peer.dial != nullptr;
    forget_dial(peer);
    if (tcp::watch_socket(epoll_, socket, EPOLLIN, &peer, watched)) {
        ::close(socket);
        return false;
    }
    {
        SpinGuard guard(guard_);
        peer.tx = peer.rx = socket;
    }
    tcp::tune_connected(socket);
    peer.phase = Peer::Phase::kUp;
    peer.blocked = peer.watches_room = peer.broken = peer.bulk = false;
    peer.misses = 0;
    ++up_;
    make_hot(peer);
    if (peer.queued && join_flusher()) note_deferred();
    return true;
}

void TcpTransport::close_sockets(Peer& peer) {
    if (peer.rx >= 0) ::close(peer.rx);
    if (peer.tx >= 0 && peer.tx != peer.rx) ::close(peer.tx);
    peer.tx = peer.rx = -1;
}

// Everything but telling; afterwards the peer may come up again. It may stay in the list of queued peers, without a
// buffer.
void TcpTransport::bring_down(Peer& peer, Fallen* fallen) {
    fallen->was_up = peer.phase == Peer::Phase::kUp;
    fallen->landing = peer.landing_active;
    forget_dial(peer);
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
    if (fallen->was_up) {
        cool(peer);
        --up_;
    }
    for (Peer** at = &broken_; peer.broken && *at; at = &(*at)->next_broken) {
        if (*at != &peer) continue;
        *at = peer.next_broken;
        break;
    }
    peer.phase = Peer::Phase::kDown;
    peer.dropped = peer.broken = peer.blocked = peer.watches_room = peer.wants_room = peer.landing_active = peer.bulk =
        false;
    free(peer.left);
    peer.left = nullptr;
    peer.left_size = 0;
    want_look_ = true;
}

void TcpTransport::make_hot(Peer& peer) {
    peer.misses = 0;
    if (peer.hot) return;
    if (hot_count_ == tcp::kHotMax) cool(*hot_[0]);
    hot_[hot_count_++] = &peer;
    peer.hot = true;
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
    if (!peer.left && !(peer.left = static_cast<std::byte*>(malloc(tcp::kLeftMax)))) return false;
    memcpy(peer.left, at, size);
    peer.left_size = static_cast<uint32_t>(size);
    return true;
}

bool TcpTransport::arm_peer(Peer& peer) {
    SpinGuard guard(guard_);
    if (!peer.buffer || peer.tx < 0) return true;
    if (push_out(peer)) return false;  // the next progress finds the error
    if (peer.buffer->empty() || peer.buffer->has_done()) return false;
    watch_room(peer, true);
    return peer.watches_room;
}

bool TcpTransport::arm() {
    if (broken_ || starved_) return false;
    for (Peer* peer = queued_; peer; peer = peer->next_queued) {
        if (!arm_peer(*peer)) return false;
    }
    return set_timer();
}

// Wakes a sleeper for what is due without anything arriving.
bool TcpTransport::set_timer() {
    if (!dialing_ && !gate_.needs_timer()) return true;
    if (timer_ < 0) {
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (timer_ < 0 || tcp::watch_socket(epoll_, timer_, EPOLLIN | EPOLLET, &timer_watch_)) return false;
    }
    const int64_t now = tcp::now_milliseconds();
    int64_t wait = gate_.needs_timer() ? tcp::kAcceptPause : 1000;
    for (Peer* peer = dialing_; peer; peer = peer->next_dialing) {
        if (peer->phase != Peer::Phase::kDialing) continue;
        wait = std::min(wait, (peer->dial ? peer->deadline : std::min(peer->deadline, peer->dial_again)) - now);
    }
    wait = std::max<int64_t>(wait, 1);
    itimerspec when{};
    when.it_value = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
    return timerfd_settime(timer_, 0, &when, nullptr) == 0;
}

}  // namespace selvage::impl
