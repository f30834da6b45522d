// What the engines of two endpoints say to each other: the operations that a frame can be, and their fields.
//
// Numbers are in the byte order of the machine. An id names an operation of the side that gave it out (Pool::id) and is
// answered as it came; 0 names none. Everything that arrives is a claim of another process: a PayloadReader never reads
// beyond the payload, and what it returns is still to be compared with what this side knows.
//
//   operation         word 0      word 1        word 2       payload
//   Message           tag         data          reply id     the message
//   Tagged            tag         data          reply id     the message
//   ...Rts            tag         data          reply id     length (8), ranges of the sender's memory (aux of them);
//                                                            with kFrameExported one, and one that holds its key
//   Cts               reply id    receive id    bytes wanted -
//   Segment           receive id  offset        -            bytes of an announced message
//   Ack               reply id    error         -            -                  (of a message, a write, an atomic)
//   Write             reply id    address       key          [data (8)] [targets (aux)] bytes
//   WriteRts          reply id    length        sources      [data (8)] targets (aux), sources: ranges to be pulled
//   WriteSegment      reply id    offset        -            bytes of an announced write
//   Read              reply id    length        -            targets (aux)
//   ReadReply         reply id    offset        -            bytes
//   ReadGrant         reply id    epoch         -            ranges of the target's memory (aux), to be pulled; with
//                                                            kFrameStanding a StandingGrant
//   WriteGrant        reply id    epoch         -            a StandingGrant; it is the Ack of a write, too
//   Atomic            reply id    AtomicWord    -            targets (aux), operands, comparands
//   Credit            units       announcements units        -                  what more may be sent (window.h); units
//                                                            of collective messages (collective_receives.h)
//   Collective        tag         data          -            the message, of a member of a collective group
//   CollectiveRts     tag         data          reply id     as ...Rts
//   CollectiveAbort   group       operation     error        -                  from this operation on all have failed
//
// A Write with aux 0 has its one target in words 1 and 2. A write or atomic whose reply id is 0 is answered, with
// Ack, only when it failed.
#pragma once

#include "impl/base/rdma.h"
#include "impl/engine/frame.h"

namespace selvage::impl {

enum class FrameOp : uint8_t {
    Message = 1,
    Tagged,
    MessageRts,
    TaggedRts,
    Cts,
    Segment,
    Ack,
    Write,
    WriteRts,
    WriteSegment,
    Read,
    ReadReply,
    ReadGrant,
    Atomic,
    Credit,
    Collective,
    CollectiveRts,
    CollectiveAbort,
    WriteGrant,
};

// It says where its bytes can be pulled from.
constexpr bool is_announcement(FrameOp op) {
    return op == FrameOp::MessageRts || op == FrameOp::TaggedRts || op == FrameOp::CollectiveRts ||
           op == FrameOp::WriteRts || op == FrameOp::ReadGrant;
}

// Header::flags.
inline constexpr uint8_t kFrameHasData = 1;    // remote CQ data is there
inline constexpr uint8_t kFrameOnMatch = 2;    // reply when the message is matched, not when it arrived
inline constexpr uint8_t kFrameFetches = 4;    // an atomic whose results are wanted
inline constexpr uint8_t kFrameAtomic = 8;     // Ack with id 0: what failed was an atomic
inline constexpr uint8_t kFrameExported = 16;  // an announced message can be read by the receiver's device
// An announced message can be sent by the sender's device into memory that the receiver holds ready for it; a Cts:
// it does, and no Ack follows but with kFrameConfirm.
inline constexpr uint8_t kFrameDirect = 32;
inline constexpr uint8_t kFrameConfirm = 64;
// A Cts: the bytes that it wants are the first of the message, and another Cts follows, or an Ack.
inline constexpr uint8_t kFrameFirstBytes = 1;

// A ...Rts: units were spent on the message as on one that travels whole (window.h), so the receiver pulls it before
// there is a receive.
inline constexpr uint8_t kFrameCharged = 4;

// A Message or Tagged for which there were no units: it is charged to the announcements (window.h). It has at most
// kUnchargedMost bytes, and is answered when it is matched (kFrameOnMatch).
inline constexpr uint8_t kFrameUncharged = 8;
inline constexpr size_t kUnchargedMost = 256;

// A Read that is to be answered in frames: what was granted for it could not be pulled, or was taken back.
inline constexpr uint8_t kFrameInParts = 128;

// A Read, Write or WriteRts that asks for a grant of the whole region, and the ReadGrant that has one
// (standing_grants.h).
inline constexpr uint8_t kFrameStanding = 2;

// A Write, WriteRts or Atomic: durable before it is answered or reported (FI_COMMIT_COMPLETE).
inline constexpr uint8_t kFrameCommit = 128;

// Of a Ack: the target could not pull the sources of an announced write.
inline constexpr int kPullFailed = FI_EAGAIN;

// Part of the memory of the process that names it.
struct LocalRange {
    uint64_t address;
    uint64_t length;
};
// All of these bytes.
constexpr bool contains(const LocalRange& range, uint64_t address, uint64_t length) {
    return address >= range.address && length <= range.length && address - range.address <= range.length - length;
}
// Part of the registered memory of the process that it is sent to.
struct Target {
    uint64_t address;
    uint64_t length;
    uint64_t key;
};

// A region that may be accessed again, as targets name it, where it lies in the process that grants it, and how it may
// be accessed: FI_REMOTE_READ, FI_REMOTE_WRITE.
struct StandingGrant {
    uint64_t address;
    uint64_t length;
    uint64_t at;
    uint64_t access;

    constexpr bool covers(const Target& target) const {
        return contains({.address = address, .length = length}, target.address, target.length);
    }
};

// Why a peer is dropped whose frames make no sense.
inline constexpr int kBrokenProtocol = FI_ECONNABORTED;

inline constexpr size_t kRangesMax = 8;  // the iov limits that engine_attrs.cc promises
inline constexpr size_t kInjectMax = 4096;
// The longest part of a payload that is not the application's.
inline constexpr size_t kPrefixMax = sizeof(uint64_t) + kRangesMax * (sizeof(Target) + sizeof(LocalRange));

// Word 1 of a Atomic.
struct AtomicWord {
    uint8_t form;  // AtomicForm
    uint8_t type;  // fi_datatype
    uint8_t op;    // fi_op
    uint32_t count;

    uint64_t pack() const { return uint64_t{form} | uint64_t{type} << 8 | uint64_t{op} << 16 | uint64_t{count} << 32; }
    static AtomicWord unpack(uint64_t word) {
        return {.form = static_cast<uint8_t>(word),
                .type = static_cast<uint8_t>(word >> 8),
                .op = static_cast<uint8_t>(word >> 16),
                .count = static_cast<uint32_t>(word >> 32)};
    }
};

// Reads a payload from its beginning.
class PayloadReader {
public:
    PayloadReader(const std::byte* bytes, size_t size) : bytes_(bytes), left_(size) {}

    template <typename Value>
    bool take(Value* values, size_t count = 1) {
        if (left_ / sizeof(Value) < count) return false;
        if (count) memcpy(values, bytes_, count * sizeof(Value));
        bytes_ += count * sizeof(Value);
        left_ -= count * sizeof(Value);
        return true;
    }
    const std::byte* rest() const { return bytes_; }
    size_t left() const { return left_; }

private:
    const std::byte* bytes_;
    size_t left_;
};

// Writes the part of a payload that is not the application's; the room is known to suffice.
class PayloadWriter {
public:
    explicit PayloadWriter(std::byte* bytes) : begin_(bytes), end_(bytes) {}

    template <typename Value>
    void put(const Value& value) {
        memcpy(end_, &value, sizeof value);
        end_ += sizeof value;
    }
    size_t size() const { return static_cast<size_t>(end_ - begin_); }

private:
    std::byte* begin_;
    std::byte* end_;
};

// The lengths of ranges or targets together; false when they overflow.
template <typename Range>
bool sum_lengths(const Range* ranges, size_t count, uint64_t* total) {
    *total = 0;
    for (size_t i = 0; i < count; ++i) {
        if (__builtin_add_overflow(*total, ranges[i].length, total)) return false;
    }
    return true;
}

}  // namespace selvage::impl
