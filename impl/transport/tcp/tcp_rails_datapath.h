// What a TCP transport does with what arrives by rails (rails.h): templates over the Sink.
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include "impl/base/create.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

// Something of the peer's rails is to be done without anything arriving from it.
inline bool TcpTransport::is_busy(const Peer& peer) const {
    const tcp::Rails& rails = *peer.rails;
    if (peer.splitting || !rails.out.empty() || rails.owes_ack || rails.first.lost || kept_left(rails.first).any)
        return true;
    if ((!peer.kept && rails.count_up()) || rails.return_at) return true;
    return std::any_of(rails.rail, rails.rail + tcp::kRailsMax, [](const tcp::Rail& rail) {
        return rail.ended || rail.dial || rail.state == tcp::Rail::State::Dialing;
    });
}

// Peers with rails: sends what waits, reads the frame that is being put together, calls what is due.
template <typename Sink>
size_t TcpTransport::progress_rails(Sink& sink) {
    size_t done = 0;
    rails_busy_ = false;
    for (Peer* peer = railed_; peer;) {
        Peer* const next = peer->rails->next;
        if (peer->phase == Peer::Phase::Up && !peer->broken) {
            push_rails(*peer);
            if (peer->splitting) done += receive_split(sink, *peer);
            if (peer->rails) {
                if (peer->rails->owes_ack) peer->rails->owes_ack = !send_answer(*peer);
                look_at_ends(*peer);
                look_at_dials(*peer);
                if (peer->rails->return_at) look_at_return(*peer);
                if (!peer->rails->out.empty()) look_at_links(*peer);
                progress_first(sink, *peer);
                if (peer->rails) rails_busy_ |= is_busy(*peer);
            }
        }
        peer = next;
    }
    return done;
}

// A whole frame of the transport's own. False: the peer is down, or dropped.
template <typename Sink>
bool TcpTransport::take_control(Sink& sink, Peer& peer, const Header& header, const std::byte* payload, size_t behind) {
    bool valid = peer.rails != nullptr;
    if (valid) {
        const bool bare = tcp::payload_of(header) == 0;
        switch (header.op) {
            case tcp::kSplitOp:
                valid = begin_split(sink, peer, header, payload);
                break;
            case tcp::kSplitAckOp:
                valid = bare && take_split_ack(sink, peer, header);
                break;
            case tcp::kKeepOp:
                valid = bare && begin_count(peer, behind);
                break;
            case tcp::kProbeOp:
                valid = bare;
                break;
            default:
                valid = false;
        }
    }
    if (!valid) {
        if constexpr (CountsMalformed<Sink, Peer>) sink.malformed(peer);
        take_down(sink, peer, FI_ECONNABORTED);
    }
    return valid && !peer.dropped;
}

// The other end counts what it sends from here on; `behind` bytes of that are read.
inline bool TcpTransport::begin_count(Peer& peer, size_t behind) {
    tcp::FirstLink& first = peer.rails->first;
    if (first.counts) return false;
    first.counts = true;
    first.base = peer.received - behind;
    return true;
}

template <typename Sink>
bool TcpTransport::begin_split(Sink& sink, Peer& peer, const Header& header, const std::byte* payload) {
    tcp::SplitHeader split;
    if (tcp::payload_of(header) != sizeof split) return false;
    memcpy(&split, payload, sizeof split);
    // The one who is called may have a rail before its caller knows.
    bool there[tcp::kRailsMax];
    for (size_t i = 0; i < tcp::kRailsMax; ++i) {
        const tcp::Rail& rail = peer.rails->rail[i];
        there[i] = rail.was_up || peer.rails->links[1 + i].is_known();
    }
    if (!peer.rails->in.begin(split, there, kFrameMax, net::now_nanoseconds() / 1000)) return false;
    peer.bulk = tcp::kBulkReads;
    peer.splitting = peer.unread = sink.begin(peer, split.frame, &peer.placement);
    peer.unread |= peer.dropped;
    rails_busy_ = true;
    return peer.splitting;
}

// All splits before number `whole` have come.
template <typename Sink>
bool TcpTransport::take_split_ack(Sink& sink, Peer& peer, const Header& header) {
    const uint64_t whole = header.word[0];
    tcp::SplitQueue& out = peer.rails->out;
    if (!out.may_be_answered(whole) || holds_part_before(peer, whole)) return false;
    take_late(peer, header.word);
    while (out.answered() != whole) sink.sent(peer, out.remove_first(), 0);
    if (peer.wants_room && !peer.queued) {
        peer.wants_room = false;
        sink.room(peer);
    }
    return true;
}

// `size` bytes behind a Split frame: the part on the first connection, and what follows.
inline bool TcpTransport::take_behind(Peer& peer, const std::byte* at, size_t size) {
    tcp::Rails& rails = *peer.rails;
    const size_t part = std::min(size, rails.in.parts[0].left);
    if (part && !rails.in.discards) {
        iovec ranges[Placement::kRanges];
        const size_t count =
            tcp::cut(peer.placement.ranges, peer.placement.count, rails.in.parts[0].offset, part, ranges);
        const std::byte* from = at;
        for (size_t i = 0; i < count; from += ranges[i++].iov_len) memcpy(ranges[i].iov_base, from, ranges[i].iov_len);
    }
    rails.in.advance(0, part, rails.in.begun);
    size -= part;
    if (!size) return true;
    rails.behind = static_cast<std::byte*>(malloc(size));
    if (!rails.behind) return false;
    memcpy(rails.behind, at + part, size);
    rails.behind_size = size;
    return true;
}

// Reads what there is of one part. Bytes, 0 when there is nothing now, or a negative errno.
inline ssize_t TcpTransport::read_part(Peer& peer, int socket, const tcp::Span& part) {
    iovec ranges[Placement::kRanges];
    msghdr message{};
    message.msg_iov = ranges;
    if (peer.rails->in.discards) {
        ranges[0] = {arrivals_, std::min(part.left, tcp::kReceiveBuffer)};
        message.msg_iovlen = 1;
    } else {
        message.msg_iovlen = tcp::cut(peer.placement.ranges, peer.placement.count, part.offset, part.left, ranges);
    }
    const ssize_t got = net::raw_receive_pieces(socket, &message);
    if (got == 0) return -FI_ECONNRESET;
    return got == -EAGAIN || got == -EINTR ? 0 : got;
}

// The frame that is being put together: reads all its parts.
template <typename Sink>
size_t TcpTransport::receive_split(Sink& sink, Peer& peer) {
    tcp::Rails& rails = *peer.rails;
    size_t frames = 0;
    bool any = true, lost = false;
    for (int turn = 0; turn < tcp::kReadsPerTurn && any && !rails.in.complete(); ++turn) {
        any = false;
        for (size_t i = 0; i < tcp::kStreams; ++i) {
            const tcp::Span& part = rails.in.parts[i];
            tcp::Rail* rail = i ? &rails.rail[i - 1] : nullptr;
            if (!part.left || (rail && rail->is_moving())) continue;
            if (rail ? rail->state != tcp::Rail::State::Up : rails.first.halted) {
                lost |= rail != nullptr;
                continue;
            }
            const ssize_t got = read_part(peer, rail ? rail->socket : peer.rx, part);
            if (got > 0) {
                rails.in.advance(i, static_cast<size_t>(got), net::now_nanoseconds() / 1000);
                if (!rail) peer.received += static_cast<size_t>(got);
                any = true;
                ++frames;
                if (rail && rail->dial && !rail->returns) call_rail_later(*rail);
            } else if (got < 0 && rail) {
                lose_rail(*rail, static_cast<int>(-got));
            } else if (got < 0) {
                if (peer.kept && first_ends(peer, got == -FI_ECONNRESET ? 0 : static_cast<int>(-got))) continue;
                take_down(sink, peer, static_cast<int>(-got));
                return frames + 1;
            }
        }
    }
    rails.more_to_read = any;
    if (rails.in.complete()) return frames + end_split(sink, peer);
    if (frames)
        rails.stalled = 0;
    else
        ask_for_rails(peer);
    if (any || rails.first.lost || !first_is_over(peer, lost)) return frames;
    if (peer.kept && first_stops(peer)) return frames;
    take_down(sink, peer, FI_ECONNRESET);
    return frames + 1;
}

// Nothing of a split arrives. What is missing of a lost rail comes as long as the first connection is there, which is
// not read now; and one that is broken shows it nowhere else.
inline bool TcpTransport::first_is_over(Peer& peer, bool lost) {
    tcp::Rails& rails = *peer.rails;
    const int64_t now = net::now_milliseconds();
    if (!lost && now - rails.first_seen < tcp::kRailWake) return false;
    rails.first_seen = now;
    pollfd wait{.fd = peer.rx, .events = POLLRDHUP, .revents = 0};
    if (poll(&wait, 1, 0) <= 0) return false;
    return lost || (wait.revents & (POLLERR | POLLHUP));
}

template <typename Sink>
size_t TcpTransport::end_split(Sink& sink, Peer& peer) {
    tcp::Rails& rails = *peer.rails;
    rails.in.active = peer.splitting = false;
    peer.unread = peer.dropped || rails.first.halted;
    rails.in.count_late();
    ++rails.in.whole;
    rails.stalled = 0;
    rails.owes_ack = true;
    watch_first(peer, true);
    const size_t size = rails.behind_size;
    rails.behind_size = 0;
    if (size) memcpy(arrivals_, rails.behind, size);
    free(rails.behind);
    rails.behind = nullptr;
    sink.end(peer, rails.in.frame, &peer.placement, 0);
    size_t frames = 1;
    if (!peer.dropped && peer.phase == Peer::Phase::Up) (void)parse(sink, peer, arrivals_, size, &frames);
    return frames;
}

// Of epoll: the event of a call, or an edge of a socket.
inline void TcpTransport::rail_event(tcp::Rail& rail, uint32_t events) {
    // Of a rail that is up and is called, it may be either's.
    if (rail.state == tcp::Rail::State::Up) {
        if (rail.dial || (events & EPOLLOUT)) rail.blocked = false;
        if (rail.dial || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))) rail.ended = rails_busy_ = true;
    }
    if (!rail.dial) return;
    rails_busy_ = true;
    step_rail(rail);
}

// A rail whose other end is closed is over, whatever is left to read there: what was not taken is sent again. The edge
// comes once, so that who waited until all is read would not see the end behind it. A peer that has closed everything
// sends nothing again, and is read to its end.
inline void TcpTransport::look_at_ends(Peer& peer) {
    for (tcp::Rail& rail : peer.rails->rail) {
        if (!rail.ended || rail.is_moving()) continue;
        rail.ended = false;
        if (rail.state != tcp::Rail::State::Up) continue;
        const int error = tcp::end_of(rail.socket);
        if (error && !tcp::is_closed(peer.rx)) lose_rail(rail, error);
    }
}

}  // namespace selvage::impl
