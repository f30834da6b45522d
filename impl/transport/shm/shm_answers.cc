// See layout.h: answers in the slot of the question, at both of their ends. bell.h draws their protocol.
#include "impl/transport/shm/shm_transport.h"

#include <algorithm>

namespace selvage::impl {

using shm::SlotControl;

// By the owner of the slot. False: nothing was written, and nothing more will be; the sender's region is to be entered.
bool ShmTransport::send_answer(Peer& peer, const Frame& frame) {
    SlotControl& slot = peer.in.slot();
    shm::Outbound out;
    out.lines = slot.answers;
    out.position = peer.slot_answers.written;
    out.limit = shm::kAnswerLines;
    const bool fits = out.has_room(shm::lines_of(frame.header.size));
    if (!fits || slot.answers_closed.load(std::memory_order_relaxed)) {
        peer.slot_answers.writable = false;
        return false;
    }
    out.publish(frame.header, frame.payload, frame.count);
    peer.slot_answers.written = static_cast<uint32_t>(out.position);
    shm::full_fence();
    if (slot.answers_closed.load(std::memory_order_relaxed)) {
        // The sender may have looked for the last time before that. It is notified of its answers when it is entered:
        // now, or when there is room for that (wait_for_room).
        peer.slot_answers.writable = false;
        static_cast<void>(make_room(peer, 1));
    }
    return true;
}

bool ShmTransport::enter(Peer& peer) { return peer.life == ShmPeerLife::Living && !connect(peer); }

// By the sender from here on.

void ShmTransport::await_answers(Peer& peer) {
    if (peer.slot_answers.awaited) return;
    peer.slot_answers.awaited = true;
    peer.next_awaited = awaited_;
    awaited_ = &peer;
    next_look_ = std::min(next_look_, std::min(calls_ + 1, kCallsPerLook));
}

void ShmTransport::leave_awaited(Peer& peer) {
    if (peer.slot_answers.awaited) unlink_peer<&Peer::next_awaited>(&awaited_, peer);
    peer.slot_answers.awaited = false;
}

// Of a peer that has not entered this side's region.
bool ShmTransport::keeps_awaiting(Peer& peer, unsigned taken) {
    if (taken) {
        peer.slot_answers.idle = 0;
        return true;
    }
    if (peer.remote.slot->left.load(std::memory_order_acquire)) mark_failed(peer, FI_ECONNRESET, true);
    if (++peer.slot_answers.idle < kIdleLooks) return true;
    return close_answers(peer);
}

// From now on the owner of the slot enters this side's region to send. True: there is an answer from before.
bool ShmTransport::close_answers(Peer& peer) {
    SlotControl& slot = *peer.remote.slot;
    slot.answers_closed.store(1, std::memory_order_relaxed);
    shm::full_fence();
    if (peer.slot_answers.taken >= shm::kAnswerLines) return false;
    std::byte* line = slot.answers + size_t{peer.slot_answers.taken} * shm::kLine;
    return shm::first_word(line).load(std::memory_order_acquire) & shm::kParityBit;
}

// True: there are answers, which the next progress takes.
bool ShmTransport::close_all_answers() {
    bool answered = false;
    Peer* next = awaited_;
    awaited_ = nullptr;
    while (next) {
        Peer& peer = *next;
        next = peer.next_awaited;
        peer.slot_answers.awaited = false;
        if (!close_answers(peer)) continue;
        await_answers(peer);
        answered = true;
    }
    return answered;
}

}  // namespace selvage::impl
