// See receiver.h and collective/member_messages.h: short messages of collectives, and the receives that wait for one.
// They are in a queue of the member that they are from, so that none is looked for and no record of a receive is made.
//
// Invariants, for the messages of one member of a group:
//   1. A message comes into the queue only where no message of a collective is kept elsewhere, so all that are kept
//      elsewhere came later.
//   2. A receive waits in the queue only where none is posted elsewhere, and is posted, too, before another one is. So
//      it gets the next message, however that comes.
//   3. A message in the queue has its unit of what the peer may send, until it meets its receive (window.h).
#include "impl/engine/collective_receives.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {

static_assert(units_of(ShortMessage::kBytesMost) == 1);

// True: it has met its receive, or is in the queue.
bool Receiver::short_arrived(const Arrival& message, const std::byte* payload, PeerBase& peer) {
    bool refuses;
    MemberAddress* member = collective_->executor.member_of(message.tag, &refuses);
    if (!member || message.length > ShortMessage::kBytesMost || member->source != current_address(peer)) return false;
    ShortQueue& queue = member->queue;
    if (MemberStep* step = queue.waiting) {
        if (message.length == step->size) copy_short(queue.bytes, payload, message.length);
        queue.waiting = nullptr;
        collective_taken(peer, message.length);
        step->arrived(message.data, message.length);
        return true;
    }
    auto& collective = static_cast<PeerState*>(peer.state)->collective;
    const bool here = !refuses && !collective_->posted && !collective_->match.keeps(true) &&
                      collective.kept < kCollectiveUnits && (!queue.first || queue.peer == &peer);
    ShortMessage* kept = here ? collective_->short_messages.take() : nullptr;
    if (!kept) return false;
    ++collective.kept;
    kept->data = message.data;
    kept->length = message.length;
    kept->next = nullptr;
    copy_short(kept->bytes, payload, message.length);
    (queue.first ? queue.last->next : queue.first) = kept;
    queue.last = kept;
    queue.peer = &peer;
    return true;
}

// It is in no queue any more.
void Receiver::short_left(MemberAddress& member, ShortMessage* message) {
    const uint64_t length = message->length;
    collective_->short_messages.give(message);
    if (!member.queue.peer) return;
    --static_cast<PeerState*>(member.queue.peer->state)->collective.kept;
    collective_taken(*member.queue.peer, length);
}

void Receiver::take_first_short(MemberAddress& member, void* bytes) {
    ShortMessage* message = member.queue.first;
    copy_short(bytes, message->bytes, message->length);
    member.queue.first = message->next;
    short_left(member, message);
}

bool Receiver::await_short(MemberAddress& member, void* bytes, size_t size, uint64_t tag, MemberStep& step) {
    if (member.queue.waiting) {
        post_waiting(member, tag);
        return false;
    }
    if (size > ShortMessage::kBytesMost || collective_->posted || collective_->match.keeps(true)) return false;
    member.queue.waiting = &step;
    member.queue.bytes = bytes;
    return true;
}

// The receive goes where a message of any length finds it.
void Receiver::post_waiting(MemberAddress& member, uint64_t tag) {
    MemberStep& step = *member.queue.waiting;
    member.queue.waiting = nullptr;
    const iovec range = {.iov_base = member.queue.bytes, .iov_len = step.size};
    const int error = post_collective(request_of(range, member, tag, step), false);
    if (error) step.ended(-error);
}

void Receiver::drop_short(MemberAddress& member, uint64_t group, uint32_t from_sequence, int error) {
    ShortQueue& queue = member.queue;
    PeerBase* const peer = queue.peer;
    ShortMessage** link = &queue.first;
    bool dropped = false;
    uint32_t sequence = 0;  // of the first that was dropped
    queue.last = nullptr;
    while (ShortMessage* message = *link) {
        if (Collectives::sequence_of(message->data) < from_sequence) {
            queue.last = message;
            link = &message->next;
            continue;
        }
        *link = message->next;
        if (!dropped) sequence = Collectives::sequence_of(message->data);
        dropped = true;
        short_left(member, message);
    }
    if (dropped && peer) abort_collective(*peer, group, sequence, error);
}

}  // namespace selvage::impl
