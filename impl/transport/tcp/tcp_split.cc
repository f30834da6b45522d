// See rails.h: frames that are divided among the first connection and the rails, as they are sent.
#include <sys/epoll.h>
#include <sys/socket.h>

#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using tcp::Rail;
using tcp::Rails;

namespace {

constexpr size_t kRailPieces = 64;  // of one system call

}  // namespace

// A frame of kSplitMin and more is about to be sent. False: all of it goes on the first connection.
bool TcpTransport::may_split(Peer& peer, const Frame& frame) {
    if (peer.invitation->count) open_rails(peer);
    return peer.rails && frame.count <= tcp::kSplitRanges && peer.rails->count_up();
}

// False: all of the frame belongs on the first connection. Otherwise it was divided, or waits until that can be done
// well, as *result says.
bool TcpTransport::divide_frame(Peer& peer, const Frame& frame, SendResult* result) {
    tcp::StreamLoad streams[tcp::kStreams];
    load_streams(peer, streams);
    const bool full = std::all_of(streams, streams + tcp::kStreams, [](const auto& s) { return !s.there || s.full(); });
    if (peer.rails->out.full() || (full && !peer.rails->out.empty())) {
        peer.wants_room = true;  // until the next answer
        *result = SendResult::Again;
        return true;
    }
    uint32_t parts[tcp::kStreams];
    if (!tcp::divide(frame.header.size, streams, parts)) return false;
    *result = send_split(peer, frame, parts);
    return true;
}

void TcpTransport::load_streams(Peer& peer, tcp::StreamLoad (&streams)[tcp::kStreams]) {
    Rails& rails = *peer.rails;
    const int64_t now = net::now_nanoseconds() / 1000;
    if (rails.out.empty()) rails.answered = now;
    streams[0] = {.there = true, .waiting = tcp::under_way(peer.tx)};
    {
        SpinGuard guard(guard_);
        if (peer.buffer) streams[0].waiting += peer.buffer->bytes() + peer.buffer->held_bytes();
    }
    for (size_t i = 0; i < tcp::kRailsMax; ++i) {
        const Rail& rail = rails.rail[i];
        if (rail.state != Rail::State::Up || rails.window[i].paused(now)) continue;
        tcp::StreamLoad& stream = streams[1 + i];
        stream = {.there = true, .waiting = rails.out.unsent(i) + tcp::under_way(rail.socket)};
        stream.limit = rails.window[i].bytes();
        if (stream.waiting + tcp::kSplitMin > stream.limit) rails.window[i].note_limited();
    }
}

// The receiver has said for which rails it waited.
void TcpTransport::take_late(Peer& peer, const uint64_t (&word)[3]) {
    Rails& rails = *peer.rails;
    const int64_t now = net::now_nanoseconds() / 1000;
    const int64_t time = now - rails.answered;
    if (time < tcp::RailWindow::kPeriod) return;
    rails.answered = now;
    for (size_t i = 0; i < tcp::kRailsMax; ++i) {
        const auto late = static_cast<uint32_t>(word[1 + i / 2] >> (32 * (i % 2)));
        rails.window[i].update(now, time, static_cast<int32_t>(late - rails.late[i]));
        rails.late[i] = late;
    }
}

// The Split frame and what belongs on the first connection go into the buffer; the rest is the rails'.
SendResult TcpTransport::send_split(Peer& peer, const Frame& frame, const uint32_t (&parts)[tcp::kStreams]) {
    if (!ensure_buffer(peer)) {
        peer.wants_room = waiting_for_room_ = true;
        return SendResult::Again;
    }
    int error = put_split(peer, frame, parts);
    if (error == EAGAIN) return SendResult::Again;
    if (error) {
        mark_broken(peer, error);
        return SendResult::Down;
    }
    // From here on the payload is read until the peer answers or is down.
    peer.rails->out.add(frame.payload, frame.count, frame.token, parts);
    rails_busy_ = true;
    if (!peer.blocked) {
        SpinGuard guard(guard_);
        error = push_out(peer);
    }
    if (error) mark_broken(peer, error);
    push_rails(peer);
    if (join_thread()) note_deferred();
    return SendResult::Held;
}

// 0, EAGAIN when there is no room in the buffer, or what the socket reports.
int TcpTransport::put_split(Peer& peer, const Frame& frame, const uint32_t (&parts)[tcp::kStreams]) {
    tcp::SplitHeader split{.frame = frame.header, .parts = {}, .number = peer.rails->out.next_number()};
    memcpy(split.parts, parts, sizeof parts);
    const Header header{
        .size = tcp::kTransportFrame | sizeof split, .op = tcp::kSplitOp, .flags = 0, .aux = 0, .word = {}};
    SpinGuard guard(guard_);
    tcp::SendBuffer& buffer = *peer.buffer;
    const auto fits = [&] { return buffer.room() >= sizeof header + sizeof split && buffer.can_hold(); };
    int error = 0;
    if (!fits() && !peer.blocked) error = push_out(peer);
    enqueue(peer);
    if (error) return error;
    if (!fits()) {
        peer.wants_room = true;
        return EAGAIN;
    }
    buffer.append(&header, sizeof header);
    buffer.append(&split, sizeof split);
    peer.posted_since = true;
    iovec first[tcp::kSplitRanges];
    const size_t count = tcp::cut(frame.payload, frame.count, 0, parts[0], first);
    // The token, if there is one, comes back with the answer.
    if (count) buffer.hold(first, count, nullptr, 0, split.number);
    return 0;
}

void TcpTransport::push_rails(Peer& peer) {
    for (size_t i = 0; i < tcp::kRailsMax; ++i) {
        Rail& rail = peer.rails->rail[i];
        if (rail.state != Rail::State::Up || rail.blocked || rail.is_moving()) continue;
        if (peer.rails->out.unsent(i)) push_rail(rail, i);
    }
}

void TcpTransport::push_rail(Rail& rail, size_t index) {
    tcp::SplitQueue& out = rail.peer->rails->out;
    while (out.unsent(index)) {
        iovec pieces[kRailPieces];
        msghdr message{};
        message.msg_iov = pieces;
        message.msg_iovlen = out.gather(index, pieces, kRailPieces);
        const ssize_t sent = net::raw_send_pieces(rail.socket, message);
        if (sent == -EINTR) continue;
        rail.blocked = sent == -EAGAIN;
        if (rail.blocked || sent == -ENOBUFS) return;
        if (sent < 0) return lose_rail(rail, static_cast<int>(-sent));
        out.advance(index, static_cast<size_t>(sent));
    }
}

// To say which splits are whole, in a progress. False: there is no room now.
bool TcpTransport::send_answer(Peer& peer) {
    const tcp::SplitArrival& in = peer.rails->in;
    const Header header{.size = tcp::kTransportFrame,
                        .op = tcp::kSplitAckOp,
                        .flags = 0,
                        .aux = 0,
                        .word = {in.whole, in.late[0] | uint64_t{in.late[1]} << 32, in.late[2]}};
    return append_control(peer, header);
}

// Calls of rails that are due, or take too long.
void TcpTransport::look_at_dials(Peer& peer) {
    for (Rail& rail : peer.rails->rail) {
        if (rail.state != Rail::State::Dialing && !rail.dial) continue;
        const int64_t now = net::now_milliseconds();
        if (!rail.dial && now >= rail.dial_again)
            call_rail(rail);
        else if (rail.dial && now - rail.dial_since >= tcp::kRailDialLimit)
            call_rail_later(rail);
    }
}

// While parts are under way: which links are dead, and whether the other end has lost a rail, with what it had not
// read.
void TcpTransport::look_at_links(Peer& peer) {
    Rails& rails = *peer.rails;
    const int64_t now = net::now_nanoseconds() / 1000;
    if (now - rails.looked < tcp::kRailLook) return;
    rails.looked = now;
    for (Rail& rail : rails.rail) {
        tcp::LinkSample sample;
        if (rail.state == Rail::State::Up && tcp::sample_link(rail.socket, &sample) &&
            rail.watch.is_dead(sample, now / 1000, rails.link_timeout))
            lose_rail(rail);
        if (rails.caller && now - rails.answered >= int64_t{rails.link_timeout} * 1000) ask_for_rail(rail);
    }
}

// Milliseconds until the rails are to be looked at without anything arriving, or -1.
int64_t TcpTransport::rails_wait() const {
    int64_t wait = -1;
    if (!rails_busy_) return wait;
    const auto within = [&](int64_t time) { wait = wait < 0 ? time : std::min(wait, time); };
    for (const Peer* peer = railed_; peer; peer = peer->rails->next) {
        for (const Rail& rail : peer->rails->rail) {
            if (rail.state == Rail::State::Dialing || rail.dial) within(tcp::kRailPause);
        }
        const tcp::FirstLink& first = peer->rails->first;
        const KeptLeft kept = kept_left(first);
        if (kept.full && !first.lost) within(tcp::kFullWake);
        if (first.lost || kept.unsent) within(tcp::kRailPause);
        if (!peer->rails->out.empty() || peer->splitting || kept.any) within(tcp::kRailWake);
        if (peer->rails->return_at) within(std::max(peer->rails->return_at - net::now_milliseconds(), tcp::kRailPause));
    }
    return wait;
}

// Before the endpoint sleeps: true if it will be woken for whatever its rails have to do.
bool TcpTransport::arm_rails(Peer& peer) {
    const Rails& rails = *peer.rails;
    if (rails.owes_ack || (peer.splitting && rails.more_to_read)) return false;
    for (size_t i = 0; i < tcp::kRailsMax; ++i) {
        const Rail& rail = rails.rail[i];
        if (rail.is_moving()) continue;
        if (rail.ended || (rail.state == Rail::State::Up && !rail.blocked && rails.out.unsent(i))) return false;
    }
    // What follows on the first connection is read when the split is whole: until then it wakes nobody, but its end
    // does.
    if (peer.splitting && !rails.in.parts[0].left) watch_first(peer, false);
    return true;
}

// Whether epoll reports what the first connection has. The end of a peer is reported in any case.
void TcpTransport::watch_first(Peer& peer, bool on) {
    Rails& rails = *peer.rails;
    if (rails.first_unwatched != on) return;
    rails.first_unwatched = !on;
    const uint32_t input = events_of_input(peer);
    const uint32_t events = peer.watches_room ? input | EPOLLOUT : input;
    if (net::watch_socket(epoll_, peer.rx, events, &peer, true)) rails.first_unwatched = on;
}

uint32_t TcpTransport::events_of_input(const Peer& peer) {
    return peer.rails && peer.rails->first_unwatched ? EPOLLRDHUP : EPOLLIN;
}

}  // namespace selvage::impl
