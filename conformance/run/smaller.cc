// See smaller.h.
#include "conformance/run/smaller.h"

#include <algorithm>

#include "conformance/case/case_text.h"
#include "conformance/drive/probe.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/run/crash_triage.h"
#include "conformance/run/novelty.h"
#include "conformance/shrink/shrink.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::size_t kBudget = 3000;
constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(60);  // for all trials together

// In the child: the smallest case that breaks what is like `wanted`.
Case smallest(TestContext& context, const Case& c, const Because& expected) {
    const auto shows = [&](const Case& smaller) {
        std::vector<Because> broken;
        Tally scratch;
        if (smaller.kind == Case::Kind::Traffic) worker_of(context.library()).renew();
        probe(context, smaller, scratch, broken);
        return std::any_of(broken.begin(), broken.end(),
                           [&](const Because& b) { return !b.supporting && alike(b, expected); });
    };
    Case start = c;
    start.first.version = start.second.version = context.version();
    const bool newer = c.kind != Case::Kind::Text && shows(start);
    return shrink(newer ? start : c, shows, kBudget);
}

}  // namespace

Case make_smaller(const Plan& plan, const Case& c, const Replayed& seen) {
    if (seen.broken.empty()) return c;
    if (seen.fatal) {
        Tries tries;
        return shrink_crash(plan, c, seen.ending, true, tries);
    }
    Case out = c;
    run_in_child(
        [&](Channel& channel) {
            std::string error;
            auto context = TestContext::open(plan, c.provider, error);
            if (context) channel.send(print_case(smallest(*context, c, seen.broken.front())));
        },
        [&](std::string_view record) {
            CaseFile read;
            CaseError error;
            if (parse_case(record, read, error)) out = std::move(read.shown);
        },
        kPatience);
    return out;
}

}  // namespace selvage::conformance
