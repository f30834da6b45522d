// Runs a test with a few threads under every schedule that has few preemptions, or under random ones.
//
// One thread runs at a time. At each atomic access (points.h) the explorer may let another go on; where a thread gives
// its processor up, sleeps, waits for a mutex or on a futex, or loads the same value again and again, the one that has
// waited longest has to. So the choices are who begins and where a thread is preempted; they are walked depth first:
// those of the last schedule are repeated up to the last that has an untried alternative. Only so many preemptions are
// tried, as most mistakes need one or two. Nothing but the choices may differ between runs, so tests use no clock and
// no random numbers.
//
// The processor's store buffers are not part of it (each access is done before the next thread runs); they are the
// business of the models (docs/models.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace selvage::impl::test {

// What one run of the test is made of: built anew for each schedule.
class Scenario {
public:
    virtual ~Scenario() = default;
    virtual size_t threads() const = 0;
    virtual void run(size_t thread) = 0;
    // After all threads have ended. Empty: as it should be.
    virtual std::string verdict() = 0;
};

struct Bounds {
    unsigned preemptions = 2;
    uint64_t schedules = 100'000;  // at most
    uint64_t points = 100'000;     // of one schedule: more is a livelock
    uint64_t random = 0;           // so many random schedules instead, any number of preemptions
    uint64_t seed = 1;
};

struct Explored {
    uint64_t schedules = 0;
    uint64_t points = 0;  // of the longest schedule
    bool complete = false;
    std::string failure;            // of the first schedule that failed
    std::vector<uint32_t> choices;  // which it was
};

Explored explore(const std::function<std::unique_ptr<Scenario>()>& make, const Bounds& bounds);

}  // namespace selvage::impl::test
