// See counter_work.h, and what cntr.h declares of work.
#include "impl/trigger/counter_work.h"

#include "impl/domain/domain.h"

namespace selvage::impl {
namespace {

Domain& domain_of(const Counter& counter) { return static_cast<Domain&>(*counter.domain); }

}  // namespace

int hold_for_work(Counter& counter) {
    if (counter.work.load(std::memory_order_acquire)) return 0;
    RegionCounters& attached = domain_of(counter).region_counters;
    auto* work = create<CounterWork>();
    if (!work) return -FI_ENOMEM;
    const int error = attached.add_counter(&counter);
    CounterWork* none = nullptr;
    if (!error && counter.work.compare_exchange_strong(none, work)) return 0;
    if (!error) attached.remove_counter(&counter);  // another thread was first
    destroy(work);
    return error;
}

void mark_reached(Counter& counter) { domain_of(counter).work.mark_reached(counter); }

void start_reached(Counter& counter) {
    WorkQueue& queue = domain_of(counter).work;
    queue.mark_reached(counter);
    queue.run();
}

bool release_from_work(Counter* counter) {
    CounterWork* work = counter->work.load(std::memory_order_acquire);
    if (!work) return true;
    Domain& domain = domain_of(*counter);
    if (!domain.work.release(*counter)) return false;
    domain.region_counters.remove_counter(counter);
    destroy(work);
    return true;
}

bool WorkQueue::release(Counter& counter) {
    LockGuard guard(lock_);
    if (counter.work.load(std::memory_order_relaxed)->references) return false;
    counter.work.store(nullptr, std::memory_order_release);
    return true;
}

}  // namespace selvage::impl
