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

struct CollectiveReceives {
    CollectiveReceives(Endpoint& endpoint, MemberMessages& messages) : executor(endpoint, messages) {}

    Collectives executor;
    // What is not in the members' short queues (collective/member_messages.h).
    MatchQueue match;
    size_t posted = 0;  // receives that are in it
    Pool<Unexpected> unexpected;
    Pool<ShortMessage> short_messages;
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
