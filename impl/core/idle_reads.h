// An application that reads an empty queue again and again on a processor that others want, perhaps the very process
// that is to send: it would spin until its turn is over, and each message would cost a turn of the scheduler.
//
// Reads that find nothing are counted; at every kLook-th in a row the clock is looked at. If so few reads took longer
// than kTurn, the processor was taken away in between: from then on it is given up at every kYield-th empty read, until
// that has come back at once for a while, as it does when nobody else is there. Who has the processor for himself pays
// an addition per empty read and makes no system call.
//
// Called by any thread that reads the queue. The counts are guesses shared by all of them: relaxed, and an update that
// is lost costs nothing.
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
            const uint32_t left = switches() == before ? crowded - 1 : kPatience;
            crowded_.store(left, std::memory_order_relaxed);
            if (!left) count_.store(0, std::memory_order_relaxed);
        } else if (!(count % kLook)) {
            const int64_t now = monotonic_nanoseconds();
            const bool taken_away = count > kLook && now - looked_.load(std::memory_order_relaxed) > kTurn;
            looked_.store(now, std::memory_order_relaxed);
            if (taken_away) crowded_.store(kPatience, std::memory_order_relaxed);
        }
    }

    std::atomic<uint32_t> count_{0};
    std::atomic<uint32_t> crowded_{0};  // how often giving up may still be for nothing; 0: nobody else is there
    std::atomic<int64_t> looked_{0};    // at count_ - kLook
};

}  // namespace selvage::impl

#endif
