// See tcp_transport.h: calling a peer until frames flow, or it is given up.
//
// The setup lock is held in all of this, by the endpoint's thread or the flusher's; neither calls the Sink here. What
// comes of a dial is an outcome (tcp_setup.cc).
#include <poll.h>

#include <algorithm>

#include "impl/base/create.h"
#include "impl/config/log.h"
#include "impl/text/strerror.h"
#include "impl/transport/net/refused_dial.h"
#include "impl/transport/net/settings.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using net::Note;
using net::Refusal;

// Gives the peer time, and calls.
int TcpTransport::dial(Peer& peer) {
    peer.dial_since = net::now_milliseconds();
    peer.deadline = peer.dial_since + net::connect_timeout();
    peer.attempts = peer.unanswered = 0;
    peer.refusal_extended = false;
    peer.last_error = FI_ETIMEDOUT;
    const int error = start_dial(peer);
    if (error) return error;
    peer.phase = Peer::Phase::Dialing;
    if (!peer.in_dialing) {
        peer.in_dialing = true;
        peer.next_dialing = dialing_;
        dialing_ = &peer;
    }
    want_look_ = true;
    note_timed();
    return 0;
}

int TcpTransport::start_dial(Peer& peer) {
    auto* dial = create<net::Dial>();
    if (!dial) return -FI_ENOMEM;
    Note hello;
    hello.type = net::NoteType::Hello;
    hello.kind = connected_ ? net::CallKind::Message : net::CallKind::ReliableDatagram;
    hello.port = connected_ ? uint16_t{0} : address_.port();
    hello.instance = instance_;
    hello.sequence = ++sequence_;
    memcpy(hello.random, next_random_, sizeof hello.random);
    if (connected_ && private_size_) {
        hello.data_size = static_cast<uint16_t>(private_size_);
        memcpy(hello.data, private_data_, private_size_);
    }
    if (!connected_) put_contexts({.from = address_.context, .to = peer.remote.context}, &hello);
    if (!connected_ && !key_.size) mark_keyless(&hello);
    SocketAddress from = address_;
    if (!connected_) from.set_port(0);
    int error = dial->start(from, peer.remote, hello);
    net::fill_random(next_random_, sizeof next_random_);  // while the other end accepts
    if (!error) error = net::watch_socket(setup_epoll_, dial->socket(), dial->events(), &peer);
    if (error) {
        destroy(dial);
        return error;
    }
    peer.dial = dial;
    peer.dial_again = 0;
    peer.attempt_since = net::now_milliseconds();
    SpinGuard guard(guard_);
    peer.posted_since = false;
    return 0;
}

void TcpTransport::drop_dial(int epoll, net::Dial** dial) {
    if (!*dial) return;
    if ((*dial)->socket() >= 0) net::unwatch_socket(epoll, (*dial)->socket());
    destroy(*dial);
    *dial = nullptr;
}

void TcpTransport::dial_later(Peer& peer, int64_t pause) {
    forget_dial(peer);
    peer.dial_again = net::now_milliseconds() + pause;
}

// The other side does not want this call, but there may be another: its own, or a later one.
bool TcpTransport::retry_later(Peer& peer, Refusal refusal) {
    if (connected_) return false;
    if (refusal != Refusal::Crossed && refusal != Refusal::Taken && refusal != Refusal::Busy) return false;
    dial_later(peer, refusal == Refusal::Crossed ? net::kCrossedPause : net::kBusyPause);
    return true;
}

// Nobody listened, and frames wait that were reported as sent.
bool TcpTransport::redial_refused(Peer& peer) {
    bool posted;
    {
        SpinGuard guard(guard_);
        posted = peer.posted_since;
    }
    const net::AfterRefusal next = net::after_refusal({.now = net::now_milliseconds(),
                                                       .since = peer.dial_since,
                                                       .attempt = peer.attempt_since,
                                                       .posted = posted,
                                                       .extended = peer.refusal_extended});
    if (next == net::AfterRefusal::GiveUp) return false;
    peer.refusal_extended |= next == net::AfterRefusal::Extend;
    dial_later(peer, next == net::AfterRefusal::Extend ? 0 : net::kRefusedPause);
    return true;
}

// Whether an attempt that failed is repeated. One that was dropped is, until the peer's time is over: a listener that
// has too many callers drops some. Where nobody listens, only frames that were reported as sent are worth waiting for,
// and not for long.
bool TcpTransport::redial(Peer& peer, int error) {
    if (connected_) return false;
    switch (error) {
        case ECONNREFUSED:
        case EHOSTUNREACH:
        case ENETUNREACH:
        case EHOSTDOWN:
        case ENETDOWN:
            if (!frames_wait(peer) || !redial_refused(peer)) return false;
            break;
        case ECONNRESET:
        case EPIPE:
        case ETIMEDOUT:
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS:
        case EADDRINUSE:
        case EADDRNOTAVAIL:
            dial_later(peer, std::min(net::kBusyPause << std::min(peer.attempts, 10u), net::kDroppedPause));
            ++peer.attempts;
            break;
        default:
            return false;
    }
    peer.last_error = error;
    return true;
}

void TcpTransport::attempt_failed(Peer& peer, int error) {
    if (!redial(peer, error)) give_up(peer, error);
}

// The other end seems to be no endpoint of this library: one line, as the error alone does not say that.
void TcpTransport::report_foreign(const Peer& peer, net::Foreign foreign, int error) const {
    char address[kAddressBytesMax];
    write_text_address(peer.remote, FI_SOCKADDR, address, sizeof address);
    const char* how = foreign == net::Foreign::Speaks ? "answers in another protocol than this library's"
                      : connected_ ? "closed the connection without an answer: it speaks another protocol than this "
                                     "library's, or has no room, or is gone"
                                   : "closes every connection without an answer: it speaks another protocol than this "
                                     "library's";
    log_for("tcp", FI_LOG_WARN, FI_LOG_EP_CTRL, "%s %s (%s)", address, how, error_text(error));
}

// A listener that has no room drops hellos for a while; one that drops all of them speaks another protocol.
bool TcpTransport::seems_foreign(const Peer& peer) const {
    return peer.unanswered >= (connected_ ? 1 : net::kUnansweredMost);
}

// An attempt failed at the other end's doing. Who drops every hello has the time of a peer that does not answer, no
// more.
void TcpTransport::dial_failed(Peer& peer, const net::Dial& dial) {
    const int error = dial.error;
    const net::Foreign foreign = dial.foreign;
    peer.unanswered = foreign == net::Foreign::Silent ? peer.unanswered + 1 : 0;
    const bool over = connected_ || net::now_milliseconds() - peer.dial_since >= net::connect_timeout();
    if (foreign != net::Foreign::Speaks && !(over && seems_foreign(peer))) return attempt_failed(peer, error);
    report_foreign(peer, foreign, error);
    give_up(peer, error);
}

// Small frames to a peer without a connection are reported as sent when they are in its buffer.
bool TcpTransport::frames_wait(Peer& peer) {
    SpinGuard guard(guard_);
    return peer.buffer && !peer.buffer->empty();
}

// Its machine has answered: it may be stopped, or have no processor. It has as long as one that is up has, also when
// the connection was taken and ended between two looks at it.
void TcpTransport::note_connected(Peer& peer) {
    if (connected_ || !peer.dial || !peer.dial->was_taken()) return;
    peer.deadline = peer.dial_since + std::max(net::connect_timeout(), net::peer_timeout());
}

// The socket was welcomed. An error shows again when it is used.
void TcpTransport::send_waiting(Peer& peer, int socket) {
    SpinGuard guard(guard_);
    peer.tx = socket;
    if (peer.buffer) (void)push_out(peer);
}

void TcpTransport::step_dial(Peer& peer) {
    if (!peer.dial || peer.ready || peer.failure) return;
    net::Dial& dial = *peer.dial;
    const uint32_t watched = dial.events();
    switch (dial.advance(key_)) {
        case net::Step::Pending:
            if (dial.events() == watched) return;
            (void)net::watch_socket(setup_epoll_, dial.socket(), dial.events(), &peer, true);
            return;
        case net::Step::Done:
            net::set_traffic_class(dial.socket(), address_.kind, tclass_);
            // What waits leaves before this side sees to itself.
            send_waiting(peer, dial.socket());
            net::unwatch_socket(setup_epoll_, dial.socket());
            if (!become_ready(peer, dial.release_socket(), dial.answer.instance, dial.answer.sequence)) {
                give_up(peer, FI_ENOMEM);
            }
            return;
        case net::Step::Refused:
            if (!retry_later(peer, dial.answer.refusal)) give_up(peer, net::error_of(dial.answer.refusal));
            return;
        case net::Step::Failed:
            note_connected(peer);
            return dial_failed(peer, dial);
    }
}

// Dials that take too long or are due again.
void TcpTransport::look_at_dials(int64_t now) {
    for (Peer** at = &dialing_; Peer* peer = *at;) {
        if (peer->phase != Peer::Phase::Dialing || peer->ready || peer->failure) {
            *at = peer->next_dialing;
            peer->in_dialing = false;
            continue;
        }
        at = &peer->next_dialing;
        // How long an application takes to accept is its own affair.
        if (connected_ && peer->dial && peer->dial->waits_for_welcome()) continue;
        note_connected(*peer);
        if (now >= peer->deadline) {
            if (seems_foreign(*peer)) report_foreign(*peer, net::Foreign::Silent, peer->last_error);
            give_up(*peer, peer->last_error);
        } else if (!peer->dial && now >= peer->dial_again) {
            const int error = start_dial(*peer);
            if (error) attempt_failed(*peer, -error);
        }
    }
}

// Closing: handshakes with peers for which frames wait go on.
void TcpTransport::finish_dials(int64_t deadline) {
    for (;;) {
        {
            LockGuard setup(setup_);
            step_setup(nullptr);
        }
        flush_deferred();
        bool waiting = false;
        for (Peer* peer = dialing_; peer && !waiting; peer = peer->next_dialing) {
            waiting = peer->phase == Peer::Phase::Dialing && !peer->ready && !peer->failure && frames_wait(*peer);
        }
        const int64_t left = deadline - net::now_milliseconds();
        if (!waiting || left <= 0) return;
        pollfd wait{.fd = setup_epoll_, .events = POLLIN, .revents = 0};
        (void)poll(&wait, 1, static_cast<int>(std::min(left, net::kBusyPause)));
    }
}

}  // namespace selvage::impl
