// See receiver.h: receives are posted, and messages looked at before one is.
#include <algorithm>

#include "impl/engine/memory.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {
namespace {

Unexpected* find(const ReceiveContext& context, const ReceiveRequest& request) {
    return context.match.find_unexpected(request.tagged, request.tag, request.ignore, [&](Unexpected* unexpected) {
        return request.source == FI_ADDR_UNSPEC || request.source == unexpected->owner->source_of(unexpected);
    });
}

// A claimed message is named by the application's own fi_context, which it may have damaged: the id is checked.
struct Claim {
    void* id;
};

Unexpected* claimed(const ReceiveContext& context, const ReceiveRequest& request) {
    if (!request.context) return nullptr;
    const auto* claim = static_cast<const Claim*>(request.context);
    Unexpected* unexpected = context.unexpected.find(reinterpret_cast<uintptr_t>(claim->id));
    const bool is_claimed = unexpected && unexpected->claimed && unexpected->buffering == Unexpected::Buffering::None;
    return is_claimed && unexpected->message.tagged == request.tagged ? unexpected : nullptr;
}

ssize_t peek(ReceiveContext& context, const ReceiveRequest& request) {
    if ((request.flags & FI_CLAIM) && !request.context) return -FI_EINVAL;
    Unexpected* unexpected = find(context, request);
    if (unexpected) {
        unexpected->owner->peek(request, unexpected);
        return 0;
    }
    if (!context.first) return -FI_EOPBADSTATE;
    context.first->peek_failed(request, FI_ENOMSG);
    return 0;
}

// The message that a notice names, which is the library's; what the application gives may be any address.
Unexpected* notified(const ReceiveContext& context, const ReceiveRequest& request) {
    if (!context.buffered.on || !request.context) return nullptr;
    Unexpected* unexpected = context.unexpected.find_by_part(request.context, offsetof(Unexpected, notice));
    const bool is_notified = unexpected && unexpected->buffering == Unexpected::Buffering::Notified;
    return is_notified && unexpected->message.tagged == request.tagged ? unexpected : nullptr;
}

Receive* make_receive(ReceiveContext& context, const ReceiveRequest& request, size_t capacity) {
    Receive* receive = context.make(request, capacity);
    if (!receive || !(request.flags & kOnHmem) || make_hmem(receive, request)) return receive;
    context.give(receive);
    return nullptr;
}

ssize_t claim(ReceiveContext& context, const ReceiveRequest& request, size_t capacity) {
    Unexpected* unexpected = claimed(context, request);
    if (!unexpected) return -FI_EINVAL;
    Receiver* owner = unexpected->owner;
    if (request.flags & FI_DISCARD) {
        owner->peek(request, unexpected);
        return 0;
    }
    Receive* receive = make_receive(context, request, capacity);
    if (!receive) return -FI_EAGAIN;
    receive->flags &= ~FI_MULTI_RECV;
    owner->take(receive, unexpected);
    return 0;
}

// The end of a message that was notified.
ssize_t take_notified(ReceiveContext& context, const ReceiveRequest& request, size_t capacity, Unexpected* unexpected) {
    if (request.flags & FI_DISCARD) {
        unexpected->owner->discard(unexpected);
    } else {
        Receive* receive = make_receive(context, request, capacity);
        if (!receive) return -FI_EAGAIN;
        receive->flags = (receive->flags & ~FI_MULTI_RECV) | FI_CLAIM;
        receive->context = unexpected->notice.context;
        unexpected->owner->take(receive, unexpected);
    }
    notify_buffered(context);
    return 0;
}

// Of a buffered receive for a tag the buffers count for nothing, and so do those of what is discarded.
ReceiveRequest without_buffers(const ReceiveRequest& request) {
    ReceiveRequest bare = request;
    bare.ranges = nullptr;
    bare.count = 0;
    bare.flags &= ~(FI_MULTI_RECV | kOnHmem);
    bare.region = nullptr;
    return bare;
}

ssize_t post_buffered(ReceiveContext& context, const ReceiveRequest& given) {
    const ReceiveRequest request = without_buffers(given);
    if (context.posted >= context.most) return -FI_EAGAIN;
    Receive* receive = context.make(request, 0);
    if (!receive) return -FI_EAGAIN;
    if (Unexpected* unexpected = find(context, request)) {
        context.match.forget(unexpected);
        unexpected->owner->buffer(unexpected, receive);
    } else {
        context.match.post(receive);
    }
    return 0;
}

}  // namespace

ssize_t post_any_receive(ReceiveContext& context, const ReceiveRequest& given) {
    const ReceiveRequest request = given.flags & FI_DISCARD ? without_buffers(given) : given;
    constexpr uint64_t kOfKnown = FI_PEEK | FI_CLAIM | FI_DISCARD;
    if (context.buffered.on && request.tagged && !(request.flags & kOfKnown)) return post_buffered(context, request);
    if (request.count > kRangesMax || (request.count && !request.ranges)) return -FI_EINVAL;
    size_t capacity;
    if (!total_of(request.ranges, request.count, &capacity)) return -FI_EINVAL;
    if (request.flags & kOfKnown) [[unlikely]] {
        if (request.flags & FI_PEEK) return peek(context, request);
        if (Unexpected* known = notified(context, request)) return take_notified(context, request, capacity, known);
        return request.flags & FI_CLAIM ? claim(context, request, capacity) : -FI_EINVAL;
    }
    if ((request.flags & FI_MULTI_RECV) && request.count != 1) return -FI_EINVAL;
    if (context.posted >= context.most) return -FI_EAGAIN;
    Receive* receive = make_receive(context, request, capacity);
    if (!receive) return -FI_EAGAIN;
    while (Unexpected* unexpected = find(context, request)) {
        context.match.forget(unexpected);
        if (!unexpected->owner->take(receive, unexpected)) return 0;
    }
    context.match.post(receive);
    return 0;
}

void Receiver::peek(const ReceiveRequest& request, Unexpected* unexpected) {
    Completion completion{
        .context = request.context,
        .flags = received_flags(unexpected->message),
        .length = unexpected->message.length,
        .buffer = nullptr,
        .data = unexpected->message.data,
        .tag = unexpected->message.tag,
        .source = sources_ ? reported(source_of(unexpected)) : FI_ADDR_NOTAVAIL,
    };
    const bool discards = request.flags & FI_DISCARD;
    const bool shown = !discards && !unexpected->announced && !(request.flags & kOnHmem);
    if (shown && request.count && reports.receive->format >= FI_CQ_FORMAT_DATA) {
        scatter(request.ranges, request.count, 0, unexpected->payload(), unexpected->message.length);
        completion.buffer = request.ranges[0].iov_base;
    }
    if (discards) {
        if (!unexpected->claimed) context_->match.forget(unexpected);
        discard(unexpected);
    } else if (request.flags & FI_CLAIM) {
        context_->match.forget(unexpected);
        unexpected->claimed = true;
        static_cast<Claim*>(request.context)->id = reinterpret_cast<void*>(Pool<Unexpected>::id(unexpected));
    }
    // A message that is taken away has been received; one that is looked at has not.
    if ((request.flags | reports.receive_always) & FI_COMPLETION) reports.receive->write(completion);
}

void Receiver::peek_failed(const ReceiveRequest& request, int error) {
    const uint64_t flags = FI_RECV | (request.tagged ? FI_TAGGED : FI_MSG);
    reports.receive->write_error(failure_of(flags, request.context, request.tag, error));
}

}  // namespace selvage::impl
