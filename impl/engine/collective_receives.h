// What an endpoint with FI_COLLECTIVE has beside its receive context: receives for messages of collectives, and
// messages that came before one. No receive of the application sees these, and nothing that it leaves unreceived is in
// their way.
//
// What a peer may make this side keep is bounded (window.h), apart from messages of the application: kCollectiveUnits
// of messages that travel whole, which the peer gets back as they meet their receives, and kCollectiveAnnouncements of
// those for which it had none left. A member sends little ahead: its operations of a group run one after another.
#pragma once

#include "impl/collective/collectives.h"
#include "impl/engine/match_queue.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {

// Blocks for messages that came before their receive, to be used again. An operation that is repeated keeps as many
// each time, and the C library would give what is free at the end of its heap back to the system, and fetch it page by
// page. At most 1 MiB of an endpoint.
class KeptBlocks {
public:
    KeptBlocks() = default;
    ~KeptBlocks() {
        while (count_) free(blocks_[--count_]);
    }
    KeptBlocks(const KeptBlocks&) = delete;
    KeptBlocks& operator=(const KeptBlocks&) = delete;

    // `size` bytes, or nullptr; free() may have them.
    void* take(size_t size) {
        if (!is_kept(size)) return malloc(size);
        return count_ ? blocks_[--count_] : malloc(kBytes);
    }
    // What take(size) gave.
    void give(void* block, size_t size) {
        if (block && is_kept(size) && count_ < kMost) {
            blocks_[count_++] = block;
        } else {
            free(block);
        }
    }

private:
    static constexpr size_t kBytes = 64u << 10;  // the longest message of a collective that travels whole
    static constexpr size_t kLeast = 32u << 10;  // of less there would be more than 1 KiB for a unit (window.h)
    static constexpr size_t kMost = 16;
    static constexpr bool is_kept(size_t size) { return size >= kLeast && size <= kBytes; }

    void* blocks_[kMost];
    size_t count_ = 0;
};

struct CollectiveReceives {
    CollectiveReceives(Endpoint& endpoint, MemberMessages& messages) : executor(endpoint, messages) {}

    Collectives executor;
    // What is not in the members' short queues (collective/member_messages.h).
    MatchQueue match;
    size_t posted = 0;  // receives that are in it
    Pool<Unexpected> unexpected;
    Pool<ShortMessage> short_messages;
    KeptBlocks blocks;
};

// The receive of a step, of the next message of a member. `range` is read where it is posted.
inline ReceiveRequest request_of(const iovec& range, const MemberAddress& member, uint64_t tag, MemberStep& step) {
    return {.ranges = &range,
            .count = 1,
            .tagged = true,
            .source = member.source,
            .tag = tag,
            .ignore = 0,
            .context = step.as_context(),
            .flags = FI_TRIGGER,
            .least = 0};
}

}  // namespace selvage::impl
