// See counter_work.h, and what cntr.h declares of work.
#include "impl/trigger/counter_work.h"

#include "impl/domain/domain.h"

namespace selvage::impl {
namespace {

Domain& domain_of(const Counter& counter) { return static_cast<Domain&>(*counter.domain); }

// The first of a list, if its threshold is reached.
Work* first_reached(const List<Work>& list, uint64_t value) {
    Work* first = list.first();
    return first && first->threshold <= value ? first : nullptr;
}

uint64_t first_threshold(const List<Work>& list) { return list.first() ? list.first()->threshold : UINT64_MAX; }

}  // namespace

int hold_for_work(Counter& counter) {
    if (counter.work.load(std::memory_order_acquire)) return 0;
    RegionCounters& attached = domain_of(counter).region_counters;
    auto* waiting = create<CounterWork>();
    if (!waiting) return -FI_ENOMEM;
    waiting->counter = &counter;
    const int error = attached.add_counter(&counter);
    // Work of any endpoint may name it, of which not all are serialised with those that count here.
    if (!error && counter.domain->serialised() && counter.domain->attr.threading == FI_THREAD_COMPLETION)
        counter.share();
    if (!error && domain_of(counter).work.adopt(counter, *waiting)) return 0;
    if (!error) attached.remove_counter(&counter);  // another thread was first
    destroy(waiting);
    return error;
}

void mark_reached(Counter& counter) { domain_of(counter).work.mark_reached(counter); }

void start_reached(Counter& counter) { domain_of(counter).work.start_reached(counter); }

bool release_from_work(Counter* counter) {
    CounterWork* waiting = counter->work.load(std::memory_order_acquire);
    if (!waiting) return true;
    Domain& domain = domain_of(*counter);
    if (!domain.work.release(*counter)) return false;
    domain.region_counters.remove_counter(counter);
    destroy(waiting);
    return true;
}

bool WorkQueue::adopt(Counter& counter, CounterWork& waiting) {
    SpinGuard guard(lock_);
    if (counter.work.load(std::memory_order_relaxed)) return false;
    counters_.append(&waiting);
    counter.work.store(&waiting);
    return true;
}

bool WorkQueue::release(Counter& counter) {
    SpinGuard guard(lock_);
    CounterWork& waiting = *counter.work.load(std::memory_order_relaxed);
    if (waiting.references) return false;
    stop_signals(waiting);
    counters_.remove(&waiting);
    counter.work.store(nullptr, std::memory_order_release);
    return true;
}

// Makes due what the counter has reached, in order.
void WorkQueue::collect(CounterWork& waiting) {
    open_.store(nullptr, std::memory_order_relaxed);
    const uint64_t successes = waiting.counter->value.load();
    if (waiting.for_all.empty()) [[likely]]
        return collect_successes(waiting, successes);
    const uint64_t all = successes + waiting.counter->errors.load();
    for (;;) {
        Work* first = first_reached(waiting.for_successes, successes);
        Work* other = first_reached(waiting.for_all, all);
        if (!first || (other && other->precedes(*first))) first = other;
        if (!first) return;
        waiting.list_of(*first).remove(first);
        first->state = Work::State::Due;
        due_.append(first);
    }
}

void WorkQueue::collect_successes(CounterWork& waiting, uint64_t successes) {
    Work* last = nullptr;
    for (Work* work = waiting.for_successes.first(); work && work->threshold <= successes; work = work->next) {
        work->state = Work::State::Due;
        last = work;
    }
    if (last) waiting.for_successes.move_front(last, due_);
}

// Says what the counter has to signal. Whoever moves it after this sees it; who moved it before is seen by collect().
// Signals that nothing waits for any more are still wanted until there is one (mark_reached), as more work will come.
void WorkQueue::update(CounterWork& waiting) {
    CounterWork::publish(waiting.next_successes, first_threshold(waiting.for_successes));
    CounterWork::publish(waiting.next_all, first_threshold(waiting.for_all));
    if (waiting.wanted || waiting.empty()) return;
    waiting.wanted = true;
    waiting.counter->wait.want_for_work();
}

void WorkQueue::stop_signals(CounterWork& waiting) {
    if (!waiting.wanted) return;
    waiting.wanted = false;
    waiting.counter->wait.unwant_for_work();
}

void WorkQueue::moved(Counter& counter) {
    counter.signal_waiters();
    CounterWork* waiting = counter.work.load(std::memory_order_relaxed);
    if (!waiting) return;
    collect(*waiting);
    update(*waiting);
}

void WorkQueue::mark_reached(Counter& counter) {
    {
        const CounterWork& waiting = *counter.work.load(std::memory_order_acquire);
        if (waiting.is_published() && !waiting.is_reached()) return;
    }
    SpinGuard guard(lock_);
    CounterWork& waiting = *counter.work.load(std::memory_order_relaxed);
    if (waiting.empty()) return stop_signals(waiting);
    collect(waiting);
    update(waiting);
    mark_paths();
}

}  // namespace selvage::impl
