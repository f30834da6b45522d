// See shm_transport.h: long transfers that both sides copy at the same time.
//
// Who receives reads some out of the sender's memory, and offers the sender to write the rest into its own
// (engine_share.h). Two processors copy twice as fast as one: most of what the kernel needs for it is no copying.
//
// An offer is a ticket in the sender's slot. Whoever changes it to zero has taken it, and copies; so a sender that is
// busy with something else costs its peer a compare-and-exchange. The word decides nothing but that, and who writes
// nonsense there harms its own message alone.
//
// Before it takes an offer, the sender says in its slot that it writes, until it is done. It looks whether the id of
// the peer's endpoint lies where it did in that process, in a system call before the one that writes; so nothing is
// written into another program, but for one that begins between these two. An endpoint that closes clears its id, and
// one that drops a peer takes back what it offered; then both wait for who writes, as their buffers are somebody else's
// afterwards. Each side makes a full fence between what it stores and what it looks at, so one of them sees the other.
#include "impl/core/foreign_writes.h"
#include "impl/core/log.h"
#include "impl/transport/shm/other_memory.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {
namespace {

constexpr uint32_t kUntakenMost = 8;  // offers in a row that nobody took, and then there are few
constexpr uint32_t kSeldom = 64;      // one for so many transfers

}  // namespace

bool ShmTransport::shares(Peer& peer, size_t length) {
    if (length < shm::kPullMin || !peer.out.lines || !peer.writable) return false;
    if (!peer.introduced) introduce(peer);
    // Relaxed, as in offers(). A sleeper is not woken for it.
    if (!(peer.out.slot().pulls.load(std::memory_order_relaxed) & shm::kReaches)) return false;
    if (peer.out.region->armed.load(std::memory_order_relaxed)) return false;
    return peer.untaken < kUntakenMost || ++peer.passed % kSeldom == 0;
}

// A guess: the size of the frame that is being delivered is looked at again, and may have changed.
bool ShmTransport::another_waits(const Peer& peer) {
    uint64_t first;
    if (!peer.in.poll(&first)) return false;
    shm::Inbound next = peer.in;
    const size_t size = first & shm::kSizeMask;
    if (size > kFrameMax) return false;
    next.position += shm::lines_of(size);
    return next.poll(&first);
}

// Relaxed: the frame that tells of it is published after it (release), and taken up before it is looked at (acquire).
uint64_t ShmTransport::offer(Peer& peer) {
    peer.in.slot().offer.store(++peer.tickets, std::memory_order_relaxed);
    return peer.tickets;
}

// Relaxed, here and below: it decides who copies, and nothing else goes with it.
bool ShmTransport::withdraw(Peer& peer, uint64_t ticket) {
    const bool untaken = peer.in.slot().offer.compare_exchange_strong(ticket, 0, std::memory_order_relaxed);
    peer.untaken = untaken ? peer.untaken + 1 : 0;
    return untaken;
}

bool ShmTransport::taken(Peer& peer, uint64_t ticket) {
    if (peer.in.slot().offer.load(std::memory_order_relaxed) == ticket) return false;
    peer.untaken = 0;
    return true;
}

bool ShmTransport::accept_offer(Peer& peer, uint64_t ticket) {
    if (!ticket || !peer.process || !peer.out.lines) return false;
    shm::SlotControl& slot = peer.out.slot();
    slot.writes.store(1, std::memory_order_relaxed);
    shm::full_fence();
    if (slot.offer.compare_exchange_strong(ticket, 0, std::memory_order_relaxed)) return true;
    slot.writes.store(0, std::memory_order_relaxed);
    return false;
}

int ShmTransport::push(Peer& peer, const iovec* local, size_t local_count, const iovec* remote, size_t count) {
    int error = -FI_ECONNRESET;
    if (shm::has_id(peer.process, peer.instance_at, peer.instance)) {
        shm::Rest there(remote, count), here(local, local_count);
        error = shm::write_to(peer.process, there, here);
    }
    // Release: with the acquire of await_writer().
    peer.out.slot().writes.store(0, std::memory_order_release);
    return error;
}

// Release, with the acquire of share_ended(): what was written is there.
void ShmTransport::end_share(Peer& peer, uint64_t ticket, int error) {
    peer.out.slot().ended.store(ticket << 1 | (error ? 1 : 0), std::memory_order_release);
}

bool ShmTransport::share_ended(const Peer& peer, uint64_t ticket, bool* failed) {
    const uint64_t ended = peer.in.slot().ended.load(std::memory_order_acquire);
    *failed = ended & 1;
    return ended >> 1 == ticket;
}

// Who was killed while it wrote holds its slot no more.
void ShmTransport::await_writer(const Peer& peer, const Patience& patience) {
    if (!peer.in.lines || !peer.tickets) return;
    shm::SlotControl& slot = peer.in.slot();
    slot.offer.store(0, std::memory_order_relaxed);
    shm::full_fence();
    while (slot.writes.load(std::memory_order_acquire) && region_.slot_is_held(peer.in.index)) {
        if (patience.wait()) continue;
        log_for("shm", FI_LOG_WARN, FI_LOG_EP_DATA,
                "process %d has been writing into this one for a second; it is not waited for any longer",
                peer.process);
        return;
    }
}

}  // namespace selvage::impl
