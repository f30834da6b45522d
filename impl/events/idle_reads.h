// An application that reads an empty queue, or a counter that stands still, again and again on a processor that others
// want, perhaps the very process that is to send: it would spin until its turn is over, and each message would cost a
// turn of the scheduler.
//
// Reads that find nothing are counted; at every kLook-th in a row the clock is looked at, and once per kTurn the kernel
// is asked how often another thread ran in this one's place. If one did, the processor is given up from then on at
// every kYield-th empty read, as long as it pays: the next read finds something at least once in kPays times. (Whether
// another thread ran meanwhile says little. The kernel's own do, and where they carry the messages, for each.) Who has
// the processor for himself pays an addition per empty read, and a system call per millisecond of waiting.
//
// Where more processes wait for each other than there are processors, a message comes after many turns that brought
// nothing to those who gave them. So kTrust turns in which somebody ran may be for nothing, and a kAlone-th of that in
// which nobody did: it was 32 of either, and in a crowd they were used up within some hundred microseconds, after which
// all of them spun.
//
// Called by any thread that reads the queue or counter. The counts are guesses shared by all of them: relaxed, and an
// update that is lost costs nothing.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "impl/progress/wait.h"

namespace selvage::impl {

struct OwnProcessor {
    static int64_t now() { return monotonic_nanoseconds(); }
    static void give_up() { sched_yield(); }
    // How often another thread ran in this one's place.
    static long switches() {
        rusage use;
        return getrusage(RUSAGE_THREAD, &use) ? 0 : use.ru_nvcsw + use.ru_nivcsw;
    }
};

// Tests have a Processor of their own.
template <class Processor>
class BasicIdleReads {
public:
    void found() { count_.store(0, std::memory_order_relaxed); }
    void empty() {
        const uint32_t count = count_.load(std::memory_order_relaxed) + 1;
        count_.store(count, std::memory_order_relaxed);
        if (count % kYield <= 1) [[unlikely]]
            consider(count);
    }
    // For tests.
    bool crowded() const { return trust_.load(std::memory_order_relaxed) != 0; }

private:
    static constexpr uint32_t kYield = 64;
    static constexpr uint32_t kLook = 256;
    static constexpr int64_t kTurn = 1'000'000;  // nanoseconds
    static constexpr uint32_t kPays = 5;
    static constexpr uint32_t kTrust = 4096;  // times that giving up may be for nothing at first
    static constexpr uint32_t kAlone = 128;   // as many times is one in which nobody ran
    static constexpr int64_t kNobody = 2000;  // nanoseconds, less than two changes of threads take

    // At the kYield-th empty read in a row, and at the next one, which is the first of a row if something was found.
    [[gnu::noinline]] void consider(uint32_t count) {
        const uint32_t trust = trust_.load(std::memory_order_relaxed);
        if (count % kYield) {
            const uint32_t charged = charged_.load(std::memory_order_relaxed);
            if (!charged) return;
            charged_.store(0, std::memory_order_relaxed);
            if (count == 1) trust_.store(std::min(trust + kPays * charged, kTrust), std::memory_order_relaxed);
        } else if (trust) {
            give_up(trust);
        } else if (!(count % kLook)) {
            look();
        }
    }
    void give_up(uint32_t trust) {
        const int64_t before = Processor::now();
        Processor::give_up();
        const uint32_t charged = std::min(trust, Processor::now() - before < kNobody ? kAlone : 1);
        charged_.store(charged, std::memory_order_relaxed);
        trust_.store(trust - charged, std::memory_order_relaxed);
        if (trust == charged)
            seen_.store(Processor::switches(), std::memory_order_relaxed);  // what was given up does not count
    }
    [[gnu::cold]] void look() {
        const int64_t now = Processor::now();
        if (now - looked_.load(std::memory_order_relaxed) < kTurn) return;
        const long ran = Processor::switches();
        if (ran != seen_.load(std::memory_order_relaxed)) trust_.store(kTrust, std::memory_order_relaxed);
        looked_.store(now, std::memory_order_relaxed);
        seen_.store(ran, std::memory_order_relaxed);
    }

    std::atomic<uint32_t> count_{0};
    std::atomic<uint32_t> trust_{0};    // how often giving up may still be for nothing; 0: nobody else is there
    std::atomic<uint32_t> charged_{0};  // for the last turn, and the next read tells whether it paid; 0: none
    std::atomic<int64_t> looked_{0};    // when the kernel was asked
    std::atomic<long> seen_{0};         // and what it said
};

using IdleReads = BasicIdleReads<OwnProcessor>;

}  // namespace selvage::impl
