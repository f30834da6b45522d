// Confirms findings of transfers beside the run that goes on and finds more: what is waited for in vain takes time and
// hardly a processor.
//
// Each confirmation is a process of its own, with a worker of its own.  What came of them is taken in the order in
// which they began, so a run that finds the same tells the same.  The child's side; one thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/drive/test_context.h"
#include "conformance/run/repeat.h"

namespace selvage::conformance {

/// A finding that is confirmed, or to be.
struct Candidate {
    Sighting sighting;
    Reduced reduced;
    std::uint64_t again = 0;  ///< how often it was seen since
};

class Confirmations {
public:
    explicit Confirmations(TestContext& context) : context_(context) {}

    /// True if one more may begin.
    [[nodiscard]] bool has_room() const;
    /// REQUIRES: has_room().
    void begin(Candidate candidate);
    /// The one that is confirmed at the moment and has this case; nullptr: none.
    [[nodiscard]] Candidate* find(const Case& minimal);
    /// What came of the oldest one.
    struct Result {
        Candidate candidate;
        Repeated repeated;  ///< no link: it did not show each time
    };
    /// @param waits false: only if it has ended.  @return nothing if there is none.
    std::optional<Result> take(bool waits);

private:
    struct Running {
        Candidate candidate;
        Child child;
        std::string record;
    };
    TestContext& context_;
    std::deque<Running> running_;
};

}  // namespace selvage::conformance
