// Sends and receives of endpoints with checks (insist.h): FI_MSG_PREFIX, FI_MR_LOCAL, and what begin() looks at.
#include <type_traits>

#include "impl/catalog/duties.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/insisted.h"
#include "impl/endpoint/structured_calls.h"
#include "impl/insist/insist.h"

namespace selvage::impl {
namespace {

constexpr int kWritten = 0xab;  // into a prefix: it is the provider's

bool wants_prefix() { return duties().mode & FI_MSG_PREFIX; }

int no_prefix(const char* name) {
    log_breach(name, "FI_MSG_PREFIX", "fi_msg(3)", "the first buffer is shorter than msg_prefix_size");
    return -FI_EINVAL;
}

// Takes the prefix out of the message. `ranges` has room for its own.
template <typename Message>
int take_prefix(const char* name, uint64_t flags, Message* message, iovec* ranges) {
    if (!message->iov_count && (flags & (FI_PEEK | FI_DISCARD))) return 0;
    if (message->iov_count > kPartsMax) return 0;  // more than any limit: the call is refused
    if (!message->iov_count || !message->msg_iov || message->msg_iov[0].iov_len < kMessagePrefix)
        return no_prefix(name);
    memcpy(ranges, message->msg_iov, message->iov_count * sizeof *ranges);
    memset(ranges[0].iov_base, kWritten, kMessagePrefix);
    ranges[0].iov_base = static_cast<char*>(ranges[0].iov_base) + kMessagePrefix;
    ranges[0].iov_len -= kMessagePrefix;
    message->msg_iov = ranges;
    if (ranges[0].iov_len || message->iov_count == 1) return 0;
    ++message->msg_iov;
    --message->iov_count;
    if (message->desc) ++message->desc;
    return 0;
}

// With FI_BUFFERED_RECV: messages without a tag come without a receive, and what ends one names its notice.
bool is_uncalled_for(const char* name, bool tagged, uint64_t flags) {
    if (tagged || (flags & (FI_PEEK | FI_CLAIM | FI_DISCARD))) return false;
    log_breach(name, "FI_BUFFERED_RECV", "fi_msg(3)", "the receive claims or discards nothing");
    return true;
}
ssize_t look_at_claim(const char* name, uint64_t flags, ssize_t result) {
    if (result == -FI_EINVAL && !(flags & FI_PEEK) && (flags & (FI_CLAIM | FI_DISCARD)))
        log_breach(name, "FI_BUFFERED_RECV", "fi_msg(3)", "the context is of no message that waits to be claimed");
    return result;
}

const fi_ops_msg& calls_for(fid_ep* ep, const fi_msg&) { return *Checks::of(ep).msg; }
const fi_ops_tagged& calls_for(fid_ep* ep, const fi_msg_tagged&) { return *Checks::of(ep).tagged; }

// Either direction of either interface.
template <bool Receives, typename Message>
ssize_t post(const char* name, fid_ep* ep, Message message, uint64_t flags) {
    const auto forward = [&, given = flags & ~kStartsTriggered] {
        const auto& calls = calls_for(ep, message);
        return Receives ? calls.recvmsg(ep, &message, given) : calls.sendmsg(ep, &message, given);
    };
    // What waits for a counter comes back here when it starts.
    if ((flags & FI_TRIGGER) && !starts_work(ep, flags)) return forward();
    const LookedAtCall call{.name = name,
                            .ep = ep,
                            .ranges = message.msg_iov,
                            .regions = message.desc,
                            .count = message.iov_count,
                            .context = message.context,
                            .flags = flags,
                            .receives = Receives};
    const bool buffered = Receives && buffers_receives(ep);
    if (buffered && is_uncalled_for(name, std::is_same_v<Message, fi_msg_tagged>, flags)) return -FI_EINVAL;
    const bool has_buffers = !buffered || (flags & FI_CLAIM);
    int error = has_buffers ? check_regions(call, Receives ? FI_RECV : FI_SEND) : 0;
    iovec ranges[kPartsMax];
    if (!error && has_buffers && wants_prefix()) error = take_prefix(name, flags, &message, ranges);
    if (error) return error;
    const ssize_t result = hand_on(call, forward);
    return buffered ? look_at_claim(name, flags, result) : result;
}

struct CheckedMessages {
    static uint64_t transmit_flags(fid_ep* ep) { return Endpoint::of(ep)->tx_defaults; }
    static uint64_t receive_flags(fid_ep* ep) { return Endpoint::of(ep)->rx_defaults; }
    template <typename Message>
    static ssize_t send(const char* name, fid_ep* ep, const Message& message, uint64_t flags) {
        return post<false>(name, ep, message, flags);
    }
    template <typename Message>
    static ssize_t recv(const char* name, fid_ep* ep, const Message& message, uint64_t flags) {
        return post<true>(name, ep, message, flags);
    }
};
using MessageForms = StructuredCalls<CheckedMessages>;

ssize_t sendmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    return message ? post<false>("fi_sendmsg", ep, *message, flags) : -FI_EINVAL;
}
ssize_t recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    return message ? post<true>("fi_recvmsg", ep, *message, flags) : -FI_EINVAL;
}
ssize_t tsendmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
    return message ? post<false>("fi_tsendmsg", ep, *message, flags) : -FI_EINVAL;
}
ssize_t trecvmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
    return message ? post<true>("fi_trecvmsg", ep, *message, flags) : -FI_EINVAL;
}

// Nothing is looked at of what injects but its prefix, which is not written to: the buffer may be constant.
template <typename Forward>
ssize_t inject_any(const char* name, const void* bytes, size_t size, Forward forward) {
    if (!wants_prefix()) return forward(bytes, size);
    if (size < kMessagePrefix) return no_prefix(name);
    return forward(static_cast<const char*>(bytes) + kMessagePrefix, size - kMessagePrefix);
}
ssize_t inject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to) {
    return inject_any("fi_inject", bytes, size, [&](const void* payload, size_t length) {
        return Checks::of(ep).msg->inject(ep, payload, length, to);
    });
}
ssize_t injectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to) {
    return inject_any("fi_injectdata", bytes, size, [&](const void* payload, size_t length) {
        return Checks::of(ep).msg->injectdata(ep, payload, length, data, to);
    });
}
ssize_t tinject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to, uint64_t tag) {
    return inject_any("fi_tinject", bytes, size, [&](const void* payload, size_t length) {
        return Checks::of(ep).tagged->inject(ep, payload, length, to, tag);
    });
}
ssize_t tinjectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to, uint64_t tag) {
    return inject_any("fi_tinjectdata", bytes, size, [&](const void* payload, size_t length) {
        return Checks::of(ep).tagged->injectdata(ep, payload, length, data, to, tag);
    });
}

}  // namespace

fi_ops_msg checked_messages(const Checks& checks, const Endpoint& endpoint) {
    const fi_ops_msg all{.size = sizeof(fi_ops_msg),
                         .recv = MessageForms::recv,
                         .recvv = MessageForms::recvv,
                         .recvmsg = recvmsg,
                         .send = MessageForms::send,
                         .sendv = MessageForms::sendv,
                         .sendmsg = sendmsg,
                         .inject = inject,
                         .senddata = MessageForms::senddata,
                         .injectdata = injectdata};
    const uint64_t kinds = FI_MSG | FI_MULTICAST;
    return granted(all, *checks.msg, (endpoint.tx.caps & kinds) && (endpoint.tx.caps & FI_SEND),
                   (endpoint.rx.caps & kinds) && (endpoint.rx.caps & FI_RECV));
}

fi_ops_tagged checked_tagged_messages(const Checks& checks, const Endpoint& endpoint) {
    const fi_ops_tagged all{.size = sizeof(fi_ops_tagged),
                            .recv = MessageForms::trecv,
                            .recvv = MessageForms::trecvv,
                            .recvmsg = trecvmsg,
                            .send = MessageForms::tsend,
                            .sendv = MessageForms::tsendv,
                            .sendmsg = tsendmsg,
                            .inject = tinject,
                            .senddata = MessageForms::tsenddata,
                            .injectdata = tinjectdata};
    return granted(all, *checks.tagged, (endpoint.tx.caps & FI_TAGGED) && (endpoint.tx.caps & FI_SEND),
                   (endpoint.rx.caps & FI_TAGGED) && (endpoint.rx.caps & FI_RECV));
}

}  // namespace selvage::impl
