// See repeat.h.
#include "conformance/suite/repeat.h"

#include <utility>

#include "conformance/shrink/shrink.h"
#include "conformance/suite/explore.h"
#include "conformance/suite/probe.h"
#include "conformance/traffic/worker.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::size_t kBudget = 400;                 // trials that make one case smaller
constexpr std::chrono::seconds kShrinkTime{25};      // for all cases; what is found later is reported as it was found
constexpr unsigned kConfirmations = 2;               // of what is said to show each time
constexpr unsigned kTries = 10;                      // of what does not, in each form
constexpr unsigned kFewTries = 2;                    // once so much time has gone into them:
constexpr std::chrono::seconds kTriesTime{60};       // for all sightings
constexpr std::chrono::seconds kTriesTimeOfOne{20};  // and for one

}  // namespace

std::vector<Because> pick(const std::vector<Because>& broken, const Because& wanted) {
    std::vector<Because> out;
    for (std::size_t i = 0; i < broken.size(); ++i) {
        if (broken[i].supporting || !alike(broken[i], wanted)) continue;
        out.push_back(broken[i]);
        for (++i; i < broken.size() && broken[i].supporting; ++i) out.push_back(broken[i]);
        return out;
    }
    return out;
}

std::vector<Because> Repeater::trial(const Case& c) {
    alive_();
    worker_of(lab_.library()).renew();
    std::vector<Because> broken;
    Tally scratch;
    probe(lab_, c, scratch, broken);
    return pick(broken, seen_->because.front());
}

std::vector<Because> Repeater::counted_trial(const Case& c) {
    auto because = trial(c);
    if (!worker_of(lab_.library()).ran() && because.empty()) return because;
    ++tries_.of;
    tries_.shown += because.empty() ? 0 : 1;
    return because;
}

Case Repeater::smaller(const Case& c) {
    const auto began = Clock::now();
    const auto spent = [&] { return shrinking_ + (Clock::now() - began); };
    const auto still_shows = [&](const Case& smaller) { return spent() < kShrinkTime && !trial(smaller).empty(); };
    Case out = shrink(c, still_shows, kBudget);
    shrinking_ = spent();
    return out;
}

// What it shows, if it does so again and again.
std::vector<Because> Repeater::each_time(const Case& c) {
    std::vector<Because> because;
    for (unsigned i = 0; i < kConfirmations; ++i) {
        because = counted_trial(c);
        if (because.empty()) break;
    }
    return because;
}

Repeated Repeater::at_times(const Sighting& seen) {
    Case with = seen.shown;
    if (!seen.history.empty()) with.before = seen.history;
    Repeated out{with, seen.because, {}};
    const auto began = Clock::now();
    const unsigned tries = trying_ < kTriesTime ? kTries : kFewTries;
    for (unsigned i = 0; i < tries && Clock::now() - began < kTriesTimeOfOne; ++i) {
        // The shorter form is told if it shows at all.
        if (auto because = counted_trial(seen.shown); !because.empty()) {
            out.shown = seen.shown;
            out.because = std::move(because);
        }
        if (!(with == seen.shown)) counted_trial(with);
    }
    trying_ += Clock::now() - began;
    out.intermittent = tries_;
    return out;
}

Repeated Repeater::run(const Sighting& seen) {
    seen_ = &seen;
    tries_ = {.shown = 1, .of = 1};
    Worker& worker = worker_of(lab_.library());
    Case shown = seen.shown;
    bool repeats = !counted_trial(shown).empty();
    if (!repeats && !seen.history.empty() && shown.before != seen.history) {
        shown.before = seen.history;
        repeats = !counted_trial(shown).empty();
    }
    std::vector<Because> because;
    Case minimal = repeats ? smaller(shown) : shown;
    worker.set_patient(true);
    if (repeats) because = each_time(minimal);
    if (repeats && because.empty() && !(minimal == shown)) because = each_time(minimal = shown);
    Repeated out = because.empty() ? at_times(seen) : Repeated{std::move(minimal), std::move(because), {}};
    worker.set_patient(false);
    worker.renew();
    return out;
}

}  // namespace selvage::conformance
