// See receiver.h: messages meet receives.
#include "impl/engine/receiver.h"

#include <algorithm>

#include "impl/engine/memory.h"

namespace selvage::impl {
namespace {

// What a report has of the flags of a receive.
constexpr uint64_t kReported = FI_COMPLETION | FI_TRIGGER | FI_CLAIM;

}  // namespace

void Receiver::open_receiver(Endpoint& endpoint, ReceiveContext* context) {
    context_ = context;
    next_receiver = context->first;
    context->first = this;
    domain_ = endpoint.domain;
    sources_ = endpoint.caps & FI_SOURCE;
    source_errors_ = endpoint.caps & FI_SOURCE_ERR;
    strict_ = endpoint.rx.comp_order & FI_ORDER_STRICT;
    user_ids_ = endpoint.av && endpoint.av->user_ids ? endpoint.av : nullptr;
    descriptor_ = &endpoint.descriptor;
    if (endpoint.buffered && !context->buffered.on) {
        if (!endpoint.srx) context->buffered.options = endpoint.buffered_options;
        context->buffer_receives();
    }
    plain_ = !strict_ && !source_errors_ && !user_ids_;
    for (Receiver* each = context->first; each; each = each->next_receiver) each->plain_ &= !context->buffered.on;
    reports.open(endpoint);
}

// What this endpoint received goes with it, and so do receives of a shared context that are being filled.
void Receiver::close_receiver() {
    Receiver** link = &context_->first;
    while (*link && *link != this) link = &(*link)->next_receiver;
    if (*link) *link = next_receiver;
    context_->unexpected.for_each_taken([&](Unexpected* message) {
        if (message->owner != this) return;
        if (!message->claimed) context_->match.forget(message);
        free_unexpected(message);
    });
    context_->receives.for_each_taken([&](Receive* receive) {
        if (receive->owner != this) return;
        Receive* parent = receive->parent;
        context_->give(receive);
        if (parent && --parent->arriving == 0 && parent->released) context_->give(parent);
    });
    if (context_->first) notify_buffered(*context_);
}

// The same address as raw bytes or text, as fi_av_insert takes it; returns its length.
size_t Receiver::export_source(const AvEntry& entry, char (&out)[kAddressBytesMax]) const {
    if (domain_->kind == AddressKind::Shm) {
        const size_t size = strnlen(entry.text, sizeof entry.text - 1);
        memcpy(out, entry.text, size);
        out[size] = 0;
        return size + 1;
    }
    if (domain_->addr_format == FI_ADDR_STR) {
        const uint32_t scheme = entry.socket.kind == AddressKind::Inet ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
        return std::min(write_text_address(entry.socket, scheme, out, sizeof out), sizeof out);
    }
    memcpy(out, entry.socket.bytes(), entry.socket.length());
    return entry.socket.length();
}

void Receiver::report(const Arrival& message, void* context, uint64_t flags, void* buffer, uint64_t placed, int error,
                      PeerBase* peer) {
    const fi_addr_t source = sources_ ? (peer ? current_address(*peer) : message.from) : FI_ADDR_NOTAVAIL;
    const Completion completion{
        .context = context,
        .flags = received_flags(message) | (flags & (FI_MULTI_RECV | FI_TRIGGER | FI_MORE | FI_CLAIM)),
        .length = placed,
        .buffer = buffer,
        .data = message.data,
        .tag = message.tag,
        .source = reported(source),
    };
    const bool requested = (flags | reports.receive_always) & (FI_COMPLETION | FI_MULTI_RECV);
    if (error || placed != message.length || (source_errors_ && source == FI_ADDR_NOTAVAIL)) [[unlikely]] {
        report_failure(completion, message.length, error, requested, peer);
        return;
    }
    if (flags & FI_TRIGGER) [[unlikely]]
        return InternalOperation::of(context).completed(completion, reports.receive);
    if (requested) reports.receive->write(completion);
    reports.count(kSlotRecv);
}

void Receiver::report_failure(const Completion& completion, uint64_t length, int error, bool requested,
                              PeerBase* peer) {
    FailedCompletion failure{
        .base = completion, .overflow = 0, .error = error, .provider_error = error, .data = nullptr, .data_size = 0};
    AvEntry source;
    char bytes[kAddressBytesMax];
    if (!error && completion.length < length) {
        failure.error = FI_ETRUNC;
        failure.overflow = length - completion.length;
    } else if (!error) {
        failure.error = FI_EADDRNOTAVAIL;
        failure.without_source = of_unknown_source(requested);
        if (peer && raw_address_of(*peer, &source)) {
            failure.data = bytes;
            failure.data_size = export_source(source, bytes);
        }
    }
    failure.provider_error = failure.error;
    reports.failed(reports.receive, kSlotRecv, failure);
}

bool Receiver::place(Receive* receive, const Arrival& message, const std::byte* payload, PeerBase* peer) {
    if (order_ && is_ordered(*receive)) [[unlikely]] {
        // Others have to complete before: placed now, reported later.
        PeerState* state = peer ? state_of(*peer) : nullptr;
        bool open = false;
        Receive* part = state ? fetching(receive, message, *state, &open) : nullptr;
        if (part) {
            scatter(part->ranges, part->range_count, 0, payload, part->wanted);
            receive_placed(part, message.reply_id);
            return open;
        }
    }
    uint64_t placed;
    int error = 0;
    if (!(receive->flags & FI_MULTI_RECV)) [[likely]] {
        placed = std::min<uint64_t>(message.length, receive->capacity);
        void* buffer = receive->range_count ? receive->ranges[0].iov_base : nullptr;
        if (receive->flags & kOnHmem) [[unlikely]] {
            error = put_on_hmem(*receive, 0, payload, placed);
        } else if (receive->range_count == 1) [[likely]] {
            if (placed) memcpy(buffer, payload, placed);
        } else {
            scatter(receive->ranges, receive->range_count, 0, payload, placed);
        }
        if (message.reply_id) [[unlikely]]
            if (peer) reply(*peer, message.reply_id, error);
        if (receive->posted) unpost(receive);
        report(message, receive->context, receive->flags, buffer, error ? 0 : placed, error, peer);
        context_->give(receive);
        return false;
    }
    auto* at = static_cast<std::byte*>(receive->ranges[0].iov_base) + receive->used;
    placed = std::min<uint64_t>(message.length, receive->capacity - receive->used);
    if (receive->flags & kOnHmem) [[unlikely]] {
        error = put_on_hmem(*receive, receive->used, payload, placed);
    } else if (placed) {
        memcpy(at, payload, placed);
    }
    receive->used += placed;
    receive->released = receive->capacity - receive->used < receive->least;
    const bool last = receive->released && !receive->arriving;
    if (message.reply_id && peer) reply(*peer, message.reply_id, error);
    const bool open = !receive->released;
    if (!open && receive->posted) context_->match.unpost(receive);
    report(message, receive->context, (receive->flags & kReported) | (last ? FI_MULTI_RECV : 0), at, error ? 0 : placed,
           error, peer);
    if (last) context_->give(receive);
    return open;
}

Receive* Receiver::fetching(Receive* receive, const Arrival& message, PeerState& state, bool* open) {
    Receive* part = receive;
    *open = false;
    if (receive->flags & FI_MULTI_RECV) {
        part = context_->receives.take();
        if (!part) return nullptr;
        const uint64_t size = std::min<uint64_t>(message.length, receive->capacity - receive->used);
        part->flags = receive->flags & (FI_COMPLETION | kOnHmem);
        part->parent = receive;
        part->region = receive->region;
        part->context = receive->context;
        part->ranges[0] = range_of(static_cast<std::byte*>(receive->ranges[0].iov_base) + receive->used, size);
        part->range_count = 1;
        part->capacity = size;
        if ((part->flags & kOnHmem) && !make_hmem_part(*context_, part, *receive, size)) {
            context_->receives.give(part);
            return nullptr;
        }
        receive->used += size;
        receive->released = receive->capacity - receive->used < receive->least;
        ++receive->arriving;
        *open = !receive->released;
    } else if ((receive->flags & kOnHmem) &&
               !use_copy(*context_, receive, std::min<uint64_t>(message.length, receive->capacity))) {
        return nullptr;
    }
    if (!*open && receive->posted) unpost(receive);
    part->owner = this;
    part->peer = &state;
    part->message = message;
    part->wanted = std::min<uint64_t>(message.length, part->capacity);
    part->received = 0;
    part->error = 0;
    part->finished = false;
    part->cleared = false;
    part->fetched = false;
    part->placement = false;
    state.receiving.arriving.append(part);
    if (is_ordered(*part)) {
        part->next_in_order = nullptr;
        *order_end_ = part;
        order_end_ = &part->next_in_order;
    }
    return part;
}

bool Receiver::place_announced(Receive* receive, const Arrival& message, PeerBase& peer, const LocalRange* ranges,
                               size_t count) {
    PeerState* state = state_of(peer);
    bool open = false;
    Receive* part = state ? fetching(receive, message, *state, &open) : nullptr;
    if (!part) {
        // Nothing can be kept of it: both sides get an error.
        reply(peer, message.reply_id, FI_ENOMEM);
        report(message, receive->context, receive->flags & kReported, nullptr, 0, FI_ENOMEM, &peer);
        if (receive->flags & FI_MULTI_RECV) return true;
        if (receive->posted) unpost(receive);
        context_->give(receive);
        return false;
    }
    fetch(peer, part, ranges, count);
    return open;
}

void Receiver::finish_receive(Receive* receive, int error) {
    if (receive->flags & kForBuffer) return buffer_lost(receive, error);
    receive->peer->receiving.arriving.remove(receive);
    receive->error = error;
    if (!is_ordered(*receive)) {
        conclude(receive);
        return;
    }
    receive->finished = true;
    if (receive != order_) {
        // The peer may be gone when its turn comes.
        if (sources_) receive->message.from = address_of(*receive->peer->peer);
        receive->peer = nullptr;
    }
    flush_order();
}

void Receiver::flush_order() {
    while (order_ && order_->finished) {
        Receive* first = order_;
        order_ = first->next_in_order;
        if (!order_) order_end_ = &order_;
        conclude(first);
    }
}

void Receiver::conclude(Receive* receive) {
    Receive* parent = receive->parent;
    const bool last = parent && --parent->arriving == 0 && parent->released;
    PeerBase* peer = receive->peer ? receive->peer->peer : nullptr;
    report(receive->message, receive->context, (receive->flags & kReported) | (last ? FI_MULTI_RECV : 0),
           receive->flags & kOnHmem ? hmem_buffer(*receive)
           : receive->range_count   ? receive->ranges[0].iov_base
                                    : nullptr,
           receive->error ? 0 : receive->wanted, receive->error, peer);
    context_->give(receive);
    if (last) context_->give(parent);
}

bool Receiver::arrived_otherwise(Receive* receive, const Arrival& message, const std::byte* payload, PeerBase& peer) {
    if (is_broken(message)) return false;
    if (receive && !context_->buffered.takes(message.tagged, true)) {
        place(receive, message, payload, &peer);
        if (!is_uncharged(message)) taken(peer, message.length);
        return true;
    }
    Unexpected* unexpected = keep(message, peer, false);
    if (!unexpected) return false;
    if (!unexpected->copy_payload(payload)) {
        let_go(unexpected);
        return false;
    }
    queue_whole(unexpected, receive, peer);
    return true;
}

void Receiver::queue_whole(Unexpected* unexpected, Receive* receive, PeerBase& peer) {
    Arrival& message = unexpected->message;
    if (context_->buffered.takes(message.tagged, receive)) {
        buffer(unexpected, receive);
    } else {
        context_->match.keep(unexpected);
    }
    if (!message.reply_id || (message.frame_flags & kFrameOnMatch)) return;
    reply(peer, message.reply_id, 0);
    message.reply_id = 0;
}

// nullptr: memory is short, or the sender's can't be read; the message stays announced.
std::byte* Receiver::pulled_copy(const Arrival& message, PeerBase& peer, const LocalRange* ranges, size_t count) {
    auto* copy = static_cast<std::byte*>(malloc(message.length));
    if (copy && copy_pulled(peer, ranges, count, {.iov_base = copy, .iov_len = message.length})) return copy;
    free(copy);
    return nullptr;
}

// The sender completes, as it does with a message that came whole.
bool Receiver::keep_copy(const Arrival& message, std::byte* copy, Receive* receive, PeerBase& peer) {
    Unexpected* unexpected = keep(message, peer, false);
    if (!unexpected) {
        free(copy);
        return false;
    }
    unexpected->heap = copy;
    queue_whole(unexpected, receive, peer);
    return true;
}

bool Receiver::announced(Arrival& message, PeerBase& peer, const LocalRange* ranges, size_t count) {
    Receive* receive = match(message, peer);
    const bool notified = context_->buffered.takes(message.tagged, receive);
    if (receive && !notified) {
        place_announced(receive, message, peer, ranges, count);
        if (is_charged(message)) taken(peer, message.length);
        return true;
    }
    if (is_charged(message)) {
        if (std::byte* copy = pulled_copy(message, peer, ranges, count)) return keep_copy(message, copy, receive, peer);
    }
    Unexpected* unexpected = keep(message, peer, true);
    if (!unexpected) return false;
    unexpected->range_count = static_cast<uint16_t>(count);
    memcpy(unexpected->ranges, ranges, count * sizeof *ranges);
    if (notified) {
        buffer(unexpected, receive);
    } else {
        context_->match.keep(unexpected);
    }
    return true;
}

bool Receiver::take(Receive* receive, Unexpected* unexpected) {
    const Arrival message = unexpected->message;
    PeerBase* peer = unexpected->peer;
    bool open = false;
    if (unexpected->error) {
        report(message, receive->context, receive->flags & kReported, nullptr, 0, unexpected->error, peer);
        context_->give(receive);
    } else if (unexpected->announced && !unexpected->fetched) {
        open = place_announced(receive, message, *peer, unexpected->ranges, unexpected->range_count);
    } else {
        open = place(receive, message, unexpected->payload(), peer);
    }
    let_go(unexpected);
    return open;
}

void Receiver::discard(Unexpected* unexpected) {
    if (unexpected->peer && unexpected->message.reply_id) reply(*unexpected->peer, unexpected->message.reply_id, 0);
    let_go(unexpected);
}

bool Receiver::cancel_receive(void* context) {
    Receive* found = context_->match.search_posted([&](const Receive* r) { return r->context == context; });
    if (!found) return false;
    context_->match.unpost(found);
    const uint64_t flags = FI_RECV | (found->tagged ? FI_TAGGED : FI_MSG) | (found->flags & FI_TRIGGER);
    reports.receive_failed(flags, context, found->tag, FI_ECANCELED);
    if (found->arriving) {
        found->released = true;
    } else {
        context_->give(found);
    }
    return true;
}

}  // namespace selvage::impl
