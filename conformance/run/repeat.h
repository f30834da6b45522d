// What becomes of a deviation of a transfer when it is run again: does its case show it, with or without what its pair
// of endpoints had carried before, each time or at times?
//
// Every trial is a process and a pair of its own, as it is when the case is replayed.  In the child of a property; one
// thread.  Bounded by trials and by time, over all sightings together.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/drive/test_context.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/report/finding.h"

namespace selvage::conformance {

/// A broken promise as it was first seen.
struct Sighting {
    Case shown;                                          ///< what was run
    std::vector<std::vector<model::Operation>> history;  ///< what its pair had carried before
    std::vector<model::Because> because;                 ///< the broken link, and those that support it
    bool hasty = false;                                  ///< something was given up after a short wait
    Loss loss = Loss::None;                              ///< of the pair
};

/// What was made of it at first sight, without patience.
struct Reduced {
    Case shown;                           ///< what showed it again, with what its pair had carried if it takes that
    Case minimal;                         ///< the same, made smaller
    std::vector<model::Because> because;  ///< as the smaller one showed it; none: it did not show again
    Loss loss = Loss::None;               ///< of the smaller one
    Tries tries;
    std::chrono::nanoseconds spent{};  ///< on making it smaller
};

/// What can be said of it.
struct Repeated {
    Case shown;  ///< the smallest case that shows it each time; of an intermittent one, what was run
    std::vector<model::Because> because;
    std::optional<Tries> intermittent;
    Loss loss = Loss::None;  ///< of the pair, where the case shows it each time
};

/// For making cases smaller, all sightings of a property together.  Time on a processor, so that a busy machine does
/// not cut anything short; by the clock, where calls hang, twelve times as much, as some go on at a time.  What is
/// found later is reported as it was.
inline constexpr std::chrono::nanoseconds kShrinkTime = std::chrono::seconds(25);

class Repeater {
public:
    /// @param alive called ahead of each trial.
    Repeater(TestContext& context, std::function<void()> alive) : context_(context), alive_(std::move(alive)) {}
    /// True if nothing would be reported of a case that was made smaller, as it is like a known finding.
    using IsKnown = std::function<bool(const model::Because& because, const Case& shown)>;
    /// What is known to be so is made smaller no further than that its finding is determined.  Nothing is, at first.
    void set_known(IsKnown is_known) { is_known_ = std::move(is_known); }
    /// What a case showed when it was run alone.
    struct Shown {
        std::vector<model::Because> broken;
        Loss loss = Loss::None;
        bool hasty = false;
        bool ran = true;
    };
    /// By the text of the case.
    using Memory = std::map<std::string, Shown>;

    /// What was tried for other sightings, elsewhere: while cases are made smaller, it is not tried again.
    void remember(Memory known) { memory_ = std::move(known); }
    /// What was tried since the last call and holds for other sightings, too: with no wait cut short.
    Memory take_tried() { return std::exchange(tried_, {}); }

    /// Runs it again, and makes what shows it smaller.  What a case showed that was run for another sighting is known.
    /// @param left time for making it smaller.
    Reduced reduce(const Sighting& seen, std::chrono::nanoseconds left = kShrinkTime);
    /// With patience.  @return no link if it does not show each time.
    Repeated each_time(const Sighting& seen, const Reduced& reduced);
    /// The same, or how often it shows.
    /// @return no link if the sighting was hasty and no trial with patience shows it: then nothing was seen.
    Repeated confirm(const Sighting& seen, const Reduced& reduced);
    Repeated run(const Sighting& seen) { return confirm(seen, reduce(seen)); }

private:
    Shown run_alone(const Case& c);
    /// Runs a case alone.  @return the links that are like the one of the sighting; none if it does not show.
    std::vector<model::Because> trial(const Case& c);
    /// The same, counted unless it was hasty.
    std::vector<model::Because> counted_trial(const Case& c);
    /// Takes a case in the place of the one that is shown, if it shows the same.
    bool take(Reduced& r, Case c);
    void in_one_process(Reduced& r);
    void in_one_area(Reduced& r);
    void in_no_selection(Reduced& r);
    void make_smaller(Reduced& r, std::chrono::nanoseconds left);
    std::vector<model::Because> each_time(const Case& c);
    Repeated at_times(const Sighting& seen);

    TestContext& context_;
    std::function<void()> alive_;
    IsKnown is_known_ = [](const model::Because&, const Case&) { return false; };
    model::Because expected_;  ///< that a trial looks for
    Tries tries_;
    Shown shown_;             ///< by the last trial
    bool remembers_ = false;  ///< what was run is not run again
    Memory memory_, tried_;
    std::set<std::string> at_times_;     ///< signatures of what was found to be intermittent
    std::chrono::nanoseconds trying_{};  ///< spent on what does not repeat
};

/// The links of `broken` that are like `expected`: one, with those that support it.
std::vector<model::Because> pick(const std::vector<model::Because>& broken, const model::Because& expected);

}  // namespace selvage::conformance
