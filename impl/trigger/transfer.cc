// See transfer.h.
#include "impl/trigger/transfer.h"

#include "impl/endpoint/insisted.h"

#include "impl/endpoint/atomic_types.h"
#include "impl/events/cntr.h"
#include "impl/events/cq.h"

namespace selvage::impl {
namespace {

// What an operation type needs of its endpoint, and what it is to completions and counters.
struct TypeTraits {
    uint64_t caps;
    uint64_t direction;
    uint64_t completion;
    CounterSlot slot;
};
constexpr TypeTraits traits_of(fi_op_type type) {
    switch (type) {
        case FI_OP_RECV:
            return {FI_MSG, FI_RECV, FI_RECV | FI_MSG, kSlotRecv};
        case FI_OP_SEND:
            return {FI_MSG, FI_SEND, FI_SEND | FI_MSG, kSlotSend};
        case FI_OP_TRECV:
            return {FI_TAGGED, FI_RECV, FI_RECV | FI_TAGGED, kSlotRecv};
        case FI_OP_TSEND:
            return {FI_TAGGED, FI_SEND, FI_SEND | FI_TAGGED, kSlotSend};
        case FI_OP_READ:
            return {FI_RMA, FI_READ, FI_READ | FI_RMA, kSlotRead};
        case FI_OP_WRITE:
            return {FI_RMA, FI_WRITE, FI_WRITE | FI_RMA, kSlotWrite};
        case FI_OP_ATOMIC:
            return {FI_ATOMIC, FI_WRITE, FI_WRITE | FI_ATOMIC, kSlotWrite};
        default:
            return {FI_ATOMIC, FI_READ, FI_READ | FI_ATOMIC, kSlotRead};
    }
}

constexpr uint64_t kReceiveFlags = FI_COMPLETION | FI_MULTI_RECV | FI_MORE;

// Points `list` to a copy.
template <typename Item, size_t Size>
bool copy(Item*& list, size_t count, std::remove_const_t<Item> (&copied)[Size]) {
    if (count > Size || (count && !list)) return false;
    for (size_t i = 0; i < count; ++i) copied[i] = list[i];
    list = copied;
    return true;
}
// Descriptors of memory, which need not be given.
template <size_t Size>
void copy_regions(void**& list, size_t count, void* (&copied)[Size]) {
    if (!list) return;
    for (size_t i = 0; i < count; ++i) copied[i] = list[i];
    list = copied;
}

template <typename Message>
bool take_message(Message& message, const void* source, Transfer& transfer) {
    message = *static_cast<const Message*>(source);
    if (!copy(message.msg_iov, message.iov_count, transfer.ranges)) return false;
    copy_regions(message.desc, message.iov_count, transfer.regions);
    return true;
}

bool take_atomic(Transfer& transfer, const TransferCall& call) {
    fi_msg_atomic& message = transfer.atomic;
    message = *static_cast<const fi_msg_atomic*>(call.message);
    transfer.fetch = call.fetch;
    transfer.compare = call.compare;
    if (!copy(message.msg_iov, message.iov_count, transfer.operands)) return false;
    if (!copy(message.rma_iov, message.rma_iov_count, transfer.atomic_targets)) return false;
    if (!copy(transfer.fetch.msg_iov, transfer.fetch.iov_count, transfer.results)) return false;
    if (!copy(transfer.compare.msg_iov, transfer.compare.iov_count, transfer.comparands)) return false;
    copy_regions(message.desc, message.iov_count, transfer.regions);
    copy_regions(transfer.fetch.desc, transfer.fetch.iov_count, transfer.result_regions);
    copy_regions(transfer.compare.desc, transfer.compare.iov_count, transfer.comparand_regions);
    return true;
}

int take_operation(LongWork* work, const TransferCall& call) {
    Transfer& transfer = work->transfer;
    switch (work->type) {
        case FI_OP_RECV:
        case FI_OP_SEND:
            if (!take_message(transfer.message, call.message, transfer)) return -FI_EINVAL;
            work->context = transfer.message.context;
            return 0;
        case FI_OP_TRECV:
        case FI_OP_TSEND:
            if (!take_message(transfer.tagged, call.message, transfer)) return -FI_EINVAL;
            work->context = transfer.tagged.context;
            return 0;
        case FI_OP_READ:
        case FI_OP_WRITE:
            if (!take_message(transfer.rma, call.message, transfer)) return -FI_EINVAL;
            if (!copy(transfer.rma.rma_iov, transfer.rma.rma_iov_count, transfer.targets)) return -FI_EINVAL;
            work->context = transfer.rma.context;
            return 0;
        default:
            if (!take_atomic(transfer, call)) return -FI_EINVAL;
            work->context = transfer.atomic.context;
            const auto form = work->type == FI_OP_ATOMIC         ? AtomicForm::Base
                              : work->type == FI_OP_FETCH_ATOMIC ? AtomicForm::Fetch
                                                                 : AtomicForm::Compare;
            size_t count;
            return atomic_valid(form, transfer.atomic.datatype, transfer.atomic.op, &count);
    }
}

ssize_t post_long(LongWork& work) {
    fid_ep* ep = work.deferred ? &work.endpoint->work->silent.descriptor : &work.endpoint->descriptor;
    Transfer& transfer = work.transfer;
    void* const context = work.deferred ? work.as_context() : work.context;
    const uint64_t flags = work.flags | (work.endpoint->checks && !work.deferred ? kStartsTriggered : 0);
    switch (work.type) {
        case FI_OP_RECV:
            transfer.message.context = context;
            return ep->msg->recvmsg(ep, &transfer.message, flags);
        case FI_OP_SEND:
            transfer.message.context = context;
            return ep->msg->sendmsg(ep, &transfer.message, flags);
        case FI_OP_TRECV:
            transfer.tagged.context = context;
            return ep->tagged->recvmsg(ep, &transfer.tagged, flags);
        case FI_OP_TSEND:
            transfer.tagged.context = context;
            return ep->tagged->sendmsg(ep, &transfer.tagged, flags);
        case FI_OP_READ:
            transfer.rma.context = context;
            return ep->rma->readmsg(ep, &transfer.rma, flags);
        case FI_OP_WRITE:
            transfer.rma.context = context;
            return ep->rma->writemsg(ep, &transfer.rma, flags);
        case FI_OP_ATOMIC:
            transfer.atomic.context = context;
            return ep->atomic->writemsg(ep, &transfer.atomic, flags);
        case FI_OP_FETCH_ATOMIC:
            transfer.atomic.context = context;
            return ep->atomic->readwritemsg(ep, &transfer.atomic, transfer.fetch.msg_iov, transfer.fetch.desc,
                                            transfer.fetch.iov_count, flags);
        default:
            transfer.atomic.context = context;
            return ep->atomic->compwritemsg(ep, &transfer.atomic, transfer.compare.msg_iov, transfer.compare.desc,
                                            transfer.compare.iov_count, transfer.fetch.msg_iov, transfer.fetch.desc,
                                            transfer.fetch.iov_count, flags);
    }
}

// Where the endpoint has checks, and each send is a Work; others start it with its like (WorkQueue::start_together).
ssize_t post_short(const Work& work) {
    fid_ep* ep = &work.endpoint->descriptor;
    const ShortSend& send = work.send;
    const iovec range{const_cast<void*>(send.bytes), send.size};
    void* region = send.region;
    const uint64_t flags = work.flags | (work.endpoint->checks ? kStartsTriggered : 0);
    if (work.type == FI_OP_SEND) {
        const fi_msg message{.msg_iov = &range,
                             .desc = &region,
                             .iov_count = 1,
                             .addr = send.to,
                             .context = send.context,
                             .data = send.data};
        return ep->msg->sendmsg(ep, &message, flags);
    }
    const fi_msg_tagged message{.msg_iov = &range,
                                .desc = &region,
                                .iov_count = 1,
                                .addr = send.to,
                                .tag = send.tag,
                                .ignore = 0,
                                .context = send.context,
                                .data = send.data};
    return ep->tagged->sendmsg(ep, &message, flags);
}

// What completions report of an operation that is not deferred.
void* context_of(const Work& work) { return work.is_short ? work.send.context : work.as_long().context; }

}  // namespace

EndpointWork* create_endpoint_work(Endpoint& base) {
    auto* work = create<EndpointWork>();
    if (!work) return nullptr;
    Endpoint& silent = work->silent;
    silent.base = &base;
    silent.domain = base.domain;
    silent.type = base.type;
    silent.caps = base.caps;
    silent.tx = base.tx;
    silent.rx = base.rx;
    init_endpoint_descriptor(&silent, base.descriptor.fid.context);
    share_path(base, &silent);
    silent.tx_always = silent.rx_always = FI_TRIGGER;
    return work;
}

int take_transfer(LongWork* work, const Endpoint& endpoint, const TransferCall& call) {
    if (!call.message) return -FI_EINVAL;
    work->type = call.type;
    const bool receives = work->receives();
    const TypeTraits traits = traits_of(call.type);
    const uint64_t caps = receives ? endpoint.rx.caps : endpoint.tx.caps;
    const uint64_t needed = traits.caps | traits.direction;
    if ((caps & needed) != needed) return -FI_ENOSYS;
    if (call.flags & ~(receives ? kReceiveFlags : kTransmitFlags)) return -FI_EBADFLAGS;
    work->flags = call.flags & ~FI_MORE;
    work->endpoint = endpoint.base;
    return take_operation(work, call);
}

ssize_t post_transfer(Work& work) { return work.is_short ? post_short(work) : post_long(work.as_long()); }

void report_failure(Work& work, int error) {
    const TypeTraits traits = traits_of(work.type);
    void* const context = work.deferred ? work.as_long().as_context() : context_of(work);
    const uint64_t tag = work.type == FI_OP_TRECV ? work.as_long().transfer.tagged.tag : 0;
    const FailedCompletion failure = failure_of(traits.completion, context, tag, error);
    CompletionQueue* queue = work.receives() ? work.endpoint->rx_cq : work.endpoint->tx_cq;
    if (work.deferred) return work.as_long().failed(failure, queue);
    if (queue) queue->write_error(failure);
    if (Counter* counter = work.endpoint->counters[traits.slot]) counter->count_errors(1);
}

}  // namespace selvage::impl
