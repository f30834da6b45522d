// Trials of transfers beside the run that goes on and finds more: what is waited for in vain takes time and hardly a
// processor.
//
// The promises that one case broke are a group, tried in one process with a worker of its own, since the same smaller
// cases are tried for each.  Invariant: what came of them is taken in the order in which they began, when the run needs
// it or has come so many cases further, and never because it is there already.  So a run depends on its seed, and on no
// clock.  The child's side; one thread.
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
    using Group = std::vector<Candidate>;
    /// Runs in the process of a group.  What it sends is the result of the first candidate up to end_result(), then of
    /// the next one.
    using Work = std::function<void(const Group& group, Channel& channel)>;

    TrialQueue(std::size_t at_once, Work work) : at_once_(at_once), work_(std::move(work)) {}

    [[nodiscard]] bool empty() const { return running_.empty(); }
    [[nodiscard]] bool has_room() const { return running_.size() < at_once_; }
    /// REQUIRES: has_room(), !group.empty().
    /// @param at the case of the run that it is of.
    void begin(Group group, std::uint64_t at);
    /// The case at which the oldest one began.  REQUIRES: !empty().
    [[nodiscard]] std::uint64_t oldest() const { return running_.front().at; }
    /// The first one that is so; nullptr: none.
    Candidate* find(const std::function<bool(const Candidate&)>& is_so);

    struct Result {
        Candidate candidate;
        std::vector<std::string> records;  ///< none if its process ended before its result did
    };
    /// Waits for the oldest one.  REQUIRES: !empty().
    Result take();

private:
    struct Running {
        std::deque<Candidate> left;  ///< whose results were not taken
        Child child;
        std::uint64_t at;
        std::deque<std::vector<std::string>> results{};  ///< of these, as far as they are whole
        std::vector<std::string> records{};              ///< of the next result
        bool ended = false;
    };
    std::size_t at_once_;
    Work work_;
    std::deque<Running> running_;
};

/// In the process of a group: all of a candidate's result was sent.
void end_result(Channel& channel);

/// In the process of a group: makes sightings smaller, and sends what came of each.
/// @param left time for that.
/// @param known what groups before it have tried.
/// @param is_known what they have found.
void send_reduced(TestContext& context, const TrialQueue::Group& group, std::chrono::nanoseconds left,
                  const Repeater::Memory& known, Repeater::IsKnown is_known, Channel& channel);
/// What came of it.  If nothing is to be read, the sighting did not show again.
/// @param experience receives what its worker has learnt of the library.
/// @param known receives what was tried for it.
Reduced read_reduced(const TrialQueue::Result& result, Experience& experience, Repeater::Memory& known);

/// The same, for finding out whether they show each time.
void send_confirmed(TestContext& context, const TrialQueue::Group& group, Channel& channel);
Repeated read_confirmed(const TrialQueue::Result& result);

}  // namespace selvage::conformance
