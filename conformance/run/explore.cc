#include "conformance/run/explore.h"

#include <utility>

#include "conformance/drive/probe.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/run/learnt.h"
#include "conformance/run/novelty.h"
#include "conformance/run/repeat.h"
#include "conformance/run/reporter.h"
#include "conformance/run/sightings.h"
#include "conformance/run/trial_memory.h"
#include "conformance/shrink/shrink.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr unsigned kConfirmations = 2;  // of a case that was made smaller
constexpr unsigned kMoreTries = 3;      // of one that does not repeat; the parent tries it in processes of its own
constexpr std::size_t kShrinkBudget = 3000;

class Explorer {
public:
    Explorer(TestContext& context, Property& property, Channel& channel, Ledger& ledger)
        : context_(context),
          property_(property),
          channel_(channel),
          ledger_(ledger),
          reporter_(context.plan(), channel),
          sightings_(context, reporter_, [this] { channel_.doing(doing_); }) {}

    void run(std::uint64_t start) {
        const auto count = property_.count(context_.plan());
        std::uint64_t index = start;
        while (index < count && !reporter_.is_over()) {
            gather(index, count);
            issue_gathered();
        }
        worker_of(context_.library()).renew();  // the last pair is closed as the others were
        tell_left();
        sightings_.finish();
        if (const auto text = property_.note(); !text.empty()) reporter_.note(text);
    }

private:
    // Cases that are single calls are asked in batches; others are probed at once, one by one.
    void gather(std::uint64_t& index, std::uint64_t count) {
        queries_.clear();
        indices_.clear();
        while (index < count && !reporter_.is_over() && queries_.size() < Caller::capacity()) {
            const auto i = index++;
            Case c;
            doing(i + 1);
            if (!property_.make(context_, i, c)) continue;
            if (c.provider.empty()) c.provider = context_.provider();
            if (learnt_.knows(c) || sightings_.knows(c)) {
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
        for (std::size_t k = 0; k < queries_.size() && !reporter_.is_over(); ++k) {
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
        hasty_ = c.kind == Case::Kind::Group && context_.groups().is_hasty();
        probe(context_, c, ledger_.tally, broken_);
        if (c.kind != Case::Kind::Traffic) return tell(c);
        tell_transfer(c, worker_of(context_.library()));
        tell_left();
        sightings_.take_due(doing_);
    }

    // Of pairs whose closing ended the process.
    void tell_left() {
        while (const auto left = worker_of(context_.library()).take_left()) {
            broken_.clear();
            judge_left(context_, *left, ledger_.tally, broken_);
            Case alone = left->shown;
            auto history = std::exchange(alone.before, {});
            sightings_.take({std::move(alone), std::move(history), broken_}, doing_);
        }
    }

    // What its pair had carried is asked for before anything else is run.
    void tell_transfer(const Case& c, const Worker& worker) {
        const Loss loss = worker.loss();
        if (!broken_.empty()) {
            if (worker.history_is_cut())
                reporter_.note("a pair had carried more than the " + std::to_string(worker.history().size()) +
                               " exchanges that are known");
            sightings_.take({c, worker.history(), broken_, worker.hasty(), loss}, doing_);
        }
        if (loss != Loss::None) sightings_.note(c, loss);
    }

    void tell(const Case& c) {
        const auto broken = broken_;
        for (const auto& b : broken) {
            if (reporter_.is_over()) return;
            if (!reporter_.is_expected(b) || !reporter_.novelty().worth_shrinking(b.clause)) continue;
            tell_one(c, pick(broken, b));
        }
    }

    std::vector<Because> try_again(const Case& c) {
        channel_.doing(doing_);  // a sign of life
        std::vector<Because> seen;
        Tally scratch;
        probe(context_, c, scratch, seen);
        return seen;
    }

    std::vector<Because> shown_again(const Case& c, const Because& expected) { return pick(try_again(c), expected); }

    // A script of a group takes from tenths of a second to seconds, and comes to the same smaller ones as others.
    bool still_shows(const Case& smaller, const Because& expected) {
        if (smaller.kind != Case::Kind::Group) return !shown_again(smaller, expected).empty();
        return !pick(trials_.shown_by(smaller, [&] { return try_again(smaller); }), expected).empty();
    }

    // Another script that came to a finding which was confirmed.
    [[nodiscard]] bool is_known_group(const Case& minimal, const Because& expected) {
        return minimal.kind == Case::Kind::Group &&
               reporter_.novelty().is_known(expected.clause, signature(expected, minimal));
    }

    void tell_one(const Case& c, const std::vector<Because>& seen) {
        const Because& expected = seen.front();
        const auto shows = [&](const Case& smaller) { return still_shows(smaller, expected); };
        Case minimal = c;
        Case newest = c;
        newest.first.version = newest.second.version = context_.version();
        const bool refusal = is_refusal(expected);
        // One call on an object of its own: smaller hints tell no more.
        const bool is_call = c.kind == Case::Kind::Group && c.group.act == model::GroupAct::Calls;
        if ((!context_.plan().first || refusal) && !is_call) {
            if (c.kind != Case::Kind::Text && newest.first.version != c.first.version && shows(newest))
                minimal = newest;
            minimal = shrink(minimal, shows, kShrinkBudget);
        }
        if (is_known_group(minimal, expected)) return;
        Tries tries{.shown = 1, .of = 1};
        // A hang that is waited out is one the second time, too.
        const bool once = is_call && is_crash(expected.evidence);
        auto because = again(minimal, expected, once ? 1 : kConfirmations, tries);
        if (tries.shown != tries.of) {  // neither it nor what it was made from is sure to
            minimal = c;
            because = again(minimal, expected, kMoreTries, tries);
        }
        if (because.empty() && hasty_) return;
        if (because.empty()) because = seen;
        reporter_.send(std::move(minimal), std::move(because),
                       tries.shown == tries.of ? std::nullopt : std::optional<Tries>(tries));
    }

    // Some more tries, with patience.  @return what the last of them showed that showed it.
    std::vector<Because> again(const Case& c, const Because& expected, unsigned count, Tries& tries) {
        std::vector<Because> out;
        context_.groups().insist(true);
        for (unsigned i = 0; i < count; ++i) {
            auto because = shown_again(c, expected);
            ++tries.of;
            if (because.empty()) continue;
            ++tries.shown;
            out = std::move(because);
        }
        context_.groups().insist(false);
        return out;
    }

    TestContext& context_;
    Property& property_;
    Channel& channel_;
    Ledger& ledger_;
    std::vector<Query> queries_;
    std::vector<std::uint64_t> indices_;
    std::vector<Because> broken_;
    Issued issued_;
    std::chrono::nanoseconds told_time_{};
    std::uint64_t doing_ = 0;
    bool hasty_ = false;  // the case that is reported was not waited for with patience
    TrialMemory trials_;  // of groups
    Learnt learnt_{context_};
    Reporter reporter_;
    Sightings sightings_;
};

}  // namespace

void explore(TestContext& context, Property& property, Channel& channel, Ledger& ledger, std::uint64_t start) {
    property.prepare(context);
    Explorer(context, property, channel, ledger).run(start);
}

}  // namespace selvage::conformance
