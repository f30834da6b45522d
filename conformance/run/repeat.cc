// See repeat.h.
#include "conformance/run/repeat.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "conformance/case/case_text.h"
#include "conformance/drive/probe.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/run/novelty.h"
#include "conformance/shrink/shrink.h"
#include "conformance/shrink/smaller_traffic.h"
#include "model/traffic/words.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::size_t kBudget = 400;    // trials that make one case smaller
constexpr unsigned kConfirmations = 2;  // of what is said to show each time
constexpr unsigned kTries = 10;         // of what does not, in each form
constexpr unsigned kFewTries = 2;       // once kTriesTime has gone into them
// Measured as kShrinkTime, with a clock that counts for more: these are one by one.
constexpr std::chrono::seconds kTriesTime{60};       // for all sightings
constexpr std::chrono::seconds kTriesTimeOfOne{20};  // and for one
constexpr int kShrinkClock = 12, kTriesClock = 4;    // the clock counts for so much less than a processor

std::chrono::nanoseconds on_processor(const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

// What this process and the workers that it has waited for have used.
std::chrono::nanoseconds time_used() {
    std::chrono::nanoseconds sum{};
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used = {};
        if (getrusage(who, &used) == 0) sum += on_processor(used.ru_utime) + on_processor(used.ru_stime);
    }
    return sum;
}

// Measures a stretch of work.
class Watch {
public:
    explicit Watch(int clock) : clock_(clock) {}
    [[nodiscard]] std::chrono::nanoseconds spent() const {
        const std::chrono::nanoseconds by_clock = std::chrono::steady_clock::now() - began_;
        return std::max(time_used() - used_, by_clock / clock_);
    }

private:
    int clock_;
    std::chrono::nanoseconds used_ = time_used();
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<Because> pick(const std::vector<Because>& broken, const Because& expected) {
    std::vector<Because> out;
    for (std::size_t i = 0; i < broken.size(); ++i) {
        if (broken[i].supporting || !alike(broken[i], expected)) continue;
        out.push_back(broken[i]);
        for (++i; i < broken.size() && broken[i].supporting; ++i) out.push_back(broken[i]);
        return out;
    }
    return out;
}

Repeater::Shown Repeater::run_alone(const Case& c) {
    alive_();
    Worker& worker = worker_of(context_.library());
    worker.renew();
    Shown out;
    Tally scratch;
    probe(context_, c, scratch, out.broken);
    out.loss = worker.loss();
    out.hasty = worker.hasty();
    out.ran = worker.ran();
    return out;
}

std::vector<Because> Repeater::trial(const Case& c) {
    if (!remembers_) {
        shown_ = run_alone(c);
    } else {
        const auto [known, is_new] = memory_.try_emplace(print_case(c));
        if (is_new) known->second = run_alone(c);
        shown_ = known->second;
        if (is_new && shown_.ran && !shown_.hasty) tried_.insert(*known);
    }
    return pick(shown_.broken, expected_);
}

std::vector<Because> Repeater::counted_trial(const Case& c) {
    auto because = trial(c);
    if (shown_.hasty || (!shown_.ran && because.empty())) return because;
    ++tries_.of;
    tries_.shown += because.empty() ? 0 : 1;
    return because;
}

void Repeater::make_smaller(Reduced& r, std::chrono::nanoseconds left) {
    const Watch watch(kShrinkClock);
    std::set<std::string> failed;  // each round of shrinking tries again what the rounds before have tried
    const bool can_tell = program_can_tell(r.shown, r.because);
    const auto still_shows = [&](const Case& smaller) {
        if (watch.spent() >= left) return false;
        const std::string text = print_case(smaller);
        if (failed.contains(text)) return false;
        auto because = trial(smaller);
        // A case whose program shows it is worth more than a smaller one whose program has no way to.
        if (because.empty() || (can_tell && !program_can_tell(smaller, because))) {
            failed.insert(text);
            return false;
        }
        r.because = std::move(because);
        r.loss = shown_.loss;
        return true;
    };
    // What is learnt of a loss is looked for in later cases, so that one is made as small as it can be; so is what
    // another clause may be charged with in the end (in_no_selection).
    const auto is_known = [&](const Case& c) {
        return r.loss == Loss::None && !selects(r.because.front().clause) && is_known_(r.because.front(), c);
    };
    r.minimal = shrink_transfers(r.shown, still_shows, is_known, kBudget);
    r.spent = watch.spent();
}

// What it shows, if it does so again and again.  A loss was waited for with patience, which once is enough.
std::vector<Because> Repeater::each_time(const Case& c) {
    std::vector<Because> because;
    for (unsigned i = 0; i < kConfirmations; ++i) {
        because = counted_trial(c);
        if (because.empty() || shown_.loss != Loss::None) break;
    }
    return because;
}

Repeated Repeater::at_times(const Sighting& seen) {
    expected_ = seen.because.front();
    Case with = seen.shown;
    if (!seen.history.empty()) with.before = seen.history;
    Repeated out{with, seen.because, {}, Loss::None};
    const std::string signed_as = signature(seen.because.front(), seen.shown, true);
    const bool known = !at_times_.insert(signed_as).second;
    const Watch watch(kTriesClock);
    const unsigned tries = known ? 0 : trying_ < kTriesTime ? kTries : kFewTries;
    for (unsigned i = 0; i < tries && watch.spent() < kTriesTimeOfOne; ++i) {
        // The shorter form is reported if it shows at all.
        if (auto because = counted_trial(seen.shown); !because.empty()) {
            out.shown = seen.shown;
            out.because = std::move(because);
        }
        if (!(with == seen.shown)) counted_trial(with);
    }
    trying_ += watch.spent();
    if (tries_.shown == 0) out.because.clear();
    out.intermittent = tries_;
    return out;
}

bool Repeater::take(Reduced& r, Case c) {
    auto because = trial(c);
    if (because.empty()) return false;
    r.shown = std::move(c);
    r.because = std::move(because);
    r.loss = shown_.loss;
    return true;
}

// The same in one process, if that shows it, too: quicker, and what its C program does.
void Repeater::in_one_process(Reduced& r) {
    if (r.because.empty() || r.shown.sequence.processes == 1) return;
    Case one = r.shown;
    one.sequence.processes = 1;
    take(r, std::move(one));
}

// What ended the process is charged to the area of the last call, which need not be to blame.  That is found out
// however little time is left for making cases smaller.
void Repeater::in_one_area(Reduced& r) {
    if (r.because.empty() || !is_crash(r.because.front().evidence)) return;
    for (const auto area : {is_message, is_tagged, is_rma, is_atomic}) {
        Case alone = r.shown;
        alone.sequence = of_one_area(std::move(alone.sequence), area);
        if (!(alone == r.shown) && take(r, std::move(alone))) return;
    }
}

// An entry that is missing although every completion is reported is not missing because it was selected.  Whether it is
// that of the same operation is looked at where the case is small.  That, too, takes no time that may be lacking.
void Repeater::in_no_selection(Reduced& r) {
    if (r.because.empty() || !selects(r.because.front().clause)) return;
    const auto concerned = [](const Because& b) { return b.evidence.observed.operations; };
    Case all = r.minimal;
    all.sequence = without_selection(std::move(all.sequence));
    Because selected = std::exchange(expected_, Because{.clause = Clause::cq_entry_comes, .evidence = {}});
    auto because = trial(all);
    if (because.empty() || concerned(because.front()) != concerned(r.because.front())) {
        expected_ = std::move(selected);
        return;
    }
    r.minimal = std::move(all);
    r.because = std::move(because);
    r.loss = shown_.loss;
}

Reduced Repeater::reduce(const Sighting& seen, std::chrono::nanoseconds left) {
    expected_ = seen.because.front();
    remembers_ = true;
    tries_ = {.shown = seen.hasty ? 0U : 1U, .of = seen.hasty ? 0U : 1U};
    Worker& worker = worker_of(context_.library());
    worker.set_quick(seen.loss == Loss::Ended);
    Reduced out;
    out.shown = seen.shown;
    out.because = counted_trial(out.shown);
    if (out.because.empty() && !seen.history.empty() && out.shown.before != seen.history) {
        out.shown.before = seen.history;
        out.because = counted_trial(out.shown);
    }
    out.loss = shown_.loss;
    in_one_process(out);
    in_one_area(out);
    out.minimal = out.shown;
    if (!out.because.empty() && !context_.plan().first) make_smaller(out, left);
    in_no_selection(out);
    out.tries = tries_;
    remembers_ = false;
    worker.set_quick(false);
    worker.renew();
    return out;
}

Repeated Repeater::each_time(const Sighting& seen, const Reduced& reduced) {
    expected_ = reduced.because.empty() ? seen.because.front() : reduced.because.front();
    tries_ = reduced.tries;
    Worker& worker = worker_of(context_.library());
    worker.set_patient(true);
    Repeated out{reduced.minimal, {}, {}, Loss::None};
    if (!reduced.because.empty()) out.because = each_time(out.shown);
    if (!reduced.because.empty() && out.because.empty() && !(reduced.minimal == reduced.shown)) {
        out.shown = reduced.shown;
        out.because = each_time(out.shown);
    }
    out.loss = shown_.loss;
    worker.set_patient(false);
    worker.renew();
    return out;
}

Repeated Repeater::confirm(const Sighting& seen, const Reduced& reduced) {
    Repeated out = each_time(seen, reduced);
    if (!out.because.empty()) return out;
    Worker& worker = worker_of(context_.library());
    worker.set_patient(true);
    out = at_times(seen);
    worker.set_patient(false);
    worker.renew();
    return out;
}

}  // namespace selvage::conformance
