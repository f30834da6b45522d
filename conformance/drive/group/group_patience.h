// How long scripts of groups are waited for: less by a library that is known to hang or to lose what they wait for.
//
// Invariant: nothing is reported of a library for want of patience alone: who makes a case smaller tries it again with
// patience, and the C program of a finding has it always.  One per TestContext; not thread-safe.
#pragma once

#include <chrono>

namespace selvage::conformance {

class GroupPatience {
public:
    /// The longest time of one call.
    [[nodiscard]] std::chrono::milliseconds of_a_call() const {
        using std::chrono_literals::operator""ms;
        return hangs_ && !insists_ ? 5000ms : 30000ms;
    }
    /// True if what may not come is to be waited for an eighth of the time.
    [[nodiscard]] bool is_short() const { return loses_ && !insists_; }

    /// True if either is cut short: what shows so is to be shown again with patience.
    [[nodiscard]] bool is_hasty() const { return (hangs_ || loses_) && !insists_; }

    void learn_that_it_hangs() { hangs_ = true; }
    void learn_that_it_loses() { loses_ = true; }
    /// With patience from now on, or as was learnt.
    void insist(bool on) { insists_ = on; }

private:
    bool hangs_ = false;
    bool loses_ = false;
    bool insists_ = false;
};

}  // namespace selvage::conformance
