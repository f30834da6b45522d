// Operations with FI_TRIGGER among their flags (fi_trigger(3)): the condition is in their context.
#include "impl/endpoint/triggered.h"

#include "impl/events/cntr.h"
#include "impl/trigger/transfer.h"

namespace selvage::impl {
namespace {

// Both structures begin alike.
int take_condition(Work* work) {
    const auto* condition = static_cast<const fi_triggered_context*>(work->context);
    if (!condition) return -FI_EINVAL;
    if (condition->event_type == FI_TRIGGER_XPU) return -FI_ENOSYS;
    if (condition->event_type != FI_TRIGGER_THRESHOLD) return -FI_EINVAL;
    fid_cntr* counter = condition->trigger.threshold.cntr;
    if (!counter || counter->fid.fclass != FI_CLASS_CNTR) return -FI_EINVAL;
    work->trigger = Counter::of(counter);
    work->threshold = condition->trigger.threshold.threshold;
    return work->trigger->domain == work->endpoint->domain ? 0 : -FI_EDOMAIN;
}

}  // namespace

ssize_t post_triggered(fid_ep* descriptor, const TransferCall& call) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    const bool receives = call.type == FI_OP_RECV || call.type == FI_OP_TRECV;
    if (!((receives ? endpoint.rx.caps : endpoint.tx.caps) & FI_TRIGGER)) return -FI_EBADFLAGS;
    auto* work = create<Work>();
    if (!work) return -FI_ENOMEM;
    TransferCall plain = call;
    plain.flags &= ~FI_TRIGGER;
    int error = take_transfer(work, endpoint, plain);
    if (!error) error = take_condition(work);
    if (!error) return endpoint.domain->work.submit(work);
    destroy(work);
    return error;
}

bool WorkQueue::cancel_triggered(Endpoint& endpoint, const void* context) {
    Work* found;
    {
        LockGuard guard(lock_);
        found = all_.first();
        while (found && (found->endpoint != &endpoint || found->deferred || found->context != context ||
                         found->state == Work::State::Starting)) {
            found = found->next_of_all;
        }
        if (!found) return false;
        unlink(*found);
        found->state = Work::State::Starting;  // this thread has it
        mark_paths();
    }
    report_failure(*found, FI_ECANCELED);
    LockGuard guard(lock_);
    drop(found);
    return true;
}

}  // namespace selvage::impl
