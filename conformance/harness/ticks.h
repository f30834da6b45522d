// A stopwatch for stretches of a few microseconds: reads the processor's time stamp counter where there is one, and
// learns its rate from the steady clock.  One thread.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace selvage::conformance {

class Ticks {
public:
    /// Adds its own life to a stopwatch.
    class Running {
    public:
        explicit Running(Ticks& into) : into_(into), since_(now()) {}
        ~Running() { into_.sum_ += now() - since_; }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

    private:
        Ticks& into_;
        std::uint64_t since_;
    };

    [[nodiscard]] std::chrono::nanoseconds time() const {
        const std::uint64_t ticks = now() - first_tick_;
        const auto real = std::chrono::duration<double, std::nano>(Clock::now() - first_time_);
        if (ticks == 0) return std::chrono::nanoseconds(0);
        const double rate = real.count() / static_cast<double>(ticks);
        return std::chrono::nanoseconds(static_cast<std::int64_t>(rate * static_cast<double>(sum_)));
    }

private:
    using Clock = std::chrono::steady_clock;
    static std::uint64_t now() {
#if defined(__x86_64__)
        return __rdtsc();
#else
        return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
#endif
    }

    std::uint64_t sum_ = 0;
    std::uint64_t first_tick_ = now();
    Clock::time_point first_time_ = Clock::now();
};

}  // namespace selvage::conformance
