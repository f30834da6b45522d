// A lock for sections of some tens of instructions: one atomic exchange to take it (none in a process of one thread),
// one plain store to give it back.
//
// A holder may lose its processor, so a waiter that does not get the lock soon gives its own up. Not recursive, and not
// for memory that several processes share. For sections that may block or run long, only try_lock is used, or the
// waiting is accepted by a control call.
#pragma once

#include <sched.h>
#include <sys/single_threaded.h>
#include <time.h>

#include <atomic>

namespace selvage::impl {

inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class SpinLock {
public:
    constexpr SpinLock() = default;
    SpinLock(const SpinLock&) = delete;
    SpinLock& operator=(const SpinLock&) = delete;

    // Acquire: pairs with the release in unlock(), so all that the last holder did is visible. A process that has one
    // thread needs no atomic exchange: another thread can only come to be by what this one does.
    bool try_lock() {
        if (!__libc_single_threaded) return !held_.exchange(true, std::memory_order_acquire);
        if (held_.load(std::memory_order_relaxed)) return false;
        held_.store(true, std::memory_order_relaxed);
        return true;
    }
    void lock() {
        if (!try_lock()) [[unlikely]]
            wait();
    }
    void unlock() { held_.store(false, std::memory_order_release); }

private:
    [[gnu::noinline, gnu::cold]] void wait() {
        constexpr int kSpins = 128;
        constexpr int kYields = 64;
        constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 50'000};
        for (int round = 0;; ++round) {
            for (int i = 0; i < kSpins; ++i) {
                if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
                relax_processor();
            }
            if (round < kYields) {
                sched_yield();
            } else {
                nanosleep(&kNap, nullptr);  // the holder has a lower priority than this thread
            }
        }
    }

    std::atomic<bool> held_{false};
};

class SpinGuard {
public:
    explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
    ~SpinGuard() { lock_.unlock(); }
    SpinGuard(const SpinGuard&) = delete;
    SpinGuard& operator=(const SpinGuard&) = delete;

private:
    SpinLock& lock_;
};

}  // namespace selvage::impl
