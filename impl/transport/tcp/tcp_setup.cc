// See tcp_transport.h: connections until frames flow.
//
// The setup lock is held in all of this, by the endpoint's thread or the flusher's; neither calls the Sink here. What
// has come of a connection is an outcome: `ready` (the socket carries frames, and is watched by the endpoint's epoll)
// or `failure`. The endpoint's next progress takes it (TcpTransport::take_outcomes); until then the flusher may already
// send on the socket, in the order of the peer's send buffer.
//
// Dials are in tcp_dial.cc.
//
//   Down --dial()--> Dialing --+--> ready ----(owner)--> Up
//     |                          +--> failure --(owner)--> Down, Sink::down
//     +------- a call came ------+--> ready
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdlib>

#include "impl/base/create.h"
#include "impl/transport/net/congestion.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using net::Note;
using net::Refusal;

void TcpTransport::add_outcome(Peer& peer) {
    if (!peer.in_outcomes) {
        peer.in_outcomes = true;
        peer.next_outcome = outcomes_;
        outcomes_ = &peer;
    }
    // Pairs with the look in poll_events and arm: whoever sees it takes the setup lock before anything else.
    any_outcome_.store(true, std::memory_order_release);
}

void TcpTransport::remove_outcome(Peer& peer) {
    for (Peer** at = &outcomes_; peer.in_outcomes && *at; at = &(*at)->next_outcome) {
        if (*at != &peer) continue;
        *at = peer.next_outcome;
        break;
    }
    peer.in_outcomes = false;
}

// The socket carries frames from now on. False: it was closed, and the peer is as it was.
bool TcpTransport::become_ready(Peer& peer, int socket, uint64_t instance, uint32_t sequence) {
    // There is room in it, so an endpoint that sleeps on its descriptor wakes and takes the outcome.
    peer.watches_room = !raised_at_once_;
    if (net::watch_socket(epoll_, socket, raised_at_once_ ? EPOLLIN : EPOLLIN | EPOLLOUT, &peer)) {
        SpinGuard guard(guard_);
        peer.tx = -1;
        ::close(socket);
        return false;
    }
    if (!peer.dial) {  // else it was done before
        net::choose_congestion(socket);
        net::set_traffic_class(socket, address_.kind, tclass_);
    }
    peer.rx = socket;
    {
        SpinGuard guard(guard_);
        peer.tx = socket;
    }
    peer.instance = instance;
    peer.sequence = sequence;
    peer.ready = true;
    peer.failure = 0;
    add_outcome(peer);
    return true;
}

// Nothing comes of this connection. What the other side said stays in the dial until the outcome is taken.
void TcpTransport::give_up(Peer& peer, int error) {
    if (peer.dial && peer.dial->socket() >= 0) net::unwatch_socket(setup_epoll_, peer.dial->socket());
    peer.failure = error;
    add_outcome(peer);
    wake_sleeper();
}

// With the setup lock: an outcome is there that no socket shows.
void TcpTransport::wake_sleeper() {
    if (timer_ < 0) return;  // made by arm(), before the endpoint sleeps
    const itimerspec now{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1}};
    (void)timerfd_settime(timer_, 0, &now, nullptr);
}

// By the owner: a peer whose connection is ready sends and receives.
void TcpTransport::raise_peer(Peer& peer) {
    remove_outcome(peer);
    read_invitation(peer);
    peer.ready = false;
    if (peer.watches_room) (void)net::watch_socket(epoll_, peer.rx, EPOLLIN, &peer, true);
    peer.phase = Peer::Phase::Up;
    peer.blocked = peer.watches_room = peer.broken = false;
    peer.bulk = 0;
    peer.misses = peer.taken = 0;
    ++up_;
    make_hot(peer);
    if (peer.queued && join_thread()) note_deferred();
}

// The next outcome, or nullptr. After it the peer is Up, or is to be taken down for `error`.
TcpTransport::Peer* TcpTransport::next_outcome(Outcome* out) {
    LockGuard setup(setup_);
    Peer* peer = outcomes_;
    if (!peer) {
        any_outcome_.store(rail_callers_ != nullptr, std::memory_order_relaxed);
        return nullptr;
    }
    out->answered = connected_ && peer->dial;
    if (out->answered) out->answer = peer->dial->answer;
    out->error = peer->failure;
    if (peer->ready) raise_peer(*peer);
    remove_outcome(*peer);
    forget_dial(*peer);
    return peer;
}

net::PendingConnection* TcpTransport::next_caller() {
    return listener_ ? listener_->next_caller(address_.context) : acceptor_.next_proved();
}

void TcpTransport::admit_callers(net::PendingConnection** callers) {
    while (net::PendingConnection* pending = next_caller()) admit(pending, callers);
}

// One look at everything that is being set up. Callers that can be answered only after something is reported to the
// engine are returned in a list; without one they are refused, and call again.
void TcpTransport::step_setup(net::PendingConnection** callers) {
    constexpr int kBatch = 64;
    epoll_event events[kBatch];
    const int count = epoll_wait(setup_epoll_, events, kBatch, 0);
    raised_at_once_ = callers;
    bool accepts = false;
    for (int i = 0; i < count; ++i) {
        auto* watched = static_cast<net::Watched*>(events[i].data.ptr);
        accepts |= watched->watch == net::Watch::Listener;
        if (watched->watch == net::Watch::Pending) acceptor_.advance(static_cast<net::PendingConnection*>(watched));
        if (watched->watch == net::Watch::Peer) step_dial(*static_cast<Peer*>(watched));
    }
    while (accepts && acceptor_.accept_some()) admit_callers(callers);
    admit_callers(callers);
    const int64_t now = net::now_milliseconds();
    acceptor_.sweep(now);
    look_at_dials(now);
    if (dialing_ || acceptor_.needs_timer()) {
        note_timed();
    } else {
        note_untimed();
    }
}

// The flusher's thread.
void TcpTransport::advance_setup() {
    LockGuard setup(setup_);
    step_setup(nullptr);
}

// Where he listens himself, and which context of his endpoint he is.
SocketAddress TcpTransport::address_of_caller(const net::PendingConnection& pending) {
    SocketAddress from = pending.from;
    from.set_port(pending.hello.port);
    net::Contexts named;
    if (get_contexts(pending.hello, &named)) from.context = named.from;
    return from;
}

// What to do with a caller who has sent a proof: None when the peer is to be his, or why not. `out`: the peer at his
// address, which is made when it is not there.
Refusal TcpTransport::judge(const net::PendingConnection& pending, const SocketAddress& from, Peer** out, bool* owner) {
    if (!pending.holds(key_)) return Refusal::Key;
    net::Contexts named;
    if (!get_contexts(pending.hello, &named) || named.to != address_.context) return Refusal::Gone;
    if (is_self(from)) return Refusal::Taken;  // nobody else listens there
    Peer* peer = *out;
    // An endpoint that closes finishes what it has begun, and begins nothing.
    if (closing_ && !(peer && frames_wait(*peer))) return Refusal::Gone;
    if (!peer) peer = peers_.add(from);
    if (!peer) return Refusal::Busy;
    *out = peer;
    const Note& hello = pending.hello;
    if (peer->phase == Peer::Phase::Up || peer->ready) {
        // Another endpoint at the address of one that seems to be there: was that the last sign of the old one? Or the
        // same endpoint calls again: it has lost the connection, unless the call is older than the connection.
        const bool newer = static_cast<int32_t>(hello.sequence - peer->sequence) > 0;
        *owner = peer->instance != hello.instance || newer;
        return *owner ? Refusal::Taken : Refusal::Crossed;
    }
    if (peer->failure && !peer->in_outcomes) return Refusal::Busy;  // it is just being taken down
    // Both call: the lower instance's call counts. Without a call of our own under way, the other's does.
    const bool crossed = peer->dial && !peer->failure && hello.instance >= instance_;
    return crossed ? Refusal::Crossed : Refusal::None;
}

void TcpTransport::admit(net::PendingConnection* pending, net::PendingConnection** callers) {
    if (pending->hello.kind == net::CallKind::Rail) return queue_rail_caller(pending);
    const SocketAddress from = address_of_caller(*pending);
    Peer* peer = peers_.find(from);
    const bool known = peer;
    bool owner = false;
    Refusal refusal = judge(*pending, from, &peer, &owner);
    if (owner && callers) {
        pending->next = *callers;
        *callers = pending;
        return;
    }
    if (refusal == Refusal::None && !enter_host(*peer)) refusal = Refusal::Busy;
    if (refusal != Refusal::None) {
        if (refusal == Refusal::Key || refusal == Refusal::Busy) acceptor_.count(Stat::Refused);
        pending->refuse(refusal);
    } else if (!pending->left() && welcome(*peer, *pending)) {
        forget_dial(*peer);
        const Note& hello = pending->hello;
        if (!become_ready(*peer, pending->release_socket(), hello.instance, hello.sequence) &&
            peer->phase == Peer::Phase::Dialing) {
            peer->dial_again = net::now_milliseconds();
        }
    }
    if (peer && !peer->ready && peer->phase != Peer::Phase::Up) leave_host(*peer);
    if (peer && !known && peer->idle()) peers_.remove(*peer);  // nobody has seen it yet
    destroy(pending);
}

bool TcpTransport::welcome(Peer& peer, net::PendingConnection& pending) {
    net::Note note;
    invite(peer, pending, &note);
    return pending.welcome(key_, {.instance = instance_, .sequence = sequence_}, note.data, note.data_size);
}

// What a peer may have of this side's memory is bounded (a record and a window of unexpected messages, window.h), so
// the peers are counted that one address may have; those that this endpoint calls itself are the application's choice.
// False: there are too many.
bool TcpTransport::enter_host(Peer& peer) {
    if (!host_limit_ || peer.host || peer.phase == Peer::Phase::Dialing) return true;
    SocketAddress address = peer.remote;
    address.set_port(0);
    address.context = 0;
    tcp::CallingHost* host = hosts_.find(address);
    if (!host) host = hosts_.add(address);
    if (!host) return false;
    if (host->connected >= host_limit_) return false;  // not zero, so the host was there
    ++host->connected;
    peer.host = host;
    return true;
}

void TcpTransport::leave_host(Peer& peer) {
    if (peer.host && !--peer.host->connected) hosts_.remove(*peer.host);
    peer.host = nullptr;
}

// A caller at an address whose peer is connected, and that has to be seen to first.
TcpTransport::Peer* TcpTransport::connected_at(const net::PendingConnection& pending, bool* same) {
    LockGuard setup(setup_);
    Peer* peer = peers_.find(address_of_caller(pending));
    if (!peer || peer->phase != Peer::Phase::Up) return nullptr;
    *same = peer->instance == pending.hello.instance;
    return peer;
}

}  // namespace selvage::impl
