// See shm_transport.h: writes into the peer's memory under a grant that stands (engine/standing_grants.h).
//
// Nobody asks the owner of the memory, which may close the region at any time. So that nothing is written once fi_close
// has returned, each side says what it does before it looks at what the other does:
//
//   writer                                            owner, in fi_close
//   1. exchange `writing` (seq_cst): 1                1. add one to `revocations` (seq_cst)
//   2. load `revocations`: is it the grant's epoch?   2. load `writing` (acquire) until it is 0, or the lock of the
//   3. write, if the owner lives                         writer's slot is free
//   4. store `writing` (release): 0
//
// If the writer does not see the new count, the owner sees that it writes, and waits; what was written before is in
// memory when it goes on. models/write_grant.pml checks that, with a writer that dies at any step. Whose memory is
// written is the kernel's word, as in shm_shared_pull.cc.
//
// A peer that goes down here is treated in the same way, before its slot is given up, as its words are there.
#include "impl/base/clock.h"
#include "impl/config/log.h"
#include "impl/transport/shm/other_memory.h"
#include "impl/transport/shm/settings.h"
#include "impl/transport/shm/shm_transport.h"
#include "impl/transport/shm/wait_for_sender.h"

namespace selvage::impl {

// Writer.

bool ShmTransport::write_granted(Peer& peer, uint64_t epoch, const iovec* ranges, size_t count, uint64_t to) {
    std::atomic<uint32_t>& writing = peer.out.slot().writing;
    shm::Rest here(ranges, count);
    const iovec place{.iov_base = reinterpret_cast<void*>(to), .iov_len = here.bytes()};
    shm::Rest there(&place, 1);
    writing.exchange(1, std::memory_order_seq_cst);
    const bool may_write = peer.out.region->revocations.load(std::memory_order_seq_cst) == epoch && lives(peer);
    const int error = may_write ? shm::write_to(peer.process, here, there) : 0;
    writing.store(0, std::memory_order_release);
    if (error) forbid_writes(peer, error);
    return may_write && !error;
}

bool ShmTransport::lives(Peer& peer) {
    const int64_t now = monotonic_nanoseconds();
    if (peer.was_seen(now)) return true;
    if (!peer.remote.owner_is_alive()) return false;
    peer.seen_at = now;
    return true;
}

// As for reading (forbid_pulls).
void ShmTransport::forbid_writes(Peer& peer, int error) {
    if (!shm::concerns_process(error)) return;
    log_for("shm", FI_LOG_INFO, FI_LOG_EP_DATA, "the memory of process %d can't be written (%s)", peer.process,
            fi_strerror(-error));
    peer.writes.forbid();
}

// What asking costs is measured once the peer knows how what it is asked for comes the fastest.
void ShmTransport::came_written(Peer& peer, size_t length, bool at_once) {
    if (!may_keep_grants(peer, length) || !peer.out.lines) return;
    if (!at_once && !shm::says_chosen(peer.out.slot().pulls.load(std::memory_order_relaxed), length))
        return peer.writes.interrupt();
    measure_access(peer.writes, length, at_once, peer.out.position);
}

// Owner.

// Who is not introduced knows no process to write into.
void ShmTransport::grants_writes(Peer& peer) {
    if (!pulls_) return;
    if (!peer.may_write) ++writers_;
    peer.may_write = true;
    may_be_read(peer);
}

void ShmTransport::revoke_grants() {
    count_revocation();
    if (!writers_) return;
    // Who has no slot here asks by its answers, and writes nothing yet.
    for (size_t i = 0; i < peer_count_; ++i) {
        if (peers_[i]->may_write && peers_[i]->in.lines) await_writer(*peers_[i]);
    }
}

void ShmTransport::count_revocation() {
    region_.header->revocations.fetch_add(1, std::memory_order_seq_cst);
    shm::full_fence();  // before what the application stores into the memory next
}

void ShmTransport::revoke_grants_of(Peer& peer) {
    if (!peer.may_write) return;
    count_revocation();
    await_writer(peer);
    peer.may_write = false;
    --writers_;
}

void ShmTransport::await_writer(const Peer& peer) const {
    const std::atomic<uint32_t>& writing = peer.in.slot().writing;
    shm::wait_for_sender(region_, peer.in.index, [&] { return !writing.load(std::memory_order_acquire); });
}

}  // namespace selvage::impl
