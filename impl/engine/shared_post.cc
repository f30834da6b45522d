// Posting receives to a shared receive context (shared_receiver.h). There is no transport here: a message that came
// before its receive is taken by the endpoint that received it.
#include "impl/endpoint/endpoint_ops.h"
#include "impl/engine/hmem_ranges.h"
#include "impl/engine/memory.h"
#include "impl/engine/shared_receiver.h"

namespace selvage::impl {
namespace {

constexpr uint64_t kFlags =
    FI_COMPLETION | FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MORE | FI_TRANSMIT_COMPLETE;

ssize_t post(fid_ep* ep, ReceiveRequest request) {
    SharedReceiver* shared = SharedReceiver::of(ep);
    if (request.count > shared->attr.iov_limit) return -FI_EINVAL;
    if (!shared->context.directed) request.source = FI_ADDR_UNSPEC;
    request.least = shared->min_multi_recv;
    const auto* regions = static_cast<void* const*>(request.region);
    request.region = nullptr;
    if ((shared->domain->caps & FI_HMEM) && names_hmem(regions, request.count)) {
        request.region = regions;
        request.flags |= kOnHmem;
    }
    LockGuard guard(shared->context.lock);
    return post_receive(shared->context, request);
}

ssize_t post_message(fid_ep* ep, const iovec* ranges, void* const* regions, size_t count, fi_addr_t from, void* context,
                     uint64_t flags) {
    return post(ep, {.ranges = ranges,
                     .count = count,
                     .tagged = false,
                     .source = from,
                     .tag = 0,
                     .ignore = 0,
                     .context = context,
                     .flags = flags,
                     .least = 0,
                     .region = regions});
}

ssize_t post_tagged(fid_ep* ep, const iovec* ranges, void* const* regions, size_t count, fi_addr_t from, uint64_t tag,
                    uint64_t ignore, void* context, uint64_t flags) {
    return post(ep, {.ranges = ranges,
                     .count = count,
                     .tagged = true,
                     .source = from,
                     .tag = tag,
                     .ignore = ignore,
                     .context = context,
                     .flags = flags,
                     .least = 0,
                     .region = regions});
}

uint64_t defaults(fid_ep* ep) { return SharedReceiver::of(ep)->attr.op_flags & (FI_COMPLETION | FI_MULTI_RECV); }

ssize_t recv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, void* context) {
    const iovec range = range_of(bytes, size);
    return post_message(ep, &range, &region, 1, from, context, defaults(ep));
}
ssize_t recvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, void* context) {
    return post_message(ep, ranges, regions, count, from, context, defaults(ep));
}
ssize_t recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    if (flags & ~kFlags) return -FI_EBADFLAGS;
    return post_message(ep, message->msg_iov, message->desc, message->iov_count, message->addr, message->context,
                        flags);
}
ssize_t trecv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t tag, uint64_t ignore,
              void* context) {
    const iovec range = range_of(bytes, size);
    return post_tagged(ep, &range, &region, 1, from, tag, ignore, context, defaults(ep) & ~FI_MULTI_RECV);
}
ssize_t trecvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, uint64_t tag,
               uint64_t ignore, void* context) {
    return post_tagged(ep, ranges, regions, count, from, tag, ignore, context, defaults(ep) & ~FI_MULTI_RECV);
}
ssize_t trecvmsg(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    if (flags & ~kFlags) return -FI_EBADFLAGS;
    return post_tagged(ep, message->msg_iov, message->desc, message->iov_count, message->addr, message->tag,
                       message->ignore, message->context, flags);
}

ssize_t left(fid_ep* ep) {
    SharedReceiver* shared = SharedReceiver::of(ep);
    LockGuard guard(shared->context.lock);
    return static_cast<ssize_t>(shared->context.left());
}

int get_option(fid* descriptor, int level, int option, void* value, size_t* length) {
    auto* shared = object_of<SharedReceiver>(descriptor);
    if (level == FI_OPT_ENDPOINT && BufferedOptions::is_named_by(option) && shared->context.buffered.on) {
        LockGuard guard(shared->context.lock);
        const size_t current = shared->context.buffered.options.get(option);
        return put_option(&current, sizeof current, value, length);
    }
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    return put_option(&shared->min_multi_recv, sizeof shared->min_multi_recv, value, length);
}

// Until an endpoint that receives through the context is enabled.
int set_buffered(ReceiveContext& context, int option, const void* value, size_t length) {
    size_t requested;
    if (!value || length != sizeof requested) return -FI_EINVAL;
    memcpy(&requested, value, sizeof requested);
    LockGuard guard(context.lock);
    return context.first ? -FI_EOPBADSTATE : context.buffered.options.set(option, requested);
}

int set_option(fid* descriptor, int level, int option, const void* value, size_t length) {
    auto* shared = object_of<SharedReceiver>(descriptor);
    if (level == FI_OPT_ENDPOINT && BufferedOptions::is_named_by(option) && shared->context.buffered.on)
        return set_buffered(shared->context, option, value, length);
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    if (!value || length != sizeof shared->min_multi_recv) return -FI_EINVAL;
    memcpy(&shared->min_multi_recv, value, length);
    return 0;
}

// No transport gets what was posted here, so a peek sees what the endpoints' last progress brought.
constexpr fi_ops_msg message_table() {
    fi_ops_msg table = answering_msg<-FI_ENOSYS>();
    table.recv = recv;
    table.recvv = recvv;
    table.recvmsg = recvmsg;
    return table;
}
constexpr fi_ops_tagged tagged_table() {
    fi_ops_tagged table = answering_tagged<-FI_ENOSYS>();
    table.recv = trecv;
    table.recvv = trecvv;
    table.recvmsg = trecvmsg;
    return table;
}
constexpr fi_ops_ep ep_table() {
    fi_ops_ep table = kMissingEp;
    table.getopt = get_option;
    table.setopt = set_option;
    table.rx_size_left = left;
    return table;
}

}  // namespace

constinit const fi_ops_msg kSharedReceiveMsg = message_table();
constinit const fi_ops_tagged kSharedReceiveTagged = tagged_table();
constinit const fi_ops_ep kSharedReceiveEp = ep_table();

}  // namespace selvage::impl
