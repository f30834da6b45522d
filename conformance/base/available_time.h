// A clock for what is said never to have come: it runs while this process, its threads and what it has started could
// run.
//
// A provider that works on a thread of its own is not done because time has gone by, where the machine gave that thread
// no processor meanwhile, or a process was stopped.
//
// Invariants:
// 1. It never runs faster than the clock on the wall.
// 2. It runs slower than that by kMostForgiven in all at most, so that whoever waits by it comes to an end.
//    Nothing can be said then of what did not come (gave_up).
//
// Single-threaded.
#pragma once

#include <chrono>
#include <optional>

#include "conformance/base/starved.h"

namespace selvage::conformance {

class AvailableTime {
public:
    static constexpr std::chrono::seconds kMostForgiven{8};  // times patience_factor()

    /// How much of it went by since it began.  Costs a look at /proc now and then, once it is not over at once.
    /// REQUIRES: called often, as what nobody looks at is taken for time without a processor.
    std::chrono::nanoseconds passed() { return passed(Starved::kBetweenLooks); }
    /// True once so much went by; looked at closely before that is said.
    bool is_over(std::chrono::nanoseconds limit);
    /// True if more time was not available than could be waited for.
    [[nodiscard]] bool gave_up() const;

private:
    using Clock = std::chrono::steady_clock;
    std::chrono::nanoseconds passed(std::chrono::nanoseconds between_looks);

    Clock::time_point began_ = Clock::now();
    std::chrono::nanoseconds forgiven_{};
    std::optional<Starved> starved_;
};

}  // namespace selvage::conformance
