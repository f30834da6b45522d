// Trials of transfers beside the run that goes on and finds more: what is waited for in vain takes time and hardly a
// processor.
//
// Each is a process of its own, with a worker of its own.  Invariant: what came of them is taken in the order in which
// they began, when the run needs it or has come so many cases further, and never because it is there already.  So a
// run depends on its seed, and on no clock.  The child's side; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/run/repeat.h"

namespace selvage::conformance {

/// A broken promise that is tried again.
struct Candidate {
    Sighting sighting;
    Reduced reduced;          ///< once it was made smaller
    std::uint64_t id = 0;     ///< of this run
    std::uint64_t again = 0;  ///< how often it was seen since
};

class TrialQueue {
public:
    /// Runs in the process of a trial; what it sends comes with the result.
    using Work = std::function<void(const Candidate& candidate, Channel& channel)>;

    TrialQueue(std::size_t at_once, Work work) : at_once_(at_once), work_(std::move(work)) {}

    [[nodiscard]] bool empty() const { return running_.empty(); }
    [[nodiscard]] bool has_room() const { return running_.size() < at_once_; }
    /// REQUIRES: has_room().
    /// @param at the case of the run that it is of.
    void begin(Candidate candidate, std::uint64_t at);
    /// The case at which the oldest one began.  REQUIRES: !empty().
    [[nodiscard]] std::uint64_t oldest() const { return running_.front().at; }
    /// The first one that is so; nullptr: none.
    Candidate* find(const std::function<bool(const Candidate&)>& is_so);

    struct Result {
        Candidate candidate;
        std::vector<std::string> records;  ///< none if its process did not come to its end
    };
    /// Waits for the oldest one.  REQUIRES: !empty().
    Result take();

private:
    struct Running {
        Candidate candidate;
        Child child;
        std::uint64_t at;
        std::vector<std::string> records;
    };
    std::size_t at_once_;
    Work work_;
    std::deque<Running> running_;
};

/// In the process of a trial: makes a sighting smaller, and sends what came of it.
/// @param left time for that.
void send_reduced(TestContext& context, const Candidate& candidate, std::chrono::nanoseconds left, Channel& channel);
/// What came of it.  If nothing is to be read, the sighting did not show again.
/// @param experience receives what its worker has learnt of the library.
Reduced read_reduced(const TrialQueue::Result& result, Experience& experience);

/// The same, for finding out whether it shows each time.
void send_confirmed(TestContext& context, const Candidate& candidate, Channel& channel);
Repeated read_confirmed(const TrialQueue::Result& result);

}  // namespace selvage::conformance
