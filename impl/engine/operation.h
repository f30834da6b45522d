// The records of operations under way. Each is taken from a pool when the operation outlives its call and given back
// when its completion has been written.
#pragma once

#include <cassert>
#include <cstdlib>
#include <cstring>

#include "impl/engine/pool.h"
#include "impl/engine/protocol.h"
#include "impl/engine/transport.h"

namespace selvage::impl {

class Receiver;
struct HmemReceive;
struct PeerState;
struct Staging;

// A message, as its first frame tells it.
struct Arrival {
    bool tagged = false;
    uint8_t frame_flags = 0;
    uint64_t tag = 0;
    uint64_t data = 0;
    uint64_t reply_id = 0;
    uint64_t length = 0;
    fi_addr_t from = FI_ADDR_NOTAVAIL;  // once somebody asked for it
};

// It is announced, and has its units.
inline bool is_charged(const Arrival& message) { return message.frame_flags & kFrameCharged; }
// It came whole, and has none.
inline bool is_uncharged(const Arrival& message) { return message.frame_flags & kFrameUncharged; }
// It came so, and cannot have.
inline bool is_broken(const Arrival& message) {
    return is_uncharged(message) &&
           (!(message.frame_flags & kFrameOnMatch) || !message.reply_id || message.length > kUnchargedMost);
}

// What an operation of this side is, and where it stands. Initialised as a whole when it begins.
struct TransmitState {
    enum class Kind : uint8_t { Message, Tagged, Write, Read, Atomic, Collective };
    // How its bytes travel.
    enum class Way : uint8_t {
        Whole,     // in one frame
        Rts,       // the peer pulls them, or clears them
        Segments,  // announced, and the segments follow at once (writes)
        Direct,    // the device does it
    };
    enum class Stage : uint8_t {
        Queued,     // nothing of it was sent
        Started,    // Segments: the announcement was sent, the segments not all
        Awaiting,   // sent; the peer, or the device, is to answer
        Streaming,  // a message that the peer cleared: in the StreamQueue until its segments are sent
        Answered,   // no answer is to come, or it came; the transport may still read the payload of held frames
        Finished,   // complete; kept only to complete in order
    };
    // All the ways from one stage to another. One that fails is answered from any stage before.
    static constexpr bool may_follow(Stage from, Stage to) {
        switch (from) {
            case Stage::Queued:
                return to == Stage::Started || to == Stage::Awaiting || to == Stage::Answered;
            case Stage::Started:
                return to == Stage::Awaiting || to == Stage::Answered;
            case Stage::Awaiting:  // back: the peer could not pull a write
                return to == Stage::Queued || to == Stage::Streaming || to == Stage::Answered;
            case Stage::Streaming:
                return to == Stage::Awaiting;
            case Stage::Answered:
                return to == Stage::Finished;
            case Stage::Finished:
                return false;
        }
        return false;
    }
    void enter(Stage to) {
        assert(may_follow(stage, to));
        stage = to;
    }
    // Every frame of it was handed to the transport, or none will be any more.
    bool is_sent() const { return stage >= Stage::Awaiting; }
    // Something of it was sent, and its answer is not here.
    bool is_under_way() const { return stage >= Stage::Started && stage <= Stage::Streaming; }
    bool is_finished() const { return stage == Stage::Finished; }
    // Its source may be pulled, as far as that was offered.
    bool is_offered() const { return way == Way::Rts && stage == Stage::Awaiting; }

    Kind kind = {};
    Way way = {};
    Stage stage = {};
    // What it is, whatever its stage.
    bool expects_answer = false;  // the peer, or the device, is to answer it
    bool fetches = false;         // an atomic with results
    bool large = false;           // a read that later writes have to wait for
    bool direct = false;          // the device may do it, where it reaches the peer
    bool first_bytes = false;     // what the peer cleared is the beginning: it clears all, or answers, later
    bool relayed = false;         // an access that the peer's engine does: counted in PeerState
    bool measured = false;        // a write whose answer tells what asking costs (PullsMemory::came_written)
    uint32_t held = 0;            // frames whose payload the transport still reads
    // While it is under way: bytes of the answer that the peer has to copy, or 1 for an announcement.
    uint32_t asked = 0;
    int error = 0;
    PeerState* peer = nullptr;
    uint64_t flags = 0;  // of the call; FI_COMPLETION when an entry is to be written
    void* context = nullptr;

    void begin(Kind what, PeerState* to, uint64_t call_flags, void* call_context) {
        *this = {};
        kind = what;
        peer = to;
        flags = call_flags;
        context = call_context;
    }
};

// How far the bytes of an operation are, apart from one that is sent in one frame when it begins. Initialised as a
// whole, too.
struct TransmitBytes {
    uint64_t length = 0;
    uint64_t offset = 0;  // bytes sent (segments) or received (read)
    uint64_t wanted = 0;  // bytes that the receiver cleared
    uint64_t receive_id = 0;
    uint64_t mark = 0;         // of an announced write: frames sent to the peer, it among them (engine_pull.h)
    LongRange source = {};     // with kFrameExported or kFrameDirect
    uint32_t range_count = 0;  // the application's source, or the destination of a read
    uint32_t compare_count = 0;
    uint32_t result_count = 0;
    uint32_t prefix_size = 0;
};

// An operation that this side started: a send, a write, a read or an atomic. Of its own members nothing is initialised:
// the counts above and `direct` say what of them is there.
struct Transmit : TransmitState, TransmitBytes {
    Transmit* next;
    Transmit* previous;  // in PeerState::sending, in the order of posting
    uint32_t index;
    uint32_t generation;
    Transmit* next_stream;  // in the StreamQueue, with Streaming
    Header header;          // of its first frame, from the time that it is posted
    iovec ranges[kRangesMax];
    iovec compare[kRangesMax];
    iovec results[kRangesMax];
    std::byte prefix[kPrefixMax];
    // With `direct`.
    struct {
        DeviceAccess::Kind kind;
        Target target;
        uint64_t operand;
        uint64_t compare;
        uint32_t data;
        bool has_data;
        bool named;
        const MemoryRegion* regions[kRangesMax];
    } device;
    Staging* staging;  // of an endpoint with FI_HMEM: the copy that travels, or nullptr

    void begin_bytes(uint64_t size) {
        static_cast<TransmitBytes&>(*this) = {};
        length = size;
    }
};

// Receive::flags: some of its memory is a device's. No flag of an operation is this bit, and one test distinguishes a
// plain receive from others.
inline constexpr uint64_t kOnHmem = FI_REMOTE_WRITE;

// The same: it fills a buffer of the library with a message that is to be notified (buffered_receives.h).
inline constexpr uint64_t kForBuffer = FI_REMOTE_READ;

// A posted receive, or a message that is being placed into a multi-receive buffer, or into one of the library's.
struct Receive {
    Receive* next;
    Receive* previous;  // in a list of the match queue, later in PeerState::receiving
    uint32_t index;
    uint32_t generation;
    uint64_t sequence;
    uint64_t tag;
    uint64_t ignore;
    fi_addr_t source;  // wanted, or FI_ADDR_UNSPEC
    void* context;
    // FI_COMPLETION, FI_MULTI_RECV, FI_CLAIM, FI_TRIGGER (internal_operation.h), FI_COLLECTIVE, kOnHmem, kForBuffer
    uint64_t flags;
    bool tagged;
    bool posted;        // in the match queue
    bool released;      // a multi-receive buffer that is used up and waits for the messages arriving in it
    bool finished;      // complete; kept only to complete in order
    bool cleared;       // its segments may come
    bool fetched;       // the device reads it
    bool placement;     // the peer's device may send it
    uint32_t arriving;  // messages on their way into a multi-receive buffer
    uint32_t range_count;
    size_t capacity;
    iovec ranges[kRangesMax];
    const void* region;  // fi_mr_desc of the only range, where the application has to name it
    size_t used;         // of a multi-receive buffer
    size_t least;        // room at which a multi-receive buffer is given back
    Receive* parent;     // the multi-receive buffer
    // From the match on.
    Receive* next_in_order;  // FI_ORDER_STRICT
    Receiver* owner;
    PeerState* peer;
    int error;
    Arrival message;
    uint64_t wanted;    // bytes that will be placed
    uint64_t received;  // bytes placed
    HmemReceive* hmem;  // with kOnHmem; malloc'ed
};

// A message that arrived before a receive for it was posted, or one that is received in a buffer of the library's.
struct Unexpected {
    static constexpr size_t kInline = kUnchargedMost;
    // Where it is, with buffered receives (buffered_receives.h).
    enum class Buffering : uint8_t {
        None,      // it waits for a receive, or is claimed
        Queued,    // to be notified: earlier messages are before it, or the budget is used up
        Filling,   // the same; its bytes are on their way
        Notified,  // the application has been notified, and is to claim or discard it
    };

    Unexpected* next;
    Unexpected* previous;  // in arrival order, with or without tags
    Unexpected* next_in_bucket;
    Unexpected* previous_in_bucket;
    uint32_t index;
    uint32_t generation;
    bool announced;  // only the announcement is here
    bool claimed;    // by FI_PEEK | FI_CLAIM, or with buffering: kept for one receive
    bool fetched;    // announced, and its bytes are in `heap`: all of them, and the sender was answered
    Buffering buffering;
    uint16_t range_count;  // of the sender's memory, in `ranges`
    int error;             // of a claimed message whose sender died before it could be fetched
    Receiver* owner;
    PeerBase* peer;  // nullptr once it is down
    Arrival message;
    std::byte* heap;         // the payload, when it is longer than kInline; with buffering what of it was fetched
    size_t budget;           // bytes in `heap` that count in BufferedReceives::used
    fi_recv_context notice;  // what names it to the application, once it is Notified
    union {
        std::byte bytes[kInline];
        LocalRange ranges[kRangesMax];
    };

    const std::byte* payload() const { return heap ? heap : bytes; }
    // The whole message comes with it. False: memory is short.
    bool copy_payload(const std::byte* from) {
        return copy_payload(from, [](size_t size) { return malloc(size); });
    }
    // The same; memory for a long one is what allocate(bytes) gives.
    template <typename Allocate>
    bool copy_payload(const std::byte* from, Allocate allocate) {
        if (message.length > kInline) {
            heap = static_cast<std::byte*>(allocate(message.length));
            if (!heap) return false;
        }
        if (message.length) memcpy(heap ? heap : bytes, from, message.length);
        return true;
    }
};

// Something that has to be said to a peer in answer, and could not be sent at once.
struct Response {
    Response* next;
    uint32_t index;
    uint32_t generation;
    Header header;
    uint64_t length;  // of the payload, over all its frames
    uint64_t offset;
    uint32_t range_count;
    bool streams;  // ReadReply: word 1 counts the bytes on
    void* owned;   // malloc'ed, holds the payload; or, with `streams`, the targets
    // With `streams` the payload is registered memory: resolved again for each frame.
    uint32_t target_count;
    // Bytes of the payload that are kept for it.
    uint64_t copied() const { return owned && !streams ? header.size : 0; }
    const Target* targets() const { return static_cast<const Target*>(owned); }
};

}  // namespace selvage::impl
