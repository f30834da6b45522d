// What a TCP transport does with what arrives: templates over the Sink, so that the engine is called directly.
#pragma once

#include <sys/epoll.h>

#include "impl/base/create.h"
#include "impl/transport/tcp/tcp_rails_datapath.h"
#include "impl/transport/tcp/tcp_take_over_datapath.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

template <typename Sink>
size_t TcpTransport::progress(Sink& sink) {
    count_round();
    in_progress_ = true;
    if (queued_) flush(sink);
    if (broken_) [[unlikely]]
        reap(sink);
    size_t done = poll_hot(sink);
    if (control_is_due(done)) done += poll_events(sink);
    if (rails_busy_) [[unlikely]]
        done += progress_rails(sink);
    in_progress_ = false;
    if (answered_) {  // what the engine sent because of what arrived, in one call per peer
        answered_ = false;
        flush(sink);
    }
    return done;
}

// All others wait in epoll until it is looked at: at once when a hot peer had nothing and there are others, and now and
// then in any case, as the application may be busy with one peer for ever.
inline bool TcpTransport::control_is_due(size_t done) {
    if (want_look_ || (!done && up_ != hot_count_)) return true;
    if ((round() & 7) != 0) return false;  // asking for the time costs 20 ns
    if (up_ != hot_count_) return true;
    return net::now_nanoseconds() - last_look_ >= tcp::kControlInterval;
}

template <typename Sink>
void TcpTransport::flush(Sink& sink) {
    constexpr size_t kRetries = 2;  // blocked sockets that are tried again without asking epoll
    size_t blocked = 0;
    for (Peer* peer = take_queued(); peer;) {
        Peer* next = peer->next_queued;
        Flushed result;
        flush_peer(*peer, &result);
        const bool up = peer->phase == Peer::Phase::Up;
        if (peer->queued && peer->blocked && up && ++blocked > kRetries) watch_room(*peer, true);
        for (size_t i = 0; i < result.token_count; ++i) sink.sent(*peer, result.tokens[i], 0);
        if (result.room) sink.room(*peer);
        peer = next;
    }
    if (!queued_) note_flushed();
}

// What the peer sent before it went is handed over first.
template <typename Sink>
void TcpTransport::reap(Sink& sink) {
    while (Peer* peer = broken_) {
        broken_ = peer->next_broken;
        const int error = peer->error;
        if (peer->phase != Peer::Phase::Up) {
            peer->broken = false;
            continue;
        }
        for (int turn = 0; turn < 64 && !peer->dropped && peer->phase == Peer::Phase::Up; ++turn) {
            if (!(peer->splitting ? receive_split(sink, *peer) : receive(sink, *peer))) break;
        }
        if (peer->phase == Peer::Phase::Up) take_down(sink, *peer, error);
    }
}

template <typename Sink>
void TcpTransport::take_down(Sink& sink, Peer& peer, int error) {
    Fallen fallen;
    bring_down(peer, &fallen);
    if (fallen.placement) {
        const bool split = fallen.rails && fallen.rails->in.active;
        sink.end(peer, split ? fallen.rails->in.frame : peer.placement_header, &peer.placement, error);
    }
    for (size_t i = 0; i < fallen.token_count; ++i) sink.sent(peer, fallen.tokens[i], error);
    if (fallen.rails) {
        while (!fallen.rails->out.empty()) sink.sent(peer, fallen.rails->out.remove_first(), error);
        fallen.rails->next_dead = dead_rails_;
        dead_rails_ = fallen.rails;
    }
    if (fallen.was_up || !connected_) sink.down(peer, error);
    let_fall(peer);
    if (!connected_ || !events_) return;
    ConnectionEvents* events = events_;
    events_ = nullptr;  // nothing comes after
    if (fallen.was_up) {
        events->ended();
    } else {
        const net::Note nothing;
        events->failed(error, nothing.data, 0);
    }
}

template <typename Sink>
size_t TcpTransport::poll_hot(Sink& sink) {
    size_t done = 0;
    for (uint32_t i = 0; i < hot_count_;) {
        Peer* peer = hot_[i];
        const size_t frames = receive(sink, *peer);
        done += frames;
        if (frames) {
            peer->misses = 0;
        } else if (up_ > 1 && ++peer->misses >= tcp::kHotMisses) {
            cool(*peer);
        }
        if (i < hot_count_ && hot_[i] == peer) ++i;
    }
    return done;
}

template <typename Sink>
size_t TcpTransport::poll_events(Sink& sink) {
    if (fallen_) discard_fallen();
    if (dead_rails_) discard_rails();
    constexpr int kBatch = 64;
    epoll_event events[kBatch];
    const int count = epoll_wait(epoll_, events, kBatch, 0);
    size_t done = 0;
    bool setup = timed();
    for (int i = 0; i < count; ++i) {
        auto* watched = static_cast<net::Watched*>(events[i].data.ptr);
        switch (watched->watch) {
            case net::Watch::Listener:
            case net::Watch::Pending:
                break;  // not in this epoll
            case net::Watch::Rail:
                rail_event(*static_cast<tcp::Rail*>(watched), events[i].events);
                ++done;
                break;
            case net::Watch::Setup:
            case net::Watch::Timer:
                setup = true;
                break;
            case net::Watch::Peer: {
                auto& peer = *static_cast<Peer*>(watched);
                if (peer.phase == Peer::Phase::Up) {
                    if (events[i].events & EPOLLOUT) watch_room(peer, false);
                    if (!(events[i].events & ~static_cast<uint32_t>(EPOLLOUT))) break;
                    const size_t frames = receive(sink, peer);
                    if (frames) note_arrival(peer);
                    done += frames;
                }
                break;
            }
        }
    }
    if (listener_ && (!up_ || listener_->is_due(net::now_nanoseconds()))) listener_->step();
    net::PendingConnection* callers = nullptr;
    if (setup) {
        LockGuard guard(setup_);
        step_setup(&callers);
    }
    // Pairs with add_outcome.
    if (any_outcome_.load(std::memory_order_acquire)) {
        done += take_outcomes(sink);
        answer_rail_callers(sink);
    }
    while (net::PendingConnection* caller = callers) {
        callers = caller->next;
        answer_caller(sink, caller);
        ++done;
    }
    look_at_time(sink);
    return done;
}

// Connections that were set up or given up, by this thread or the flusher's.
template <typename Sink>
size_t TcpTransport::take_outcomes(Sink& sink) {
    size_t done = 0;
    Outcome outcome;
    for (; Peer* peer = next_outcome(&outcome); ++done) {
        if (peer->phase == Peer::Phase::Up) {
            if constexpr (CountsConnections<Sink, Peer>) sink.connected(*peer);
            if (connected_ && events_) events_->connected(outcome.answer.data, outcome.answer.data_size);
            answered_ |= peer->queued;  // what waited leaves at the end of this progress
            if (!peer->wants_room || peer->queued) continue;
            peer->wants_room = false;
            sink.room(*peer);
            continue;
        }
        if (outcome.answered && outcome.answer.type == net::NoteType::Reject && events_) {
            ConnectionEvents* events = events_;
            events_ = nullptr;
            events->failed(outcome.error, outcome.answer.data, outcome.answer.data_size);
        }
        take_down(sink, *peer, outcome.error);
    }
    return done;
}

// A caller at the address of a peer that is connected. The same endpoint has lost that connection; another one may have
// come in its place, if the old one's end shows now.
template <typename Sink>
void TcpTransport::answer_caller(Sink& sink, net::PendingConnection* caller) {
    bool same = false;
    if (Peer* peer = connected_at(*caller, &same)) {
        if (same) {
            take_down(sink, *peer, FI_ECONNRESET);
        } else {
            receive(sink, *peer);
        }
    }
    LockGuard guard(setup_);
    admit(caller, nullptr);
}

// Sends that found no memory.
template <typename Sink>
void TcpTransport::look_at_time(Sink& sink) {
    last_look_ = net::now_nanoseconds();
    if (waiting_for_room_) {
        waiting_for_room_ = false;
        for (Peer* peer = first_peer(); peer; peer = peer->next) {
            if (!peer->wants_room || peer->queued || peer->phase != Peer::Phase::Up) continue;
            peer->wants_room = false;
            sink.room(*peer);
        }
    }
    want_look_ = timed() || up_ == 0 || waiting_for_room_;
}

template <typename Sink>
size_t TcpTransport::receive(Sink& sink, Peer& peer) {
    size_t frames = 0;
    if (peer.unread) [[unlikely]]
        return 0;
    for (int turn = 0; turn < tcp::kReadsPerTurn; ++turn) {
        size_t asked = 0;
        const ssize_t got = read_socket(peer, &asked);
        if (got <= 0) {
            if (got == -EAGAIN || got == -EINTR) [[likely]]
                return frames;
            if (peer.kept && first_ends(peer, static_cast<int>(-got))) return frames;
            take_down(sink, peer, got == 0 ? FI_ECONNRESET : static_cast<int>(-got));
            return frames + 1;
        }
        peer.received += static_cast<size_t>(got);
        ++frames;  // bytes of a frame in parts count, too: the peer is not silent
        if (!place(sink, peer, static_cast<size_t>(got), &frames)) return frames;
        if (static_cast<size_t>(got) < asked || !peer.bulk || peer.splitting) return frames;
    }
    return frames;
}

inline ssize_t TcpTransport::read_socket(Peer& peer, size_t* asked) {
    if (!peer.placement_active) [[likely]] {
        if (peer.left_size) memcpy(arrivals_, peer.left, peer.left_size);
        *asked = peer.bulk ? tcp::kBehind : tcp::kReceiveBuffer - peer.left_size;
        static_assert(tcp::kLeftMax + tcp::kBehind <= tcp::kReceiveBuffer);
        return net::raw_receive(peer.rx, arrivals_ + peer.left_size, *asked);
    }
    iovec pieces[Placement::kRanges + 1];
    size_t count = 0;
    *asked = 0;
    size_t offset = peer.placement_offset;
    for (size_t i = peer.placement_range; i < peer.placement.count; ++i) {
        const iovec& range = peer.placement.ranges[i];
        pieces[count] = {static_cast<std::byte*>(range.iov_base) + offset, range.iov_len - offset};
        *asked += pieces[count++].iov_len;
        offset = 0;
    }
    pieces[count] = {arrivals_, tcp::kBehind};
    *asked += pieces[count++].iov_len;
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    return net::raw_receive_pieces(peer.rx, &message);
}

// `got` bytes arrived where read_socket wanted them. False: the peer is down or will be.
template <typename Sink>
bool TcpTransport::place(Sink& sink, Peer& peer, size_t got, size_t* frames) {
    if (!peer.placement_active) {
        const size_t size = peer.left_size + got;
        peer.left_size = 0;
        if (peer.bulk) --peer.bulk;
        return parse(sink, peer, arrivals_, size, frames);
    }
    while (peer.placement_range < peer.placement.count) {
        const iovec& range = peer.placement.ranges[peer.placement_range];
        const size_t part = std::min(got, range.iov_len - peer.placement_offset);
        peer.placement_offset += part;
        got -= part;
        if (peer.placement_offset < range.iov_len) return true;
        peer.placement_offset = 0;
        ++peer.placement_range;
    }
    peer.placement_active = false;
    sink.end(peer, peer.placement_header, &peer.placement, 0);
    ++*frames;
    if (peer.dropped) [[unlikely]]
        return false;
    return parse(sink, peer, arrivals_, got, frames);
}

template <typename Sink>
bool TcpTransport::parse(Sink& sink, Peer& peer, const std::byte* at, size_t size, size_t* frames) {
    while (size) {
        Header header;
        const net::Scan scan = net::read_frame(at, size, kFrameMax, &header);
        if (scan == net::Scan::More) break;
        if (scan == net::Scan::Bad && tcp::is_transport_frame(header)) {
            const size_t own = sizeof(Header) + tcp::payload_of(header);
            if (size < own) break;
            ++*frames;
            if (!take_control(sink, peer, header, at + sizeof(Header), size - own)) return false;
            at += own;
            size -= own;
            if (!peer.splitting) continue;
            if (take_behind(peer, at, size)) return true;
            take_down(sink, peer, FI_ENOMEM);
            return false;
        }
        if (scan == net::Scan::Bad) {
            if constexpr (CountsMalformed<Sink, Peer>) sink.malformed(peer);
            take_down(sink, peer, FI_ECONNABORTED);
            return false;
        }
        const size_t whole = sizeof(Header) + header.size;
        if (size >= whole) [[likely]] {
            sink.deliver(peer, header, at + sizeof(Header));
            ++*frames;
            if (peer.dropped) [[unlikely]]
                return false;
            at += whole;
            size -= whole;
            continue;
        }
        if (header.size <= tcp::kWholeMax) break;
        // Of a shorter frame a copy costs less than a call of its own.
        peer.bulk = header.size > tcp::kReceiveBuffer / 2 ? tcp::kBulkReads : uint8_t{1};
        if (peer.invitation && peer.invitation->count && header.size >= tcp::kSplitMin) [[unlikely]]
            open_rails(peer);
        if (!sink.begin(peer, header, &peer.placement)) {
            if constexpr (CountsMalformed<Sink, Peer>) sink.malformed(peer);
            take_down(sink, peer, FI_ECONNABORTED);
            return false;
        }
        peer.placement_active = true;
        peer.placement_header = header;
        peer.placement_range = 0;
        peer.placement_offset = 0;
        at += sizeof(Header);
        size -= sizeof(Header);
        while (size) {  // less than the payload, so it ends within the ranges
            const iovec& range = peer.placement.ranges[peer.placement_range];
            const size_t part = std::min(size, range.iov_len - peer.placement_offset);
            memcpy(static_cast<std::byte*>(range.iov_base) + peer.placement_offset, at, part);
            peer.placement_offset += part;
            at += part;
            size -= part;
            if (peer.placement_offset < range.iov_len) continue;
            peer.placement_offset = 0;
            ++peer.placement_range;
        }
        return true;
    }
    if (!size && !peer.left) [[likely]]
        return true;
    if (keep_left(peer, at, size)) return true;
    take_down(sink, peer, FI_ENOMEM);
    return false;
}

}  // namespace selvage::impl
