// See results.h.
#include "model/lifecycle/results.h"

#include <set>

#include "model/judge/judge.h"
#include "model_gen/vocabulary.h"

namespace selvage::model {
namespace {

// A key that no region of the history has: requested ones are small.
std::uint64_t unused_key(const Step& step) {
    return 0x100000000U + static_cast<std::uint64_t>(step.before->next_number());
}

bool breaks(const Step& step, Tally& tally, std::vector<Because>& broken) {
    broken.clear();
    judge(step, tally, broken);
    return !broken.empty();
}

// Collects the clauses that forbid a result.
class Forbidding {
public:
    bool forbids(const Step& step) {
        std::vector<Because> broken;
        if (!breaks(step, tally_, broken)) return false;
        for (auto& b : broken)
            if (named_.insert(b.clause).second) because_.push_back(std::move(b));
        return true;
    }
    std::vector<Because> because() { return std::move(because_); }

private:
    Tally tally_;
    std::set<Clause> named_;
    std::vector<Because> because_;
};

}  // namespace

Step with_result(Step step, int ret) {
    step.ret = ret;
    if (ret != 0 || step.verb != Verb::Open) return step;
    // Of other objects no clause reads the class.
    step.fclass = step.opens == ObjectClass::Fabric ? FI_CLASS_FABRIC : FI_CLASS_DOMAIN;
    step.has_ops = step.context_kept = step.completed = true;
    step.api_version = step.version.packed;
    // Who picks the key is the clauses' business: the one that was asked for, else one that nobody has.
    Tally tally;
    std::vector<Because> broken;
    step.key = step.requested_key;
    if (step.opens == ObjectClass::Mr && breaks(step, tally, broken)) step.key = unused_key(step);
    return step;
}

Results allowed_results(const Step& step) {
    Results out;
    Forbidding clauses;
    out.success = !clauses.forbids(with_result(step, 0));
    out.any_error = true;
    for (const auto& w : words(Family::error)) {
        const int error = static_cast<int>(w.value);
        if (error == 0 || w.alias) continue;
        if (clauses.forbids(with_result(step, -error)))
            out.any_error = false;
        else
            out.errors.push_back(error);
    }
    if (out.any_error) out.errors.clear();
    out.because = clauses.because();
    return out;
}

}  // namespace selvage::model
