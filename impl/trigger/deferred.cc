// Deferred work (fi_trigger(3)): FI_QUEUE_WORK and its kin, and the ends of its operations.
#include "impl/domain/domain.h"
#include "impl/events/cntr.h"
#include "impl/events/cq.h"
#include "impl/trigger/transfer.h"

namespace selvage::impl {
namespace {

// nullptr is none. 0, or a negative fabric errno.
int take_counter(const Domain& domain, fid_cntr* descriptor, Counter** counter) {
    if (!descriptor) return 0;
    if (descriptor->fid.fclass != FI_CLASS_CNTR) return -FI_EINVAL;
    *counter = Counter::of(descriptor);
    return (*counter)->domain == &domain ? 0 : -FI_EDOMAIN;
}

int take_counter_change(LongWork* work, const Domain& domain, const fi_deferred_work& request) {
    const fi_op_cntr* operation = request.op.cntr;
    if (!operation || !operation->cntr || work->completion) return -FI_EINVAL;
    work->type = request.op_type;
    work->value = operation->value;
    return take_counter(domain, operation->cntr, &work->target);
}

// What is complete more than once, or looks at messages, does not count as one completion. A shared receive context has
// the receives of all its endpoints, and may outlive this one. A buffered receive is complete when its message is
// claimed.
int check_receive(const Endpoint& endpoint, uint64_t flags) {
    return endpoint.base->srx || endpoint.base->buffered || (flags & FI_MULTI_RECV) ? -FI_ENOSYS : 0;
}

int take_operation(LongWork* work, const Domain& domain, fid_ep* descriptor, const TransferCall& call) {
    if (!descriptor || !is_active_endpoint(descriptor->fid)) return -FI_EINVAL;
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    if (endpoint.domain != &domain) return -FI_EDOMAIN;
    if (!endpoint.path) return -FI_EOPBADSTATE;
    const bool receives = call.type == FI_OP_RECV || call.type == FI_OP_TRECV;
    if (!((receives ? endpoint.rx.caps : endpoint.tx.caps) & FI_TRIGGER)) return -FI_ENOSYS;
    const int unsupported = receives ? check_receive(endpoint, call.flags) : 0;
    if (unsupported) return unsupported;
    const int error = take_transfer(work, endpoint, call);
    if (error) return error;
    work->writes_entry = work->flags & FI_COMPLETION;
    work->flags &= ~FI_COMPLETION;
    return 0;
}

int take_transfer_request(LongWork* work, const Domain& domain, const fi_deferred_work& request) {
    const fi_op_type type = request.op_type;
    if (!request.op.msg) return -FI_EINVAL;
    switch (type) {
        case FI_OP_RECV:
        case FI_OP_SEND:
            return take_operation(work, domain, request.op.msg->ep,
                                  {type, &request.op.msg->msg, request.op.msg->flags});
        case FI_OP_TRECV:
        case FI_OP_TSEND:
            return take_operation(work, domain, request.op.tagged->ep,
                                  {type, &request.op.tagged->msg, request.op.tagged->flags});
        case FI_OP_READ:
        case FI_OP_WRITE:
            return take_operation(work, domain, request.op.rma->ep,
                                  {type, &request.op.rma->msg, request.op.rma->flags});
        case FI_OP_ATOMIC:
            return take_operation(work, domain, request.op.atomic->ep,
                                  {type, &request.op.atomic->msg, request.op.atomic->flags});
        case FI_OP_FETCH_ATOMIC:
            return take_operation(
                work, domain, request.op.fetch_atomic->ep,
                {type, &request.op.fetch_atomic->msg, request.op.fetch_atomic->flags, request.op.fetch_atomic->fetch});
        case FI_OP_COMPARE_ATOMIC:
            return take_operation(work, domain, request.op.compare_atomic->ep,
                                  {type, &request.op.compare_atomic->msg, request.op.compare_atomic->flags,
                                   request.op.compare_atomic->fetch, request.op.compare_atomic->compare});
        default:
            return -FI_EINVAL;
    }
}

int take_request(LongWork* work, const Domain& domain, const fi_deferred_work& request) {
    work->deferred = true;
    work->request = &request;
    work->threshold = request.threshold;
    if (!request.triggering_cntr) return -FI_EINVAL;
    int error = take_counter(domain, request.triggering_cntr, &work->trigger);
    if (!error) error = take_counter(domain, request.completion_cntr, &work->completion);
    if (error) return error;
    const bool changes = request.op_type == FI_OP_CNTR_SET || request.op_type == FI_OP_CNTR_ADD;
    return changes ? take_counter_change(work, domain, request) : take_transfer_request(work, domain, request);
}

}  // namespace

int WorkQueue::queue(Domain& domain, const fi_deferred_work* request) {
    if (!request) return -FI_EINVAL;
    auto* work = create<LongWork>();
    if (!work) return -FI_ENOMEM;
    const int error = take_request(work, domain, *request);
    if (!error) return static_cast<int>(submit(work));
    destroy(work);
    return error;
}

int WorkQueue::cancel(const fi_deferred_work* request) {
    if (!request) return -FI_EINVAL;
    SpinGuard guard(lock_);
    Work* found = nullptr;
    for_each_not_started([&](Work& work) {
        if (work.deferred && work.as_long().request == request && !found) found = &work;
    });
    if (!found) return -FI_ENOENT;
    unlink(*found);
    drop(found);
    mark_paths();
    return 0;
}

int WorkQueue::flush(const fid_cntr* trigger) {
    SpinGuard guard(lock_);
    for_each_not_started([&](Work& work) {
        if (!work.deferred || (trigger && &work.trigger->descriptor != trigger)) return;
        unlink(work);
        drop(&work);
    });
    mark_paths();
    return 0;
}

// The entry is one of the application's.
void LongWork::completed(const Completion& of_operation, CompletionQueue* queue) {
    Completion entry = of_operation;
    entry.context = context;
    entry.flags &= ~FI_TRIGGER;
    if (writes_entry && queue) queue->write(entry);
    endpoint->domain->work.finish(this, false);
}

// An operation that failed is always in the queue (fi_cq(3)), where its error can be read.
void LongWork::failed(const FailedCompletion& of_operation, CompletionQueue* queue) {
    FailedCompletion entry = of_operation;
    entry.base.context = context;
    entry.base.flags &= ~FI_TRIGGER;
    const bool arrived = entry.without_source != WithoutSource::Error;
    if (arrived && !writes_entry) entry.without_source = WithoutSource::Nothing;
    if (queue) queue->write_error(entry);
    endpoint->domain->work.finish(this, !arrived);
}

}  // namespace selvage::impl
