// See reporter.h.
#include "conformance/run/reporter.h"

#include <utility>

#include "conformance/case/own_process.h"

namespace selvage::conformance {
namespace {

using namespace model;

// The same seed gives the same report, so what names this process is taken out.
void forget(std::vector<Because>& because, Case& shown) {
    for (auto& b : because) {
        forget_process(b.evidence.actual_text);
        forget_process(b.evidence.expected_text);
    }
    forget_process(shown.first);
    forget_process(shown.second);
    if (shown.string.info) forget_process(*shown.string.info);
}

}  // namespace

bool is_refusal(const Because& broken) {
    // Any one, to compare with.
    static const Because refusal = [] {
        Because b;
        b.evidence.field = Field::call_return;
        b.evidence.relation = Relation::Equals;
        return b;
    }();
    return alike(broken, refusal);
}

bool Reporter::is_expected(const Because& broken) const {
    return !broken.supporting && (wants(plan_, broken.clause) || is_refusal(broken));
}

void Reporter::send(Case shown, std::vector<Because> because, std::optional<Tries> intermittent) {
    const Clause clause = because.front().clause;
    if (!wants(plan_, clause)) return;
    const bool is_new = novelty_.is_new(clause, signature(because.front(), shown, intermittent.has_value()));
    if (!is_new && !intermittent) return;  // how often an intermittent one shows is added up
    pass_on(std::move(shown), std::move(because), intermittent);
    over_ = plan_.first;
}

void Reporter::pass_on(Case shown, std::vector<Because> because, std::optional<Tries> intermittent) {
    forget(because, shown);
    channel_.send(pack({.because = std::move(because), .shown_by = std::move(shown), .intermittent = intermittent}));
}

void Reporter::pend(std::uint64_t id, Case shown, std::vector<Because> because) {
    const Found found{.because = std::move(because), .shown_by = std::move(shown), .intermittent = Tries{1, 1}};
    channel_.send(std::string(kPendingMark) + std::to_string(id) + " " + pack(found));
}

void Reporter::conclude(std::uint64_t id) { channel_.send(std::string(kConcludedMark) + std::to_string(id)); }

}  // namespace selvage::conformance
