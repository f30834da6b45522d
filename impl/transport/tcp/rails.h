// Further connections to a peer by other links ("rails"), and the long frames that are split among them and the first.
//
// Only frames of kSplitMin and more, whose payload is held, are split, and only between endpoints that both have such
// links. The order of frames stays that of the first connection: a Split frame there says which parts of a payload
// follow on the first connection and which come by the rails. A rail carries nothing but parts, in the order of their
// Split frames, as one stream of bytes in each direction.
//
//   sender                                              receiver
//   split: Split frame, part 0      -- first -->        begins the frame: part 0 and the parts on the rails are read
//   parts 1..n                      -- rails -->        at once, each in its order; the next frame begins when this
//   forgets the split, token is back <-- first --       one is whole, and is answered: SplitAck, the number of splits
//
// Invariants:
//   1. What a Split frame says will come by a rail can be sent without anything from the receiver: a split is begun
//   only
//      while fewer than kSplitsMax are not answered. So the receiver of a split never waits for a sender that waits.
//   2. A payload stays in the sender's hands until the split is answered, so that a rail that broke goes on: who called
//      first calls again, by the first link, and each side says how many bytes of the stream it has (resume()). Nothing
//      is sent twice or left out. Of an answer to a read, which has no token, it is copied when its memory is taken
//      back (copy_sources). The first connection breaks as it always did: with the peer.
//      Who was called and has lost a rail cannot tell: that would stand on the first connection behind the frame for
//      whose parts the other end waits. So the caller asks when the parts of a frame do not come (RailCall::asks). What
//      it says to have is what it had when it began to ask: the call is given up when anything comes after all.
//   3. What a peer says is compared with what this side knows: sizes add up, the number is the next, a resumed stream
//      goes on within what was sent and not answered.
//
// models/rails.pml checks 1 and 2. Everything here is the owner's, with the endpoint's lock; no system calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "impl/engine/frame.h"
#include "impl/engine/transport.h"
#include "impl/transport/tcp/send_buffer.h"

namespace selvage::impl::tcp {

// Beside the first connection.
inline constexpr size_t kRailsMax = 3;
inline constexpr size_t kStreams = 1 + kRailsMax;
inline constexpr size_t kSplitMin = 64u << 10;
inline constexpr uint32_t kSplitsMax = 64;  // that are not answered; a power of two
inline constexpr size_t kSplitRanges = 8;   // a frame of more ranges is not split
// Parts are multiples of this, but for the last.
inline constexpr size_t kPartUnit = 4096;

// In Header::size of frames that are the transport's own, beside the bytes of payload: no frame of an engine is so long
// (net::read_frame), so that those are read without a look at this.
inline constexpr uint32_t kTransportFrame = 1u << 31;
// Header::op of these.
inline constexpr uint8_t kSplitOp = 1;     // payload: SplitHeader
inline constexpr uint8_t kSplitAckOp = 2;  // word 0: splits that are whole; 1, 2: SplitArrival::late, two in a word

// How long the payload of such a frame is.
inline size_t payload_of(const Header& header) { return header.size & ~kTransportFrame; }

struct SplitHeader {
    Header frame;  // the engine's
    uint32_t parts[kStreams];
    uint64_t number;
};
static_assert(sizeof(SplitHeader) == 56);

// Of a header that is none of an engine's frames.
inline bool is_transport_frame(const Header& header) {
    return (header.size & kTransportFrame) && payload_of(header) <= sizeof(SplitHeader);
}

// Bytes of a payload, or of room for one, that are to be moved in order.
struct Span {
    size_t offset = 0;
    size_t left = 0;
};

// The ranges of `size` bytes from `offset` on; returns how many.
inline size_t cut(const iovec* ranges, size_t count, size_t offset, size_t size, iovec* out) {
    size_t made = 0;
    for (size_t i = 0; i < count && size; ++i) {
        const size_t skip = std::min(offset, ranges[i].iov_len);
        offset -= skip;
        const size_t part = std::min(size, ranges[i].iov_len - skip);
        if (!part) continue;
        out[made++] = {static_cast<std::byte*>(ranges[i].iov_base) + skip, part};
        size -= part;
    }
    return made;
}

// A frame that was split and is not answered.
struct Split {
    void* token;
    std::byte* copy;  // malloc'ed: the payload is in here now
    uint32_t count;
    uint32_t parts[kStreams];
    iovec ranges[kSplitRanges];
};

// What one side sends by rails.
class SplitQueue {
public:
    SplitQueue() {}  // NOLINT(cppcoreguidelines-pro-type-member-init): splits_ is left as it is
    ~SplitQueue() {
        while (!empty()) remove_first();
    }
    SplitQueue(const SplitQueue&) = delete;
    SplitQueue& operator=(const SplitQueue&) = delete;

    bool full() const { return end_ - first_ == kSplitsMax; }
    bool empty() const { return end_ == first_; }
    uint64_t next_number() const { return end_; }
    // REQUIRES: !full(), count <= kSplitRanges, the parts sum up to the ranges.
    void add(const iovec* ranges, size_t count, void* token, const uint32_t (&parts)[kStreams]) {
        Split& split = splits_[end_++ % kSplitsMax];
        split.token = token;
        split.copy = nullptr;
        split.count = static_cast<uint32_t>(count);
        memcpy(split.ranges, ranges, count * sizeof *ranges);
        memcpy(split.parts, parts, sizeof parts);
        for (size_t i = 0; i < kRailsMax; ++i) streams_[i].end += parts[1 + i];
    }
    // Bytes that a rail was not given yet.
    uint64_t unsent(size_t rail) const { return streams_[rail].end - streams_[rail].sent; }
    // What the rail is to be given next, in at most `limit` ranges.
    size_t gather(size_t rail, iovec* out, size_t limit) const {
        const Stream& stream = streams_[rail];
        uint64_t at = stream.answered;
        size_t made = 0;
        for (uint64_t i = first_; i != end_ && made + kSplitRanges <= limit; ++i) {
            const Split& split = splits_[i % kSplitsMax];
            const uint32_t part = split.parts[1 + rail];
            const uint64_t skip = stream.sent > at ? std::min<uint64_t>(stream.sent - at, part) : 0;
            at += part;
            if (skip == part) continue;
            size_t offset = skip;
            for (size_t k = 0; k <= rail; ++k) offset += split.parts[k];
            made += cut(split.ranges, split.count, offset, part - skip, out + made);
        }
        return made;
    }
    void advance(size_t rail, size_t bytes) {
        Stream& stream = streams_[rail];
        stream.sent += bytes;
        stream.furthest = std::max(stream.furthest, stream.sent);
    }
    // The rail goes on behind `taken` bytes of its stream. False: that cannot be.
    bool resume(size_t rail, uint64_t taken) {
        Stream& stream = streams_[rail];
        if (taken < stream.answered || taken > stream.furthest) return false;
        stream.sent = taken;
        return true;
    }
    // Whether the receiver can have this many splits.
    bool may_be_answered(uint64_t count) const {
        if (count < first_ || count > end_) return false;
        uint64_t sent[kRailsMax];
        for (size_t i = 0; i < kRailsMax; ++i) sent[i] = streams_[i].answered;
        for (uint64_t k = first_; k != count; ++k) {
            for (size_t i = 0; i < kRailsMax; ++i) sent[i] += splits_[k % kSplitsMax].parts[1 + i];
        }
        for (size_t i = 0; i < kRailsMax; ++i) {
            if (sent[i] > streams_[i].furthest) return false;
        }
        return true;
    }
    // The oldest is answered, or will not be any more: its token. REQUIRES: !empty()
    void* remove_first() {
        const Split& split = splits_[first_++ % kSplitsMax];
        for (size_t i = 0; i < kRailsMax; ++i) {
            Stream& stream = streams_[i];
            stream.answered += split.parts[1 + i];
            // Who is answered after the rail went on behind less has more than was said (resume).
            stream.sent = std::max(stream.sent, stream.answered);
        }
        free(split.copy);
        return split.token;
    }
    // As SendBuffer::copy_sources.
    bool copy_sources(const iovec* ranges, size_t count) {
        bool whole = true;
        for (uint64_t i = first_; i != end_; ++i) {
            Split& split = splits_[i % kSplitsMax];
            if (split.token || split.copy) continue;
            const auto is_source = [&](const iovec& range) { return overlaps(range, ranges, count); };
            if (std::any_of(split.ranges, split.ranges + split.count, is_source)) whole &= copy_of(split);
        }
        return whole;
    }
    uint64_t answered() const { return first_; }

private:
    static bool copy_of(Split& split) {
        const iovec whole = copy_of_ranges(0, split.count, [&split](uint32_t i) { return split.ranges[i]; });
        split.copy = static_cast<std::byte*>(whole.iov_base);
        if (!split.copy) return false;
        split.ranges[0] = whole;
        split.count = 1;
        return true;
    }

    // Positions count the bytes of a rail's stream from its beginning.
    struct Stream {
        uint64_t answered = 0;  // before the first split of the queue
        uint64_t sent = 0;
        uint64_t furthest = 0;  // the most that was sent, before the rail went on behind fewer
        uint64_t end = 0;
    };
    uint64_t first_ = 0;  // splits are counted from the beginning, too
    uint64_t end_ = 0;
    Stream streams_[kRailsMax];
    Split splits_[kSplitsMax];
};

// What one side receives by rails: the frame that is being put together.
struct SplitArrival {
    bool active = false;
    bool discards = false;  // its memory was taken back
    Header frame{};
    Span parts[kStreams];
    uint64_t taken[kRailsMax] = {};  // bytes of the rails' streams
    uint64_t whole = 0;              // splits
    int64_t begun = 0;               // microseconds
    int64_t done[kStreams] = {};     // when the parts were there
    // Microseconds in all in which nothing but this rail's part was missing, less those in which nothing but the first
    // connection's was; modulo 2^32.
    uint32_t late[kRailsMax] = {};

    // False: no such frame can be.
    bool begin(const SplitHeader& split, const bool (&there)[kRailsMax], size_t payload_max, int64_t now) {
        uint64_t total = 0;
        for (size_t i = 0; i < kStreams; ++i) {
            if (split.parts[i] && i && !there[i - 1]) return false;
            parts[i] = {.offset = static_cast<size_t>(total), .left = split.parts[i]};
            total += split.parts[i];
        }
        if (total < kSplitMin || total != split.frame.size || total > payload_max || split.number != whole)
            return false;
        frame = split.frame;
        begun = now;
        std::fill(done, done + kStreams, now);
        active = true;
        discards = false;
        return true;
    }
    void advance(size_t stream, size_t bytes, int64_t now) {
        parts[stream].offset += bytes;
        parts[stream].left -= bytes;
        done[stream] = now;
        if (stream) taken[stream - 1] += bytes;
    }
    // REQUIRES: complete()
    void count_late() {
        size_t last = 0;
        for (size_t i = 1; i < kStreams; ++i) {
            if (done[i] > done[last]) last = i;
        }
        int64_t before = begun;
        for (size_t i = 0; i < kStreams; ++i) {
            if (i != last) before = std::max(before, done[i]);
        }
        const auto waited = static_cast<uint32_t>(std::max<int64_t>(done[last] - before, 0));
        if (last) late[last - 1] += waited;
        for (size_t i = 0; i < kRailsMax && !last; ++i) late[i] -= waited;
    }
    bool complete() const {
        return std::all_of(parts, parts + kStreams, [](const Span& part) { return part.left == 0; });
    }
};

// How much a rail is given. Nothing that it was given is taken back, and the frame waits for its last part: so a link
// that is slower than the first would make all slower. What the receiver says to have waited for a rail alone (late)
// bounds the bytes that it may have under way: from a little, doubled as long as nobody waits, then in steps. What the
// sender could measure says less: parts come before their frame's turn, and are acknowledged late as long as nobody
// reads them.
class RailWindow {
public:
    static constexpr uint64_t kLeast = 16u << 10;
    static constexpr uint64_t kStart = 128u << 10;
    static constexpr uint64_t kMost = 16u << 20;
    static constexpr int64_t kPeriod = 5'000;           // microseconds that an answer must have taken to say something
    static constexpr int64_t kPause = 10'000'000;       // a rail for which all wait though it has little is left alone,
    static constexpr int kStrikes = 4;                  // after so many times in a row, each time for twice as long,
    static constexpr int64_t kPauseMost = 32 * kPause;  // up to this

    static constexpr int64_t kVeryLate = 50'000;  // microseconds: it must begin anew

    uint64_t bytes() const { return bytes_; }
    // The rail would have been given more.
    void note_limited() { limited_ = true; }
    bool paused(int64_t now) const { return now < paused_until_; }
    // In `time` microseconds the receiver has waited `late` for this rail alone; less than none: for the first.
    void update(int64_t now, int64_t time, int64_t late) {
        if (late * 2 > time) {
            shrink(now, late);
        } else if (limited_) {
            // Bit by bit, but for as long as all wait for the first connection.
            const uint64_t more = late * 4 < -time ? (doubles_ ? bytes_ : bytes_ / 2) : kStart;
            bytes_ = std::min(kMost, bytes_ + more);
            limited_ = false;
        }
    }

private:
    void shrink(int64_t now, int64_t late) {
        strikes_ = bytes_ == kLeast ? strikes_ + 1 : 0;
        bytes_ = late > kVeryLate ? kLeast : std::max(kLeast, doubles_ ? bytes_ / 2 : bytes_ - bytes_ / 4);
        doubles_ = false;
        if (strikes_ < kStrikes) return;
        pause_ = std::min(2 * pause_, kPauseMost);
        paused_until_ = now + pause_;
        bytes_ = kStart;
        strikes_ = 0;
    }

    uint64_t bytes_ = kStart;
    bool doubles_ = true;
    bool limited_ = false;
    int strikes_ = 0;
    int64_t pause_ = kPause / 2;
    int64_t paused_until_ = 0;
};

// What is known of a stream before a payload is divided, in bytes.
struct StreamLoad {
    bool there = false;
    uint64_t waiting = 0;         // that the other end does not have
    uint64_t limit = UINT64_MAX;  // of these, with what is added

    // It has so much to do that what is to be sent next is better decided later.
    bool full() const { return waiting + kPartUnit > limit || waiting > kAhead; }
    static constexpr uint64_t kAhead = 4u << 20;
};

// How a payload is divided, so that all streams have as much under way, as far as they may. The parts are in *parts;
// false: all of it belongs on the first connection. REQUIRES: streams[0].there, without a limit.
inline bool divide(size_t size, const StreamLoad (&streams)[kStreams], uint32_t (&parts)[kStreams]) {
    std::fill(parts, parts + kStreams, 0u);
    for (size_t left = size; left;) {
        const size_t part = std::min(left, 4 * kPartUnit);
        size_t least = 0;
        for (size_t i = 1; i < kStreams; ++i) {
            const uint64_t waiting = streams[i].waiting + parts[i];
            if (!streams[i].there || waiting + part > streams[i].limit) continue;
            if (waiting < streams[least].waiting + parts[least]) least = i;
        }
        parts[least] += static_cast<uint32_t>(part);
        left -= part;
    }
    return parts[0] != size;
}

}  // namespace selvage::impl::tcp
