// What waits in front of a socket: copied bytes in a ring, and frames ("held") whose payload is still read from the
// caller's memory, in the order of sending.
//
// Positions count the copied bytes since the buffer was cleared. A held payload stands between the copied bytes before
// and after position `at` (its header is copied). No system calls, no lock: the caller's. A peer has a buffer only
// while something waits; it is memory of its own malloc block.
#ifndef SELVAGE_IMPL_TRANSPORT_TCP_SEND_BUFFER_H
#define SELVAGE_IMPL_TRANSPORT_TCP_SEND_BUFFER_H

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impl/core/rdma.h"
#include "impl/transport/tcp/knobs.h"

namespace selvage::impl::tcp {

inline constexpr size_t kHeldRanges = 20;  // more than any operation of the engine has

struct Held {
    void* token;
    uint64_t at;
    uint32_t first;  // range that the kernel has not taken in full
    uint32_t count;
    iovec ranges[kHeldRanges];
};

class SendBuffer {
public:
    // `ring_` and `held_`, the largest parts, are left as they are.
    SendBuffer() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)

    bool empty() const { return head_ == tail_ && held_done_ == held_end_; }
    size_t bytes() const { return static_cast<size_t>(tail_ - head_); }
    size_t held_bytes() const { return held_bytes_; }
    size_t room() const { return kSendRing - bytes(); }
    bool can_hold() const { return held_end_ - held_first_ < kHeldMax; }

    void append(const void* data, size_t size) {
        const auto* from = static_cast<const std::byte*>(data);
        const size_t at = static_cast<size_t>(tail_ % kSendRing);
        const size_t straight = std::min(size, kSendRing - at);
        memcpy(ring_ + at, from, straight);
        if (size != straight) memcpy(ring_, from + straight, size - straight);
        tail_ += size;
    }

    // The payload that follows what was appended so far. can_hold(), count <= kHeldRanges.
    void hold(const iovec* ranges, size_t count, void* token) {
        Held& held = held_[held_end_++ % kHeldMax];
        held.token = token;
        held.at = tail_;
        held.first = 0;
        held.count = static_cast<uint32_t>(count);
        memcpy(held.ranges, ranges, count * sizeof *ranges);
        for (size_t i = 0; i < count; ++i) held_bytes_ += ranges[i].iov_len;
    }

    // What is to be sent next, in at most `limit` pieces; *total is their size.
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
            if (count + 2 + (held.count - held.first) > limit) return count;
            add_bytes(at, held.at, add);
            at = held.at;
            for (uint32_t k = held.first; k < held.count; ++k) add(held.ranges[k].iov_base, held.ranges[k].iov_len);
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
    // The peer is gone: every held payload counts as done.
    void abandon() {
        head_ = tail_;
        held_done_ = held_end_;
        held_bytes_ = 0;
    }

private:
    template <typename Add>
    void add_bytes(uint64_t from, uint64_t to, Add& add) const {
        const size_t at = static_cast<size_t>(from % kSendRing);
        const size_t size = static_cast<size_t>(to - from);
        const size_t straight = std::min(size, kSendRing - at);
        add(const_cast<std::byte*>(ring_) + at, straight);
        add(const_cast<std::byte*>(ring_), size - straight);
    }

    bool advance_held(Held& held, size_t* taken) {
        while (held.first < held.count) {
            iovec& range = held.ranges[held.first];
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
    Held held_[kHeldMax];
    std::byte ring_[kSendRing];
};

}  // namespace selvage::impl::tcp

#endif
