// Transfers of one peer that are pulled by one call (EnginePull::gather). A call of the kernel costs more than the copy
// of some thousand bytes, and so does the proof behind it that it was the peer's memory (transport.h, pull): transfers
// that were announced one right behind the other share both.
//
// Only within a progress: nothing is kept here when it returns. What is named is looked up again when it was copied, as
// a peer can go down meanwhile. Private to the engine. Called with the endpoint's lock held.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "impl/engine/protocol.h"

namespace selvage::impl {

// One of them, from one range to one range of the same length.
struct PendingPull {
    enum class Kind : uint8_t { Message, Write, Read };

    Kind kind = Kind::Message;
    uint8_t frame_flags = 0;  // of a write: those of its announcement
    LocalRange source{};      // the peer's
    iovec destination{};
    uint64_t id = 0;     // of the receive or the operation; of a write, what its answer names
    uint64_t epoch = 0;  // of a read: of the grant
    uint64_t data = 0;   // of a write, and its only target
    Target target{};
};

class PullBatch {
public:
    static constexpr size_t kMost = 16;
    static constexpr uint64_t kBytesMost = 512 * 1024;
    // Longer ones take so long that a call more makes no difference.
    static constexpr uint64_t kEachMost = 128 * 1024;

    PullBatch() = default;
    // What is there, and not all that could be.
    PullBatch(const PullBatch& other) : peer_(other.peer_), count_(other.count_), bytes_(other.bytes_) {
        std::copy_n(other.pulls_, count_, pulls_);
    }
    PullBatch& operator=(const PullBatch&) = delete;

    bool is_empty() const { return !count_; }
    size_t size() const { return count_; }
    uint64_t bytes() const { return bytes_; }
    PeerBase& peer() const { return *peer_; }
    const PendingPull* begin() const { return pulls_; }
    const PendingPull* end() const { return pulls_ + count_; }

    bool has_room(const PeerBase& peer, uint64_t length) const {
        return !count_ || (&peer == peer_ && count_ < kMost && length <= kBytesMost - bytes_);
    }
    // REQUIRES: has_room().
    void add(PeerBase& peer, const PendingPull& pull) {
        peer_ = &peer;
        pulls_[count_++] = pull;
        bytes_ += pull.source.length;
    }
    void clear() {
        count_ = 0;
        bytes_ = 0;
    }

private:
    PeerBase* peer_ = nullptr;
    size_t count_ = 0;
    uint64_t bytes_ = 0;
    PendingPull pulls_[kMost];
};

}  // namespace selvage::impl
