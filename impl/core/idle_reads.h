// An application that reads an empty queue, or a counter that stands still, again and again on a processor that others
// want, perhaps the very process that is to send: it would spin until its turn is over, and each message would cost a
// turn of the scheduler.
//
// Reads that find nothing are counted; at every kLook-th in a row the clock is looked at, and once per kTurn the kernel
// is asked how often another thread ran in this one's place. If one did, the processor is given up from then on at
// every kYield-th empty read, until that was for nothing kPatience times in a row: nobody else is there. Who has the
// processor for himself pays an addition per empty read, and a system call per millisecond of waiting.
//
// Called by any thread that reads the queue or counter. The counts are guesses shared by all of them: relaxed, and an
// update that is lost costs nothing.
#ifndef SELVAGE_IMPL_CORE_IDLE_READS_H
#define SELVAGE_IMPL_CORE_IDLE_READS_H

#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>

#include "impl/core/wait.h"

namespace selvage::impl {

class IdleReads {
public:
    void found() { count_.store(0, std::memory_order_relaxed); }
    void empty() {
        const uint32_t count = count_.load(std::memory_order_relaxed) + 1;
        count_.store(count, std::memory_order_relaxed);
        if (!(count % kYield)) [[unlikely]]
            consider(count);
    }
    // For tests.
    bool crowded() const { return crowded_.load(std::memory_order_relaxed) != 0; }

private:
    static constexpr uint32_t kYield = 64;
    static constexpr uint32_t kLook = 256;
    static constexpr int64_t kTurn = 1'000'000;  // nanoseconds
    static constexpr uint32_t kPatience = 32;    // times that giving up was for nothing

    // How often another thread ran in this one's place.
    static long switches() {
        rusage use;
        return getrusage(RUSAGE_THREAD, &use) ? 0 : use.ru_nvcsw + use.ru_nivcsw;
    }
    [[gnu::noinline, gnu::cold]] void consider(uint32_t count) {
        const uint32_t crowded = crowded_.load(std::memory_order_relaxed);
        if (crowded) {
            const long before = switches();
            sched_yield();
            const long after = switches();
            crowded_.store(after == before ? crowded - 1 : kPatience, std::memory_order_relaxed);
            seen_.store(after, std::memory_order_relaxed);
        } else if (!(count % kLook)) {
            const int64_t now = monotonic_nanoseconds();
            if (now - looked_.load(std::memory_order_relaxed) < kTurn) return;
            const long ran = switches();
            if (ran != seen_.load(std::memory_order_relaxed)) crowded_.store(kPatience, std::memory_order_relaxed);
            looked_.store(now, std::memory_order_relaxed);
            seen_.store(ran, std::memory_order_relaxed);
        }
    }

    std::atomic<uint32_t> count_{0};
    std::atomic<uint32_t> crowded_{0};  // how often giving up may still be for nothing; 0: nobody else is there
    std::atomic<int64_t> looked_{0};    // when the kernel was asked
    std::atomic<long> seen_{0};         // and what it said
};

}  // namespace selvage::impl

#endif
