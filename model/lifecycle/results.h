// Which results a call may have, before it is made.
//
// The lifecycle clauses judge a step that was taken.  Here they are asked about each result that a call can have; what
// breaks none of them is allowed.  So there is one reading of the pages, and no second table of it.  Pure; any thread.
#pragma once

#include <vector>

#include "model/judge/ruling.h"
#include "model/lifecycle/step.h"

namespace selvage::model {

struct Results {
    bool success = false;          ///< 0 is allowed, with an object that is as it should be
    bool any_error = false;        ///< every errno of the interface is allowed
    std::vector<int> errors;       ///< unless any_error: those that are, positive
    std::vector<Because> because;  ///< the clauses that forbid the others, each once
};

/// The results that are allowed for a step.  What the step says of its result is not read.
/// REQUIRES: step.before != nullptr; the step is no query.
Results allowed_results(const Step& step);

/// The step with a result; a success is one that leaves an object as it should be.
Step with_result(Step step, int ret);

}  // namespace selvage::model
