// What an engine keeps for a peer, from the first operation that cannot be done at once until the peer is down: a part
// for each part of the engine (engine_base.h).
#pragma once

#include <algorithm>

#include "impl/engine/operation.h"
#include "impl/engine/response_queue.h"
#include "impl/engine/standing_grants.h"
#include "impl/engine/stream_queue.h"
#include "impl/engine/window.h"
#include "impl/stat/stat_file.h"

namespace selvage::impl {

// Where the payload of the frame that arrives in pieces goes.
enum class PlacementKind : uint8_t {
    None,
    Bounce,
    Message,
    Collective,
    Segment,
    Write,
    WriteSegment,
    ReadReply,
    LostWrite
};

struct PeerState {
    explicit PeerState(PeerBase& p) : peer(&p) {}

    PeerBase* peer;
    PeerState* next = nullptr;  // of all states of the engine
    PeerState* previous = nullptr;
    PeerState* next_working = nullptr;  // those with something to send and no reason to wait
    PeerState* previous_working = nullptr;
    bool working = false;
    bool blocked = false;  // the transport had no room; it will say when it has
    // An operation cannot be sent at once: others wait, or it has to complete after others.
    bool busy = false;

    // The sender (engine_sender.h): operations of this side.
    struct Sending {
        // In the order of posting. Those before `unsent` were sent and await something.
        List<Transmit> operations;
        Transmit* unsent = nullptr;
        StreamQueue streams;
        uint32_t large_reads = 0;  // sent and not finished
        uint32_t relayed = 0;      // accesses that the peer's engine was asked for and has not answered
        uint64_t quiet = 0;        // operations that are answered only when they fail
        // What the peer is made to keep (operation_budget.h).
        uint64_t asked_bytes = 0;  // that the peer has to copy for this side
        uint32_t announced = 0;    // messages of this side that the peer may have to keep, of may_announce
        uint32_t may_announce = kAnnouncementsFirst;
    } sending;

    // Answers to the peer that wait for room.
    ResponseQueue responses;

    // The receiver (receiver.h): messages of the peer.
    struct Receiving {
        // Without a receive: units of those that are here, and how many are announced.
        uint32_t unexpected_units = 0;
        uint32_t announcements = 0;
        uint32_t announcements_most = kAnnouncementsFirst;
        // With one, and being placed.
        List<Receive> arriving;
    } receiving;

    // Messages of collectives (collective_receives.h): units that may still be sent, those of messages that are kept
    // here without a receive, announcements that are, and units that are to be given back.
    struct Collective {
        uint32_t left = kCollectiveUnits;
        uint32_t kept = 0;
        uint32_t announced = 0;
        uint32_t owed = 0;
    } collective;

    // Of UnreadEntries: units of entries in the completion queue that the peer caused and the application has not read.
    uint32_t unread_units = 0;
    PeerState* next_unread = nullptr;
    PeerState* previous_unread = nullptr;

    StatRecord* stat = nullptr;  // what is counted of it (engine_counting.h)
    bool dropped = false;        // that was counted

    // The target of reads: the first ranges of the last few that it was granted to pull (engine_pull.h). Nothing tells
    // when it has: after so many questions it is held to have. A region that is closed ends what was granted before.
    struct Granting {
        static constexpr size_t kKept = 16;
        static constexpr uint32_t kQuestions = 1024;

        struct Grant {
            uint64_t epoch = 0;
            LocalRange range{};
        };
        Grant last[kKept];
        uint32_t next = 0;
        uint32_t questions = 0;  // left

        void add(uint64_t epoch, const LocalRange& range) {
            questions = kQuestions;
            if (has(epoch, range.address, range.length)) return;
            last[next++ % kKept] = {.epoch = epoch, .range = range};
        }
        bool has(uint64_t epoch, uint64_t address, uint64_t length) const {
            for (const Grant& grant : last) {
                if (grant.epoch == epoch && contains(grant.range, address, length)) return true;
            }
            return false;
        }
        // The peer is pulling these bytes.
        bool is_read(uint64_t epoch, uint64_t address, uint64_t length) {
            if (!has(epoch, address, length)) return false;
            questions = kQuestions;
            return true;
        }
        bool may_be_read() { return questions && questions--; }
    } granting;

    // The other end of these: what the peer granted for good.
    StandingGrants grants;

    // The frame that arrives in pieces, from Sink::begin to Sink::end (engine_arrivals.h).
    struct Placing {
        PlacementKind kind = PlacementKind::None;
        uint64_t id = 0;  // of the receive or the operation
        // Of a write: the regions that it is placed in. They are revoked before they go (engine_control.h).
        const MemoryRegion* regions[kRangesMax];
        size_t region_count = 0;
        std::byte* bounce = nullptr;  // malloc'ed, kFrameMax bytes

        bool uses(const MemoryRegion& region) const {
            return std::find(regions, regions + region_count, &region) != regions + region_count;
        }
    } placing;

    // The target of writes (engine_rma_target.h): an announced write of the peer. Its bytes follow in segments (`open`;
    // while it has failed they are ignored), or are pulled at once.
    struct Write {
        bool open = false;
        int error = 0;
        uint8_t frame_flags = 0;
        uint64_t reply_id = 0;
        uint64_t length = 0;
        uint64_t offset = 0;
        uint64_t data = 0;
        uint32_t target_count = 0;
        Target targets[kRangesMax];
    } write;
};

}  // namespace selvage::impl
