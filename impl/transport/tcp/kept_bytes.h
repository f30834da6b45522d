// The bytes that a first connection was given and that the other end may not have, in case another connection has to go
// on with them (take_over.h): copies in a ring, as the memory that they came from is the caller's again.
//
// Positions count the bytes of the stream from where both ends began to count. Invariants:
//   1. oldest <= next <= end <= oldest + kRoom. What lies between next and end is to be sent again, before anything
//   else.
//   2. Nothing is forgotten but what the other end has for certain (TcpTransport::forget_acknowledged).
// No system calls, no lock: the caller's, who holds the transport's guard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "impl/base/rdma.h"

namespace selvage::impl::tcp {

class KeptBytes {
public:
    static constexpr size_t kRoom = 4u << 20;  // as much as Linux lets a socket hold unless it is set otherwise

    KeptBytes() = default;
    ~KeptBytes() { free(ring_); }
    KeptBytes(const KeptBytes&) = delete;
    KeptBytes& operator=(const KeptBytes&) = delete;

    // False: there is no memory. May be called again.
    bool allocate() {
        if (!ring_) ring_ = static_cast<std::byte*>(malloc(kRoom));
        return ring_;
    }
    // Begins behind the next `before` bytes that are sent. REQUIRES: allocate() was true
    void open(size_t before) {
        before_ = before;
        open_ = true;
    }
    // The place where the stream begins has been sent.
    bool begun() const { return open_ && !before_; }
    size_t room() const { return before_ ? before_ : kRoom - static_cast<size_t>(end_ - oldest_); }
    bool empty() const { return end_ == oldest_; }
    uint64_t next() const { return next_; }
    size_t unsent() const { return static_cast<size_t>(end_ - next_); }

    // The kernel has taken the first `size` bytes of these. REQUIRES: size <= room(), !unsent()
    void add(const iovec* pieces, size_t size) {
        for (; size; ++pieces) {
            const size_t part = std::min(size, pieces->iov_len);
            append(static_cast<const std::byte*>(pieces->iov_base), part);
            size -= part;
        }
        next_ = end_;
    }
    // What is to be sent again next; returns how many pieces.
    size_t gather(iovec (&out)[2]) const {
        const size_t at = static_cast<size_t>(next_ % kRoom);
        const size_t straight = std::min(unsent(), kRoom - at);
        out[0] = {ring_ + at, straight};
        out[1] = {ring_, unsent() - straight};
        return out[1].iov_len ? 2 : straight ? 1 : 0;
    }
    void advance(size_t sent) { next_ += sent; }
    // All but the last `waiting` bytes of those that were sent have arrived.
    void forget(uint64_t waiting) {
        if (waiting < next_ - oldest_) oldest_ = next_ - waiting;
    }
    // The other end has everything before `position`. False: that cannot be, or what follows is not here any more.
    bool go_on(uint64_t position) {
        if (position < oldest_ || position > end_) return false;
        next_ = position;
        return true;
    }

private:
    void append(const std::byte* from, size_t size) {
        const size_t skipped = std::min(before_, size);
        before_ -= skipped;
        from += skipped;
        size -= skipped;
        const size_t at = static_cast<size_t>(end_ % kRoom);
        const size_t straight = std::min(size, kRoom - at);
        if (straight) memcpy(ring_ + at, from, straight);
        if (size != straight) memcpy(ring_, from + straight, size - straight);
        end_ += size;
    }

    std::byte* ring_ = nullptr;
    bool open_ = false;
    size_t before_ = 0;
    uint64_t oldest_ = 0;
    uint64_t next_ = 0;
    uint64_t end_ = 0;
};

}  // namespace selvage::impl::tcp
