// The shared-memory transport of one endpoint: its region, its peers, and the way between (layout.h). Satisfies
// Transport (impl/engine/transport.h).
//
// Everything is called with the endpoint's lock held. The hot path (send, progress) is in shm_datapath.h, included
// below; shm_transport.cc has what happens once per peer, or rarely.
//
// Large transfers go through the ring in pieces, both sides copying at the same time, or are read out of the sender's
// memory by the kernel: whichever was measured to be faster between these two (pull_choice.h, shm_pull.cc). Where a
// process may not read another, all goes through the ring. Nobody writes into the memory of another process but a
// sender that copies its part of a transfer while the receiver is in its call of pull() for it (shared_pull.h), and who
// was granted a region that stays open until it has written (shm_granted_write.cc).
//
// A payload given to Sink::deliver lies in memory that the sender can still change: whoever decides by what is in it
// copies it first.
#pragma once

#include <algorithm>

#include "impl/transport/shm/bell.h"
#include "impl/transport/shm/introductions.h"
#include "impl/transport/shm/shm_peer.h"

namespace selvage::impl {

struct AvEntry;

class ShmTransport {
public:
    using Peer = ShmPeer;

    // A quarter of the ring, so that a piece is copied in while others are copied out.
    static constexpr size_t kFrameMax = 16 * 1024;
    static constexpr size_t kCopied = kFrameMax;  // nothing is ever held
    static constexpr size_t kEagerMax = kFrameMax;
    static constexpr bool kPulls = true;
    static constexpr size_t kPullMin = shm::kPullMin;
    // Longer reads are not made within the call that posts them: nothing else would be done meanwhile.
    static constexpr size_t kAtOnceMost = 256 * 1024;
    static constexpr bool kNativeRma = false;
    // A frame that was sent lies in the receiver's region and outlives its sender.
    static constexpr bool kDelivers = true;

    static constexpr unsigned kAlwaysHot = 8;  // so many rings are polled even if they are idle

    ShmTransport() = default;
    ~ShmTransport() { close(); }
    ShmTransport(const ShmTransport&) = delete;
    ShmTransport& operator=(const ShmTransport&) = delete;

    int open(Endpoint& endpoint);
    // The same without an endpoint: the address, and the key that all peers must hold (kept by reference).
    int open_at(const char (&text)[kShmTextMax], shm::Bytes key);
    // From now on peers may send frames of up to so much payload (long_frame.h). REQUIRES: less than kPieceBit, and
    // the Sink takes them.
    void take_long_frames(size_t most) { longest_ = most; }
    void close();

    int find_peer(fi_addr_t to, Peer** out);
    int find_peer_at(const char (&text)[kShmTextMax], Peer** out);
    // The same for a caller that has another way to a peer that cannot be reached: nobody is waited for but another
    // sender that is just entering (-FI_EAGAIN, for a second). Any other error: take the other way.
    int enter_peer_at(const char (&text)[kShmTextMax], Peer** out);
    // The peer's own address, to be looked up in the address vector.
    bool address_of(const Peer& peer, AvEntry* out) const;

    // The peer broke the engine's protocol: nothing of it is looked at any more, and it goes down.
    void drop(Peer& peer, int error) { mark_failed(peer, error, false); }

    SendResult send(Peer& peer, const Frame& frame);
    // A frame of more than kFrameMax, in kRangesMax ranges at most, to a peer that takes such.
    SendResult send_long(Peer& peer, const Frame& frame);
    // Of a frame that comes in pieces nothing more is stored.
    static void discard_placement(Peer& peer) { peer.long_in.discards = true; }
    // A payload that fits beside its header, to a peer for which nothing is out of the ordinary: in two steps, so that
    // the engine does its part in between and keeps nothing in mind across a call.
    static constexpr size_t kInlineMax = shm::kInlineMax;
    bool takes_inline(const Peer& peer) const { return peer.out.clear_for_line() && !fences_; }
    void send_inline(Peer& peer, uint64_t first, uint64_t word0, uint64_t word1, uint64_t word2, const void* payload,
                     size_t size) {
        peer.out.publish_line(first, word0, word1, word2, payload, size);
    }
    // After a frame was sent: whether wake_owner is to be called.
    static bool owner_sleeps(const Peer& peer) {
        // After the frame (bell.h): for the processor by the owner's fence, or ours where it cannot make it; for the
        // compiler by this one.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return peer.out.region->armed.load(std::memory_order_relaxed) |
               peer.out.slot().cold.load(std::memory_order_relaxed);
    }
    void wake_owner(Peer& peer);
    template <typename S>
    unsigned progress(S& sink);

    bool offers(Peer& peer, size_t length) {
        if (length < shm::kPullMin || !reaches(peer)) return false;
        if (!peer.introduced) introduce(peer);
        if (!shm::says_pull(peer.out.slot().pulls.load(std::memory_order_relaxed), length)) return false;
        if (length >= shm::kSharedEachMin) watch_offers(peer);
        return true;
    }
    bool may_be_read(Peer& peer);
    bool can_pull(const Peer& peer) const { return peer.process && peer.in.lines; }
    void came_in_parts(Peer& peer, size_t length);
    void came_pulled(Peer& peer, size_t length, size_t transfers);
    bool has_next(const Peer& peer, uint32_t size, Header* next) const;
    int pull(Peer& peer, const iovec* remote, size_t count, const iovec* local, size_t local_count);

    // Where something can be made at once; and the peer's process is known, too.
    static bool may_keep_grants(const Peer& peer, size_t length) {
        return peer.in.lines && length >= kPullMin && length <= kAtOnceMost;
    }
    static bool keeps_grants(const Peer& peer, size_t length) { return peer.process && may_keep_grants(peer, length); }
    static bool asks_for_reads(const Peer& peer, size_t length) {
        return !keeps_grants(peer, length) || peer.reads.keeps_to_ring(length);
    }
    static bool reads_at_once(const Peer& peer, size_t length) {
        return shm::says_pull(peer.reads.word(), length) && keeps_grants(peer, length);
    }
    void came_read(Peer& peer, size_t length, bool at_once);

    // shm_granted_write.cc
    static bool asks_for_writes(const Peer& peer, size_t length) {
        return !may_keep_grants(peer, length) || peer.writes.keeps_to_ring(length);
    }
    // Not before something was sent by the ring: who has answered that, as all must be for a write at once, knows the
    // slot, and waits for who writes.
    static bool writes_at_once(const Peer& peer, size_t length) {
        return shm::says_pull(peer.writes.word(), length) && keeps_grants(peer, length) && peer.out.position;
    }
    static void came_written(Peer& peer, size_t length, bool at_once);
    static bool write_granted(Peer& peer, uint64_t epoch, const iovec* ranges, size_t count, uint64_t to);
    void grants_writes(Peer& peer);

    // Grants of this side's memory, and of the peer's (engine/engine_pull.h). The owner of the memory counts before the
    // memory is used for anything else; who pulls looks behind the last byte that it has read: it sees the count, or
    // read what was there before (models/grant.pml). A grant has the count from before its key was looked up. Who
    // writes is waited for (shm_granted_write.cc).
    uint64_t grant_epoch() const { return region_.header->revocations.load(std::memory_order_relaxed); }
    void revoke_grants();
    // The count is in the peer's region, where who has only answered it has not been yet.
    void expect_grant(Peer& peer) { static_cast<void>(reaches(peer)); }
    static bool still_granted(const Peer& peer, uint64_t epoch) {
        return peer.out.region && peer.out.region->revocations.load(std::memory_order_acquire) == epoch;
    }
    // Changes with every frame that is sent to the peer.
    static uint64_t frames_sent(const Peer& peer) { return peer.out.position + peer.slot_answers.written; }

    bool arm();
    // Made at the first call; a negative errno when there is none to be had, and then arm() never lets anybody sleep.
    int wait_descriptor() const;

private:
    static constexpr unsigned kBatch = 32;  // frames of one peer per progress
    // Calls of progress between two looks at the clock, and between two looks at answers that are awaited: those who
    // send and are not answered pay for these.
    static constexpr uint32_t kCallsPerLook = 64;
    static constexpr uint32_t kCallsPerAnswer = 8;
    static constexpr uint32_t kLooksPerOffer = 64;  // for a transfer, between two questions whether any is offered
    static constexpr uint32_t kIdleLooks = 256;     // in a row, after which answers are awaited no more
    static constexpr uint32_t kIdlePolls = 2048;    // after which a ring beyond those is polled no more
    static constexpr size_t kRoomLines = shm::lines_of(kFrameMax);
    static_assert(shm::kAnswerRoom >= kBatch);

    // Hot (shm_datapath.h).
    // Behind what was published: the owner sees it, or is woken.
    void was_published(Peer& peer) {
        if (fences_) [[unlikely]]
            shm::full_fence();
        if (owner_sleeps(peer)) [[unlikely]]
            wake_owner(peer);
    }
    // A frame that answers its receiver, who can copy its first half while this side copies the second. The first of
    // all answers nothing.
    static bool splits(const Peer& peer, const Frame& frame) {
        return frame.header.size >= shm::kSplitMin && !peer.out.streams() && peer.out.position && frame.count == 1 &&
               peer.out.has_room(shm::split_lines(frame.header.size));
    }
    // REQUIRES: splits(). Of the frame its header and its one range.
    SendResult send_split(Peer& peer, const Header& header, const void* payload);
    template <typename S>
    unsigned drain(Peer& peer, S& sink);
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned handle_attention(S& sink);
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned handle_failures(S& sink);
    template <typename S>
    void take_down(Peer& peer, S& sink);
    template <typename S>
    unsigned offer_room(S& sink);
    // The receiver's end of long frames: the header of one, and its pieces.
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned begin_long(Peer& peer, Header header, S& sink);
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned drain_pieces(Peer& peer, S& sink);
    template <typename S>
    void drop_malformed(Peer& peer, S& sink);

    // shm_answers.cc; the sender's end in shm_datapath.h
    [[gnu::noinline, gnu::cold]] bool send_answer(Peer& peer, const Frame& frame);
    // What the peer says in its region: which way is faster, what is granted. Who has only answered it has not entered
    // that.
    bool reaches(Peer& peer) { return peer.out.lines || enter(peer); }
    [[gnu::noinline, gnu::cold]] bool enter(Peer& peer);
    void await_answers(Peer& peer);
    bool keeps_awaiting(Peer& peer, unsigned taken);
    static bool close_answers(Peer& peer);
    bool close_all_answers();
    void leave_awaited(Peer& peer);
    template <typename S>
    [[gnu::noinline, gnu::cold]] unsigned look(S& sink);
    template <typename S>
    unsigned take_answers(Peer& peer, S& sink);
    template <typename S>
    unsigned look_at_answers(S& sink);

    // shm_long.cc
    // As much of the frame as there is room for. False: not all.
    bool send_pieces(Peer& peer);

    // shm_granted_write.cc
    static bool lives(Peer& peer);
    static void forbid_writes(Peer& peer, int error);
    void count_revocation();
    void revoke_grants_of(Peer& peer);
    void await_writer(const Peer& peer) const;

    // shm_pull.cc
    void poll_introductions();
    void introduce(Peer& peer);
    // Relaxed: the peer acts on it when it sees it, and nothing else goes with it. It reads it for each transfer, so it
    // keeps the line as long as the word stays.
    static void report(std::atomic<uint32_t>& word, uint32_t value) {
        if (word.load(std::memory_order_relaxed) != value) word.store(value, std::memory_order_relaxed);
    }
    static void report_choice(const Peer& peer) { report(peer.in.slot().pulls, peer.choice.word()); }
    static void came_by_ring(Peer& peer, size_t size);
    static int pull_alone(Peer& peer, const iovec* remote, size_t count, const iovec* local, size_t local_count);
    static bool is_still_there(Peer& peer, int64_t now);
    static void forbid_pulls(Peer& peer, int error);
    static void finished(Peer& peer, shm::PullChoice::Way way, size_t length, size_t moved, size_t transfers);
    static void measure_access(shm::PullChoice& choice, size_t length, bool at_once, uint64_t position);
    static shm::PullChoice::Moment now(const shm::PullChoice& choice);

    // shm_shared_pull.cc; the sender's end in shm_datapath.h
    int pull_shared(Peer& peer, const shm::SharedPull& pull);
    static int pull_chunks(Peer& peer, const shm::SharedPull& pull, const shm::ChunkRange& chunks);
    static void count_helped(Peer& peer, bool helped);
    int wait_for_chunks(Peer& peer, int64_t began, bool* failed, bool* late) const;
    void watch_offers(Peer& peer);
    void leave_watched(Peer& peer);
    static unsigned copy_chunks(Peer& peer, const shm::SharedPull& pull, shm::SharedPullSender& sender);
    template <typename S>
    unsigned join_pulls(S& sink);

    // Rare (shm_transport.cc).
    SendResult make_room(Peer& peer, size_t lines);
    void look_around();
    void look_at_cold(Peer& peer);
    void reap_the_rest();
    // No slot at or above it is in use: as the senders say, and at least those that were accepted, as the senders' word
    // is anybody's to change.
    size_t slots_in_use() const {
        const size_t introduced = region_.header->slots_used.load(std::memory_order_relaxed);
        return std::max(std::min(introduced, shm::kSlots), accepted_end_);
    }
    void accept(size_t slot);
    void count_refused();
    void accept_hello(size_t slot, shm::SlotControl* control);
    void notice(size_t slot);
    bool belongs_to_other(Peer& peer, const uint8_t (&instance)[shm::kIdBytes]);
    bool has_gone(const Peer& peer) const;
    bool has_dropped_slot(const Peer& peer) const;
    void check_life(Peer& peer);
    void mark_failed(Peer& peer, int error, bool drainable);
    int connect(Peer& peer);
    int join(Peer& peer);
    static bool waits(Peer& peer, uint64_t grace);
    static int allocate_ring(Peer& peer);
    Peer* find_living(const char (&text)[kShmTextMax]);
    Peer* add_peer(const char (&text)[kShmTextMax]);
    Peer* create_peer();
    void set_aside(Peer& peer);
    Peer* take_oldest_down();
    void release(Peer& peer);
    void reap_peer(Peer& peer);
    void make_hot(Peer& peer);
    [[gnu::noinline, gnu::cold]] void cool_rings();
    void leave_hot(Peer& peer);
    void disarm();
    bool something_waits();
    void wait_for_room(Peer& peer);

    shm::OwnRegion region_;
    Peer** hot_ = nullptr;  // rings that every progress polls; room for all peers
    uint32_t hot_count_ = 0;
    uint32_t calls_ = 0;                  // of progress, since look_around()
    uint32_t next_look_ = kCallsPerLook;  // the call that look() has its turn in
    bool armed_ = false;
    bool pulls_ = true;  // the settings, as they were when it was opened (settings.h)
    bool shares_ = true;
    bool fences_ = false;  // this side must fence before it asks whether the owner sleeps
    Peer* waiting_for_room_ = nullptr;
    Peer* failed_ = nullptr;
    Peer* awaited_ = nullptr;
    bool takes_answers_ = false;  // what is delivered lies in a slot, not in a ring
    Peer* watched_ = nullptr;
    size_t writers_ = 0;  // peers that were granted memory to write

    Endpoint* endpoint_ = nullptr;
    uint64_t refusals_logged_ = 0;
    shm::Identity self_;
    size_t longest_ = kFrameMax;
    uint64_t generation_ = 0;  // of the process that opened it (forked.h)
    Peer** peers_ = nullptr;   // that are not down
    Peer* down_ = nullptr;     // a queue; their memory is used again (create_peer)
    Peer* last_down_ = nullptr;
    size_t down_count_ = 0;
    size_t peer_count_ = 0;
    size_t peer_capacity_ = 0;
    Peer** by_slot_ = nullptr;                // kSlots entries
    shm::SlotControl* first_slot_ = nullptr;  // slot 0, mapped before its sender comes; nullptr: it was accepted
    // Addresses of dead peers whose regions somebody else was looking at.
    static constexpr size_t kUnreapedMost = 8;
    char unreaped_[kUnreapedMost][kShmTextMax];
    size_t unreaped_count_ = 0;
    size_t accepted_end_ = 0;  // no slot at or above it was accepted
    uint64_t last_look_ = 0;   // milliseconds
    uint32_t sleep_ = 1;       // what `armed` was last set to: each sleep has its own value, never 0
    size_t next_checked_ = 0;
    bool introductions_due_ = false;  // to be polled at the next look around, or before this side sleeps
    mutable shm::Bell bell_;
    shm::Introductions introductions_;
};

}  // namespace selvage::impl

#include "impl/transport/shm/shm_datapath.h"
