// What lies in a shared-memory object of an endpoint: /dev/shm/selvage-shm-<uid>-<name>, mode 0600. A context of a
// scalable endpoint has one of its own, "<name> <index>" or "<name> t<index>" (net/context_id.h).
//
//     0        RegionHeader (two pages): who owns it, words that senders and owner tell each other, states of slots
//     8192     slot 0: SlotControl (one page), ring (64 KiB)
//     77824    slot 1 ...
//
// The object belongs to the endpoint that receives: the owner. Each sender takes one slot and is the only producer of
// its ring; the owner is the only consumer. The file is sparse: the owner pays for the header and two pages of the
// first slot, two pages of another are made when its sender comes, the rest when these are full once
// (Outbound::is_whole), and all is given back when it goes.
//
// A sender maps the header and the first slots at once (kWindowBytes), and one of the later slots by itself. The ring
// comes twice in a row where the owner maps it, and for the sender once all of it has memory.
//
// The first answers to a new sender need no region but the one in which it asked: the owner writes them behind the
// words of the sender's slot (SlotControl::answers), once, without giving lines back. The sender polls them until the
// owner has entered its region, or until it looks no more and says so (bell.h). The owner's hello there says how many
// lines of answers there are, and the sender takes these before anything from the owner's ring.
//
// Record locks (of open file descriptions) on bytes of the file tell who lives: the kernel drops them with the process,
// however it ends. Nothing else is believed about life: no process id is stored anywhere (introductions.h). Sockets of
// the owner lie beside the region under its instance id (socket_file.h), and are removed with it.
//     byte 0        held by the owner
//     byte 1        held for a moment by a sender that makes the file longer
//     byte 2        held for a moment by whoever looks whether the owner is dead; before byte 0, which he takes then
//     byte 16 + n   held by the sender in slot n
//
// Ring. 1024 lines of 64 bytes, mapped twice in a row so that no frame is ever cut in two. A frame is a header of 32
// bytes and its payload, in as many consecutive lines as it needs: 32 bytes of payload are in the line of the header.
// Positions count lines from the beginning of time. The first word of a frame (size, op, flags, aux) is stored last, by
// a release store, and is what the consumer polls: bit 31 of it is the parity of the lap, so that what is left of the
// lap before is never taken for a frame. Where the lap before has left payload at the place where the next frame will
// begin, its first word is cleared before the frame in front of it is published (ring.h). A frame that is longer than
// ShmTransport::kFrameMax, and some that are not, come in several of these (long_frame.h).
//
// bell.h draws the protocols between sender and owner, word by word; shared_pull.h that of transfers that both copy,
// shm_granted_write.cc that of writes under a grant.
//
// Everything here can be written by any process of the same user. Nobody trusts a word of it: positions of one's own
// are kept in private memory, sizes and indices are checked after they were copied.
#pragma once

#include <atomic>

#include "impl/net/address.h"

namespace selvage::impl::shm {

inline constexpr uint64_t kRegionMagic = 0x73656c7661676502;  // "selvage", kind 2; written last
inline constexpr uint32_t kRegionVersion = 15;

inline constexpr size_t kPage = 4096;
inline constexpr size_t kLine = 64;
inline constexpr size_t kRingLines = 1024;
inline constexpr unsigned kLapShift = 10;
inline constexpr size_t kRingBytes = kRingLines * kLine;
inline constexpr size_t kSlots = 1024;  // senders of one endpoint at the same time
inline constexpr size_t kHeaderBytes = 2 * kPage;
inline constexpr size_t kSlotBytes = kPage + kRingBytes;
// What a slot has of memory at first: its words, and lines for those who say little.
inline constexpr size_t kFirstBytes = 2 * kPage;
inline constexpr size_t kFirstLines = (kFirstBytes - kPage) / kLine;
inline constexpr size_t kIdBytes = 16;
inline constexpr size_t kProofBytes = 32;
inline constexpr size_t kSharedRangesMost = 16;  // that are pulled together and copied by both sides
inline constexpr size_t kAnswerLines = 32;  // of a slot: what its owner may say before it enters the sender's region

static_assert(kRingLines == size_t{1} << kLapShift);
static_assert(kSlotBytes <= 96 * 1024);

constexpr size_t slot_offset(size_t slot) { return kHeaderBytes + slot * kSlotBytes; }

// What a sender maps at once of a region: the header and the first slots, which the file reaches from the start.
inline constexpr size_t kWindowSlots = 4;
inline constexpr size_t kWindowBytes = slot_offset(kWindowSlots);

inline constexpr int64_t kOwnerLock = 0;
inline constexpr int64_t kSetupLock = 1;
inline constexpr int64_t kSweepLock = 2;
constexpr int64_t slot_lock(size_t slot) { return 16 + static_cast<int64_t>(slot); }

// What two endpoints must agree on to talk; shows a region of another build.
struct Geometry {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes;
    uint32_t slot_bytes;
    uint32_t ring_bytes;
};

inline constexpr Geometry kGeometry = {
    .magic = kRegionMagic,
    .version = kRegionVersion,
    .header_bytes = kHeaderBytes,
    .slot_bytes = kSlotBytes,
    .ring_bytes = kRingBytes,
};

enum SlotState : uint32_t { kSlotFree, kSlotReady };

// The words that are written while messages flow are 128 bytes apart: processors fetch lines in pairs.
struct RegionHeader {
    std::atomic<uint64_t> magic;  // kRegionMagic, stored last by the owner (release), read first by senders (acquire)
    uint32_t version;
    uint32_t header_bytes;
    uint32_t slot_bytes;
    uint32_t ring_bytes;
    uint32_t senders_fence;                         // the owner cannot make senders' fences for them (bell.h)
    uint8_t instance[kIdBytes];                     // random: this opening of this endpoint
    uint8_t proof[kProofBytes];                     // that the owner holds the domain's authorisation key
    char text[kShmTextMax];                         // the address
    alignas(512) std::atomic<uint64_t> attention;   // bit n: look at the slots n, n + 64, ...; set by senders
    alignas(128) std::atomic<uint32_t> armed;       // the owner sleeps: whoever publishes rings the bell
    alignas(128) std::atomic<uint32_t> slots_used;  // no slot at or above it was ever taken
    // Regions of memory that the owner has closed: grants before count no more. Partner: SlotControl::writing.
    std::atomic<uint64_t> revocations;
    alignas(
        kPage) std::atomic<uint32_t> state[kSlots];  // free -> ready: the sender, with the slot's lock. Back: owner.
};
static_assert(sizeof(RegionHeader) == kHeaderBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// What the owner of a slot pulls and its sender may help to copy, in chunks (shared_pull.h).
struct SharedPullWords {
    // From one range of the sender's memory to one of the owner's, as long.
    struct Range {
        std::atomic<uint64_t> source;
        std::atomic<uint64_t> destination;
        std::atomic<uint64_t> length;
    };
    alignas(128) std::atomic<uint64_t> claims;  // generation, and the chunks that nobody has claimed; both
    // The owner's, of the generation in `claims`.
    std::atomic<uint32_t> chunks;
    std::atomic<uint32_t> count;  // of the ranges
    Range ranges[kSharedRangesMost];
    alignas(128) std::atomic<uint64_t> finished;  // the sender's: generation, and how many of its chunks are finished
};

struct SlotControl {
    // The sender's hello: who it is and the proof that it holds the key.
    char text[kShmTextMax];
    uint8_t instance[kIdBytes];
    uint8_t proof[kProofBytes];
    uint64_t instance_at;  // where in its memory its instance id lies, if the owner wants to see whether it can read it
    uint32_t answered;     // lines of answers that it wrote into the slot that the owner has in its region
    // The owner's words.
    alignas(512) std::atomic<uint64_t> consumed;  // lines given back, so far; lazily
    std::atomic<uint32_t> cold;                   // the owner does not poll this ring: raise its attention
    std::atomic<uint32_t> refused;                // positive fabric errno: nothing of this sender is looked at any more
    std::atomic<uint32_t> left;                   // it has closed, and never entered the sender's region
    // Sizes of transfers whose source the owner reads (pull_choice.h). The sender asks before it publishes, and what it
    // publishes is seen no sooner than the answer is here: so not in the line of `consumed`, which the owner takes
    // away.
    alignas(128) std::atomic<uint32_t> pulls;
    std::atomic<uint32_t> copies;  // sizes of frames whose payload comes past the caches (copy_choice.h)
    // The sender's words.
    alignas(128) std::atomic<uint32_t> closed;  // nothing follows
    std::atomic<uint32_t> answers_closed;       // it does not look at answers (any more)
    // It writes into memory that it was granted, or is about to (shm_granted_write.cc). Partner:
    // RegionHeader::revocations.
    alignas(128) std::atomic<uint32_t> writing;
    // Of a transfer that both copy.
    SharedPullWords shared;
    // The owner's frames, as in a ring (ring.h), the first at the beginning.
    alignas(kAnswerLines* kLine) std::byte answers[kAnswerLines * kLine];
};
static_assert(sizeof(SlotControl) == kPage);

}  // namespace selvage::impl::shm
