// What the end of a program says of the finding that it is the program of.  Pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "conformance/convict/bounded_run.h"
#include "conformance/report/finding.h"

namespace selvage::conformance {

/// What one run of a program came to.
struct Verdict {
    enum class Says : std::uint8_t { Shown, NotShown, CannotTell } says = Says::NotShown;
    std::string how;           ///< "exits with 1", "dies of signal 11", …
    bool hung = false;         ///< it did not come to an end
    bool never_tells = false;  ///< it says that no run of it can tell
};

/// Exit status 1 and a line that says "broken" show it; 77 cannot tell.  A crash shows a finding that is a crash, or of
/// whose case no call may crash; running out of time shows one that is a hang; exiting without a last word one that is
/// an end of the process, or a crash if it exits with an error: some libraries catch the signal.
Verdict verdict_of(const Deviation& finding, const RunResult& run);

/// How long its program may take.
std::chrono::milliseconds time_limit(const Deviation& finding);
/// Of a hang, how long its program may work without a word before it is one; else none.
std::chrono::milliseconds work_limit(const Deviation& finding);

/// The finding is that a call did not return.
bool is_hang(const Deviation& finding);

}  // namespace selvage::conformance
