// See take_over.h: the first connection of a peer with rails, as it is kept, lost and set up again.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "impl/base/create.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using tcp::FirstLink;
using tcp::Rail;
using tcp::Rails;

bool tcp::is_link_error(int error) {
    return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN ||
           error == EHOSTDOWN;
}

// A frame of the transport's own without a payload. False: there is no room now.
bool TcpTransport::append_control(Peer& peer, const Header& header) {
    if (!ensure_buffer(peer)) return false;
    SpinGuard guard(guard_);
    if (peer.buffer->room() < sizeof header) return false;
    peer.buffer->append(&header, sizeof header);
    enqueue(peer);
    answered_ = true;
    return true;
}

// There is a rail, so the other end, too, can go on elsewhere. What is kept has memory before that is said: it is said
// once.
void TcpTransport::start_keeping(Peer& peer) {
    FirstLink& first = peer.rails->first;
    if (!peer.rails->count_up() || !first.kept.allocate()) return;
    if (!append_control(peer, tcp::control_header(tcp::kKeepOp))) return;
    SpinGuard guard(guard_);
    first.kept.open(peer.buffer->bytes() + peer.buffer->held_bytes());
    peer.kept = &first.kept;
    peer.indirect = true;
}

void TcpTransport::push_first(Peer& peer) {
    int error;
    {
        SpinGuard guard(guard_);
        error = push_out(peer);
    }
    if (error) mark_broken(peer, error);
}

// Nothing is sent on the first connection any more.
void TcpTransport::lose_first(Peer& peer) {
    FirstLink& first = peer.rails->first;
    net::unwatch_socket(epoll_, peer.rx);
    {
        SpinGuard guard(guard_);
        peer.tx = -1;
        peer.watches_room = false;
    }
    first.lost = rails_busy_ = true;
    first.lost_since = net::now_milliseconds();
    first.refusals = 0;
}

// The first connection has ended, with an error or, with 0, in order. False: that is the peer's end.
bool TcpTransport::first_ends(Peer& peer, int error) {
    FirstLink& first = peer.rails->first;
    if (!first.lost) {
        if (!tcp::is_link_error(error) || !can_move(first)) return false;
        lose_first(peer);
        if (!peer.rails->caller) close_own_rails(peer);
    }
    first.halted = peer.unread = true;
    return true;
}

// A split is incomplete, and the first connection has an error. False: it is the peer's end.
bool TcpTransport::first_stops(Peer& peer) {
    if (!tcp::is_link_error(net::pending_error(peer.rx)) || !can_move(peer.rails->first)) return false;
    lose_first(peer);
    if (!peer.rails->caller) close_own_rails(peer);
    return true;
}

// By who was called: the caller finds out.
void TcpTransport::close_own_rails(Peer& peer) {
    peer.rails->first.poked = net::now_milliseconds();
    for (Rail& rail : peer.rails->rail) {
        if (rail.state == Rail::State::Up) lose_rail(rail);
    }
}

// Rails that came up since then.
void TcpTransport::close_own_rails_again(Peer& peer) {
    if (net::now_milliseconds() - peer.rails->first.poked >= tcp::kPokePause) close_own_rails(peer);
}

// While something may not have arrived: forgets what has, and looks whether the link is dead.
void TcpTransport::look_at_first(Peer& peer) {
    FirstLink& first = peer.rails->first;
    const int64_t now = net::now_nanoseconds() / 1000;
    if (now - first.looked < tcp::kRailLook || peer.tx < 0) return;
    first.looked = now;
    {
        SpinGuard guard(guard_);
        first.kept.forget(tcp::under_way(peer.tx));
        if (first.kept.empty()) first.warned = false;  // what was sent because of that has arrived
    }
    tcp::LinkSample sample;
    if (!can_move(first) || !tcp::sample_link(peer.tx, &sample)) return;
    const unsigned limit = first.warned ? tcp::kWarnedSilence : peer.rails->link_timeout;
    if (!first.watch.is_dead(sample, now / 1000, limit)) return;
    if (peer.rails->caller) return lose_first(peer);
    close_own_rails_again(peer);
}

// By who called: by the links of the rails and by that which was the first, in turn.
void TcpTransport::call_first(Peer& peer) {
    Rails& rails = *peer.rails;
    const size_t ways = tcp::kStreams;
    for (size_t i = 0; i < ways; ++i) {
        const size_t way = ++rails.first.way % ways;
        if (way && !rails.rail[way - 1].was_up) continue;
        rails.carrier.way = static_cast<uint8_t>(way);
        return call_rail(rails.carrier);
    }
}

// A call that is due, or takes too long.
void TcpTransport::look_at_first_call(Peer& peer) {
    Rail& carrier = peer.rails->carrier;
    const int64_t now = net::now_milliseconds();
    if (carrier.dial && now - carrier.dial_since >= tcp::kFirstDialLimit) call_first_later(peer);
    if (!carrier.dial && now >= carrier.dial_again) call_first(peer);
}

void TcpTransport::call_first_later(Peer& peer) {
    end_rail_dial(peer.rails->carrier);
    peer.rails->first.answered = false;
    peer.rails->carrier.dial_again = net::now_milliseconds() + tcp::kRailPause;
}

// An event of the call.
void TcpTransport::step_first(Rail& carrier) {
    Peer& peer = *carrier.peer;
    FirstLink& first = peer.rails->first;
    net::Dial& dial = *carrier.dial;
    if (first.answered) return;
    switch (dial.advance(tcp::RailKey(key_, peer.invitation->secret).key())) {
        case net::Step::Pending:
            (void)net::watch_socket(epoll_, dial.socket(), dial.events(), &carrier, true);
            return;
        case net::Step::Done:
            net::unwatch_socket(epoll_, dial.socket());
            first.answered = true;
            return;
        case net::Step::Refused:
            if (dial.answer.refusal != net::Refusal::Busy) mark_broken(peer, FI_ECONNRESET);
            return call_first_later(peer);
        case net::Step::Failed: {
            if (dial.error == ECONNREFUSED || dial.error == ECONNRESET) {  // by this way it was heard
                --first.way;
                if (++first.refusals == tcp::kFirstRefusals) mark_broken(peer, FI_ECONNRESET);
            }
            return call_first_later(peer);
        }
    }
}

// What the old connection had is read: frames go on by the one that was welcomed. REQUIRES: first.answered
void TcpTransport::adopt_first(Peer& peer) {
    Rails& rails = *peer.rails;
    FirstLink& first = rails.first;
    tcp::RailCall said;
    const bool valid = tcp::read_rail_call(rails.carrier.dial->answer, &said) && said.rail == tcp::kFirstStream;
    if (!valid || !go_on_at(peer, said.taken)) return mark_broken(peer, FI_ECONNRESET);
    const Header resume = tcp::control_header(tcp::kResumeOp, peer.received - first.base);
    const int socket = rails.carrier.dial->socket();
    if (net::raw_send(socket, &resume, sizeof resume) != static_cast<ssize_t>(sizeof resume)) {
        return call_first_later(peer);
    }
    (void)rails.carrier.dial->release_socket();
    end_rail_dial(rails.carrier);
    first.answered = false;
    rails.first_link = rails.carrier.way;
    replace_first(peer, socket);
    find_first(peer);
    plan_return(peer);
}

bool TcpTransport::go_on_at(Peer& peer, uint64_t position) {
    SpinGuard guard(guard_);
    return peer.kept->go_on(position);
}

// The old connection is closed; nothing is read or sent on the new one yet.
void TcpTransport::replace_first(Peer& peer, int socket) {
    FirstLink& first = peer.rails->first;
    if (peer.rx >= 0) ::close(peer.rx);
    peer.rx = socket;
    first.halted = peer.unread = true;
    net::set_traffic_class(socket, address_.kind, tclass_);
    if (net::watch_socket(epoll_, socket, EPOLLIN, &peer)) mark_broken(peer, FI_ENOMEM);
}

// Frames flow on the new connection, in both directions.
void TcpTransport::find_first(Peer& peer) {
    FirstLink& first = peer.rails->first;
    {
        SpinGuard guard(guard_);
        peer.tx = peer.rx;
    }
    first.lost = first.halted = first.warned = false;
    first.watch = {};
    first.confirmed = true;
    peer.unread = peer.dropped || peer.splitting;
    peer.blocked = false;
    peer.rails->first_unwatched = false;
    push_first(peer);
}

// By who was called, when the new connection has something.
void TcpTransport::take_resume(Peer& peer) {
    if (peer.rx < 0) return;
    Header header;
    const ssize_t got = recv(peer.rx, &header, sizeof header, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {  // the caller has given it up, and calls again
        ::close(peer.rx);
        peer.rx = -1;
        return;
    }
    if (got < static_cast<ssize_t>(sizeof header)) return;
    (void)recv(peer.rx, &header, sizeof header, MSG_DONTWAIT);
    const bool valid = header.size == tcp::kTransportFrame && header.op == tcp::kResumeOp;
    if (!valid || !go_on_at(peer, header.word[0])) return mark_broken(peer, FI_ECONNABORTED);
    find_first(peer);
}

// Everything that the old connection has is read, so that what is here can be said.
bool TcpTransport::is_drained(const Peer& peer) {
    return !peer.splitting || peer.rails->in.parts[0].left || peer.rails->first.halted;
}

// By the owner, with the setup lock: a caller for the first connection who has proved himself; what there was was read.
net::Refusal TcpTransport::judge_first(const net::PendingConnection& pending, const Peer& peer) const {
    const Rails* rails = peer.rails;
    if (!rails || rails->caller || !peer.kept || !can_move(rails->first)) return net::Refusal::Gone;
    const bool newer = static_cast<int32_t>(pending.hello.sequence - rails->first.sequence) > 0;
    if (!newer && rails->first.sequence) return net::Refusal::Gone;
    return is_drained(peer) ? net::Refusal::None : net::Refusal::Busy;
}

// By the owner, with the setup lock. `pending` is destroyed.
void TcpTransport::admit_first(net::PendingConnection* pending, Peer& peer) {
    const net::Refusal refusal = judge_first(*pending, peer);
    if (refusal != net::Refusal::None) {
        pending->refuse(refusal);
        destroy(pending);
        return;
    }
    FirstLink& first = peer.rails->first;
    first.sequence = pending->hello.sequence;
    // Before the answer: from here on, nothing is taken for arrived that the caller may not have seen.
    if (!first.lost) lose_first(peer);
    uint8_t data[9];
    tcp::write_rail_call({.rail = tcp::kFirstStream, .taken = peer.received - first.base}, data);
    const tcp::RailKey key(key_, peer.invitation->secret);
    if (pending->welcome(key.key(), {.instance = instance_, .sequence = sequence_}, data, sizeof data)) {
        first.confirmed = false;
        replace_first(peer, pending->release_socket());
    }
    destroy(pending);
}

}  // namespace selvage::impl
