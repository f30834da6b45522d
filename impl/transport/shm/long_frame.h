// Frames that are longer than a piece of the ring, at both of its ends: how far they are.
//
// In the ring such a frame is its header, alone, with its size as it is; then its payload in pieces, each a frame of
// the ring with kPieceBit beside its size and no other header. Nothing else comes from that sender until its last piece
// is published: Outbound has no room for anybody else meanwhile (models/long.pml). So both kinds are seen by a size
// beyond kFrameMax, and a frame that is no part of one costs nothing.
//
// A frame of kSplitMin and more that answers its receiver, who waits for it, comes so, too, in two halves: the receiver
// copies the first out of the ring while the sender copies the second into it. Its header has kSplitBit beside the
// size, and both halves are published in the same call.
//
// The sender reads the payload until its last piece is published; the receiver puts it where its engine says, and has
// it there when the last piece has come, whether a receive is posted or not.
#pragma once

#include <algorithm>

#include "impl/engine/memory.h"
#include "impl/engine/transport.h"
#include "impl/transport/shm/ring.h"

namespace selvage::impl::shm {

inline constexpr uint32_t kPieceBit = uint32_t{1} << 30;
inline constexpr uint32_t kSplitBit = uint32_t{1} << 29;
inline constexpr size_t kSplitMin = 8 * 1024;

// Bytes of the first half, whole lines.
constexpr uint32_t split_half(uint32_t size) { return static_cast<uint32_t>((size / 2 + kLine - 1) / kLine * kLine); }
// Lines of both halves and their header.
constexpr size_t split_lines(uint32_t size) {
    return 1 + lines_of(split_half(size)) + lines_of(size - split_half(size));
}

// The sender's end: a frame that is not wholly in the ring.
struct LongOutbound {
    bool active = false;
    uint32_t size = 0;
    uint32_t offset = 0;  // bytes published
    void* token = nullptr;
    size_t count = 0;
    iovec payload[kRangesMax];

    void begin(const Frame& frame) {
        active = true;
        size = frame.header.size;
        offset = 0;
        token = frame.token;
        count = frame.count;
        std::copy_n(frame.payload, count, payload);
    }
};

// The receiver's end: a frame that has not wholly come.
struct LongInbound {
    bool active = false;
    bool discards = false;  // what still comes is stored nowhere
    uint32_t offset = 0;    // bytes that have come
    Header header;
    Placement placement;

    void begin(const Header& begun) {
        active = true;
        discards = false;
        offset = 0;
        header = begun;
    }
    // False: it does not fit.
    bool put(const std::byte* bytes, uint32_t size) {
        if (!active || !size || size > header.size - offset) return false;
        if (!discards) scatter(placement.ranges, placement.count, offset, bytes, size);
        offset += size;
        active = offset < header.size;
        return true;
    }
};

}  // namespace selvage::impl::shm
