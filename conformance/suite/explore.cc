#include "conformance/suite/explore.h"

#include "conformance/ask/own_process.h"
#include "conformance/shrink/shrink.h"
#include "conformance/suite/probe.h"
#include "conformance/suite/wire.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr int kMoreTries = 3;         // of a case that does not repeat at once
constexpr unsigned kMostShrunk = 40;  // cases of one clause that are shrunk at most
constexpr unsigned kMostBarren = 6;   // and in a row without a new finding
constexpr std::size_t kMostKept = 6;  // findings of one clause that are told
constexpr std::size_t kShrinkBudget = 3000;
// Of transfers, where a trial may wait for what never comes, and then all are made smaller in this time; what is found
// later is told as it was found.
constexpr std::size_t kTrafficBudget = 400;
constexpr auto kTrafficTime = std::chrono::seconds(25);

// Finds the broken link of `chain` that is like `wanted`, with its supporting links.
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
        forget_process(b.evidence.wanted_text);
    }
    forget_process(shown.first);
    forget_process(shown.second);
    if (shown.string.info) forget_process(*shown.string.info);
}

class Explorer {
public:
    Explorer(Lab& lab, Property& property, Channel& channel, Ledger& ledger)
        : lab_(lab), property_(property), channel_(channel), ledger_(ledger) {}

    void run(std::uint64_t start) {
        const auto count = property_.count(lab_.plan());
        std::uint64_t index = start;
        while (index < count) {
            gather(index, count);
            ask_gathered();
        }
        if (const auto note = property_.note(); !note.empty()) channel_.send(std::string(kNoteMark) + note);
    }

private:
    // Cases that are single calls are asked in batches; others are probed at once, one by one.
    void gather(std::uint64_t& index, std::uint64_t count) {
        queries_.clear();
        indices_.clear();
        while (index < count && queries_.size() < Caller::capacity()) {
            const auto i = index++;
            Case c;
            doing(i + 1);
            if (!property_.make(lab_, i, c)) continue;
            if (c.provider.empty()) c.provider = lab_.provider();
            if (c.kind == Case::Kind::Call) {
                queries_.push_back(std::move(c.first));
                indices_.push_back(i);
            } else {
                one(c);
            }
        }
    }

    void ask_gathered() {
        if (queries_.empty()) return;
        lab_.bulk().prepare(queries_);
        for (std::size_t k = 0; k < queries_.size(); ++k) {
            doing(indices_[k] + 1);
            lab_.bulk().ask(k, asked_);
            ++ledger_.questions;
            broken_.clear();
            judge_asked(lab_, queries_[k], asked_, ledger_.tally, broken_);
            if (!broken_.empty()) {
                Case c;
                c.provider = lab_.provider();
                c.first = queries_[k];
                tell(c);
            }
        }
        ledger_.call_nanos += static_cast<std::uint64_t>((lab_.bulk().time_inside() - told_time_).count());
        told_time_ = lab_.bulk().time_inside();
        channel_.send({});
    }

    void doing(std::uint64_t what) {
        doing_ = what;
        channel_.doing(what);
    }

    void one(const Case& c) {
        ++ledger_.questions;
        broken_.clear();
        probe(lab_, c, ledger_.tally, broken_);
        if (!broken_.empty()) tell(c);
    }

    void tell(const Case& c) {
        for (const auto& b : broken_) {
            // A refusal finds its clause by shrinking, so it is wanted if it may end at a clause that is.
            const bool wanted = wants(lab_.plan(), b.clause) || alike(b, kRefusal);
            if (b.supporting || !wanted || !novelty_.worth_shrinking(b.clause)) continue;
            tell_one(c, b);
        }
    }

    std::vector<Because> shown_again(const Case& c, const Because& wanted) {
        channel_.doing(doing_);  // a sign of life
        std::vector<Because> seen;
        Tally scratch;
        probe(lab_, c, scratch, seen);
        return pick(seen, wanted);
    }

    void tell_one(const Case& c, const Because& wanted) {
        const auto still_shows = [&](const Case& smaller) { return !shown_again(smaller, wanted).empty(); };
        Case minimal = c;
        Case newest = c;
        newest.first.version = newest.second.version = lab_.version();
        if (c.kind != Case::Kind::Text && c.kind != Case::Kind::Traffic && newest.first.version != c.first.version &&
            still_shows(newest))
            minimal = newest;
        const bool traffic = c.kind == Case::Kind::Traffic;
        const auto began = std::chrono::steady_clock::now();
        if (!traffic || shrinking_ < kTrafficTime)
            minimal = shrink(minimal, still_shows, traffic ? kTrafficBudget : kShrinkBudget);
        shrinking_ += std::chrono::steady_clock::now() - began;
        auto because = shown_again(minimal, wanted);
        for (int i = 0; i < kMoreTries && because.empty(); ++i) {
            minimal = c;
            because = shown_again(minimal, wanted);
        }
        if (because.empty()) {  // no program could show it either
            channel_.send(std::string(kNoteMark) + std::string(model::clause_text(wanted.clause).id) +
                          " was broken once, and not again by the same call");
            return;
        }
        if (!wants(lab_.plan(), because.front().clause)) return;
        if (!novelty_.is_new(because.front().clause, signature(because.front(), minimal))) return;
        forget(because, minimal);
        channel_.send(pack({.because = std::move(because), .shown_by = std::move(minimal)}));
    }

    Lab& lab_;
    Property& property_;
    Channel& channel_;
    Ledger& ledger_;
    Novelty novelty_;
    std::vector<Query> queries_;
    std::vector<std::uint64_t> indices_;
    std::vector<Because> broken_;
    Asked asked_;
    std::chrono::nanoseconds told_time_{};
    std::uint64_t doing_ = 0;
    std::chrono::steady_clock::duration shrinking_{};  // spent on making cases smaller
};

}  // namespace

bool Novelty::worth_shrinking(Clause clause) {
    Seen& s = seen_[clause];
    if (s.shrunk >= kMostShrunk || s.barren >= kMostBarren || s.signatures.size() >= kMostKept) return false;
    ++s.shrunk;
    ++s.barren;
    return true;
}

bool Novelty::is_new(Clause clause, const std::string& signature) {
    Seen& s = seen_[clause];
    if (s.signatures.size() >= kMostKept || !s.signatures.insert(signature).second) return false;
    s.barren = 0;
    return true;
}

std::string signature(const Because& because, const Case& shown) {
    std::string out = std::to_string(static_cast<unsigned>(because.clause)) + ":" +
                      std::to_string(static_cast<unsigned>(because.evidence.field)) + ":" +
                      std::to_string(static_cast<unsigned>(shown.kinship));
    const Query& q = shown.first;
    out += q.node ? ":node" : "";
    out += q.service ? ":service" : "";
    out += ":" + std::to_string(q.flags);
    if (q.hints) {
        for (const auto& r : number_fields()) {
            // mode and mr_mode are set in nearly every question; they tell nothing unless they are all there is.
            if (r.field != Field::mode && r.field != Field::domain_mr_mode && get(*q.hints, r.field) != 0) {
                out += ":" + std::string(r.path);
            }
        }
        for (const auto& r : text_fields()) {
            if (text(*q.hints, r.field)) out += ":" + std::string(r.path);
        }
    }
    out += ":" + std::to_string(shown.string.datatype);
    if (shown.kind == Case::Kind::Traffic) {
        out += ":" + std::to_string(q.hints ? q.hints->ep.type : 0);
        for (const auto& o : shown.exchange.operations) {
            if (o.what == Transfer::Progress) continue;
            out += ":" + std::to_string(static_cast<unsigned>(o.what)) + "/" + std::to_string(o.flags);
        }
    }
    for (const auto& a : shown.actions) out += ":" + std::to_string(static_cast<unsigned>(a.verb));
    return out;
}

bool alike(const Because& a, const Because& b) {
    if (a.clause == b.clause) return true;
    // Of fi_getinfo: which hint it stumbled over is told by shrinking.  A transfer's own call stays what it is.
    const auto refused = [](const Because& x) {
        const Evidence& e = x.evidence;
        if (clause_text(x.clause).judges == Judges::Traffic) return false;
        return (e.field == Field::call_return && e.relation == Relation::Equals && e.wanted == 0) ||
               (e.field == Field::call_count && e.relation == Relation::AtLeast && e.wanted == 1);
    };
    return refused(a) && refused(b);
}

void explore(Lab& lab, Property& property, Channel& channel, Ledger& ledger, std::uint64_t start) {
    property.prepare(lab);
    Explorer(lab, property, channel, ledger).run(start);
}

}  // namespace selvage::conformance
