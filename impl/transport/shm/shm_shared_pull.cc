// See shm_transport.h: long transfers that both sides copy (shared_pull.h).
//
// Whose memory the sender writes is the kernel's word, as for reading (shm_pull.cc): the receiver introduced itself,
// and its instance id lay where it says. A number can be given to another process, and a process can run another
// program. The kernel closes the files of a process before it gives its number away, and when it runs another program,
// and with them the lock of its region goes. So the sender looks at that lock between its claim and its write: as long
// as it is held, the number is the receiver's, and the receiver waits for the chunk that was claimed.
#include "impl/base/clock.h"
#include "impl/transport/shm/other_memory.h"
#include "impl/transport/shm/shm_transport.h"
#include "impl/transport/shm/wait_for_sender.h"

namespace selvage::impl {
namespace {

static_assert(shm::kSharedRangesMost <= Resolved::kPieces);

// Transfers in a row that nobody helped with, after which twice as many as the last time are pulled alone.
constexpr uint32_t kUnhelpedMost = 8;
constexpr uint32_t kAloneMost = 256;

// What a sender looks for: each from one range to one, and long (ShmTransport::offers). False: it is no such.
bool share(const iovec* remote, const iovec* local, size_t count, shm::SharedPull* pull) {
    if (!count || count > shm::kSharedRangesMost) return false;
    uint64_t length = 0;
    for (size_t i = 0; i < count; ++i) {
        if (remote[i].iov_len != local[i].iov_len || local[i].iov_len < shm::kSharedEachMin) return false;
        pull->ranges[i] = {.source = reinterpret_cast<uintptr_t>(remote[i].iov_base),
                           .destination = reinterpret_cast<uintptr_t>(local[i].iov_base),
                           .length = local[i].iov_len};
        length += local[i].iov_len;
    }
    if (length < shm::kSharedPullMin) return false;
    pull->count = static_cast<uint32_t>(count);
    pull->chunks = shm::shared_chunks(length);
    return true;
}

}  // namespace

// Receiver.

int ShmTransport::pull(Peer& peer, const iovec* remote, size_t count, const iovec* local, size_t local_count) {
    shm::SharedPull pull;
    if (!shares_ || count != local_count || !share(remote, local, count, &pull))
        return pull_alone(peer, remote, count, local, local_count);
    if (peer.out.lines && !peer.introduced) introduce(peer);
    if (peer.shared.alone) {
        --peer.shared.alone;
        return pull_alone(peer, remote, count, local, local_count);
    }
    return pull_shared(peer, pull);
}

int ShmTransport::pull_chunks(Peer& peer, const shm::SharedPull& pull, const shm::ChunkRange& chunks) {
    iovec remote[Resolved::kPieces], local[Resolved::kPieces];
    const size_t count = pull.slice(chunks, remote, local);
    return pull_alone(peer, remote, count, local, count);
}

int ShmTransport::pull_shared(Peer& peer, const shm::SharedPull& pull) {
    if (!pull.is_valid()) return -EFAULT;
    shm::SharedPullReceiver& receiver = peer.shared.receiver;
    const int64_t began = monotonic_nanoseconds();
    receiver.open(peer.in.slot().shared, pull);
    int error = 0;
    while (const shm::ChunkRange mine = receiver.claim(error != 0)) {
        if (!error) error = pull_chunks(peer, pull, mine);
    }
    const shm::ChunkRange others = receiver.senders();
    bool failed = false, late = false;
    const int lost = others ? wait_for_chunks(peer, began, &failed, &late) : 0;
    count_helped(peer, others && !failed && !late);
    if (!others) return error;
    if (error || lost) return error ? error : lost;
    return failed ? pull_chunks(peer, pull, others) : 0;
}

// A sender that does something else, or comes too late, or whose writes fail, costs this side a system call more, so it
// is asked less and less often.
void ShmTransport::count_helped(Peer& peer, bool helped) {
    ShmSharing& shared = peer.shared;
    if (!helped) {
        if (++shared.unhelped < kUnhelpedMost) return;
        shared.alone = shared.pause = std::clamp<uint32_t>(2 * shared.pause, 1, kAloneMost);
        return;
    }
    shared.unhelped = shared.pause = 0;
}

// *late: it took longer than the chunks of this side did, since `began`, as where the sender had no processor until
// then.
int ShmTransport::wait_for_chunks(Peer& peer, int64_t began, bool* failed, bool* late) const {
    const auto finished = [&] { return peer.shared.receiver.is_finished(failed); };
    if (finished()) return 0;
    const int64_t through = monotonic_nanoseconds();
    if (!shm::wait_for_sender(region_, peer.in.index, finished)) return -FI_ECONNRESET;
    *late = monotonic_nanoseconds() - through > through - began;
    return 0;
}

// Sender.

// While something is offered, every progress looks whether the peer pulls it.
void ShmTransport::watch_offers(Peer& peer) {
    if (!shares_) return;
    next_look_ = std::min(next_look_, std::min(calls_ + 1, kCallsPerLook));
    if (peer.shared.watched) return;
    peer.shared.watched = true;
    peer.next_watched = watched_;
    watched_ = &peer;
}

void ShmTransport::leave_watched(Peer& peer) {
    if (peer.shared.watched) unlink_peer<&Peer::next_watched>(&watched_, peer);
    peer.shared.watched = false;
}

unsigned ShmTransport::copy_chunks(Peer& peer, const shm::SharedPull& pull, shm::SharedPullSender& sender) {
    unsigned copied = 0;
    while (const shm::ChunkRange chunk = sender.claim()) {
        iovec local[Resolved::kPieces], remote[Resolved::kPieces];
        const size_t count = pull.slice(chunk, local, remote);
        shm::Rest here(local, count), there(remote, count);
        sender.finish(peer.remote.owner_is_alive() && !shm::write_to(peer.process, here, there));
        ++copied;
    }
    return copied;
}

}  // namespace selvage::impl
