// The hot path of the shared-memory transport. Part of shm_transport.h.
#pragma once

#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {

inline SendResult ShmTransport::send(Peer& peer, const Frame& frame) {
    const size_t lines = shm::lines_of(frame.header.size);
    if (!peer.out.has_room(lines)) [[unlikely]] {
        if (peer.slot_answers.writable) {
            const Frame copy{
                shm::copy_by_members(frame.header), frame.payload, frame.count, frame.token, frame.more, frame.answer};
            if (send_answer(peer, copy)) return SendResult::Done;
        }
        const SendResult result = make_room(peer, lines);
        const bool last_room = result == SendResult::Again && frame.answer && peer.out.has_room_for_answer();
        if (result != SendResult::Done && !last_room) return result;
    }
    if (splits(peer, frame)) [[unlikely]]
        return send_split(peer, shm::copy_by_members(frame.header), frame.payload->iov_base);
    peer.out.publish(frame.header, frame.payload, frame.count);
    was_published(peer);
    return SendResult::Done;
}

template <typename S>
unsigned ShmTransport::drain(Peer& peer, S& sink) {
    shm::Inbound& in = peer.in;
    unsigned handled = 0;
    uint64_t first;
    while (in.phase == shm::RingPhase::Frames && in.poll(&first)) {
        const std::byte* line = in.lines + shm::offset_at(in.position);
        const Header header = shm::copy_header(line, first);
        if (header.size > kFrameMax) [[unlikely]]
            return handled + begin_long(peer, header, sink);
        in.expected = shm::expected_lines(header.size);
        // The copy comes after the matching, and would wait for one line after the other.
        if (in.expected && peer.out.streams()) shm::ask_for_lines(line, in.expected - 1);
        if (handled >= shm::kStreamMin && !in.expected) __builtin_prefetch(line + shm::kStreamAhead * shm::kLine);
        sink.deliver(peer, header, line + shm::payload_offset(header.size));
        const size_t lines = shm::lines_of(header.size);
        if (in.expected == shm::kExpectedMax) [[unlikely]] {
            if (header.size >= kPullMin) {
                came_by_ring(peer, header.size);
                if constexpr (CountsWhole<S, Peer>) sink.came_whole(peer, header);
            }
            in.give_back(in.position + lines);  // fifteen of 4 KiB fill the ring, and their sender may wait
        }
        in.position += lines;
        if (++handled == kBatch) break;
    }
    if (!handled) [[unlikely]]
        return drain_pieces(peer, sink);
    in.give_back();
    return handled;
}

template <typename S>
void ShmTransport::drop_malformed(Peer& peer, S& sink) {
    if constexpr (CountsMalformed<S, Peer>) sink.malformed(peer);
    mark_failed(peer, FI_ECONNABORTED, false);
}

template <typename S>
unsigned ShmTransport::begin_long(Peer& peer, Header header, S& sink) {
    shm::LongInbound& frame = peer.long_in;
    const bool split = header.size & shm::kSplitBit;
    header.size &= ~shm::kSplitBit;
    const bool fits = header.size && header.size <= (split ? kFrameMax : longest_);
    if (!fits || !sink.begin(peer, header, &frame.placement)) {
        drop_malformed(peer, sink);
        return 0;
    }
    frame.begin(header);
    if (peer.in.phase == shm::RingPhase::Frames) peer.in.phase = shm::RingPhase::Pieces;
    ++peer.in.position;
    peer.in.give_back();  // also what came before: its sender may wait for that
    return 1 + drain_pieces(peer, sink);
}

template <typename S>
unsigned ShmTransport::drain_pieces(Peer& peer, S& sink) {
    shm::Inbound& in = peer.in;
    shm::LongInbound& frame = peer.long_in;
    unsigned handled = 0;
    uint64_t first;
    while (in.phase == shm::RingPhase::Pieces && handled < kBatch && in.poll(&first)) {
        const std::byte* line = in.lines + shm::offset_at(in.position);
        const uint32_t said = shm::copy_header(line, first).size;
        const uint32_t size = said & ~shm::kPieceBit;
        if (said == size || size > kFrameMax || !frame.put(line + shm::payload_offset(size), size)) {
            drop_malformed(peer, sink);
            break;
        }
        if (size >= kPullMin) came_by_ring(peer, size);
        in.position += shm::lines_of(size);
        in.give_back();  // the sender waits for it
        ++handled;
        if (frame.active) continue;
        in.phase = shm::RingPhase::Frames;
        sink.end(peer, frame.header, &frame.placement, 0);
        if constexpr (CountsWhole<S, Peer>) {
            if (frame.header.size <= kFrameMax) sink.came_whole(peer, frame.header);
        }
    }
    return handled;
}

template <typename S>
unsigned ShmTransport::progress(S& sink) {
    unsigned handled = 0;
    if (++calls_ == next_look_) [[unlikely]]
        handled += look(sink);
    if (region_.header->attention.load(std::memory_order_relaxed)) [[unlikely]]
        handled += handle_attention(sink);
    if (armed_ || waiting_for_room_ || failed_) [[unlikely]]
        handled += handle_failures(sink);
    for (uint32_t i = 0; i < hot_count_; ++i) {
        Peer& peer = *hot_[i];
        uint64_t first;
        const unsigned frames = peer.in.poll(&first) ? drain(peer, sink) : 0;
        if (frames) {
            peer.in.idle = 0;
            peer.out.answered = peer.out.position;
            handled += frames;
        } else {
            if (peer.in.expected && peer.out.streams()) peer.in.await();
            if (++peer.in.idle >= kIdlePolls) [[unlikely]]
                cool_rings();
        }
    }
    return handled;
}

template <typename S>
unsigned ShmTransport::handle_attention(S& sink) {
    // Acquire: pairs with the release of who raised it, so that its hello and its frames are seen.
    uint64_t raised = region_.header->attention.exchange(0, std::memory_order_acq_rel);
    const size_t used = slots_in_use();
    const uint32_t hot = hot_count_;
    for (; raised; raised &= raised - 1) {
        for (auto slot = static_cast<size_t>(__builtin_ctzll(raised)); slot < used; slot += 64) notice(slot);
    }
    // The first message of a new peer does not wait for that.
    introductions_due_ = true;
    if (hot == hot_count_) poll_introductions();
    unsigned handled = awaited_ ? look_at_answers(sink) : 0;
    if (failed_) handled += handle_failures(sink);
    return handled;
}

template <typename S>
unsigned ShmTransport::handle_failures(S& sink) {
    unsigned handled = 0;
    if (armed_) disarm();
    while (failed_) {
        Peer& peer = *failed_;
        failed_ = peer.next_failed;
        take_down(peer, sink);
        ++handled;
    }
    if (waiting_for_room_) handled += offer_room(sink);
    return handled;
}

// What has its turn by the number of calls: at last some of the peers' lives, every few calls the answers, and every
// call the transfers that peers pull.
template <typename S>
unsigned ShmTransport::look(S& sink) {
    unsigned handled = 0;
    const bool answers_due = !watched_ || calls_ % kCallsPerAnswer == 0;
    if (calls_ == kCallsPerLook) look_around();
    if (awaited_ && answers_due) handled += look_at_answers(sink);
    if (watched_) handled += join_pulls(sink);
    const uint32_t step = watched_ ? 1 : awaited_ ? kCallsPerAnswer : kCallsPerLook;
    next_look_ = std::min(calls_ + step, kCallsPerLook);
    return handled;
}

// The transfers of which the peers' calls of pull() have opened some chunks. The engine knows what was offered to whom:
// nothing else of this side's memory is handed out.
template <typename S>
unsigned ShmTransport::join_pulls(S& sink) {
    unsigned copied = 0;
    if constexpr (KnowsOffers<S, Peer>) {
        for (Peer* next = watched_; next;) {
            Peer& peer = *next;
            next = peer.next_watched;
            shm::SharedPullSender sender(peer.out.slot().shared);
            shm::SharedPull pull;
            const auto is_offered = [&](const shm::SharedRange& range) {
                return sink.is_offered(peer, range.source, range.length);
            };
            if (sender.find(&pull) && peer.process && std::all_of(pull.ranges, pull.ranges + pull.count, is_offered))
                copied += copy_chunks(peer, pull, sender);
            if (++peer.shared.looks % kLooksPerOffer == 0 && !sink.has_offers(peer)) leave_watched(peer);
        }
    }
    return copied;
}

// All that are there. Of an owner that has entered this side's region these are all that there will be: they were
// published before its hello, so they come before its ring, which is polled behind this in the same progress.
template <typename S>
unsigned ShmTransport::take_answers(Peer& peer, S& sink) {
    unsigned handled = 0;
    takes_answers_ = true;
    uint32_t& taken = peer.slot_answers.taken;
    while (peer.remote.slot && peer.in.phase != shm::RingPhase::Broken && taken < shm::kAnswerLines) {
        const std::byte* line = peer.remote.slot->answers + size_t{taken} * shm::kLine;
        const uint64_t first = shm::first_word(const_cast<std::byte*>(line)).load(std::memory_order_acquire);
        if (!(first & shm::kParityBit)) break;
        const Header header = shm::copy_header(line, first);
        const size_t lines = shm::lines_of(header.size);
        if (lines > shm::kAnswerLines - taken) {
            drop_malformed(peer, sink);
            break;
        }
        taken += static_cast<uint32_t>(lines);
        sink.deliver(peer, header, line + shm::payload_offset(header.size));
        ++handled;
    }
    takes_answers_ = false;
    return handled;
}

// Before the rings, and behind handle_attention(), which may make one of them hot: see take_answers(). Calls of the
// Sink may add to the list.
template <typename S>
unsigned ShmTransport::look_at_answers(S& sink) {
    unsigned handled = 0;
    Peer* next = awaited_;
    awaited_ = nullptr;
    while (next) {
        Peer& peer = *next;
        next = peer.next_awaited;
        peer.slot_answers.awaited = false;
        const unsigned taken = take_answers(peer, sink);
        handled += taken;
        if (peer.life == ShmPeerLife::Living && !peer.in.lines && keeps_awaiting(peer, taken)) await_answers(peer);
    }
    return handled;
}

template <typename S>
void ShmTransport::take_down(Peer& peer, S& sink) {
    // What it published while it lived was sent: it arrives. At most one ring full, so that none can feed us for ever.
    const uint64_t end = peer.in.position + shm::kRingLines;
    take_answers(peer, sink);
    while (peer.in.lines && peer.in.position < end && drain(peer, sink) > 0) {
    }
    leave_hot(peer);
    const int error = peer.error;
    if (peer.long_in.active) sink.end(peer, peer.long_in.header, &peer.long_in.placement, error);
    if (peer.long_out.active) sink.sent(peer, peer.long_out.token, error);
    reap_peer(peer);
    sink.down(peer, error);
}

template <typename S>
unsigned ShmTransport::offer_room(S& sink) {
    unsigned handled = 0;
    Peer* waiting = waiting_for_room_;
    waiting_for_room_ = nullptr;
    while (waiting) {
        Peer& peer = *waiting;
        waiting = peer.next_waiting;
        peer.waiting_for_room = false;
        if (peer.life != ShmPeerLife::Living) continue;
        const bool was_long = peer.long_out.active;
        if (was_long) {
            if (!send_pieces(peer)) continue;
            sink.sent(peer, peer.long_out.token, 0);
            ++handled;
        }
        // Behind a long frame also if there is less: answers had to wait for its end, and nobody may come again.
        const SendResult room = make_room(peer, kRoomLines);
        if (room == SendResult::Done || (was_long && room == SendResult::Again)) {
            sink.room(peer);
            ++handled;
        }
    }
    return handled;
}

}  // namespace selvage::impl
