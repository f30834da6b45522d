#include "conformance/run/explore.h"

#include <utility>

#include "conformance/case/own_process.h"
#include "conformance/drive/probe.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/run/confirmations.h"
#include "conformance/run/ipc.h"
#include "conformance/run/learnt.h"
#include "conformance/run/learnt_transfers.h"
#include "conformance/run/novelty.h"
#include "conformance/run/repeat.h"
#include "conformance/shrink/shrink.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr unsigned kConfirmations = 2;  // of a case that was made smaller
constexpr unsigned kMoreTries = 3;      // of one that does not repeat; the parent tries it in processes of its own
constexpr std::size_t kShrinkBudget = 3000;
// Any refusal of what fits, to compare others with.
const Because kRefusal = [] {
    Because b;
    b.evidence.field = Field::call_return;
    b.evidence.relation = Relation::Equals;
    return b;
}();

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

class Explorer {
public:
    Explorer(TestContext& context, Property& property, Channel& channel, Ledger& ledger)
        : context_(context), property_(property), channel_(channel), ledger_(ledger) {}

    void run(std::uint64_t start) {
        const auto count = property_.count(context_.plan());
        std::uint64_t index = start;
        while (index < count && !over_) {
            gather(index, count);
            issue_gathered();
        }
        worker_of(context_.library()).renew();  // the last pair is closed as the others were
        tell_left();
        take_confirmed(true);
        if (const auto text = property_.note(); !text.empty()) note(text);
    }

private:
    // Cases that are single calls are asked in batches; others are probed at once, one by one.
    void gather(std::uint64_t& index, std::uint64_t count) {
        queries_.clear();
        indices_.clear();
        while (index < count && !over_ && queries_.size() < Caller::capacity()) {
            const auto i = index++;
            Case c;
            doing(i + 1);
            if (!property_.make(context_, i, c)) continue;
            if (c.provider.empty()) c.provider = context_.provider();
            if (learnt_.knows(c) || transfers_.knows(c)) {
                ++ledger_.passed_over;
                continue;
            }
            if (c.kind == Case::Kind::Call) {
                queries_.push_back(std::move(c.first));
                indices_.push_back(i);
            } else {
                one(c);
            }
        }
    }

    void issue_gathered() {
        if (queries_.empty()) return;
        context_.bulk().prepare(queries_);
        for (std::size_t k = 0; k < queries_.size() && !over_; ++k) {
            doing(indices_[k] + 1);
            context_.bulk().issue(k, issued_);
            ++ledger_.queries;
            broken_.clear();
            judge_issued(context_, queries_[k], issued_, ledger_.tally, broken_);
            if (!broken_.empty()) {
                Case c;
                c.provider = context_.provider();
                c.first = queries_[k];
                tell(c);
            }
        }
        ledger_.call_nanos += static_cast<std::uint64_t>((context_.bulk().time_inside() - told_time_).count());
        told_time_ = context_.bulk().time_inside();
        channel_.send({});
    }

    void doing(std::uint64_t what) {
        doing_ = what;
        channel_.doing(what);
    }

    void one(const Case& c) {
        ++ledger_.queries;
        broken_.clear();
        probe(context_, c, ledger_.tally, broken_);
        if (c.kind != Case::Kind::Traffic) return tell(c);
        tell_transfer(c, worker_of(context_.library()));
        tell_left();
        take_confirmed(false);
    }

    // Of pairs whose closing ended the process.
    void tell_left() {
        while (const auto left = worker_of(context_.library()).take_left()) {
            broken_.clear();
            judge_left(context_, *left, ledger_.tally, broken_);
            Case alone = left->shown;
            history_ = std::exchange(alone.before, {});
            hasty_ = false;
            tell(alone);
        }
    }

    // What its pair had carried is asked for before anything else is run.
    void tell_transfer(const Case& c, const Worker& worker) {
        loss_ = worker.loss();
        if (!broken_.empty()) tell_broken(c, worker);
        if (loss_ != Loss::None) transfers_.note(c, loss_);
        loss_ = Loss::None;
    }

    void tell_broken(const Case& c, const Worker& worker) {
        history_ = worker.history();
        hasty_ = worker.hasty();
        if (worker.history_is_cut())
            note("a pair had carried more than the " + std::to_string(history_.size()) + " exchanges that are known");
        tell(c);
    }

    void tell(const Case& c) {
        const auto broken = broken_;
        for (const auto& b : broken) {
            if (over_) return;
            // A refusal finds its clause by shrinking, so it is wanted if it may end at a clause that is.
            const bool expected = wants(context_.plan(), b.clause) || alike(b, kRefusal);
            if (b.supporting || !expected || is_explained(c, b) || !novelty_.worth_shrinking(b.clause)) continue;
            if (c.kind == Case::Kind::Traffic) {
                repeat(c, pick(broken, b));
            } else {
                tell_one(c, pick(broken, b));
            }
        }
    }

    // A loss that a known case explains is seen once more; nothing of it is tried again.
    bool is_explained(const Case& c, const Because& broken) {
        if (loss_ == Loss::None) return false;
        const KnownLoss* known = transfers_.explanation(c, loss_, broken.clause);
        if (known == nullptr) return false;
        if (Candidate* const pending = confirmations_.find(known->minimal)) {
            ++pending->again;
            return true;
        }
        Found again{.because = known->because, .shown_by = known->minimal, .intermittent = {}};
        forget(again.because, again.shown_by);
        channel_.send(pack(again));
        return true;
    }

    void repeat(const Case& c, const std::vector<Because>& seen) {
        Candidate candidate{{c, history_, seen, hasty_, loss_}, {}};
        candidate.reduced = repeater_.reduce(candidate.sighting);
        if (may_be_confirmed_aside(candidate.reduced)) return confirm_aside(std::move(candidate));
        tell_repeated(repeater_.confirm(candidate.sighting, candidate.reduced));
    }

    // Of a library that is not known to hang, whether it does is found out first: how long calls are waited for hangs
    // on that.
    bool may_be_confirmed_aside(const Reduced& r) const {
        return !r.because.empty() && !context_.plan().first && wants(context_.plan(), r.because.front().clause) &&
               (r.loss != Loss::Ended || worker_of(context_.library()).is_known_to_hang());
    }

    // It counts for a finding from here on, unless that is taken back.  One like another one is not confirmed again.
    void confirm_aside(Candidate candidate) {
        const Reduced& r = candidate.reduced;
        if (r.minimal.before.empty()) transfers_.learn({r.loss, r.minimal, r.because});
        if (!novelty_.is_new(r.because.front().clause, signature(r.because.front(), r.minimal))) return;
        channel_.send(std::string(kPendingMark) +
                      pack({.because = r.because, .shown_by = r.minimal, .intermittent = Tries{1, 1}}));
        while (!confirmations_.has_room()) conclude(*confirmations_.take(true));
        confirmations_.begin(std::move(candidate));
    }

    void take_confirmed(bool waits) {
        while (auto result = confirmations_.take(waits)) conclude(std::move(*result));
    }

    void conclude(Confirmations::Result result) {
        const Candidate& c = result.candidate;
        Repeated& r = result.repeated;
        const bool as_expected = r.loss == c.reduced.loss && r.shown == c.reduced.minimal;
        if (r.because.empty() || !as_expected) transfers_.forget(c.reduced.minimal);
        if (r.because.empty()) {
            const Because& first = c.reduced.because.front();
            novelty_.forget(first.clause, signature(first, c.reduced.minimal));
            tell_repeated(repeater_.confirm(c.sighting, c.reduced));
        } else {
            for (std::uint64_t i = 0; i <= c.again; ++i) pass_on(r.shown, r.because, std::nullopt);
        }
        channel_.send(kConcluded);
    }

    void tell_repeated(Repeated r) {
        if (r.because.empty()) return;
        if (!r.intermittent && r.shown.before.empty()) transfers_.learn({r.loss, r.shown, r.because});
        send(std::move(r.shown), std::move(r.because), r.intermittent);
    }

    std::vector<Because> shown_again(const Case& c, const Because& expected) {
        channel_.doing(doing_);  // a sign of life
        std::vector<Because> seen;
        Tally scratch;
        probe(context_, c, scratch, seen);
        return pick(seen, expected);
    }

    void tell_one(const Case& c, const std::vector<Because>& seen) {
        const Because& expected = seen.front();
        const auto still_shows = [&](const Case& smaller) { return !shown_again(smaller, expected).empty(); };
        Case minimal = c;
        Case newest = c;
        newest.first.version = newest.second.version = context_.version();
        const bool refusal = alike(expected, kRefusal);  // whose clause is found by shrinking
        if (!context_.plan().first || refusal) {
            if (c.kind != Case::Kind::Text && newest.first.version != c.first.version && still_shows(newest))
                minimal = newest;
            minimal = shrink(minimal, still_shows, kShrinkBudget);
        }
        Tries tries{.shown = 1, .of = 1};
        auto because = again(minimal, expected, kConfirmations, tries);
        if (tries.shown != tries.of) {  // neither it nor what it was made from is sure to
            minimal = c;
            because = again(minimal, expected, kMoreTries, tries);
        }
        if (because.empty()) because = seen;
        send(std::move(minimal), std::move(because),
             tries.shown == tries.of ? std::nullopt : std::optional<Tries>(tries));
    }

    // Some more tries.  @return what the last of them showed that showed it.
    std::vector<Because> again(const Case& c, const Because& expected, unsigned count, Tries& tries) {
        std::vector<Because> out;
        for (unsigned i = 0; i < count; ++i) {
            auto because = shown_again(c, expected);
            ++tries.of;
            if (because.empty()) continue;
            ++tries.shown;
            out = std::move(because);
        }
        return out;
    }

    void send(Case shown, std::vector<Because> because, std::optional<Tries> intermittent) {
        const Clause clause = because.front().clause;
        if (!wants(context_.plan(), clause)) return;
        const bool is_new = novelty_.is_new(clause, signature(because.front(), shown, intermittent.has_value()));
        if (!is_new && !intermittent) return;  // how often an intermittent one shows is added up
        pass_on(std::move(shown), std::move(because), intermittent);
        over_ = context_.plan().first;
    }

    void pass_on(Case shown, std::vector<Because> because, std::optional<Tries> intermittent) {
        forget(because, shown);
        channel_.send(
            pack({.because = std::move(because), .shown_by = std::move(shown), .intermittent = intermittent}));
    }

    void note(const std::string& text) { channel_.send(std::string(kNoteMark) + text); }

    TestContext& context_;
    Property& property_;
    Channel& channel_;
    Ledger& ledger_;
    Novelty novelty_;
    std::vector<Query> queries_;
    std::vector<std::uint64_t> indices_;
    std::vector<Because> broken_;
    Issued issued_;
    std::chrono::nanoseconds told_time_{};
    std::uint64_t doing_ = 0;
    std::vector<std::vector<Operation>> history_;  // of the case at hand, if it is a transfer
    Loss loss_ = Loss::None;                       // of the case at hand, if it is a transfer
    Learnt learnt_{context_};
    LearntTransfers transfers_;
    Repeater repeater_{context_, [this] { channel_.doing(doing_); }};
    Confirmations confirmations_{context_};
    bool over_ = false;   // the first deviation was all that was to be found
    bool hasty_ = false;  // and something of it was given up after a short wait
};

}  // namespace

void explore(TestContext& context, Property& property, Channel& channel, Ledger& ledger, std::uint64_t start) {
    property.prepare(context);
    Explorer(context, property, channel, ledger).run(start);
}

}  // namespace selvage::conformance
