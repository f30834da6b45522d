// See shm_transport.h: reading long transfers out of a peer's memory.
//
// Nothing that a peer says is followed here: the process is the kernel's word (introductions.h), an address is handed
// to process_vm_readv, which reads as the kernel would for that process and fails where there is nothing to read. What
// both sides copy is in shm_shared_pull.cc.
#include <sys/resource.h>

#include "impl/config/log.h"
#include "impl/progress/wait.h"
#include "impl/transport/shm/other_memory.h"
#include "impl/transport/shm/settings.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {
// The sender may be read if its process lets us see that its instance id lies where it says.
void ShmTransport::poll_introductions() {
    constexpr int kMetMost = 16;  // at a time: who introduces itself for ever must not keep us here
    shm::Introduction met;
    introductions_due_ = false;
    for (int i = 0; i < kMetMost; ++i) {
        if (!introductions_.take(&met)) return;
        Peer* peer = met.slot < shm::kSlots ? by_slot_[met.slot] : nullptr;
        if (!peer || peer->life != ShmPeerLife::Living) continue;
        if (memcmp(peer->instance, met.instance, sizeof met.instance) != 0) continue;
        if (!shm::has_id(met.process, peer->instance_at, peer->instance)) {
            log_for("shm", FI_LOG_INFO, FI_LOG_EP_DATA,
                    "the memory of process %d can't be read: long messages are copied", met.process);
            continue;
        }
        peer->process = met.process;
        peer->choice.allow();
        peer->reads.allow();
        peer->writes.allow();
        report_choice(*peer);
    }
    // The next progress comes back for the rest.
    region_.header->attention.fetch_or(1, std::memory_order_relaxed);
}

// At most once per peer, unless its socket is full.
void ShmTransport::introduce(Peer& peer) {
    using Introduced = shm::Introductions::Introduced;
    peer.introduced = true;
    if (!pulls_) return;
    const auto slot = static_cast<uint32_t>(peer.remote.index);
    const Introduced introduced = shm::Introductions::introduce(peer.instance, slot, self_.instance);
    if (introduced == Introduced::Yes) peer.remote.raise_attention();
    peer.introduced = introduced != Introduced::Later;
}

bool ShmTransport::may_be_read(Peer& peer) {
    if (!reaches(peer)) return false;
    if (!peer.introduced) introduce(peer);
    return peer.introduced && pulls_;
}

// What was read is the peer's if its instance id still lies where it says. That is read behind the data, in the same
// call, which reads one process alone. It costs a page more for the kernel to find, so a short pull goes without where
// the peer will have been seen a moment ago by the end. Whether that moment is over by then is guessed, as the clock is
// read once; where it is, the id takes a call of its own, three times as long as the page.
int ShmTransport::pull_alone(Peer& peer, const iovec* remote, size_t count, const iovec* local, size_t local_count) {
    constexpr size_t kShort = 32 * 1024;
    shm::Rest there(remote, count), here(local, local_count);
    const bool is_short = here.bytes() <= kShort;
    const bool looks = !is_short || peer.sees_next;
    uint8_t seen[shm::kIdBytes] = {};
    if (looks) {
        there.add({.iov_base = reinterpret_cast<void*>(peer.instance_at), .iov_len = sizeof seen});
        here.add({.iov_base = seen, .iov_len = sizeof seen});
    }
    int error = shm::read_from(peer.process, there, here);
    // A sender that has dropped this peer, or was closed, has its memory for itself again. Acquire: what was read was
    // there before.
    const bool gone = peer.in.slot().closed.load(std::memory_order_acquire);
    const int64_t now = is_short ? monotonic_nanoseconds() : 0;
    if (!error && (gone || !(looks ? !memcmp(seen, peer.instance, sizeof seen) : is_still_there(peer, now))))
        error = -FI_ECONNRESET;
    if (error) {
        forbid_pulls(peer, error);
    } else if (is_short) {
        if (looks) peer.seen_at = now;
        peer.sees_next = !peer.was_seen(now + (now - peer.pulled_at));
        peer.pulled_at = now;
    }
    return error;
}

bool ShmTransport::is_still_there(Peer& peer, int64_t now) {
    if (peer.was_seen(now)) return true;
    if (!shm::has_id(peer.process, peer.instance_at, peer.instance)) return false;
    peer.seen_at = now;
    return true;
}

// What could be read once can become forbidden: by a process that makes itself undumpable, by the administrator. From
// then on everything comes through the ring.
void ShmTransport::forbid_pulls(Peer& peer, int error) {
    if (!shm::concerns_process(error)) return;
    log_for("shm", FI_LOG_INFO, FI_LOG_EP_DATA, "the memory of process %d can't be read any more (%s)", peer.process,
            fi_strerror(-error));
    peer.process = 0;
    peer.choice.forbid();
    peer.reads.forbid();
    peer.writes.forbid();
    report_choice(peer);
}

// Before its place is given up.
void ShmTransport::came_by_ring(Peer& peer, size_t size) {
    const uint64_t behind = peer.in.position + shm::lines_of(size);
    if (!peer.copies.counts(size, behind)) return;
    peer.copies.came(size, behind, static_cast<uint64_t>(monotonic_nanoseconds()));
    report(peer.in.slot().copies, peer.copies.word());
}

void ShmTransport::came_pulled(Peer& peer, size_t length, size_t transfers) {
    peer.copies.interrupt();
    const size_t each = length / transfers;
    if (each >= shm::kPullMin) finished(peer, shm::PullChoice::Way::Kernel, each, length, transfers);
}

// The place of the one that is being delivered was not given up yet.
bool ShmTransport::has_next(const Peer& peer, uint32_t size, Header* next) const {
    const shm::Inbound& in = peer.in;
    if (takes_answers_ || !in.lines || in.phase != shm::RingPhase::Frames) return false;
    const shm::Inbound behind{.lines = in.lines, .position = in.position + shm::lines_of(size)};
    uint64_t first;
    if (!behind.poll(&first)) return false;
    *next = shm::copy_header(behind.lines + shm::offset_at(behind.position), first);
    return next->size <= kFrameMax;
}

void ShmTransport::came_in_parts(Peer& peer, size_t length) {
    if (!peer.process || length < shm::kPullMin) return;
    finished(peer, shm::PullChoice::Way::Ring, length, (peer.in.position - peer.in.measured) * shm::kLine, 1);
}

namespace {

// In the first lap of a ring memory is touched for the first time, by both sides: what a frame takes there says nothing
// of what it will take.
bool is_new(uint64_t position) { return position < shm::kRingLines; }

uint64_t switches() {
    rusage use;
    return getrusage(RUSAGE_SELF, &use) ? 0 : static_cast<uint64_t>(use.ru_nivcsw);
}

}  // namespace

void ShmTransport::finished(Peer& peer, shm::PullChoice::Way way, size_t length, size_t moved, size_t transfers) {
    bool counts = false;
    for (size_t i = 0; i < transfers; ++i) counts = peer.choice.counts(length);
    if (!counts) return;
    if (way == shm::PullChoice::Way::Ring && is_new(peer.in.position)) return peer.choice.interrupt();
    peer.choice.finished(way, length, moved, now(peer.choice), transfers);
    peer.in.measured = peer.in.position;
    report_choice(peer);
}

shm::PullChoice::Moment ShmTransport::now(const shm::PullChoice& choice) {
    return {.nanoseconds = static_cast<uint64_t>(monotonic_nanoseconds()),
            .switches = choice.counts_switches() ? switches() : shm::PullChoice::kUnknown};
}

// What asking costs is measured once it is known how what was asked for comes the fastest.
void ShmTransport::came_read(Peer& peer, size_t length, bool at_once) {
    if (!keeps_grants(peer, length)) return;
    if (at_once) {
        peer.choice.interrupt();
    } else if (!peer.choice.is_chosen(length)) {
        return peer.reads.interrupt();
    }
    measure_access(peer.reads, length, at_once, peer.in.position);
}

// A read or write of this side's, whose bytes come or go by a ring with this position, where they are asked for.
void ShmTransport::measure_access(shm::PullChoice& choice, size_t length, bool at_once, uint64_t position) {
    if (!choice.counts(length)) return;
    if (!at_once && is_new(position)) return choice.interrupt();
    const auto way = at_once ? shm::PullChoice::Way::Kernel : shm::PullChoice::Way::Ring;
    choice.finished(way, length, length, now(choice));
}

}  // namespace selvage::impl
