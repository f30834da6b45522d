// Several threads issue the same prepared queries at once, to be compared with the answers of one thread.
//
// Child processes only.  The threads are joined before issue_in_threads returns; a hang is the parent's to notice.
#pragma once

#include <vector>

#include "conformance/harness/caller.h"

namespace selvage::conformance {

/// What the threads saw.
struct IssuedAtOnce {
    /// answers[thread][query], of the last round.
    std::vector<std::vector<model::Answer>> answers;
    /// A query that some thread was answered differently in different rounds; -1: none.
    int unsteady = -1;
    bool hints_written = false;
    model::Field written_field = model::Field::call_hints;
};

/// All threads start together; each goes through all prepared queries `rounds` times, each from another place, so
/// that the same and different queries meet.
IssuedAtOnce issue_in_threads(Caller& caller, unsigned threads, unsigned rounds);

}  // namespace selvage::conformance
