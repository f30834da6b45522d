// What an engine keeps for a peer, from the first operation that cannot be done at once until the peer is down.
#ifndef SELVAGE_IMPL_ENGINE_PEER_STATE_H
#define SELVAGE_IMPL_ENGINE_PEER_STATE_H

#include "impl/engine/operation.h"

namespace selvage::impl {

// Where the payload of the frame that arrives in pieces goes.
enum class LandingKind : uint8_t { kNone, kBounce, kMessage, kSegment, kWrite, kWriteSegment, kReadReply };

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

    // This side's operations in the order of posting. Those before `unsent` were sent and await something.
    List<Transmit> operations;
    Transmit* unsent = nullptr;
    uint32_t large_reads = 0;
    uint32_t relayed = 0;  // accesses that the peer's engine was asked for and has not answered
    uint64_t quiet = 0;    // operations that are answered only when they fail
    // Messages that the receiver cleared, to be sent in segments by turns.
    Transmit* streams = nullptr;
    Transmit** streams_end = &streams;

    // Answers to the peer.
    Response* responses = nullptr;
    Response** responses_end = &responses;
    uint32_t response_count = 0;

    // Messages of the peer without a receive: units of those that are here, and how many are announced.
    uint32_t kept_units = 0;
    uint32_t announcements = 0;

    // Messages of the peer that are being placed.
    List<Receive> arriving;

    // The announced message of the peer that it may write, if it takes it before this side comes to it.
    struct {
        Receive* receive = nullptr;
        uint64_t ticket = 0;
        size_t count = 0;
        LocalRange sources[kRangesMax];
    } offered;

    // Something to look at that no frame may tell of.
    bool copies() const { return offered.receive || write.ticket; }

    // A frame that arrives in pieces.
    LandingKind landing = LandingKind::kNone;
    uint64_t landing_id = 0;
    std::byte* bounce = nullptr;  // malloc'ed, kFrameMax bytes

    // An announced write of the peer. Its bytes follow in segments (`open`; while it has failed they are ignored), or
    // the peer writes the end of it (`ticket`).
    struct Write {
        bool open = false;
        bool spoiled = false;  // what was this side's could not be read
        bool counted = false;  // as one of ForeignWrites
        int error = 0;
        uint8_t frame_flags = 0;
        uint64_t reply_id = 0;
        uint64_t length = 0;
        uint64_t offset = 0;
        uint64_t data = 0;
        uint64_t ticket = 0;
        uint64_t source_count = 0;  // of the peer's memory, where it is pulled
        LocalRange sources[kRangesMax];
        uint32_t target_count = 0;
        Target targets[kRangesMax];
    } write;
};

}  // namespace selvage::impl

#endif
