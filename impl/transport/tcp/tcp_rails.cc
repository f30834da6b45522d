// See tcp_rails.h: rails as the transport sets them up, loses them and sets them up again.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "impl/base/create.h"
#include "impl/transport/net/settings.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using tcp::Rail;
using tcp::Rails;

namespace {

// The other end sees it, whatever it has not read; what is not sent is discarded.
void reset_at_close(int socket) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace

void TcpTransport::offer_rails_at(const SocketAddress* addresses, size_t count) {
    LockGuard setup(setup_);
    rails_anywhere_ = true;
    invitation_.count = std::min(count, tcp::kAdvertisedMax);
    std::copy(addresses, addresses + invitation_.count, invitation_.addresses);
}

// An endpoint that was bound to an address keeps to it.
size_t TcpTransport::rails_allowed() const {
    if (rails_anywhere_) return tcp::kRailsMax;
    return address_.is_wildcard() ? net::rails_most() : 0;
}

// What a welcome advertises of this endpoint, once: where it listens beside the address that was called.
void TcpTransport::prepare_invitation() {
    if (!rails_allowed()) return;
    invitation_.count = tcp::addresses_to_advertise(address_.kind, invitation_.addresses);
    if (invitation_.count < 2) invitation_.count = 0;
}

// The data of the welcome for a caller whose peer this is; nothing for one on this machine, or where there is no
// memory.
void TcpTransport::invite(Peer& peer, const net::PendingConnection& pending, net::Note* welcome) {
    peer.invited = false;
    if (!invitation_.count) return;
    if (!rails_anywhere_ && net::local_address(pending.socket).same_host(pending.from)) return;
    net::fill_random(invitation_.secret, sizeof invitation_.secret);
    free(peer.invitation);
    peer.invitation = tcp::copy_of(invitation_, 0);
    if (!peer.invitation) return;
    peer.invitation->count = 0;
    peer.invited = true;
    tcp::write_invitation(invitation_, address_.kind, welcome);
}

// By the owner: the connection to a peer that was called is ready.
void TcpTransport::read_invitation(Peer& peer) {
    if (!peer.dial || peer.dial->answer.type != net::NoteType::Welcome || !peer.dial->answer.data_size) return;
    if (connected_ || !rails_allowed()) return;
    tcp::Invitation invitation;
    if (!tcp::read_invitation(peer.dial->answer, peer.remote.kind, peer.remote.port(), &invitation)) return;
    free(peer.invitation);
    peer.invitation = tcp::copy_of(invitation, invitation.count);
    peer.invited = false;
}

Rails* TcpTransport::make_rails(Peer& peer, bool caller) {
    auto* rails = create<Rails>();
    if (!rails) return nullptr;
    rails->caller = caller;
    rails->link_timeout = net::link_timeout();
    for (Rail& rail : rails->rail) rail.peer = &peer;
    rails->carrier.peer = &peer;
    rails->links[0] = {.from = SocketAddress::wildcard(address_.kind, 0), .to = peer.remote};
    rails->next = railed_;
    railed_ = &peer;
    peer.rails = rails;
    return rails;
}

// The first long frame goes or comes: calls for rails, if the other end advertised addresses that links lead to.
void TcpTransport::open_rails(Peer& peer) {
    tcp::Invitation* const invitation = peer.invitation;
    SocketAddress from[tcp::kRailsMax], to[tcp::kRailsMax];
    size_t found = 0;
    if (rails_anywhere_) {
        for (; found < std::min(invitation->count, tcp::kRailsMax); ++found) to[found] = invitation->addresses[found];
    } else {
        found = tcp::choose_rails(*invitation, net::local_address(peer.tx), from, to);
    }
    invitation->count = 0;
    const size_t count = std::min(found, rails_allowed());
    if (!count || !make_rails(peer, true)) return;
    for (size_t i = 0; i < count; ++i) {
        Rail& rail = peer.rails->rail[i];
        rail.way = static_cast<uint8_t>(1 + i);
        peer.rails->links[rail.way] = {.from = from[i], .to = to[i]};
        call_rail(rail);
    }
}

// Says how much of its stream is here.
net::Note TcpTransport::rail_hello(const Rail& rail) {
    const Rails& rails = *rail.peer->rails;
    net::Note hello;
    hello.type = net::NoteType::Hello;
    hello.kind = net::CallKind::Rail;
    hello.port = address_.port();
    hello.instance = instance_;
    {
        LockGuard setup(setup_);
        hello.sequence = ++sequence_;
    }
    net::fill_random(hello.random, sizeof hello.random);
    tcp::RailCall call{.rail = tcp::kFirstStream, .asks = rail.state == Rail::State::Up && !rail.returns};
    if (!rails.is_carrier(rail)) {
        const auto index = static_cast<size_t>(&rail - rails.rail);
        call.rail = static_cast<uint8_t>(index);
        call.taken = rails.in.taken[index];
    }
    tcp::write_rail_call(call, &hello);
    return hello;
}

void TcpTransport::call_rail(Rail& rail) {
    const tcp::RailLink& link = rail.peer->rails->links[rail.way];
    const net::Note hello = rail_hello(rail);
    if (rail.state != Rail::State::Up) rail.state = Rail::State::Dialing;
    rail.dial_since = net::now_milliseconds();
    rail.dial_again = 0;
    rail.dial = create<net::Dial>();
    const bool begun = rail.dial && !rail.dial->start(link.from, link.to, hello) &&
                       !net::watch_socket(epoll_, rail.dial->socket(), rail.dial->events(), &rail);
    if (!begun) call_rail_later(rail);
    want_look_ = rails_busy_ = true;
}

// A link that never came is left alone. One that was there has bytes of the peer: it is called as long as the first
// connection is there, unless the other end refuses it.
void TcpTransport::call_rail_later(Rail& rail, bool refused) {
    if (rail.peer->rails->is_carrier(rail)) return call_first_later(*rail.peer);
    end_rail_dial(rail);
    if (rail.returns) return put_off_return(rail);
    if (rail.state == Rail::State::Up) {  // it was asked for
        rail.dial_again = net::now_milliseconds() + tcp::kRailAskPause;
        return;
    }
    if (refused || !rail.was_up) ++rail.attempts;
    if (rail.attempts >= tcp::kRailAttempts) {
        rail.state = Rail::State::None;
        if (rail.was_up) mark_broken(*rail.peer, FI_ECONNRESET);
        return;
    }
    if (rail.was_up) choose_way(rail);
    const int64_t pause = std::min(tcp::kRailPause << std::min(rail.attempts, 6u), tcp::kRailPauseMost);
    rail.dial_again = net::now_milliseconds() + pause;
}

// By the first link and by its own, in turn.
void TcpTransport::choose_way(Rail& rail) {
    const Rails& rails = *rail.peer->rails;
    const auto own = static_cast<uint8_t>(1 + (&rail - rails.rail));
    rail.way = rail.way == own || !rails.links[own].is_known() ? rails.first_link : own;
}

void TcpTransport::step_rail(Rail& rail) {
    if (rail.peer->rails->is_carrier(rail)) return step_first(rail);
    net::Dial& dial = *rail.dial;
    Peer& peer = *rail.peer;
    const tcp::RailKey key(key_, peer.invitation->secret);
    if (rail.returns && !dial.is_connected()) dial.replace_hello(rail_hello(rail));
    switch (dial.advance(key.key())) {
        case net::Step::Pending:
            (void)net::watch_socket(epoll_, dial.socket(), dial.events(), &rail, true);
            return;
        case net::Step::Done: {
            tcp::RailCall said;
            const bool valid = tcp::read_rail_call(dial.answer, &said) && said.rail != tcp::kFirstStream &&
                               &peer.rails->rail[said.rail] == &rail && peer.rails->out.resume(said.rail, said.taken);
            if (!valid) return call_rail_later(rail, true);
            net::unwatch_socket(epoll_, dial.socket());
            const int socket = dial.release_socket();
            end_rail_dial(rail);
            close_rail(rail);
            rail.returns = false;
            rail.link = rail.way;
            if (!raise_rail(rail, socket)) call_rail_later(rail);
            return plan_return(peer);
        }
        case net::Step::Refused:
            return call_rail_later(rail, dial.answer.refusal != net::Refusal::Busy);
        case net::Step::Failed:
            return call_rail_later(rail);
    }
}

// The socket carries parts from now on. False: it was closed.
bool TcpTransport::raise_rail(Rail& rail, int socket) {
    if (net::watch_socket(epoll_, socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &rail)) {
        ::close(socket);
        return false;
    }
    net::set_traffic_class(socket, address_.kind, tclass_);
    rail.socket = socket;
    rail.state = Rail::State::Up;
    rail.was_up = true;
    rail.blocked = rail.ended = false;
    rail.attempts = 0;
    rail.watch = {};
    if (rail.peer->rails->caller) net::probe_after(socket, tcp::kRailProbe);
    rail.peer->rails->window[&rail - rail.peer->rails->rail] = {};
    rails_busy_ = true;
    return true;
}

void TcpTransport::close_rail(Rail& rail) {
    if (rail.socket >= 0) {
        net::unwatch_socket(epoll_, rail.socket);
        ::close(rail.socket);
    }
    rail.socket = -1;
    rail.state = rail.was_up ? Rail::State::Lost : Rail::State::None;
}

// It goes on by the first link, which is there as long as the peer is; or by its own, if the other end has closed it,
// as that is there then. Who was called waits for the call, and resets the rail: the caller reads nothing of it as long
// as the frames of the parts there do not come, and an end in order would stand behind those. `error` is the socket's,
// ECONNRESET where it has ended, and 0 where there is none.
void TcpTransport::lose_rail(Rail& rail, int error) {
    Peer& peer = *rail.peer;
    end_rail_dial(rail);
    if (!peer.rails->caller) reset_at_close(rail.socket);
    close_rail(rail);
    rail.returns = false;
    rail.attempts = 0;
    if (!peer.rails->caller) return;
    const bool closed = error == ECONNRESET || error == EPIPE;
    // It may be the first link that is dead, and the other end that has noticed.
    if (peer.kept) {
        peer.rails->first.warned |= closed;
        (void)append_control(peer, tcp::control_header(tcp::kProbeOp));
    }
    rail.way = closed ? rail.link : peer.rails->first_link;
    const int64_t earliest = rail.dial_since + tcp::kRailPause;
    if (net::now_milliseconds() >= earliest) return call_rail(rail);
    rail.state = Rail::State::Dialing;  // the other end ends it as soon as it is there
    rail.dial_again = earliest;
}

// Parts of a frame do not come by these rails, though they seem to be up: the other end may know better.
void TcpTransport::ask_for_rails(Peer& peer) {
    Rails& rails = *peer.rails;
    const int64_t now = net::now_milliseconds();
    if (!rails.stalled) rails.stalled = now;
    if (!rails.caller || now - rails.stalled < tcp::kRailStall) return;
    for (size_t i = 0; i < tcp::kRailsMax; ++i) {
        if (rails.in.parts[1 + i].left) ask_for_rail(rails.rail[i]);
    }
}

// By the first link and by its own in turn, as either may be dead.
void TcpTransport::ask_for_rail(Rail& rail) {
    if (rail.state != Rail::State::Up || rail.dial || net::now_milliseconds() < rail.dial_again) return;
    choose_way(rail);
    call_rail(rail);
}

// With the setup lock, by any thread: who has proved that he holds the key of a peer's rails waits for the owner, as
// what this side has of a rail's stream is the owner's to say.
void TcpTransport::queue_rail_caller(net::PendingConnection* pending) {
    const Peer* const peer = peer_of_rail(*pending);
    net::Refusal refusal = net::Refusal::None;
    // An endpoint that closes finishes what it has begun, and begins nothing.
    if (!peer || (closing_ && !peer->rails)) {
        refusal = net::Refusal::Gone;
    } else if (!pending->holds(tcp::RailKey(key_, peer->invitation->secret).key())) {
        refusal = net::Refusal::Key;
    } else if (rail_caller_count_ == tcp::kRailCallersMax) {
        refusal = net::Refusal::Busy;
    }
    if (refusal != net::Refusal::None) {
        if (refusal != net::Refusal::Gone) acceptor_.count(Stat::Refused);
        pending->refuse(refusal);
        destroy(pending);
        return;
    }
    net::PendingConnection** at = &rail_callers_;
    while (*at) at = &(*at)->next;
    pending->next = nullptr;
    *at = pending;
    ++rail_caller_count_;
    // Pairs with the look in poll_events and arm.
    any_outcome_.store(true, std::memory_order_release);
    wake_sleeper();
}

// With the setup lock. The oldest, or nullptr.
net::PendingConnection* TcpTransport::take_rail_caller() {
    net::PendingConnection* const caller = rail_callers_;
    if (!caller) return nullptr;
    rail_callers_ = caller->next;
    --rail_caller_count_;
    return caller;
}

// A caller who has proved himself: None if he is to have the rail that he names.
net::Refusal TcpTransport::judge_rail(const net::PendingConnection& pending, const Peer& peer, tcp::RailCall* call) {
    if (!tcp::read_rail_call(pending.hello, call)) return net::Refusal::Gone;
    const Rails* rails = peer.rails;
    if (!rails) return call->taken ? net::Refusal::Gone : net::Refusal::None;
    const Rail& rail = rails->rail[call->rail];
    const bool newer = static_cast<int32_t>(pending.hello.sequence - rail.sequence) > 0;
    if (rails->caller || (rail.was_up && !newer)) return net::Refusal::Gone;
    return call->asks && rail.state == Rail::State::Up ? net::Refusal::Busy : net::Refusal::None;
}

// By the owner, with the setup lock: `pending` is a caller for a rail, and is destroyed. The peer's streams go on where
// both sides say.
void TcpTransport::admit_rail(net::PendingConnection* pending) {
    Peer* peer = pending->left() ? nullptr : peer_of_rail(*pending);
    if (peer && peer->phase != Peer::Phase::Up) peer = nullptr;
    tcp::RailCall call;
    if (peer && tcp::read_rail_call(pending->hello, &call) && call.rail == tcp::kFirstStream)
        return admit_first(pending, *peer);
    net::Refusal refusal = peer ? judge_rail(*pending, *peer, &call) : net::Refusal::Gone;
    if (refusal == net::Refusal::None && !peer->rails && !make_rails(*peer, false)) refusal = net::Refusal::Busy;
    if (refusal == net::Refusal::None && !peer->rails->out.resume(call.rail, call.taken)) refusal = net::Refusal::Gone;
    if (refusal != net::Refusal::None) {
        pending->refuse(refusal);
        destroy(pending);
        return;
    }
    Rail& rail = peer->rails->rail[call.rail];
    close_rail(rail);
    rail.sequence = pending->hello.sequence;
    uint8_t data[9];
    tcp::write_rail_call({.rail = call.rail, .taken = peer->rails->in.taken[call.rail]}, data);
    const tcp::RailKey key(key_, peer->invitation->secret);
    if (pending->welcome(key.key(), {.instance = instance_, .sequence = sequence_}, data, sizeof data)) {
        (void)raise_rail(rail, pending->release_socket());
    }
    destroy(pending);
}

// With the setup lock. A rail is called from another address than the first connection came from, so the peer is found
// by its instance.
TcpTransport::Peer* TcpTransport::peer_of_rail(const net::PendingConnection& pending) {
    for (Peer* peer = peers_.first(); peer; peer = peer->next) {
        const bool there = peer->phase == Peer::Phase::Up || peer->ready;
        if (there && peer->invited && peer->instance == pending.hello.instance) return peer;
    }
    return nullptr;
}

// The peer is down, or the endpoint closes.
Rails* TcpTransport::take_rails(Peer& peer) {
    free(peer.invitation);
    peer.invitation = nullptr;
    peer.invited = peer.splitting = peer.unread = false;
    Rails* const rails = peer.rails;
    if (!rails) return nullptr;
    {
        SpinGuard guard(guard_);
        peer.kept = nullptr;
        peer.indirect = peer.queued;
    }
    for (Peer** at = &railed_; *at; at = &(*at)->rails->next) {
        if (*at != &peer) continue;
        *at = rails->next;
        break;
    }
    peer.rails = nullptr;
    for (Rail& rail : rails->rail) {
        end_rail_dial(rail);
        close_rail(rail);
        rail.state = Rail::State::None;
    }
    end_rail_dial(rails->carrier);
    return rails;
}

void TcpTransport::discard_rails() {
    while (Rails* rails = dead_rails_) {
        dead_rails_ = rails->next_dead;
        destroy(rails);
    }
}

}  // namespace selvage::impl
