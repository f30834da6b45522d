// See shm_transport.h: long transfers that both sides copy at the same time.
//
// Who receives reads some out of the sender's memory, and offers the sender to write the rest into its own
// (engine_share.h). Two processors copy twice as fast as one: most of what the kernel needs for it is no copying.
//
// An offer is a ticket in the sender's slot. Whoever changes it to zero has taken it, and copies; so a sender that is
// busy with something else costs its peer a compare-and-exchange. The word decides nothing but that, and who writes
// nonsense there harms its own message alone.
//
// Nothing is written into a process that is not the peer's: the id of the peer's endpoint is read where it lies before
// the writing, and an endpoint that is closed clears it. From that look to its last byte the writer says in its slot
// that it writes, and the endpoint waits for that while it closes, as its buffers are somebody else's afterwards.
// Both make a full fence between what they store and what they look at, so one of them sees the other.
#include <time.h>

#include "impl/core/log.h"
#include "impl/transport/shm/other_memory.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {
namespace {

constexpr size_t kShareMin = shm::kPullMin;
constexpr uint32_t kUntakenMost = 8;        // offers in a row that nobody took, and then there are few
constexpr uint32_t kSeldom = 64;            // one for so many transfers
constexpr unsigned kPatienceLooks = 20000;  // for who writes while this side closes, one every 50 us: a second

}  // namespace

bool ShmTransport::shares(Peer& peer, size_t length) {
    if (length < kShareMin || !peer.out.lines || !peer.writable) return false;
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
    if (!peer.process || !peer.out.lines) return false;
    return peer.out.slot().offer.compare_exchange_strong(ticket, 0, std::memory_order_relaxed);
}

int ShmTransport::push(Peer& peer, const iovec* local, size_t local_count, const iovec* remote, size_t count) {
    std::atomic<uint32_t>& writes = peer.out.slot().writes;
    writes.store(1, std::memory_order_relaxed);
    shm::full_fence();
    int error = -FI_ECONNRESET;
    if (shm::has_id(peer.process, peer.instance_at, peer.instance)) {
        shm::Rest there(remote, count), here(local, local_count);
        error = shm::write_to(peer.process, there, here);
    }
    // Release: with the acquire of await_writers().
    writes.store(0, std::memory_order_release);
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
void ShmTransport::await_writers() {
    shm::full_fence();
    for (size_t i = 0; i < peer_count_; ++i) {
        const Peer& peer = *peers_[i];
        if (!peer.in.lines || !peer.tickets) continue;
        const std::atomic<uint32_t>& writes = peer.in.slot().writes;
        unsigned looks = 0;
        while (writes.load(std::memory_order_acquire) && region_.slot_is_held(peer.in.index)) {
            if (++looks == kPatienceLooks) {
                log_for("shm", FI_LOG_WARN, FI_LOG_EP_DATA,
                        "process %d has been about to write into this one for a second; the endpoint is closed all the "
                        "same",
                        peer.process);
                break;
            }
            constexpr timespec pause{.tv_sec = 0, .tv_nsec = 50'000};
            nanosleep(&pause, nullptr);
        }
    }
}

}  // namespace selvage::impl
