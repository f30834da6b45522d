// The counter: successes and errors, and waiting for a threshold. Any thread may use it.
//
// The engine calls count and count_errors, with or without locks, and attaches its data path (without the endpoint's
// lock held). They are atomic additions, or plain ones where domain and endpoints are serialised, or with one thread;
// either way a thread is woken only if one wants to be (wait.h). Work that waits for a value of the counter
// (domain/work_queue.h) wants the same signals, so that a counter without any pays nothing for it.
#pragma once

#include <sys/single_threaded.h>

#include "impl/base/object.h"
#include "impl/events/idle_reads.h"
#include "impl/progress/wait.h"

namespace selvage::impl {

struct CounterWork;
struct DomainCore;

struct Counter {
    fid_cntr descriptor{};
    UseCount uses;
    DomainCore* domain = nullptr;
    WaitObject wait;
    WaitMember member;
    std::atomic<uint64_t> value{0};
    std::atomic<uint64_t> errors{0};
    std::atomic<uint64_t> op_flags{0};
    // As they were at the last fi_poll, fi_cntr_set or fi_cntr_add, and as the application read them last.
    std::atomic<uint64_t> polled{0};
    std::atomic<uint64_t> polled_errors{0};
    std::atomic<uint64_t> noticed{0};
    std::atomic<uint64_t> noticed_errors{0};
    ProgressList progress{wait};
    IdleReads idle;  // reads that show what the last one did
    bool serialised = false;
    uint32_t sharers = 0;
    // From the first work that names the counter to its closing (trigger/). While work waits for the counter, its
    // signals are wanted for that.
    std::atomic<CounterWork*> work{nullptr};
    std::atomic<uint64_t> served_caps{0};  // of its endpoints, with FI_RESTRICTED_COMP (catalog/duties.h)

    // For the engine.
    void count(uint64_t successes) { add(value, successes); }
    void count_errors(uint64_t failures) { add(errors, failures); }
    int attach(Progressive* path);
    void detach(Progressive* path);
    // As those of a completion queue (cq.h).
    void share() {
        if (!sharers++) serialised = false;
    }
    void unshare() {
        if (!--sharers) serialised = true;
    }

    // For the application's calls. Sequentially consistent where there are other threads, even if the domain is
    // serialised: one of them may sleep in a wait.
    static void increase(std::atomic<uint64_t>& number, uint64_t amount) {
        __libc_single_threaded ? increase_alone(number, amount) : static_cast<void>(number.fetch_add(amount));
    }
    // Behind a change: whoever waits for the counter. Work does not.
    void signal_waiters() {
        if (wait.wanted_by_waiter()) [[unlikely]]
            wait.signal();
    }

    // News for waiting threads: something that was not read.
    bool pending() const {
        return value.load() != noticed.load(std::memory_order_relaxed) ||
               errors.load() != noticed_errors.load(std::memory_order_relaxed);
    }
    // News for fi_poll, which are none the next time.
    bool poll_news();

    static Counter* of(fid_cntr* cntr) { return object_of<Counter>(cntr); }

private:
    // Sequentially consistent: the addition comes before the look at who wants to know.
    void add(std::atomic<uint64_t>& number, uint64_t amount) {
        serialised ? increase_alone(number, amount) : increase(number, amount);
        if (wait.wanted()) [[unlikely]]
            signal();
    }
    static void increase_alone(std::atomic<uint64_t>& number, uint64_t amount) {
        number.store(number.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    void signal();
};

// What the work of a domain has to do with counters (trigger/counter_work.cc). None is called with the work's lock
// held. The first two REQUIRE: counter.work, and the counter has moved.
void mark_reached(Counter& counter);       // its work that waits for no more than it has is due
void start_reached(Counter& counter);      // and is started, unless another thread does so
bool release_from_work(Counter* counter);  // before it is closed; false while work names it

}  // namespace selvage::impl
