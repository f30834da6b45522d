// What waits in front of a socket: copied bytes in a ring, and frames ("held") whose payload is still read from the
// caller's memory, in the order of sending.
//
// Positions count the copied bytes since the buffer was cleared. A held payload stands between the copied bytes before
// and after position `at` (its header is copied). The ranges of all held payloads share one ring, so that a frame of
// kPiecesMax ranges costs no more room than several short ones: can_hold() is true only if any frame fits. No system
// calls, no lock: the caller's. A peer has a buffer only while something waits; it is memory of its own malloc block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "impl/base/rdma.h"
#include "impl/transport/tcp/knobs.h"

namespace selvage::impl::tcp {

// Ranges of held payloads; a power of two, as positions in it wrap.
inline constexpr uint32_t kRangeRing = 256;
static_assert(kRangeRing > kPiecesMax && std::has_single_bit(kRangeRing));

struct Held {
    void* token;
    uint64_t at;
    uint32_t first;  // range that the kernel has not taken in full, and the end of this payload's; modulo kRangeRing
    uint32_t end;
    std::byte* copy;  // malloc'ed: the payload is in here now
    uint64_t split;   // whose part it is (rails.h), or kNoSplit
};
inline constexpr uint64_t kNoSplit = UINT64_MAX;

inline bool overlaps(const iovec& range, const iovec* ranges, size_t count) {
    const auto from = reinterpret_cast<uintptr_t>(range.iov_base);
    return std::any_of(ranges, ranges + count, [&](const iovec& other) {
        const auto start = reinterpret_cast<uintptr_t>(other.iov_base);
        return from < start + other.iov_len && start < from + range.iov_len;
    });
}

// The ranges `first` to `end` in memory of malloc, one behind the other. nullptr: there is none.
template <typename RangeAt>
iovec copy_of_ranges(uint32_t first, uint32_t end, RangeAt range_at) {
    size_t size = 0;
    for (uint32_t k = first; k != end; ++k) size += range_at(k).iov_len;
    auto* const copy = static_cast<std::byte*>(malloc(size));
    if (!copy) return {};
    std::byte* at = copy;
    for (uint32_t k = first; k != end; at += range_at(k++).iov_len) {
        memcpy(at, range_at(k).iov_base, range_at(k).iov_len);
    }
    return {copy, size};
}

class SendBuffer {
public:
    // `ring_`, `held_` and `ranges_`, the largest parts, are left as they are.
    SendBuffer() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)

    bool empty() const { return head_ == tail_ && held_done_ == held_end_; }
    size_t bytes() const { return static_cast<size_t>(tail_ - head_); }
    size_t held_bytes() const { return held_bytes_; }
    size_t room() const { return kSendRing - bytes(); }
    // Any frame that an engine can build can be held.
    bool can_hold() const {
        return held_end_ - held_first_ < kHeldMax && kRangeRing - (range_end_ - range_first()) >= kPiecesMax;
    }

    void append(const void* data, size_t size) {
        const auto* from = static_cast<const std::byte*>(data);
        const size_t at = static_cast<size_t>(tail_ % kSendRing);
        const size_t straight = std::min(size, kSendRing - at);
        memcpy(ring_ + at, from, straight);
        if (size != straight) memcpy(ring_, from + straight, size - straight);
        tail_ += size;
    }

    // The payload that follows what was appended so far, but for its first `skip` bytes.
    // REQUIRES: can_hold(), count <= kPiecesMax, skip is less than the payload.
    void hold(const iovec* ranges, size_t count, void* token, size_t skip = 0, uint64_t split = kNoSplit) {
        Held& held = held_[held_end_++ % kHeldMax];
        held.token = token;
        held.at = tail_;
        held.copy = nullptr;
        held.split = split;
        held.first = range_end_;
        for (size_t i = 0; i < count; ++i) {
            const size_t gone = std::min(skip, ranges[i].iov_len);
            const size_t left = ranges[i].iov_len - gone;
            skip -= gone;
            if (!left) continue;
            range_at(range_end_++) = {static_cast<std::byte*>(ranges[i].iov_base) + gone, left};
            held_bytes_ += left;
        }
        held.end = range_end_;
    }

    // What is to be sent next, in at most `limit` pieces (at least two); *total is their size. A payload of more ranges
    // is gathered in parts.
    size_t gather(iovec* out, size_t limit, size_t* total) const {
        size_t count = 0;
        uint64_t at = head_;
        *total = 0;
        const auto add = [&](void* base, size_t size) {
            if (!size) return;
            out[count++] = {base, size};
            *total += size;
        };
        for (uint32_t i = held_done_; i != held_end_; ++i) {
            const Held& held = held_[i % kHeldMax];
            if (count + 2 > limit) return count;
            add_bytes(at, held.at, add);
            at = held.at;
            for (uint32_t k = held.first; k != held.end; ++k) {
                if (count == limit) return count;
                add(range_at(k).iov_base, range_at(k).iov_len);
            }
        }
        if (count + 2 <= limit) add_bytes(at, tail_, add);
        return count;
    }

    // The kernel took so much of what gather() gave.
    void advance(size_t taken) {
        for (; held_done_ != held_end_; ++held_done_) {
            Held& held = held_[held_done_ % kHeldMax];
            const size_t before = std::min<size_t>(taken, static_cast<size_t>(held.at - head_));
            head_ += before;
            taken -= before;
            if (head_ != held.at || !advance_held(held, &taken)) return;
            free(held.copy);
        }
        head_ += taken;
    }

    // Held payloads that are no longer needed, oldest first.
    bool pop_done(void** token) {
        if (held_first_ == held_done_) return false;
        *token = held_[held_first_++ % kHeldMax].token;
        return true;
    }
    // The newest held payload, if the kernel has all of it and it is the only one: then nothing was held after all.
    bool take_back() {
        if (held_end_ - held_first_ != 1 || held_done_ != held_end_) return false;
        held_first_ = held_done_;
        return true;
    }
    bool has_done() const { return held_first_ != held_done_; }
    bool any_held() const { return held_first_ != held_end_; }
    // A part of a split before that number is still read from where it was.
    bool holds_part_before(uint64_t split) const {
        for (uint32_t i = held_done_; i != held_end_; ++i) {
            if (held_[i % kHeldMax].split < split) return true;
        }
        return false;
    }
    // Held payloads without a token that lie in any of these ranges are copied, and the ranges are not read any more.
    // False when there is no memory for that: then a payload is missing, and nothing of this buffer may be sent.
    bool copy_sources(const iovec* ranges, size_t count) {
        bool whole = true;
        for (uint32_t i = held_done_; i != held_end_; ++i) {
            Held& held = held_[i % kHeldMax];
            if (held.token || held.copy || !overlaps(held, ranges, count) || copy_of(held)) continue;
            held.end = held.first;
            whole = false;
        }
        return whole;
    }
    // The peer is gone: every held payload counts as done.
    void abandon() {
        for (; held_done_ != held_end_; ++held_done_) free(held_[held_done_ % kHeldMax].copy);
        head_ = tail_;
        held_bytes_ = 0;
    }

private:
    iovec& range_at(uint32_t at) { return ranges_[at % kRangeRing]; }
    const iovec& range_at(uint32_t at) const { return ranges_[at % kRangeRing]; }
    // Ranges before this one are no longer read.
    uint32_t range_first() const { return held_done_ == held_end_ ? range_end_ : held_[held_done_ % kHeldMax].first; }

    template <typename Add>
    void add_bytes(uint64_t from, uint64_t to, Add& add) const {
        const size_t at = static_cast<size_t>(from % kSendRing);
        const size_t size = static_cast<size_t>(to - from);
        const size_t straight = std::min(size, kSendRing - at);
        add(const_cast<std::byte*>(ring_) + at, straight);
        add(const_cast<std::byte*>(ring_), size - straight);
    }

    bool overlaps(const Held& held, const iovec* ranges, size_t count) const {
        for (uint32_t k = held.first; k != held.end; ++k) {
            if (tcp::overlaps(range_at(k), ranges, count)) return true;
        }
        return false;
    }
    bool copy_of(Held& held) {
        const iovec whole = copy_of_ranges(held.first, held.end, [this](uint32_t k) { return range_at(k); });
        held.copy = static_cast<std::byte*>(whole.iov_base);
        if (!held.copy) return false;
        range_at(held.first) = whole;
        held.end = held.first + 1;
        return true;
    }

    bool advance_held(Held& held, size_t* taken) {
        while (held.first != held.end) {
            iovec& range = range_at(held.first);
            const size_t part = std::min(*taken, range.iov_len);
            range.iov_base = static_cast<std::byte*>(range.iov_base) + part;
            range.iov_len -= part;
            *taken -= part;
            held_bytes_ -= part;
            if (range.iov_len) return false;
            ++held.first;
        }
        return true;
    }

    uint64_t head_ = 0;
    uint64_t tail_ = 0;
    size_t held_bytes_ = 0;
    uint32_t held_first_ = 0;  // oldest that was not reported
    uint32_t held_done_ = 0;   // oldest that the kernel has not taken in full
    uint32_t held_end_ = 0;
    uint32_t range_end_ = 0;
    Held held_[kHeldMax];
    iovec ranges_[kRangeRing];
    std::byte ring_[kSendRing];
};

}  // namespace selvage::impl::tcp
