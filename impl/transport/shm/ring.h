// The two ends of a ring (layout.h): Outbound publishes frames into the peer's region, Inbound takes them out of ours.
// The hot path; header only. Called with the endpoint's lock held.
//
// Ordering. The producer's stores to a line are ordered before its first word (release); the consumer loads the first
// word (acquire) before the rest. `consumed` goes the other way: the consumer has read a line before it gives it back
// (release), the producer sees that (acquire) before it writes there again. Whether the owner has to be woken for a
// frame takes a full fence as well: bell.h draws that, and every other protocol between the two processes.
#pragma once

#include <algorithm>

#include "impl/engine/transport.h"
#include "impl/transport/shm/copy.h"
#include "impl/transport/shm/far_copies.h"
#include "impl/transport/shm/frame_starts.h"
#include "impl/transport/shm/layout.h"
#include "impl/transport/shm/pull_choice.h"

namespace selvage::impl::shm {

inline constexpr size_t kInlineMax = kLine - sizeof(Header);  // payload beside the header, in its line
inline constexpr size_t kLinesMax = 128;                      // payload that is copied line by line
inline constexpr size_t kAlignedMin = 1024;
// Lines that are asked for (copy.h): with a frame of one, that of the frame behind the next. See ask_for_lines().
inline constexpr size_t kAskedAhead = 2;
inline constexpr size_t kAskedMin = 256;
inline constexpr size_t kAskedMost = 4 * 1024;
// Lines that only answers have (Frame::answer): a program whose own messages fill the ring has no reason to come again,
// and a peer that waits for the answer to its own would wait for ever. As many as a window of 64 has, with credits;
// what is beyond waits for room.
inline constexpr size_t kAnswerRoom = 96;
inline constexpr uint32_t kParityBit = uint32_t{1} << 31;
inline constexpr uint32_t kSizeMask = kParityBit - 1;

// Where the payload begins: beside the header, or, when it is large, in the line behind it: aligned, it is copied
// faster.
constexpr size_t payload_offset(size_t payload) { return payload < kAlignedMin ? sizeof(Header) : kLine; }

// Lines of a frame with so much payload.
constexpr size_t lines_of(size_t payload) { return (payload_offset(payload) + payload + kLine - 1) / kLine; }

// Bit 31 of the first word of a frame at this position: 1 in the first lap, as memory starts as zero.
constexpr uint32_t parity_at(uint64_t position) { return static_cast<uint32_t>(~(position >> kLapShift) & 1) << 31; }

constexpr size_t offset_at(uint64_t position) { return (position & (kRingLines - 1)) * kLine; }

inline std::atomic_ref<uint64_t> first_word(std::byte* line) {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(line));
}

// Asks for a line that will be stored to. A store in front of a string move would have to be done before it.
inline void take_line(std::byte* line) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

// The producer's end. Everything in it is private to the sender.
struct Outbound {
    std::byte* lines = nullptr;  // of the ring, mapped twice in a row; nullptr until connected
    uint64_t position = 0;       // where the next frame begins
    uint64_t limit = 0;          // lines below it may be written
    uint64_t answer_limit = 0;   // by answers, which may be beyond `limit`
    uint64_t allocated = 0;      // lines below it have memory; kWhole: all of the ring has
    uint64_t littered = 0;       // at positions below it, the lap before may have left payload
    RegionHeader* region = nullptr;
    uint64_t answered = 0;  // position when the consumer's last frame to this side came
    FrameStarts starts;     // kept up to date for lines below `littered` and behind a frame of several
    FarCopies far_copies;

    static constexpr uint64_t kWhole = UINT64_MAX;
    bool is_whole() const { return allocated == kWhole; }
    SlotControl& slot() const { return *reinterpret_cast<SlotControl*>(lines - kPage); }

    // Something was sent since the consumer's last frame: what is sent now is probably no answer, and what comes from
    // there is one.
    bool streams() const { return answered != position; }

    // One line beyond the frame is always kept free: the place whose first word may have to be cleared. Not connected,
    // there is none: limit and position are zero.
    bool has_room(size_t count) const { return position + count < limit; }
    bool has_room_for_answer() const { return position + 1 < answer_limit; }
    void leave_no_room() { limit = answer_limit = position; }

    // Sees what the consumer gave back. False when it claims what cannot be.
    bool refresh() {
        const uint64_t consumed = slot().consumed.load(std::memory_order_acquire);
        if (consumed > position || position - consumed > kRingLines) return false;
        limit = std::min(consumed + kRingLines - kAnswerRoom, allocated);
        answer_limit = std::min(consumed + kRingLines, allocated);
        return true;
    }

    // Room for a frame of one line, and nothing to be cleared behind it.
    bool clear_for_line() const { return position + 1 < limit && position + 1 >= littered; }
    // A frame of one line, clear_for_line(): `first` is its first word, without the parity.
    void publish_line(uint64_t first, uint64_t word0, uint64_t word1, uint64_t word2, const void* payload,
                      size_t size) {
        const uint64_t at = position;
        std::byte* line = lines + offset_at(at);
        if (kAsksForNextLines) take_line(line + kAskedAhead * kLine);
        auto* words = reinterpret_cast<uint64_t*>(line);
        words[1] = word0;
        words[2] = word1;
        words[3] = word2;
        copy_small(line + sizeof(Header), static_cast<const std::byte*>(payload), size);
        first_word(line).store(first | parity_at(at), std::memory_order_release);
        position = at + 1;
    }

    // A frame whose room was checked. The payload is copied.
    void publish(const Header& header, const iovec* payload, size_t count) {
        publish_as(header.size, header, header.size, payload, count);
    }
    // The same with a first word that gives another size than that of the payload (long_frame.h).
    void publish_as(uint32_t said, const Header& header, size_t size, const iovec* payload, size_t count) {
        std::byte* line = lines + offset_at(position);
        // Composed from its members, not loaded as one word: the engine has just stored them one by one, and a load
        // wider than the stores before it waits for them.
        const uint64_t first = (uint64_t{said} | parity_at(position)) | uint64_t{header.op} << 32 |
                               uint64_t{header.flags} << 40 | uint64_t{header.aux} << 48;
        // The line that the consumer polls comes last and in one go, and the next one is not touched without need: the
        // consumer takes a line away when it looks at it, and a store to it then waits for it again.
        uint64_t next = position + 1;
        if (size <= kInlineMax && count <= 1) [[likely]] {
            if (next < littered) [[unlikely]] {
                starts.put(position);
                clear(next);
            }
            put_words(line, header);
            if (size) copy_small(line + sizeof(Header), static_cast<const std::byte*>(payload->iov_base), size);
        } else {
            next = position + lines_of(size);
            littered = next + kRingLines;
            starts.put(position, next - position);
            if (kAsksForLines && size <= kAskedMost) ask_for_lines(next - position, size);
            if (count == 1 && size < kAlignedMin) {
                const auto* from = static_cast<const std::byte*>(payload->iov_base);
                put_behind(line + kLine, from + kInlineMax, size - kInlineMax);
                clear(next);
                put_words(line, header);
                copy_small(line + sizeof(Header), from, kInlineMax);
            } else {
                if (!starts.began(next)) take_line(lines + offset_at(next));
                gather(line + payload_offset(size), payload, count);
                clear(next);
                put_words(line, header);
            }
        }
        first_word(line).store(first, std::memory_order_release);
        position = next;
    }

    // What the owner says of frames with so much payload.
    bool goes_past_caches(size_t size) const {
        return size >= kPullMin && says_pull(slot().copies.load(std::memory_order_relaxed), size);
    }

private:
    // The place of the next frame, where payload lay.
    void clear(uint64_t next) {
        if (starts.began(next)) return;
        first_word(lines + offset_at(next)).store(parity_at(next) ^ kParityBit, std::memory_order_relaxed);
    }
    static void put_words(std::byte* line, const Header& header) {
        auto* words = reinterpret_cast<uint64_t*>(line);
        words[1] = header.word[0];
        words[2] = header.word[1];
        words[3] = header.word[2];
    }
    // What of a payload is not in the line of the header.
    static void put_behind(std::byte* to, const std::byte* from, size_t size) {
        if (size <= kLinesMax - kInlineMax) {
            copy_lines(to, from, size);
        } else {
            memcpy(to, from, size);
        }
    }
    // For a frame of so many lines: its own but the first, which its receiver looks at, unless its payload goes past
    // the caches; in a stream of shorter ones those of the frame behind the next, if that is as long.
    void ask_for_lines(uint64_t count, size_t size) {
        if (kAsksForNextLines && size < kAlignedMin && streams()) {
            if (position + 3 * count <= limit) take_lines(position + 2 * count, count);
        } else if (size >= kAskedMin && (size < kAlignedMin || streams()) && !passes_caches(size)) {
            take_lines(position + 1, count - 1);
        }
    }
    // By this side's measure or the owner's.
    bool passes_caches(size_t size) const { return far_copies.passes_caches(size) || goes_past_caches(size); }
    void take_lines(uint64_t at, uint64_t count) {
        std::byte* line = lines + offset_at(at);
        for (std::byte* const end = line + count * kLine; line != end; line += kLine) take_line(line);
    }
    // One alone begins at a line: it is long (publish_as).
    void gather(std::byte* to, const iovec* payload, size_t count) {
        if (count == 1) {
            const auto* from = static_cast<const std::byte*>(payload->iov_base);
            if (goes_past_caches(payload->iov_len)) return copy_past_caches(to, from, payload->iov_len);
            return far_copies.copy(to, from, payload->iov_len);
        }
        for (size_t i = 0; i < count; ++i) {
            if (!payload[i].iov_len) continue;
            copy_large(to, static_cast<const std::byte*>(payload[i].iov_base), payload[i].iov_len);
            to += payload[i].iov_len;
        }
    }
};

// So many lines behind this one will be needed.
inline void ask_for_lines(const std::byte* line, uint32_t count) {
    for (uint32_t i = 1; i <= count; ++i) __builtin_prefetch(line + i * kLine);
    asm volatile("" : : "r"(line));  // or else the compiler takes this for a function without effect
}

// In a stream of frames of one line: when so many were there, one after the other, the line of the one behind the next
// few is asked for. Sooner, it would be taken away from the producer who is about to fill it.
inline constexpr unsigned kStreamMin = 2;
inline constexpr size_t kStreamAhead = 4;

// What the owner takes the next frame of a ring for.
enum class RingPhase : uint8_t {
    Frames,
    Pieces,  // of a frame that is longer than one of the ring (long_frame.h)
    Broken,  // nothing in it counts any more
};

// The consumer's end. Everything in it is private to the owner of the region.
struct Inbound {
    std::byte* lines = nullptr;
    uint64_t position = 0;  // where the next frame begins
    uint64_t returned = 0;  // what of it was published to the producer
    uint32_t index = 0;     // of the slot
    uint32_t idle = 0;      // polls in a row that found nothing
    bool hot = false;       // polled by every progress
    RingPhase phase = RingPhase::Frames;
    uint32_t expected = 0;  // lines of the next frame that are asked for before it is there
    uint64_t measured = 0;  // position when the cost of a way was last looked at (pull_choice.h)

    SlotControl& slot() const { return *reinterpret_cast<SlotControl*>(lines - kPage); }

    static constexpr uint64_t kReturnLines = kRingLines / 4;

    // The first word of the next frame, if there is one.
    bool poll(uint64_t* first) const {
        *first = first_word(lines + offset_at(position)).load(std::memory_order_acquire);
        return ((*first ^ parity_at(position)) & kParityBit) == 0;
    }

    // While an answer is awaited: asks for the lines that it will probably have, and the one behind it, so that they
    // come together with its first. Asked for when the first is there, they come a transfer between caches later. Not
    // in a stream, where it would take lines away from the producer who is about to fill them.
    void await() const { ask_for_lines(lines + offset_at(position), expected); }

    void give_back() { give_back(position); }
    // The lines before `end`, when they are a quarter of the ring.
    void give_back(uint64_t end) {
        if (end - returned < kReturnLines) return;
        returned = end;
        slot().consumed.store(end, std::memory_order_release);
    }
};

// The lines behind the first that the next frame is expected to have, if it is like this one.
inline constexpr uint32_t kExpectedMax = 16;
constexpr uint32_t expected_lines(size_t payload) {
    return payload <= kInlineMax ? 0 : static_cast<uint32_t>(std::min<size_t>(lines_of(payload), kExpectedMax));
}

// For a branch that hands a header on: otherwise that would have to be in memory in every call.
inline Header copy_by_members(const Header& from) {
    return {.size = from.size,
            .op = from.op,
            .flags = from.flags,
            .aux = from.aux,
            .word = {from.word[0], from.word[1], from.word[2]}};
}

// A header as it was when it was looked at; the memory it came from may change under us.
inline Header copy_header(const std::byte* line, uint64_t first) {
    const auto* words = reinterpret_cast<const uint64_t*>(line);
    Header header;
    header.size = static_cast<uint32_t>(first) & kSizeMask;
    header.op = static_cast<uint8_t>(first >> 32);
    header.flags = static_cast<uint8_t>(first >> 40);
    header.aux = static_cast<uint16_t>(first >> 48);
    header.word[0] = words[1];
    header.word[1] = words[2];
    header.word[2] = words[3];
    return header;
}

}  // namespace selvage::impl::shm
