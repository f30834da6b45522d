// Operations with FI_TRIGGER among their flags (fi_trigger(3)): the condition is in their context.
#include "impl/endpoint/triggered.h"

#include "impl/domain/domain.h"
#include "impl/endpoint/insisted.h"
#include "impl/events/cntr.h"
#include "impl/trigger/counter_work.h"
#include "impl/trigger/transfer.h"

namespace selvage::impl {
namespace {

bool is_counter_of(fid_cntr* counter, const DomainCore* domain) {
    return counter && counter->fid.fclass == FI_CLASS_CNTR && Counter::of(counter)->domain == domain;
}

// Both structures begin alike. 0 or a negative fabric errno.
int check_condition(const void* context, const Endpoint& endpoint) {
    const auto* condition = static_cast<const fi_triggered_context*>(context);
    if (!condition) return -FI_EINVAL;
    if (condition->event_type == FI_TRIGGER_XPU) return -FI_ENOSYS;
    if (condition->event_type != FI_TRIGGER_THRESHOLD) return -FI_EINVAL;
    fid_cntr* counter = condition->trigger.threshold.cntr;
    if (!counter || counter->fid.fclass != FI_CLASS_CNTR) return -FI_EINVAL;
    return is_counter_of(counter, endpoint.domain) ? 0 : -FI_EDOMAIN;
}

// Its threshold is reached, and nothing comes before it: as the plain call.
ssize_t post_now(Endpoint& base, const fi_msg& message, uint64_t flags) {
    return base.descriptor.msg->sendmsg(&base.descriptor, &message, flags);
}
ssize_t post_now(Endpoint& base, const fi_msg_tagged& message, uint64_t flags) {
    return base.descriptor.tagged->sendmsg(&base.descriptor, &message, flags);
}

}  // namespace

[[gnu::always_inline]] inline void WorkQueue::fill(Work& work, const ShortKey& key, CounterWork& waiting) {
    work.type = key.type;
    work.state = Work::State::Waiting;
    work.is_short = true;
    work.deferred = false;
    work.sends = 1;
    work.flags = key.flags;
    work.threshold = key.threshold;
    work.sequence = ++sequence_;
    work.trigger = Counter::of(key.trigger);
    work.endpoint = &key.endpoint;
    work.last_send = &work.send;
    open_.store(key.endpoint.checks ? nullptr : &work, std::memory_order_relaxed);
    ++count_;
    ++waiting.references;
}

// The counter that it names is that of the work, so it need not be looked at.
[[gnu::always_inline]] inline bool WorkQueue::continues_open(const ShortKey& key) const {
    const Work* const open = open_.load(std::memory_order_relaxed);
    return open && open->threshold == key.threshold && open->flags == key.flags && open->endpoint == &key.endpoint &&
           &open->trigger->descriptor == key.trigger && open->type == key.type && open->sends < kTogether &&
           count_ < kMost;
}

[[gnu::always_inline]] inline void WorkQueue::append(ShortSend& send) {
    Work& open = *open_.load(std::memory_order_relaxed);
    open.last_send = open.last_send->next = &send;
    ++open.sends;
    ++count_;
}

template <typename Make>
[[gnu::always_inline]] inline bool WorkQueue::add_to_open(const ShortKey& key, Make make) {
    if (!lock_.try_lock()) return false;
    const bool added = continues_open(key) && sends_.has_free();
    if (added) [[likely]] {
        ShortSend& send = *sends_.take_free();
        make(send);
        append(send);
    }
    lock_.unlock();
    return added;
}

// What a counter has published is its first threshold. Of work behind another one it stays as it is: who moves the
// counter to its threshold has moved it past the first one's, and finds both once the lock is free. Apart from what is
// missed then, nothing is called, so that no register has to be saved.
template <typename Make>
[[gnu::always_inline]] inline bool WorkQueue::submit_usual(const ShortKey& key, Make make) {
    if (!lock_.try_lock()) return false;
    Counter* const trigger = is_counter_of(key.trigger, key.endpoint.domain) ? Counter::of(key.trigger) : nullptr;
    CounterWork* const waiting = trigger ? trigger->work.load(std::memory_order_relaxed) : nullptr;
    if (!waiting || !waiting->wanted || !key.endpoint.work || !works_.has_free() || count_ == kMost ||
        trigger->value.load() >= key.threshold) [[unlikely]] {
        lock_.unlock();
        return false;
    }
    List<Work>& list = waiting->for_successes;
    const bool first = list.empty();
    // What continues the last one, and has no record yet, gets one with it.
    if (!first && (list.last()->threshold > key.threshold || continues_open(key))) [[unlikely]] {
        lock_.unlock();
        return false;
    }
    Work* const work = works_.take_free();
    fill(*work, key, *waiting);
    make(work->send);
    list.append(work);
    if (first) {
        CounterWork::publish(waiting->next_successes, key.threshold);
        if (trigger->value.load() >= key.threshold) [[unlikely]] {
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
    if (continues_open(call.key)) {
        ShortSend* const send = sends_.take();
        if (!send) return -FI_ENOMEM;
        *send = call.send;
        append(*send);
        return 0;
    }
    const Counter& trigger = *Counter::of(call.key.trigger);
    CounterWork* const waiting = trigger.work.load(std::memory_order_relaxed);
    if (!waiting || !call.key.endpoint.work) return kUnprepared;
    const bool reached = trigger.value.load() >= call.key.threshold;
    if (reached && due_.empty() && !running_ && !waiting->is_reached()) return kReached;
    if (count_ == kMost) return -FI_EAGAIN;
    Work* const work = works_.take();
    if (!work) return -FI_ENOMEM;
    fill(*work, call.key, *waiting);
    work->send = call.send;
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

// Apart from the counter and the flags.
template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline bool may_be_short(const Endpoint& endpoint, const Message& message) {
    constexpr uint64_t kNeeded = FI_TRIGGER | FI_SEND | (Type == FI_OP_SEND ? FI_MSG : FI_TAGGED);
    const auto* const condition = static_cast<const fi_triggered_context*>(message.context);
    return (endpoint.tx.caps & kNeeded) == kNeeded && message.iov_count == 1 && message.msg_iov && condition &&
           condition->event_type == FI_TRIGGER_THRESHOLD;
}

// Apart from the counter.
template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline bool is_short(const Endpoint& endpoint, const Message& message, uint64_t flags) {
    return may_be_short<Type>(endpoint, message) && !(flags & ~(FI_TRIGGER | kTransmitFlags));
}

// REQUIRES: may_be_short
template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline ShortKey key_of(const Endpoint& endpoint, const Message& message, uint64_t flags) {
    const auto& condition = static_cast<const fi_triggered_context*>(message.context)->trigger.threshold;
    return {.endpoint = *endpoint.base,
            .trigger = condition.cntr,
            .threshold = condition.threshold,
            .type = Type,
            .flags = flags & ~(FI_TRIGGER | FI_MORE)};
}

// REQUIRES: may_be_short
template <typename Message>
[[gnu::always_inline]] inline ShortSend send_of(const Message& message) {
    return {.next = nullptr,
            .bytes = message.msg_iov->iov_base,
            .region = message.desc ? message.desc[0] : nullptr,
            .size = message.msg_iov->iov_len,
            .to = message.addr,
            .data = message.data,
            .tag = tag_of(message),
            .context = message.context};
}

// Whatever is not usual. What is no valid short send is left to post_triggered(), whose errors it has.
template <fi_op_type Type, typename Message>
[[gnu::noinline]] ssize_t post_otherwise(fid_ep* descriptor, const Message& message, uint64_t flags) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    if (!is_short<Type>(endpoint, message, flags) || check_condition(message.context, endpoint)) {
        return post_triggered(descriptor, {.type = Type, .message = &message, .flags = flags});
    }
    const ShortCall call{key_of<Type>(endpoint, message, flags), send_of(message)};
    Endpoint& base = call.key.endpoint;
    WorkQueue& queue = base.domain->work;
    ssize_t result = queue.submit_short(call);
    if (result == WorkQueue::kUnprepared) {
        const int error = queue.prepare(&base, *Counter::of(call.key.trigger));
        if (error) return error;
        result = queue.submit_short(call);
    }
    if (result != WorkQueue::kReached) return result;
    return post_now(base, message, call.key.flags | (base.checks ? kStartsTriggered : 0));
}

template <fi_op_type Type, typename Message>
[[gnu::noinline]] ssize_t post_first(fid_ep* descriptor, const Message& message, uint64_t flags) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    if (is_short<Type>(endpoint, message, flags) &&
        endpoint.domain->work.submit_usual(key_of<Type>(endpoint, message, flags),
                                           [&](ShortSend& send) { send = send_of(message); })) [[likely]] {
        return 0;
    }
    return post_otherwise<Type>(descriptor, message, flags);
}

// So short that no register has to be saved. The flags are valid where they are those of work that waits.
template <fi_op_type Type, typename Message>
[[gnu::always_inline]] inline ssize_t post_send(fid_ep* descriptor, const Message& message, uint64_t flags) {
    const Endpoint& endpoint = *Endpoint::of(descriptor);
    WorkQueue& queue = endpoint.domain->work;
    if (queue.may_add_to_open() && may_be_short<Type>(endpoint, message) &&
        queue.add_to_open(key_of<Type>(endpoint, message, flags), [&](ShortSend& send) { send = send_of(message); })) {
        return 0;
    }
    return post_first<Type>(descriptor, message, flags);
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
    ShortSend* before = nullptr;  // of the short sends of `found`, the one in front of that with the context
    bool among_others;
    Work alone;
    {
        SpinGuard guard(lock_);
        if (!count_) return false;
        for_each_not_started([&](Work& work) {
            if (work.endpoint != &endpoint || work.deferred || (found && found->sequence < work.sequence)) return;
            if (!work.is_short) {
                if (work.as_long().context == context) found = &work;
                return;
            }
            ShortSend* previous = nullptr;
            for (ShortSend* send = &work.send; send; previous = send, send = send->next) {
                if (send->context != context) continue;
                found = &work;
                before = previous;
                return;
            }
        });
        if (!found) return false;
        among_others = found->sends > 1;
        if (among_others) {
            open_.store(nullptr, std::memory_order_relaxed);
            alone = *found;
            alone.send = take_send(*found, before);
        } else {
            unlink(*found);
            found->state = Work::State::Starting;  // this thread has it
            mark_paths();
        }
    }
    report_failure(among_others ? alone : *found, FI_ECANCELED);
    if (among_others) return true;
    SpinGuard guard(lock_);
    drop(found);
    return true;
}

}  // namespace selvage::impl
