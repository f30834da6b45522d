// Transfers that broke promises: each is made smaller, and confirmed, beside the run that goes on.
//
// Invariants:
// 1. Which sightings are made smaller is as if each were before the next case runs: where that hangs on others that are
//    under way, they are waited for.
// 2. What comes of them is taken in the order in which they were seen (trial_queue.h).
//
// The child's side; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "conformance/run/learnt_transfers.h"
#include "conformance/run/reporter.h"
#include "conformance/run/trial_queue.h"

namespace selvage::conformance {

class Sightings {
public:
    /// @param alive called where this process itself tries something again.
    Sightings(TestContext& context, Reporter& reporter, std::function<void()> alive);

    /// True if a case holds what is known to be lost.
    [[nodiscard]] bool knows(const Case& c) const { return learnt_.knows(c); }
    /// What a case broke.  @param seen `because` holds all links.
    /// @param at the case of the run.
    void take(const Sighting& seen, std::uint64_t at);
    /// A case has lost something.
    void note(const Case& c, Loss loss) { learnt_.note(c, loss); }
    /// Concludes what began so long ago that it is due.
    void take_due(std::uint64_t at);
    /// Concludes all.
    void finish();

private:
    /// Begins to make smaller what is in the group, and empties it.
    void reduce(std::vector<Sighting>& group, std::uint64_t at);
    bool is_explained(const Sighting& seen, const model::Because& broken);
    void conclude_reduction();
    void confirm(Candidate candidate, std::uint64_t at);
    [[nodiscard]] bool may_be_confirmed_beside(const Reduced& r) const;
    void conclude_confirmation();
    void tell_repeated(const Sighting& seen, Repeated r);

    TestContext& context_;
    Reporter& reporter_;
    LearntTransfers learnt_;
    Repeater repeater_;
    std::chrono::nanoseconds shrinking_{};  ///< spent on making cases smaller
    Repeater::Memory tried_;                ///< for making them smaller: groups have cases in common
    std::uint64_t ids_ = 0;
    TrialQueue reductions_, confirmations_;
};

}  // namespace selvage::conformance
