// See tcp_transport.h: sending.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <new>

#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

using tcp::SendBuffer;

namespace {

constexpr size_t kSendPieces = 64;  // of one system call

size_t join(const Frame& frame, std::byte* out) {
    memcpy(out, &frame.header, sizeof frame.header);
    size_t at = sizeof frame.header;
    for (size_t i = 0; i < frame.count; ++i) {
        if (!frame.payload[i].iov_len) continue;
        memcpy(out + at, frame.payload[i].iov_base, frame.payload[i].iov_len);
        at += frame.payload[i].iov_len;
    }
    return at;
}

// The payload of a frame but for its first `skip` bytes.
void append_payload(SendBuffer& buffer, const Frame& frame, size_t skip) {
    for (size_t i = 0; i < frame.count; ++i) {
        const iovec& range = frame.payload[i];
        const size_t gone = std::min(skip, range.iov_len);
        skip -= gone;
        if (range.iov_len == gone) continue;
        buffer.append(static_cast<const std::byte*>(range.iov_base) + gone, range.iov_len - gone);
    }
}

// Bytes sent, 0 when the socket is full, or a negative errno.
ssize_t sent_or_full(ssize_t result) {
    return result == -EAGAIN || result == -EINTR || result == -ENOBUFS ? 0 : result;
}

ssize_t send_gathered(int socket, iovec* pieces, size_t count) {
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    return sent_or_full(net::raw_send_pieces(socket, message));
}

}  // namespace

SendResult TcpTransport::send_now(Peer& peer, const Frame& frame) {
    const size_t total = sizeof(Header) + frame.header.size;
    ssize_t sent;
    if (total <= tcp::kJoinMax) {
        alignas(Header) std::byte bytes[tcp::kJoinMax];
        join(frame, bytes);
        sent = sent_or_full(net::raw_send(peer.tx, bytes, total));
    } else {
        if (SendResult result; splits(peer, frame, &result)) [[unlikely]]
            return result;
        iovec pieces[1 + tcp::kPiecesMax];
        if (frame.count > tcp::kPiecesMax) return refuse(peer);
        pieces[0] = {const_cast<Header*>(&frame.header), sizeof(Header)};
        memcpy(pieces + 1, frame.payload, frame.count * sizeof *pieces);
        sent = send_gathered(peer.tx, pieces, 1 + frame.count);
    }
    if (sent == static_cast<ssize_t>(total)) [[likely]]
        return SendResult::Done;
    if (sent < 0) {
        mark_broken(peer, static_cast<int>(-sent));
        return SendResult::Down;
    }
    peer.blocked = true;
    return keep_rest(peer, frame, static_cast<size_t>(sent));
}

// A frame that no engine builds (tcp_endpoint.cc). Whoever waits for it learns that it never comes.
[[gnu::cold]] SendResult TcpTransport::refuse(Peer& peer) {
    if (peer.phase == Peer::Phase::Up) mark_broken(peer, FI_EINVAL);
    return SendResult::Down;
}

// The socket took a part of the frame, or nothing.
SendResult TcpTransport::keep_rest(Peer& peer, const Frame& frame, size_t sent) {
    if (!ensure_buffer(peer)) {
        if (sent) {
            mark_broken(peer, FI_ENOMEM);  // half a frame can only be followed by its other half
            return SendResult::Down;
        }
        peer.wants_room = waiting_for_room_ = true;
        return SendResult::Again;
    }
    SendResult result = SendResult::Done;
    {
        SpinGuard guard(guard_);
        SendBuffer& buffer = *peer.buffer;
        if (sent < sizeof(Header)) {
            buffer.append(reinterpret_cast<const std::byte*>(&frame.header) + sent, sizeof(Header) - sent);
        }
        const size_t skip = sent < sizeof(Header) ? 0 : sent - sizeof(Header);
        if (frame.header.size <= kCopied) {
            append_payload(buffer, frame, skip);
        } else {
            buffer.hold(frame.payload, frame.count, frame.token, skip);
            result = SendResult::Held;
        }
        enqueue(peer);
    }
    if (join_thread()) note_deferred();
    return result;
}

SendResult TcpTransport::send_later(Peer& peer, const Frame& frame) {
    if (peer.phase == Peer::Phase::Down || peer.broken) return SendResult::Down;
    if (frame.count > tcp::kPiecesMax) return refuse(peer);
    const bool up = peer.phase == Peer::Phase::Up;
    if (!up && frame.header.size > kCopied) {
        peer.wants_room = true;
        return SendResult::Again;
    }
    // Without it nobody could bound the delay, or set up the connection.
    const bool threaded = peer.queued || join_thread();
    if (!threaded && !peer.kept) {
        if (up) return send_now(peer, frame);
        peer.wants_room = true;
        return SendResult::Again;
    }
    if (SendResult result; up && splits(peer, frame, &result)) [[unlikely]]
        return result;
    if (!ensure_buffer(peer)) {
        peer.wants_room = waiting_for_room_ = true;
        return SendResult::Again;
    }
    const bool first = !peer.queued;
    const SendResult result = put_in_buffer(peer, frame);
    if (first && peer.queued) note_deferred();
    if (!threaded) push_first(peer);
    if (!up && result == SendResult::Done) ++peer.taken;
    return result;
}

SendResult TcpTransport::put_in_buffer(Peer& peer, const Frame& frame) {
    SpinGuard guard(guard_);
    SendBuffer& buffer = *peer.buffer;
    const bool small = frame.header.size <= kCopied;
    const size_t need = sizeof(Header) + (small ? frame.header.size : 0);
    int error = 0;
    const auto fits = [&] { return buffer.room() >= need && (small || buffer.can_hold()); };
    // Before the connection is the owner's, the flusher sends.
    const bool pushes = peer.phase == Peer::Phase::Up && !peer.blocked;
    if (!fits() && pushes) error = push_out(peer);
    enqueue(peer);
    if (!error && !fits()) {
        peer.wants_room = true;
        return SendResult::Again;
    }
    SendResult result = SendResult::Done;
    if (!error) {
        buffer.append(&frame.header, sizeof frame.header);
        peer.posted_since = true;
        if (small) {
            append_payload(buffer, frame, 0);
        } else {
            buffer.hold(frame.payload, frame.count, frame.token);
        }
        const bool enough = buffer.bytes() >= tcp::kSendAt || buffer.held_bytes() >= tcp::kSendBulk;
        if (enough && pushes) error = push_out(peer);
        if (!small) result = buffer.take_back() ? SendResult::Done : SendResult::Held;
    }
    if (!error) return result;
    mark_broken(peer, error);
    return result == SendResult::Held ? result : SendResult::Down;
}

bool TcpTransport::ensure_buffer(Peer& peer) {
    if (peer.buffer) return true;
    SpinGuard guard(guard_);
    if (spare_count_) {
        peer.buffer = spare_[--spare_count_];
        return true;
    }
    void* block = malloc(sizeof(SendBuffer));
    peer.buffer = block ? new (block) SendBuffer : nullptr;
    return block;
}

void TcpTransport::spare_buffer(SendBuffer* buffer) {
    if (spare_count_ == tcp::kSpareMax) {
        free(buffer);
    } else {
        spare_[spare_count_++] = new (buffer) SendBuffer;
    }
}

void TcpTransport::free_buffers() {
    while (spare_count_) free(spare_[--spare_count_]);
}

// Guard held. Gives the socket what it takes: 0, or a positive errno.
int TcpTransport::push_out(Peer& peer) {
    if (peer.tx < 0) return 0;
    if (peer.kept) [[unlikely]]
        return push_kept(peer);
    for (;;) {
        iovec pieces[kSendPieces];
        size_t total;
        const size_t count = peer.buffer->gather(pieces, kSendPieces, &total);
        if (!count) return 0;
        const ssize_t sent = send_gathered(peer.tx, pieces, count);
        if (sent < 0) return static_cast<int>(-sent);
        peer.buffer->advance(static_cast<size_t>(sent));
        if (static_cast<size_t>(sent) < total) return 0;
    }
}

// Guard held. As push_out, with a copy of what the kernel takes. An error of the link is not the peer's: the owner
// looks at the link soon (look_at_first).
int TcpTransport::push_kept(Peer& peer) {
    tcp::KeptBytes& kept = *peer.kept;
    while (kept.unsent()) {
        iovec pieces[2];
        const size_t count = kept.gather(pieces);
        const ssize_t sent = send_gathered(peer.tx, pieces, count);
        if (sent <= 0) return sent && !tcp::is_link_error(static_cast<int>(-sent)) ? static_cast<int>(-sent) : 0;
        kept.advance(static_cast<size_t>(sent));
    }
    while (peer.buffer) {
        iovec pieces[kSendPieces];
        size_t total;
        size_t count = peer.buffer->gather(pieces, kSendPieces, &total);
        if (!count) return 0;
        if (kept.room() < total) kept.forget(tcp::under_way(peer.tx));
        if (!kept.room()) return 0;
        if (kept.room() < total) {
            total = kept.room();
            count = tcp::cut(pieces, count, 0, total, pieces);
        }
        const ssize_t sent = send_gathered(peer.tx, pieces, count);
        if (sent < 0) return tcp::is_link_error(static_cast<int>(-sent)) ? 0 : static_cast<int>(-sent);
        kept.add(pieces, static_cast<size_t>(sent));
        peer.buffer->advance(static_cast<size_t>(sent));
        if (static_cast<size_t>(sent) < total) return 0;
    }
    return 0;
}

// The flusher's thread. Errors show again at the next progress.
void TcpTransport::flush_deferred() {
    SpinGuard guard(guard_);
    for (Peer* peer = queued_; peer; peer = peer->next_queued) {
        if (peer->buffer) (void)push_out(*peer);
    }
}

// Guard held.
void TcpTransport::enqueue(Peer& peer) {
    if (peer.queued) return;
    peer.queued = peer.indirect = true;
    peer.next_queued = queued_;
    queued_ = &peer;
}

void TcpTransport::mark_broken(Peer& peer, int error) {
    if (peer.broken) return;
    peer.broken = true;
    peer.error = error;
    peer.next_broken = broken_;
    broken_ = &peer;
}

void TcpTransport::watch_room(Peer& peer, bool on) {
    if (peer.watches_room == on || peer.tx < 0) return;
    // The endpoint's connection to itself is the only one that sends and receives on two sockets.
    const uint32_t input = peer.tx == peer.rx ? events_of_input(peer) : 0u;
    if (!net::watch_socket(epoll_, peer.tx, on ? input | EPOLLOUT : input, &peer, true)) peer.watches_room = on;
}

void TcpTransport::drop(Peer& peer, int error) {
    if (peer.phase != Peer::Phase::Up) return;
    mark_broken(peer, error);
    peer.dropped = peer.unread = true;
}

TcpTransport::Peer* TcpTransport::take_queued() {
    SpinGuard guard(guard_);
    Peer* list = queued_;
    queued_ = nullptr;
    return list;
}

// The peer is in no list; it goes back into it while something is left.
void TcpTransport::flush_peer(Peer& peer, Flushed* result) {
    SpinGuard guard(guard_);
    bool idle = true;
    int error = 0;
    if (SendBuffer* buffer = peer.buffer) {
        if (peer.phase == Peer::Phase::Up && !peer.watches_room) error = push_out(peer);
        rails_busy_ |= peer.kept != nullptr;  // what was sent may not arrive
        while (buffer->pop_done(&result->tokens[result->token_count])) ++result->token_count;
        idle = buffer->empty();
        peer.blocked = !idle;
        if (idle) {
            spare_buffer(buffer);
            peer.buffer = nullptr;
        } else {
            result->room = peer.wants_room && peer.phase == Peer::Phase::Up && buffer->room() >= tcp::kSendRing / 2 &&
                           buffer->can_hold();
        }
    }
    peer.queued = false;
    peer.indirect = peer.kept;
    if (!idle) enqueue(peer);
    if (idle && peer.phase == Peer::Phase::Up) result->room = peer.wants_room;
    if (result->room) peer.wants_room = false;
    if (error) mark_broken(peer, error);
}

}  // namespace selvage::impl
