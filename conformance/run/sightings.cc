// See sightings.h.
#include "conformance/run/sightings.h"

#include <algorithm>
#include <utility>

#include "conformance/drive/transfer/worker.h"

namespace selvage::conformance {
namespace {

using namespace model;

// At a time; each is three processes that take turns.
constexpr std::size_t kReductions = 3;
constexpr std::size_t kConfirmations = 4;  // which mostly wait
// So many cases of the run later a result is waited for.
constexpr std::uint64_t kReducedWithin = 64;
constexpr std::uint64_t kConfirmedWithin = 256;

}  // namespace

Sightings::Sightings(TestContext& context, Reporter& reporter, std::function<void()> alive)
    : context_(context),
      reporter_(reporter),
      repeater_(context, std::move(alive)),
      reductions_(kReductions,
                  [this](const TrialQueue::Group& group, Channel& channel) {
                      const auto is_known = [this](const Because& because, const Case& shown) {
                          return reporter_.novelty().is_known(because.clause, signature(because, shown));
                      };
                      send_reduced(context_, group, kShrinkTime - shrinking_, tried_, is_known, channel);
                  }),
      confirmations_(kConfirmations, [this](const TrialQueue::Group& group, Channel& channel) {
          send_confirmed(context_, group, channel);
      }) {}

void Sightings::take(const Sighting& seen, std::uint64_t at) {
    std::vector<Sighting> group;
    for (const Because& b : seen.because) {
        if (reporter_.is_over()) return;
        const bool may_be_explained =
            seen.loss != Loss::None &&
            std::any_of(group.begin(), group.end(), [&b](const Sighting& s) { return alike(s.because.front(), b); });
        if (may_be_explained) reduce(group, at);
        if (!reporter_.is_expected(b) || is_explained(seen, b)) continue;
        while (reporter_.novelty().is_open(b.clause)) {
            if (reductions_.empty()) reduce(group, at);
            conclude_reduction();
        }
        if (!reporter_.novelty().worth_shrinking(b.clause)) continue;
        reporter_.novelty().begin(b.clause);
        group.push_back(seen);
        group.back().because = pick(seen.because, b);
        if (context_.plan().first) reduce(group, at);
    }
    reduce(group, at);
}

// A loss that a known case explains is seen once more; nothing of it is tried again.
bool Sightings::is_explained(const Sighting& seen, const Because& broken) {
    if (seen.loss == Loss::None) return false;
    const auto may_explain = [&](const Candidate& c) {
        return c.sighting.loss == seen.loss && alike(c.sighting.because.front(), broken);
    };
    while (reductions_.find(may_explain) != nullptr) conclude_reduction();
    const KnownLoss* known = learnt_.explanation(seen.shown, seen.loss, broken.clause);
    if (known == nullptr) return false;
    const auto is_it = [known](const Candidate& c) { return c.reduced.minimal == known->minimal; };
    if (Candidate* const pending = confirmations_.find(is_it))
        ++pending->again;
    else
        reporter_.pass_on(known->minimal, known->because, std::nullopt);
    return true;
}

void Sightings::reduce(std::vector<Sighting>& group, std::uint64_t at) {
    if (group.empty()) return;
    worker_of(context_.library()).renew();  // what comes next finds nothing of what broke a promise
    while (!reductions_.has_room()) conclude_reduction();
    TrialQueue::Group candidates;
    for (Sighting& seen : group) {
        const std::uint64_t id = ++ids_;
        // Of what was seen in haste nothing is reported that was not confirmed.
        if (!seen.hasty) reporter_.pend(id, seen.shown, seen.because);
        candidates.push_back({.sighting = std::move(seen), .reduced = {}, .id = id});
    }
    group.clear();
    reductions_.begin(std::move(candidates), at);
    if (context_.plan().first) finish();
}

void Sightings::conclude_reduction() {
    const std::uint64_t at = reductions_.oldest();
    TrialQueue::Result result = reductions_.take();
    Candidate& c = result.candidate;
    Experience gained;
    c.reduced = read_reduced(result, gained, tried_);
    shrinking_ += c.reduced.spent;
    worker_of(context_.library()).gain(gained);
    reporter_.novelty().end(c.sighting.because.front().clause);
    const std::uint64_t id = c.id;
    if (may_be_confirmed_beside(c.reduced)) return confirm(std::move(c), at);
    tell_repeated(c.sighting, repeater_.confirm(c.sighting, c.reduced));
    reporter_.conclude(id);
}

// Of a library that is not known to hang, whether it does is found out first: how long calls are waited for hangs on
// that.
bool Sightings::may_be_confirmed_beside(const Reduced& r) const {
    return !r.because.empty() && !context_.plan().first && wants(context_.plan(), r.because.front().clause) &&
           (r.loss != Loss::Ended || worker_of(context_.library()).is_known_to_hang());
}

// It counts for a finding from here on, unless that is taken back.  One like another one is not confirmed again.
void Sightings::confirm(Candidate candidate, std::uint64_t at) {
    const Reduced& r = candidate.reduced;
    if (r.minimal.before.empty()) learnt_.learn({r.loss, r.minimal, r.because});
    learnt_.note(candidate.sighting.shown, candidate.sighting.loss);
    if (!reporter_.novelty().is_new(r.because.front().clause, signature(r.because.front(), r.minimal)))
        return reporter_.conclude(candidate.id);
    reporter_.pend(candidate.id, r.minimal, r.because);
    while (!confirmations_.has_room()) conclude_confirmation();
    confirmations_.begin({std::move(candidate)}, at);
}

void Sightings::conclude_confirmation() {
    const TrialQueue::Result result = confirmations_.take();
    const Candidate& c = result.candidate;
    const Repeated r = read_confirmed(result);
    const bool as_expected = r.loss == c.reduced.loss && r.shown == c.reduced.minimal;
    if (r.because.empty() || !as_expected) learnt_.forget(c.reduced.minimal);
    if (r.because.empty()) {
        const Because& first = c.reduced.because.front();
        reporter_.novelty().forget(first.clause, signature(first, c.reduced.minimal));
        tell_repeated(c.sighting, repeater_.confirm(c.sighting, c.reduced));
    } else {
        for (std::uint64_t i = 0; i <= c.again; ++i) reporter_.pass_on(r.shown, r.because, std::nullopt);
    }
    reporter_.conclude(c.id);
}

void Sightings::tell_repeated(const Sighting& seen, Repeated r) {
    if (r.because.empty()) return reporter_.novelty().came_to_nothing(seen.because.front().clause);
    if (!r.intermittent && r.shown.before.empty()) learnt_.learn({r.loss, r.shown, r.because});
    reporter_.send(std::move(r.shown), std::move(r.because), r.intermittent);
}

void Sightings::take_due(std::uint64_t at) {
    while (!reductions_.empty() && reductions_.oldest() + kReducedWithin <= at) conclude_reduction();
    while (!confirmations_.empty() && confirmations_.oldest() + kConfirmedWithin <= at) conclude_confirmation();
}

void Sightings::finish() {
    while (!reductions_.empty()) conclude_reduction();
    while (!confirmations_.empty()) conclude_confirmation();
}

}  // namespace selvage::conformance
