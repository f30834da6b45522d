// Sends and receives of endpoints with checks (insist.h): FI_MSG_PREFIX, FI_MR_LOCAL, and what begin() looks at.
#include <type_traits>

#include "impl/catalog/duties.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/insisted.h"
#include "impl/insist/insist.h"

namespace selvage::impl {
namespace {

// A message as both interfaces have it.
struct Message {
    const iovec* ranges;
    void** regions;
    size_t count;
    fi_addr_t peer;
    uint64_t tag;
    uint64_t ignore;
    uint64_t data;
    void* context;
};

constexpr size_t kRangesMax = 16;
constexpr int kWritten = 0xab;  // into a prefix: it is the provider's

bool wants_prefix() { return duties().mode & FI_MSG_PREFIX; }

int no_prefix(const char* name) {
    log_breach(name, "FI_MSG_PREFIX", "fi_msg(3)", "the first buffer is shorter than msg_prefix_size");
    return -FI_EINVAL;
}

// Takes the prefix out of the message. `ranges` has room for them.
int take_prefix(const char* name, uint64_t flags, Message* message, iovec* ranges) {
    if (!message->count && (flags & (FI_PEEK | FI_DISCARD))) return 0;
    if (message->count > kRangesMax) return 0;  // more than any limit: the call is refused
    if (!message->count || !message->ranges || message->ranges[0].iov_len < kMessagePrefix) return no_prefix(name);
    memcpy(ranges, message->ranges, message->count * sizeof *ranges);
    memset(ranges[0].iov_base, kWritten, kMessagePrefix);
    ranges[0].iov_base = static_cast<char*>(ranges[0].iov_base) + kMessagePrefix;
    ranges[0].iov_len -= kMessagePrefix;
    message->ranges = ranges;
    if (ranges[0].iov_len || message->count == 1) return 0;
    ++message->ranges;
    --message->count;
    if (message->regions) ++message->regions;
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

struct Plain {
    static const fi_ops_msg& calls(fid_ep* ep) { return *Checks::of(ep).msg; }
    static fi_msg of(const Message& message) {
        return {.msg_iov = message.ranges,
                .desc = message.regions,
                .iov_count = message.count,
                .addr = message.peer,
                .context = message.context,
                .data = message.data};
    }
};

struct Tagged {
    static const fi_ops_tagged& calls(fid_ep* ep) { return *Checks::of(ep).tagged; }
    static fi_msg_tagged of(const Message& message) {
        return {.msg_iov = message.ranges,
                .desc = message.regions,
                .iov_count = message.count,
                .addr = message.peer,
                .tag = message.tag,
                .ignore = message.ignore,
                .context = message.context,
                .data = message.data};
    }
};

// Either direction of either interface.
template <typename Interface, bool Receives>
ssize_t post(const char* name, fid_ep* ep, Message message, uint64_t flags) {
    const auto forward = [&, given = flags & ~kStartsTriggered] {
        const auto structure = Interface::of(message);
        const auto& calls = Interface::calls(ep);
        return Receives ? calls.recvmsg(ep, &structure, given) : calls.sendmsg(ep, &structure, given);
    };
    // What waits for a counter comes back here when it starts.
    if ((flags & FI_TRIGGER) && !starts_work(ep, flags)) return forward();
    const LookedAtCall call{.name = name,
                            .ep = ep,
                            .ranges = message.ranges,
                            .regions = message.regions,
                            .count = message.count,
                            .context = message.context,
                            .flags = flags,
                            .receives = Receives};
    const bool buffered = Receives && buffers_receives(ep);
    if (buffered && is_uncalled_for(name, std::is_same_v<Interface, Tagged>, flags)) return -FI_EINVAL;
    const bool has_buffers = !buffered || (flags & FI_CLAIM);
    int error = has_buffers ? check_regions(call, Receives ? FI_RECV : FI_SEND) : 0;
    iovec ranges[kRangesMax];
    if (!error && has_buffers && wants_prefix()) error = take_prefix(name, flags, &message, ranges);
    if (error) return error;
    const ssize_t result = hand_on(call, forward);
    return buffered ? look_at_claim(name, flags, result) : result;
}

uint64_t sending(fid_ep* ep) { return Endpoint::of(ep)->tx_defaults; }
uint64_t receiving(fid_ep* ep) { return Endpoint::of(ep)->rx_defaults; }

ssize_t send(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, void* context) {
    const iovec range{const_cast<void*>(bytes), size};
    return post<Plain, false>("fi_send", ep, {&range, &region, 1, to, 0, 0, 0, context}, sending(ep));
}
ssize_t sendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, void* context) {
    return post<Plain, false>("fi_sendv", ep, {ranges, regions, count, to, 0, 0, 0, context}, sending(ep));
}
ssize_t sendmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    return post<Plain, false>(
        "fi_sendmsg", ep,
        {message->msg_iov, message->desc, message->iov_count, message->addr, 0, 0, message->data, message->context},
        flags);
}
ssize_t senddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to, void* context) {
    const iovec range{const_cast<void*>(bytes), size};
    return post<Plain, false>("fi_senddata", ep, {&range, &region, 1, to, 0, 0, data, context},
                              sending(ep) | FI_REMOTE_CQ_DATA);
}
ssize_t recv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, void* context) {
    const iovec range{bytes, size};
    return post<Plain, true>("fi_recv", ep, {&range, &region, 1, from, 0, 0, 0, context}, receiving(ep));
}
ssize_t recvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, void* context) {
    return post<Plain, true>("fi_recvv", ep, {ranges, regions, count, from, 0, 0, 0, context}, receiving(ep));
}
ssize_t recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    return post<Plain, true>(
        "fi_recvmsg", ep,
        {message->msg_iov, message->desc, message->iov_count, message->addr, 0, 0, 0, message->context}, flags);
}

ssize_t tsend(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t tag, void* context) {
    const iovec range{const_cast<void*>(bytes), size};
    return post<Tagged, false>("fi_tsend", ep, {&range, &region, 1, to, tag, 0, 0, context}, sending(ep));
}
ssize_t tsendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t tag,
               void* context) {
    return post<Tagged, false>("fi_tsendv", ep, {ranges, regions, count, to, tag, 0, 0, context}, sending(ep));
}
ssize_t tsendmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    return post<Tagged, false>("fi_tsendmsg", ep,
                               {message->msg_iov, message->desc, message->iov_count, message->addr, message->tag,
                                message->ignore, message->data, message->context},
                               flags);
}
ssize_t tsenddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to, uint64_t tag,
                  void* context) {
    const iovec range{const_cast<void*>(bytes), size};
    return post<Tagged, false>("fi_tsenddata", ep, {&range, &region, 1, to, tag, 0, data, context},
                               sending(ep) | FI_REMOTE_CQ_DATA);
}
ssize_t trecv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t tag, uint64_t ignore,
              void* context) {
    const iovec range{bytes, size};
    return post<Tagged, true>("fi_trecv", ep, {&range, &region, 1, from, tag, ignore, 0, context}, receiving(ep));
}
ssize_t trecvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, uint64_t tag,
               uint64_t ignore, void* context) {
    return post<Tagged, true>("fi_trecvv", ep, {ranges, regions, count, from, tag, ignore, 0, context}, receiving(ep));
}
ssize_t trecvmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    return post<Tagged, true>("fi_trecvmsg", ep,
                              {message->msg_iov, message->desc, message->iov_count, message->addr, message->tag,
                               message->ignore, 0, message->context},
                              flags);
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
                         .recv = recv,
                         .recvv = recvv,
                         .recvmsg = recvmsg,
                         .send = send,
                         .sendv = sendv,
                         .sendmsg = sendmsg,
                         .inject = inject,
                         .senddata = senddata,
                         .injectdata = injectdata};
    const uint64_t kinds = FI_MSG | FI_MULTICAST;
    return granted(all, *checks.msg, (endpoint.tx.caps & kinds) && (endpoint.tx.caps & FI_SEND),
                   (endpoint.rx.caps & kinds) && (endpoint.rx.caps & FI_RECV));
}

fi_ops_tagged checked_tagged_messages(const Checks& checks, const Endpoint& endpoint) {
    const fi_ops_tagged all{.size = sizeof(fi_ops_tagged),
                            .recv = trecv,
                            .recvv = trecvv,
                            .recvmsg = trecvmsg,
                            .send = tsend,
                            .sendv = tsendv,
                            .sendmsg = tsendmsg,
                            .inject = tinject,
                            .senddata = tsenddata,
                            .injectdata = tinjectdata};
    return granted(all, *checks.tagged, (endpoint.tx.caps & FI_TAGGED) && (endpoint.tx.caps & FI_SEND),
                   (endpoint.rx.caps & FI_TAGGED) && (endpoint.rx.caps & FI_RECV));
}

}  // namespace selvage::impl
