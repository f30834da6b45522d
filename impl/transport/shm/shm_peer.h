// A peer of a shm endpoint: the ring that it reads (in its region), the ring that it fills (in ours), or one of them.
#pragma once

#include "impl/transport/shm/copy_choice.h"
#include "impl/transport/shm/long_frame.h"
#include "impl/transport/shm/pull_choice.h"
#include "impl/transport/shm/region.h"
#include "impl/transport/shm/ring.h"
#include "impl/transport/shm/shared_pull.h"

namespace selvage::impl {

enum class ShmPeerLife : uint8_t {
    Living,
    Failed,  // will be taken down by the next progress
    Down,    // was: no ring, no memory but this
};

// Answers in the slot of a question (layout.h): those that this side awaits in its slot in the peer's region, and those
// that it writes into the peer's slot in its own.
struct ShmAnswers {
    uint32_t taken = 0;     // lines
    uint32_t idle = 0;      // looks in a row that found nothing
    bool awaited = false;   // in the list of those that every progress looks at
    bool writable = false;  // the peer looks at them, and nothing was written to its region yet
    uint32_t written = 0;   // lines
};

// Long transfers that both sides copy (shm_shared_pull.cc).
struct ShmSharing {
    shm::SharedPullReceiver receiver;
    uint32_t unhelped = 0;  // transfers in a row that the peer did not help with, or too late
    uint32_t pause = 0;     // so many were pulled alone the last time
    uint32_t alone = 0;     // so many more are
    bool watched = false;   // in the list of those that were offered something
    uint32_t looks = 0;     // for a transfer of it
};

struct alignas(64) ShmPeer : PeerBase {
    ShmPeer() { in_memory = true; }

    shm::Outbound out;  // with the base, one cache line
    shm::Inbound in;
    ShmPeerLife life = ShmPeerLife::Living;
    bool waiting_for_room = false;  // in the list of those who wait for room
    int error = 0;                  // why it has failed: a positive fabric errno
    ShmPeer* next_waiting = nullptr;
    ShmPeer* next_failed = nullptr;  // or, when it is down, the next that went down
    ShmPeer* next_awaited = nullptr;
    ShmPeer* next_watched = nullptr;
    ShmAnswers slot_answers;
    size_t place = 0;  // among the living
    shm::RemoteSlot remote;
    uint64_t missing_since = 0;  // milliseconds; when nobody was found at its address first, or no room for it
    bool known = false;          // `instance` is the peer's
    uint8_t instance[shm::kIdBytes] = {};
    char text[kShmTextMax] = {};
    // Reading its memory (shm_pull.cc).
    bool introduced = false;   // it was sent this side's introduction, or needs none
    pid_t process = 0;         // that fills the ring we read, and may be read; 0: none
    uint64_t instance_at = 0;  // where its instance id lies in that process, as it says
    shm::PullChoice choice;
    shm::PullChoice reads;   // of those that this side makes: at once, for the kernel's way, or by asking
    shm::PullChoice writes;  // likewise
    shm::CopyChoice copies;  // how the payload of its frames gets into our ring
    bool may_write = false;  // it was granted this side's memory to write
    ShmSharing shared;
    shm::LongOutbound long_out;
    shm::LongInbound long_in;

    // `process` is the peer's process: it was at this moment, in ns of the monotonic clock, and is for a little longer.
    // To look again costs half a microsecond. A number is not given to another process that soon; and a process that
    // runs another program loses its memory a little before its locks, however often they are looked at.
    int64_t seen_at = 0;
    static constexpr int64_t kSeenFor = 20'000;
    bool was_seen(int64_t now) const { return now - seen_at < kSeenFor; }
    int64_t pulled_at = 0;  // the end of the last short pull
    // That moment will be over when the next one ends, if that comes as soon as the last one did.
    bool sees_next = true;
};

// Takes a peer out of a list of peers, if it is in it.
template <ShmPeer* ShmPeer::*Next>
void unlink_peer(ShmPeer** first, ShmPeer& peer) {
    ShmPeer** at = first;
    while (*at && *at != &peer) at = &((*at)->*Next);
    if (*at) *at = peer.*Next;
}

}  // namespace selvage::impl
