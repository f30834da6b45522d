// See domain/work_queue.h: what waits, what is due, and starting it.
#include "impl/domain/work_queue.h"

#include <sched.h>

#include "impl/domain/domain.h"
#include "impl/endpoint/datapath.h"
#include "impl/events/cntr.h"
#include "impl/trigger/counter_work.h"
#include "impl/trigger/transfer.h"

namespace selvage::impl {
namespace {

void count_references(const Work& work, bool added) {
    for (Counter* counter : {work.trigger, work.completion, work.target}) {
        if (!counter) continue;
        size_t& references = counter->work.load(std::memory_order_relaxed)->references;
        added ? ++references : --references;
    }
}

bool precedes(const Work& left, const Work& right) {
    return left.threshold != right.threshold ? left.threshold < right.threshold : left.sequence < right.sequence;
}

// The first of a list, if its threshold is reached.
Work* first_reached(const List<Work>& list, uint64_t value) {
    Work* first = list.first();
    return first && first->threshold <= value ? first : nullptr;
}

uint64_t first_threshold(const List<Work>& list) { return list.first() ? list.first()->threshold : UINT64_MAX; }

}  // namespace

void WorkQueue::add_path(Progressive& path) {
    LockGuard guard(lock_);
    paths_.append(&path);
    if (marked_) path.mark_due(*this);
}

// Marks the paths while there is something due, so that whoever makes progress on one runs the queue.
void WorkQueue::mark_paths() {
    const bool due = due_.first() != nullptr;
    if (due == marked_) return;
    marked_ = due;
    for (Progressive* path = paths_.first(); path; path = path->next_path) {
        due ? path->mark_due(*this) : path->unmark_due();
    }
}

bool WorkQueue::admit(Work& work) {
    if (count_ == kMost) return false;
    if (work.endpoint && !work.endpoint->work) work.endpoint->work = create_endpoint_work(*work.endpoint);
    if (work.endpoint && !work.endpoint->work) return false;
    ++count_;
    all_.append(&work);
    work.sequence = ++sequence_;
    count_references(work, true);
    return true;
}

// Into the list of its counter. Most work is posted with growing thresholds, so its position is near the end.
void WorkQueue::enqueue(Work& work) {
    List<Work>& list = work.trigger->work.load(std::memory_order_relaxed)->list_of(work);
    Work* position = list.last();
    while (position && precedes(work, *position)) position = position->previous;
    list.insert_after(position, &work);
    work.state = Work::State::Waiting;
}

void WorkQueue::unlink(Work& work) {
    if (work.state == Work::State::Waiting) {
        CounterWork& waiting = *work.trigger->work.load(std::memory_order_relaxed);
        waiting.list_of(work).remove(&work);
        update(waiting, *work.trigger);
    } else if (work.state == Work::State::Due) {
        due_.remove(&work);
    }
}

void WorkQueue::drop(Work* work) {
    all_.remove(work);
    --count_;
    count_references(*work, false);
    destroy(work);
}

// Makes due what the counter has reached, in order.
void WorkQueue::collect(CounterWork& waiting, const Counter& counter) {
    const uint64_t successes = counter.value.load();
    const uint64_t all = successes + counter.errors.load();
    for (;;) {
        Work* first = first_reached(waiting.for_successes, successes);
        Work* other = first_reached(waiting.for_all, all);
        if (!first || (other && precedes(*other, *first))) first = other;
        if (!first) return;
        waiting.list_of(*first).remove(first);
        first->state = Work::State::Due;
        due_.append(first);
    }
}

// Says what the counter has to signal. Whoever moves it after this sees it; who moved it before is seen by collect().
void WorkQueue::update(CounterWork& waiting, Counter& counter) {
    waiting.next_successes.store(first_threshold(waiting.for_successes));
    waiting.next_all.store(first_threshold(waiting.for_all));
    const bool wanted = !waiting.for_successes.empty() || !waiting.for_all.empty();
    if (wanted == waiting.wanted) return;
    waiting.wanted = wanted;
    wanted ? counter.wait.want() : counter.wait.unwant();
}

void WorkQueue::moved(Counter& counter) {
    counter.wait.signal();
    CounterWork* waiting = counter.work.load(std::memory_order_relaxed);
    if (!waiting) return;
    collect(*waiting, counter);
    update(*waiting, counter);
}

void WorkQueue::mark_reached(Counter& counter) {
    {
        const CounterWork& waiting = *counter.work.load(std::memory_order_acquire);
        const uint64_t successes = counter.value.load();
        if (successes < waiting.next_successes.load() && successes + counter.errors.load() < waiting.next_all.load()) {
            return;
        }
    }
    LockGuard guard(lock_);
    CounterWork* waiting = counter.work.load(std::memory_order_relaxed);
    collect(*waiting, counter);
    update(*waiting, counter);
    mark_paths();
}

// The application may close a counter as soon as it sees what it waits for, so that is counted with the lock held,
// under which release() looks whether work names the counter.
void WorkQueue::finish(Work* work, bool failed) {
    LockGuard guard(lock_);
    if (Counter* counter = work->completion) {
        (failed ? counter->errors : counter->value).fetch_add(1);
        moved(*counter);
    }
    drop(work);
    mark_paths();
}

void WorkQueue::move_counter(const Work& work) {
    std::atomic<uint64_t>& value = work.target->value;
    work.type == FI_OP_CNTR_SET ? value.store(work.value) : static_cast<void>(value.fetch_add(work.value));
    moved(*work.target);
}

Work* WorkQueue::next_due() const {
    Work* work = due_.first();
    while (work && work->endpoint && work->endpoint->work->blocked_in[work->receives()] == run_) work = work->next;
    return work;
}

// With the lock held, but for the call of the endpoint. Without an error the work may be gone.
ssize_t WorkQueue::start(Work* work) {
    due_.remove(work);
    if (work->moves_counter()) {
        move_counter(*work);
        drop(work);
        return 0;
    }
    const bool deferred = work->deferred;
    work->state = deferred ? Work::State::UnderWay : Work::State::Starting;
    starting_ = work->endpoint;
    lock_.unlock();
    const ssize_t result = post_transfer(*work);
    lock_.lock();
    starting_ = nullptr;
    if (!result && !deferred) drop(work);
    return result;
}

void WorkQueue::start_due(Work* work) {
    const ssize_t result = start(work);
    if (!result) return;
    if (result == -FI_EAGAIN) {
        work->endpoint->work->blocked_in[work->receives()] = run_;
        work->state = Work::State::Due;
        due_.prepend(work);
        return;
    }
    const bool deferred = work->deferred;
    starting_ = work->endpoint;
    lock_.unlock();
    report_failure(*work, static_cast<int>(-result));
    lock_.lock();
    starting_ = nullptr;
    if (!deferred) drop(work);
}

void WorkQueue::run() {
    LockGuard guard(lock_);
    if (running_) return;
    running_ = true;
    ++run_;
    while (Work* work = next_due()) start_due(work);
    running_ = false;
    mark_paths();
}

ssize_t WorkQueue::submit(Work* work) {
    for (Counter* counter : {work->trigger, work->completion, work->target}) {
        const int error = counter ? hold_for_work(*counter) : 0;
        if (!error) continue;
        destroy(work);
        return error;
    }
    ssize_t result = 0;
    {
        LockGuard guard(lock_);
        if (!admit(*work)) {
            destroy(work);
            return -FI_EAGAIN;
        }
        Counter& trigger = *work->trigger;
        CounterWork& waiting = *trigger.work.load(std::memory_order_relaxed);
        enqueue(*work);
        update(waiting, trigger);
        collect(waiting, trigger);
        update(waiting, trigger);
        // Nothing is to be started before it: the caller learns what becomes of it.
        if (due_.first() == work && !running_) {
            running_ = true;
            result = start(work);
            if (result) drop(work);
            running_ = false;
        }
        mark_paths();
    }
    run();
    return result;
}

void WorkQueue::stop(Endpoint& endpoint) {
    LockGuard guard(lock_);
    paths_.remove(endpoint.path);
    while (starting_ == &endpoint) {
        lock_.unlock();
        sched_yield();
        lock_.lock();
    }
    for (Work *work = all_.first(), *next; work; work = next) {
        next = work->next_of_all;
        if (work->endpoint != &endpoint || work->state == Work::State::UnderWay) continue;
        unlink(*work);
        drop(work);
    }
    mark_paths();
}

void WorkQueue::forget(Endpoint& endpoint) {
    LockGuard guard(lock_);
    if (!endpoint.work) return;
    for (Work *work = all_.first(), *next; work; work = next) {
        next = work->next_of_all;
        if (work->endpoint == &endpoint) drop(work);
    }
    destroy(endpoint.work);
    endpoint.work = nullptr;
}

}  // namespace selvage::impl
