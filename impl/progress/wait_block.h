// Blocking: makes progress, looks, spins for as long as that has paid of late, arms, sleeps, and again. The clock is
// looked at in every round, since there are rounds without a sleep: there may be something to do at each of them that
// is not what is waited for.
#pragma once

#include <algorithm>

#include "impl/progress/wait.h"

namespace selvage::impl {

enum class Blocked { Ready, Timeout, Interrupted };

// How long to look before sleeping: doubled when what was waited for came within kMax, whether asleep or not, halved
// when it did not. Threads that share a wait object share the estimate; it is a guess, so a lost update is none.
class SpinBudget {
public:
    explicit SpinBudget(std::atomic<uint32_t>& budget)
        : budget_(budget), start_(monotonic_nanoseconds()), limit_(budget.load(std::memory_order_relaxed)) {}
    ~SpinBudget() {
        if (!waited_) return;
        const bool soon = monotonic_nanoseconds() - start_ < kMax;
        budget_.store(std::clamp(soon ? limit_ * 2 : limit_ / 2, kMin, kMax), std::memory_order_relaxed);
    }
    SpinBudget(const SpinBudget&) = delete;
    SpinBudget& operator=(const SpinBudget&) = delete;

    // False when it is time to sleep.
    bool left() {
        waited_ = true;
        for (int i = 0; i < kPauses; ++i) relax_processor();
        now_ = monotonic_nanoseconds();
        return now_ - start_ < limit_;
    }
    // The time of the last left().
    int64_t now() const { return now_; }

private:
    static constexpr uint32_t kMin = 1'000;
    static constexpr uint32_t kMax = 50'000;
    static constexpr int kPauses = 4;

    std::atomic<uint32_t>& budget_;
    int64_t start_;
    int64_t now_ = 0;
    uint32_t limit_;
    bool waited_ = false;
};

// Sleeps unless there is something to do or read. The owner's signals are wanted meanwhile.
template <typename Progress, typename Ready>
WaitObject::Woken sleep_once(WaitObject& wait, Progress& progress, const Deadline& deadline, Ready& ready) {
    wait.want();
    const uint32_t seen = wait.generation();
    auto woken = WaitObject::Woken::Signal;
    if (wait.polls()) {
        woken = wait.wait(seen, deadline);
    } else if (!ready()) {
        const Armed armed = progress.arm();
        if (armed == Armed::Armed) {
            woken = wait.wait(seen, deadline);
            progress.disarm();
        } else if (armed == Armed::NoDescriptor) {
            woken = wait.nap_undescribed(seen, deadline);
        } else if (armed == Armed::Later) {
            woken = wait.nap_briefly(seen, deadline);
        }
    }
    wait.unwant();
    return woken;
}

// `progress` has advance(), arm() and disarm() (ProgressList, WaitSet); `ready` looks for what is waited for. A last
// look follows the deadline and an interruption.
template <typename Progress, typename Ready>
Blocked block(WaitObject& wait, Progress& progress, const Deadline& deadline, Ready ready) {
    progress.advance();
    if (ready()) return Blocked::Ready;
    if (deadline.passed()) return Blocked::Timeout;
    SpinBudget spin(wait.spin_budget());
    for (;;) {
        const bool sleeps = !spin.left();
        const auto woken = sleeps ? sleep_once(wait, progress, deadline, ready) : WaitObject::Woken::Signal;
        const bool over = sleeps ? deadline.passed() : deadline.passed_at(spin.now());
        progress.advance();
        if (ready()) return Blocked::Ready;
        if (over) return Blocked::Timeout;
        if (woken == WaitObject::Woken::Interrupted) return Blocked::Interrupted;
    }
}

}  // namespace selvage::impl
