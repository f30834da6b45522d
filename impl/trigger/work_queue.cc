// See domain/work_queue.h: what waits, what is due, and starting it. What is of counters alone is in counter_work.cc.
#include "impl/domain/work_queue.h"

#include <sched.h>

#include "impl/domain/domain.h"
#include "impl/endpoint/datapath.h"
#include "impl/events/cntr.h"
#include "impl/events/event_reading.h"
#include "impl/trigger/counter_work.h"
#include "impl/trigger/transfer.h"

namespace selvage::impl {
namespace {

CounterWork& waiting_for(const Counter& counter) { return *counter.work.load(std::memory_order_relaxed); }

// Calls with each counter that the work names, which may be nullptr.
template <typename Visit>
void for_each_counter(const Work& work, Visit visit) {
    visit(work.trigger);
    if (work.is_short) return;
    visit(work.as_long().completion);
    visit(work.as_long().target);
}

void count_references(const Work& work, bool added) {
    for_each_counter(work, [=](const Counter* counter) {
        if (!counter) return;
        size_t& references = waiting_for(*counter).references;
        added ? ++references : --references;
    });
}

// The calls of an endpoint with checks look at what is started, too.
bool may_start_together(const Work& work) { return work.is_short && !work.endpoint->checks; }

}  // namespace

void WorkQueue::add_path(Progressive& path) {
    SpinGuard guard(lock_);
    paths_.append(&path);
    if (marked_.load(std::memory_order_relaxed)) path.mark_due(*this);
}

// Marks the paths while there is something due, so that whoever makes progress on one runs the queue.
void WorkQueue::mark_paths() {
    const bool due = due_.first() != nullptr;
    if (due == marked_.load(std::memory_order_relaxed)) return;
    marked_.store(due, std::memory_order_relaxed);
    for (Progressive* path = paths_.first(); path; path = path->next_path) {
        due ? path->mark_due(*this) : path->unmark_due();
    }
}

int WorkQueue::prepare(Endpoint* endpoint, Counter& counter) {
    int error = hold_for_work(counter);
    if (!error && endpoint && is_shared_by_work(*endpoint)) error = share_path(*endpoint);
    if (error || !endpoint) return error;
    SpinGuard guard(lock_);
    if (!endpoint->work) endpoint->work = create_endpoint_work(*endpoint);
    return endpoint->work ? 0 : -FI_ENOMEM;
}

// Before its first work: from now on whoever starts that, or reads a counter that work names, may be inside its path.
int WorkQueue::share_path(Endpoint& endpoint) {
    {
        SpinGuard guard(lock_);
        if (endpoint.work) return 0;
    }
    endpoint.path->share();
    const int error = endpoint.domain->region_counters.add_path(endpoint.path);
    if (!error) return 0;
    endpoint.path->lock();
    endpoint.path->unshare();
    endpoint.path->unlock();
    return error;
}

int WorkQueue::prepare(const LongWork& work) {
    int error = 0;
    for_each_counter(work, [&](Counter* counter) {
        if (counter && !error) error = prepare(work.endpoint, *counter);
    });
    return error;
}

// REQUIRES: count_ < kMost
void WorkQueue::admit(Work& work) {
    open_.store(nullptr, std::memory_order_relaxed);
    ++count_;
    work.sequence = ++sequence_;
    count_references(work, true);
}

// Into the list of its counter. Most work is posted with growing thresholds, so its position is near the end.
void WorkQueue::enqueue(Work& work, CounterWork& waiting) {
    List<Work>& list = waiting.list_of(work);
    Work* position = list.last();
    while (position && work.precedes(*position)) position = position->previous;
    list.insert_after(position, &work);
    work.state = Work::State::Waiting;
}

void WorkQueue::unlink(Work& work) {
    open_.store(nullptr, std::memory_order_relaxed);
    if (work.state == Work::State::Waiting) {
        CounterWork& waiting = waiting_for(*work.trigger);
        waiting.list_of(work).remove(&work);
        update(waiting);
    } else if (work.state == Work::State::Due) {
        due_.remove(&work);
    }
}

// REQUIRES: it is in no list
void WorkQueue::drop(Work* work) {
    if (work->is_short) return drop_short(work);
    --count_;
    count_references(*work, false);
    destroy(&work->as_long());
}

[[gnu::always_inline]] inline void WorkQueue::drop_short(Work* work) {
    count_ -= work->sends;
    --waiting_for(*work->trigger).references;
    if (work->sends > 1) sends_.give(work->send.next, work->last_send);
    works_.give(work, work);
}

// The application may close a counter as soon as it sees what it waits for, so that is counted with the lock held,
// under which release() looks whether work names the counter.
void WorkQueue::finish(LongWork* work, bool failed) {
    SpinGuard guard(lock_);
    under_way_.remove(work);
    if (Counter* counter = work->completion) {
        (failed ? counter->errors : counter->value).fetch_add(1);
        moved(*counter);
    }
    drop(work);
    mark_paths();
}

void WorkQueue::move_counter(const LongWork& work) {
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
        move_counter(work->as_long());
        drop(work);
        return 0;
    }
    const bool deferred = work->deferred;
    work->state = deferred ? Work::State::UnderWay : Work::State::Starting;
    if (deferred) under_way_.append(work);
    starting_ = work->endpoint;
    lock_.unlock();
    const ssize_t result = post_transfer(*work);
    lock_.lock();
    starting_ = nullptr;
    if (result && deferred) under_way_.remove(work);
    if (!result && !deferred) drop(work);
    return result;
}

// Takes one of several short sends out of its work: that behind `before`, or the first. Its record is free then.
ShortSend WorkQueue::take_send(Work& work, ShortSend* before) {
    ShortSend* const freed = before ? before->next : work.send.next;
    ShortSend taken = before ? *freed : work.send;
    if (before) {
        before->next = freed->next;
    } else {
        work.send = *freed;
    }
    if (work.last_send == freed) work.last_send = before ? before : &work.send;
    sends_.give(freed, freed);
    --work.sends;
    --count_;
    taken.next = nullptr;
    return taken;
}

// Its endpoint cannot take it now.
void WorkQueue::block(Work* work) {
    work->endpoint->work->blocked_in[work->receives()] = run_;
    work->state = Work::State::Due;
    due_.prepend(work);
}

// The lock is not held while the failure is reported. Deferred work is gone with its report (finish). Of several short
// sends it is the first that failed.
void WorkQueue::fail(Work* work, int error) {
    const bool deferred = work->deferred;
    const bool others = work->sends > 1;
    if (deferred) under_way_.append(work);
    Work first;
    if (others) {
        first = *work;
        first.send = take_send(*work, nullptr);
        work->state = Work::State::Due;
        due_.prepend(work);
    }
    starting_ = work->endpoint;
    lock_.unlock();
    report_failure(others ? first : *work, error);
    lock_.lock();
    starting_ = nullptr;
    if (!deferred && !others) drop(work);
}

void WorkQueue::start_due(Work* work) {
    const ssize_t result = start(work);
    if (!result) return;
    result == -FI_EAGAIN ? block(work) : fail(work, static_cast<int>(-result));
}

// Takes from a list that is not empty the first, which may be started with others, and those behind it that are like
// it and have thresholds no higher than this.
[[gnu::always_inline]] inline WorkQueue::Batch WorkQueue::take_together(List<Work>& list, uint64_t reached) {
    const Work& first = *list.first();
    Batch batch{.works = {}, .count = 1};
    size_t sends = first.sends;
    Work* last = list.first();
    for (Work* next = first.next; next; next = next->next) {
        sends += next->sends;
        if (sends > kTogether || next->threshold > reached || next->endpoint != first.endpoint ||
            next->trigger != first.trigger || !next->is_short) {
            break;
        }
        last = next;
        ++batch.count;
    }
    list.move_front(last, batch.works);
    return batch;
}

// With the lock held, but for the call of the endpoint. What is starting cannot be cancelled, nor can others be
// started.
[[gnu::always_inline]] inline void WorkQueue::start_together(Batch batch) {
    Work* const first = batch.works.first();
    starting_ = first->endpoint;
    lock_.unlock();
    ssize_t error = 0;
    const size_t started = first->endpoint->path->start_sends(*first, batch.count, &error);
    lock_.lock();
    starting_ = nullptr;
    if (error) [[unlikely]]
        return finish_refused(batch, started, error);
    count_ -= started;
    waiting_for(*first->trigger).references -= batch.count;
    for (const Work* work = first; work; work = work->next) {
        if (work->sends > 1) sends_.give(work->send.next, work->last_send);
    }
    works_.give(first, batch.works.last());
}

// What is left goes before all that is due.
[[gnu::noinline, gnu::cold]] void WorkQueue::finish_refused(Batch batch, size_t started, ssize_t error) {
    Work* refused = batch.works.first();
    for (; started >= refused->sends; refused = batch.works.first()) {
        started -= refused->sends;
        batch.works.remove(refused);
        drop(refused);
    }
    for (; started > 0; --started) take_send(*refused, nullptr);
    batch.works.remove(refused);
    for (Work* work = batch.works.first(); work; work = work->next) work->state = Work::State::Due;
    batch.works.move_before(due_);
    error == -FI_EAGAIN ? block(refused) : fail(refused, static_cast<int>(-error));
}

// As start_together() with one, which is in no list.
[[gnu::always_inline]] inline void WorkQueue::start_alone(Work* work) {
    starting_ = work->endpoint;
    lock_.unlock();
    ssize_t error = 0;
    const size_t started = work->endpoint->path->start_sends(*work, 1, &error);
    lock_.lock();
    starting_ = nullptr;
    if (!error) [[likely]]
        return drop_short(work);
    Batch refused{.works = {}, .count = 1};
    refused.works.append(work);
    finish_refused(refused, started, error);
}

// What the counter has reached while nothing else was due is started without becoming due first. True: nothing is left
// to be done. Otherwise the thresholds that the counter has published may be too low until the caller calls update().
[[gnu::always_inline]] inline bool WorkQueue::start_first(CounterWork& waiting) {
    Work* const first = waiting.for_successes.first();
    const uint64_t successes = waiting.counter->value.load();
    if (running_ || !due_.empty() || !waiting.for_all.empty() || !first || first->threshold > successes ||
        !may_start_together(*first)) {
        return false;
    }
    open_.store(nullptr, std::memory_order_relaxed);
    running_ = true;
    if (!first->next) {
        waiting.for_successes.take_only();
        start_alone(first);
    } else {
        start_several(waiting.for_successes, successes);
    }
    running_ = false;
    const Work* const next = waiting.for_successes.first();
    if (!due_.empty() || marked_.load(std::memory_order_relaxed) || !waiting.for_all.empty() ||
        (next && next->threshold <= successes)) {
        return false;
    }
    CounterWork::publish(waiting.next_successes, next ? next->threshold : UINT64_MAX);
    return true;
}

[[gnu::noinline]] void WorkQueue::start_several(List<Work>& list, uint64_t reached) {
    start_together(take_together(list, reached));
}

void WorkQueue::start_reached(Counter& counter) {
    const bool reached = counter.work.load(std::memory_order_acquire)->is_reached();
    if (!reached && !marked_.load(std::memory_order_relaxed)) return;
    SpinGuard guard(lock_);
    CounterWork& waiting = *counter.work.load(std::memory_order_relaxed);
    if (start_first(waiting)) return;
    collect(waiting);
    update(waiting);
    start_all();
}

void WorkQueue::start_all() {
    if (running_) return;
    running_ = true;
    ++run_;
    while (Work* work = next_due()) {
        if (!may_start_together(*work)) {
            start_due(work);
        } else if (work == due_.first()) {
            start_several(due_, UINT64_MAX);
        } else {
            due_.remove(work);
            start_alone(work);
        }
    }
    running_ = false;
    mark_paths();
}

void WorkQueue::run() {
    if (EventReading::is_active()) return;
    SpinGuard guard(lock_);
    start_all();
}

ssize_t WorkQueue::submit(LongWork* work) {
    const int error = prepare(*work);
    if (error) {
        destroy(work);
        return error;
    }
    SpinGuard guard(lock_);
    if (count_ == kMost) {
        destroy(work);
        return -FI_EAGAIN;
    }
    ssize_t result = 0;
    CounterWork& waiting = waiting_for(*work->trigger);
    admit(*work);
    enqueue(*work, waiting);
    update(waiting);
    collect(waiting);
    update(waiting);
    // Nothing is to be started before it: the caller learns what becomes of it.
    if (due_.first() == work && !running_) {
        running_ = true;
        result = start(work);
        if (result) drop(work);
        running_ = false;
    }
    mark_paths();
    start_all();
    return result;
}

void WorkQueue::stop(Endpoint& endpoint) {
    SpinGuard guard(lock_);
    paths_.remove(endpoint.path);
    while (starting_ == &endpoint) {
        lock_.unlock();
        sched_yield();
        lock_.lock();
    }
    for_each_not_started([&](Work& work) {
        if (work.endpoint != &endpoint) return;
        unlink(work);
        drop(&work);
    });
    mark_paths();
}

void WorkQueue::forget(Endpoint& endpoint) {
    SpinGuard guard(lock_);
    if (!endpoint.work) return;
    for (Work *work = under_way_.first(), *next; work; work = next) {
        next = work->next;
        if (work->endpoint != &endpoint) continue;
        under_way_.remove(work);
        drop(work);
    }
    destroy(endpoint.work);
    endpoint.work = nullptr;
}

}  // namespace selvage::impl
