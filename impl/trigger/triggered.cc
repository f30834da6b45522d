// Operations with FI_TRIGGER among their flags (fi_trigger(3)): the condition is in their context.
#include "impl/endpoint/triggered.h"

#include "impl/domain/domain.h"
#include "impl/endpoint/insisted.h"
#include "impl/events/cntr.h"
#include "impl/trigger/counter_work.h"
#include "impl/trigger/transfer.h"

namespace selvage::impl {
namespace {

// Both structures begin alike. 0 or a negative fabric errno.
int check_condition(const void* context, const Endpoint& endpoint) {
    const auto* condition = static_cast<const fi_triggered_context*>(context);
    if (!condition) return -FI_EINVAL;
    if (condition->event_type == FI_TRIGGER_XPU) return -FI_ENOSYS;
    if (condition->event_type != FI_TRIGGER_THRESHOLD) return -FI_EINVAL;
    fid_cntr* counter = condition->trigger.threshold.cntr;
    if (!counter || counter->fid.fclass != FI_CLASS_CNTR) return -FI_EINVAL;
    return Counter::of(counter)->domain == endpoint.domain ? 0 : -FI_EDOMAIN;
}

// Its threshold is reached, and nothing comes before it: as the plain call.
ssize_t post_now(Endpoint& base, const fi_msg& message, uint64_t flags) {
    return base.descriptor.msg->sendmsg(&base.descriptor, &message, flags);
}
ssize_t post_now(Endpoint& base, const fi_msg_tagged& message, uint64_t flags) {
    return base.descriptor.tagged->sendmsg(&base.descriptor, &message, flags);
}

}  // namespace

[[gnu::always_inline]] inline void WorkQueue::fill(Work& work, const ShortCall& call, CounterWork& waiting) {
    work.type = call.type;
    work.state = Work::State::Waiting;
    work.flags = call.flags;
    work.threshold = call.threshold;
    work.sequence = ++sequence_;
    work.trigger = &call.trigger;
    work.endpoint = &call.endpoint;
    work.context = call.context;
    work.send = call.send;
    ++count_;
    ++waiting.references;
}

// What a counter has published is its first threshold. Of work behind another one it stays as it is: who moves the
// counter to its threshold has moved it past the first one's, and finds both once the lock is free. Apart from what is
// missed then, nothing is called, so that no register has to be saved.
[[gnu::always_inline]] inline bool WorkQueue::submit_usual(const ShortCall& call) {
    if (!lock_.try_lock()) return false;
    CounterWork* const waiting = call.trigger.work.load(std::memory_order_relaxed);
    if (!waiting || !waiting->wanted || !call.endpoint.work || !pool_.has_free() || count_ == kMost ||
        call.trigger.value.load() >= call.threshold) [[unlikely]] {
        lock_.unlock();
        return false;
    }
    List<Work>& list = waiting->for_successes;
    const bool first = list.empty();
    if (!first && list.last()->threshold > call.threshold) [[unlikely]] {
        lock_.unlock();
        return false;
    }
    Work* const work = pool_.take_free();
    fill(*work, call, *waiting);
    list.append(work);
    if (first) {
        CounterWork::publish(waiting->next_successes, call.threshold);
        if (call.trigger.value.load() >= call.threshold) [[unlikely]] {
            start_missed(*waiting);
            return true;
        }
    }
    lock_.unlock();
    return true;
}

// The counter was moved before a threshold was published, by a thread that did not see it. With the lock held, which is
// given back.
[[gnu::noinline, gnu::cold]] void WorkQueue::start_missed(CounterWork& waiting) {
    collect(waiting);
    update(waiting);
    start_all();
    lock_.unlock();
}

ssize_t WorkQueue::submit_short(const ShortCall& call) {
    SpinGuard guard(lock_);
    CounterWork* const waiting = call.trigger.work.load(std::memory_order_relaxed);
    if (!waiting || !call.endpoint.work) return kUnprepared;
    const bool reached = call.trigger.value.load() >= call.threshold;
    if (reached && due_.empty() && !running_ && !waiting->is_reached()) return kReached;
    if (count_ == kMost) return -FI_EAGAIN;
    Work* const work = pool_.take();
    if (!work) return -FI_ENOMEM;
    fill(*work, call, *waiting);
    enqueue(*work, *waiting);
    update(*waiting);
    if (!waiting->is_reached()) return 0;
    collect(*waiting);
    update(*waiting);
    start_all();
    return 0;
}

namespace {

uint64_t tag_of(const fi_msg&) { return 0; }
uint64_t tag_of(const fi_msg_tagged& message) { return message.tag; }

template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline bool is_short(const Endpoint& endpoint, const Message& message, uint64_t flags) {
    constexpr uint64_t kNeeded = FI_TRIGGER | FI_SEND | (Type == FI_OP_SEND ? FI_MSG : FI_TAGGED);
    return (endpoint.tx.caps & kNeeded) == kNeeded && !(flags & ~(FI_TRIGGER | kTransmitFlags)) &&
           message.iov_count == 1 && message.msg_iov && !check_condition(message.context, endpoint);
}

// REQUIRES: is_short
template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline ShortCall short_call(const Endpoint& endpoint, const Message& message, uint64_t flags) {
    const auto& condition = static_cast<const fi_triggered_context*>(message.context)->trigger.threshold;
    return {.endpoint = *endpoint.base,
            .trigger = *Counter::of(condition.cntr),
            .threshold = condition.threshold,
            .type = Type,
            .flags = flags & ~(FI_TRIGGER | FI_MORE),
            .context = message.context,
            .send = {.bytes = message.msg_iov->iov_base,
                     .size = message.msg_iov->iov_len,
                     .region = message.desc ? message.desc[0] : nullptr,
                     .to = message.addr,
                     .tag = tag_of(message),
                     .data = message.data}};
}

// Whatever is not usual. What is no valid short send is left to post_triggered(), whose errors it has.
template <fi_op_type Type, typename Message>
[[gnu::noinline]] ssize_t post_otherwise(fid_ep* descriptor, const Message& message, uint64_t flags) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    if (!is_short<Type>(endpoint, message, flags)) {
        return post_triggered(descriptor, {.type = Type, .message = &message, .flags = flags});
    }
    const ShortCall call = short_call<Type>(endpoint, message, flags);
    Endpoint& base = call.endpoint;
    WorkQueue& queue = base.domain->work;
    ssize_t result = queue.submit_short(call);
    if (result == WorkQueue::kUnprepared) {
        const int error = queue.prepare(&base, call.trigger);
        if (error) return error;
        result = queue.submit_short(call);
    }
    if (result != WorkQueue::kReached) return result;
    return post_now(base, message, call.flags | (base.checks ? kStartsTriggered : 0));
}

template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline ssize_t post_send(fid_ep* descriptor, const Message& message, uint64_t flags) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    if (is_short<Type>(endpoint, message, flags) &&
        endpoint.domain->work.submit_usual(short_call<Type>(endpoint, message, flags))) [[likely]] {
        return 0;
    }
    return post_otherwise<Type>(descriptor, message, flags);
}

}  // namespace

ssize_t post_triggered_send(fid_ep* descriptor, const fi_msg& message, uint64_t flags) {
    return post_send<FI_OP_SEND>(descriptor, message, flags);
}

ssize_t post_triggered_tagged_send(fid_ep* descriptor, const fi_msg_tagged& message, uint64_t flags) {
    return post_send<FI_OP_TSEND>(descriptor, message, flags);
}

ssize_t post_triggered(fid_ep* descriptor, const TransferCall& call) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    const bool receives = call.type == FI_OP_RECV || call.type == FI_OP_TRECV;
    if (!((receives ? endpoint.rx.caps : endpoint.tx.caps) & FI_TRIGGER)) return -FI_EBADFLAGS;
    auto* work = create<LongWork>();
    if (!work) return -FI_ENOMEM;
    TransferCall plain = call;
    plain.flags &= ~FI_TRIGGER;
    int error = take_transfer(work, endpoint, plain);
    if (!error) error = check_condition(work->context, endpoint);
    if (error) {
        destroy(work);
        return error;
    }
    const auto& condition = static_cast<const fi_triggered_context*>(work->context)->trigger.threshold;
    work->trigger = Counter::of(condition.cntr);
    work->threshold = condition.threshold;
    return endpoint.domain->work.submit(work);
}

// Of several with the same context, the one that was posted first.
bool WorkQueue::cancel_triggered(Endpoint& endpoint, const void* context) {
    Work* found = nullptr;
    {
        SpinGuard guard(lock_);
        if (!count_) return false;
        for_each_not_started([&](Work& work) {
            if (work.endpoint != &endpoint || work.deferred || work.context != context) return;
            if (!found || work.sequence < found->sequence) found = &work;
        });
        if (!found) return false;
        unlink(*found);
        found->state = Work::State::Starting;  // this thread has it
        mark_paths();
    }
    report_failure(*found, FI_ECANCELED);
    SpinGuard guard(lock_);
    drop(found);
    return true;
}

}  // namespace selvage::impl
