// See buffered_receives.h: messages are notified, and the bytes for that are fetched.
#include "impl/engine/memory.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {
namespace {

using Buffering = Unexpected::Buffering;

// Where a notice points when nothing of the message is here.
std::byte nothing_yet[1];

void* first_bytes_of(Unexpected& message) {
    if (message.heap) return message.heap;
    return message.announced ? nothing_yet : message.bytes;
}

}  // namespace

void notify_buffered(ReceiveContext& context) {
    const BufferedReceives& buffered = context.buffered;
    while (Unexpected* first = buffered.queue.first()) {
        if (buffered.is_ready(*first)) {
            first->owner->notify(first);
        } else if (first->buffering == Buffering::Filling || !first->owner->fill(first)) {
            return;
        }
    }
}

void Receiver::buffer(Unexpected* message, Receive* receive) {
    message->claimed = true;
    message->buffering = Buffering::Queued;
    message->notice = receive ? fi_recv_context{.ep = nullptr, .context = receive->context}
                              : fi_recv_context{.ep = descriptor_, .context = nullptr};
    if (receive) {
        if (receive->posted) context_->match.unpost(receive);
        context_->give(receive);
    }
    context_->buffered.queue.append(message);
    notify_buffered(*context_);
}

void Receiver::notify(Unexpected* message) {
    BufferedReceives& buffered = context_->buffered;
    buffered.queue.remove(message);
    message->buffering = Buffering::Notified;
    const uint64_t length = message->message.length;
    report(message->message, &message->notice, FI_COMPLETION | (buffered.is_longer(length) ? FI_MORE : 0),
           first_bytes_of(*message), length, 0, message->peer);
}

bool Receiver::fill(Unexpected* message) {
    BufferedReceives& buffered = context_->buffered;
    const size_t size = buffered.needed(message->message.length);
    if (!buffered.fits(size)) return false;
    PeerState* state = state_of(*message->peer);
    Receive* receive = state ? context_->receives.take() : nullptr;
    auto* bytes = receive ? static_cast<std::byte*>(malloc(size)) : nullptr;
    if (!bytes) {
        if (receive) context_->receives.give(receive);
        buffering_failed(message, FI_ENOMEM);
        return true;
    }
    ++context_->posted;
    receive->context = reinterpret_cast<void*>(Pool<Unexpected>::id(message));
    receive->flags = kForBuffer;
    receive->tagged = message->message.tagged;
    receive->posted = receive->released = false;
    receive->arriving = 0;
    receive->range_count = 1;
    receive->ranges[0] = range_of(bytes, size);
    receive->capacity = size;
    receive->parent = nullptr;
    receive->region = nullptr;
    message->heap = bytes;
    message->budget = size;
    buffered.used += size;
    message->buffering = Buffering::Filling;
    bool open;
    fetch(*message->peer, fetching(receive, message->message, *state, &open), message->ranges, message->range_count);
    return true;
}

void Receiver::buffer_filled(Receive* receive) {
    Unexpected* message = context_->unexpected.find(reinterpret_cast<uintptr_t>(receive->context));
    receive->peer->receiving.arriving.remove(receive);
    context_->give(receive);
    if (!message) return;
    Arrival& arrival = message->message;
    message->buffering = Buffering::Queued;
    message->fetched = message->budget == arrival.length;
    if (message->fetched && !(arrival.frame_flags & kFrameOnMatch)) {
        reply(*message->peer, arrival.reply_id, 0);
        arrival.reply_id = 0;
    }
    notify_buffered(*context_);
}

void Receiver::buffer_lost(Receive* receive, int error) {
    Unexpected* message = context_->unexpected.find(reinterpret_cast<uintptr_t>(receive->context));
    receive->peer->receiving.arriving.remove(receive);
    context_->give(receive);
    if (message) buffering_failed(message, error);
}

void Receiver::buffering_failed(Unexpected* message, int error) {
    const Arrival& arrival = message->message;
    if (message->peer) reply(*message->peer, arrival.reply_id, error);
    // A tagged message has used up a receive.
    if (arrival.tagged || error == FI_ENOMEM) {
        reports.receive_failed(FI_RECV | (arrival.tagged ? FI_TAGGED : FI_MSG), message->notice.context, arrival.tag,
                               error);
    }
    let_go(message);
}

}  // namespace selvage::impl
