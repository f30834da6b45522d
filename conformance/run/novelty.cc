// See novelty.h.
#include "conformance/run/novelty.h"

#include <algorithm>
#include <array>

#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr unsigned kMostShrunk = 40;  // cases of one clause that are shrunk at most
constexpr unsigned kMostBarren = 6;   // and in a row that come to known findings
constexpr std::size_t kMostKept = 6;  // findings of one clause that are reported

}  // namespace

bool Novelty::worth_shrinking(Clause clause) {
    Seen& s = seen_[clause];
    if (s.shrunk >= kMostShrunk || s.barren >= kMostBarren || s.signatures.size() >= kMostKept) return false;
    ++s.shrunk;
    ++s.barren;
    return true;
}

bool Novelty::is_open(Clause clause) {
    const Seen& s = seen_[clause];
    if (s.under_way == 0 || s.shrunk >= kMostShrunk || s.signatures.size() >= kMostKept) return false;
    return s.barren >= kMostBarren || s.signatures.size() + s.under_way >= kMostKept;
}

bool Novelty::is_new(Clause clause, const std::string& signature) {
    if (is_known(clause, signature)) return false;
    Seen& s = seen_[clause];
    s.signatures.insert(signature);
    s.barren = s.under_way;
    return true;
}

bool Novelty::is_known(Clause clause, const std::string& signature) const {
    const auto at = seen_.find(clause);
    if (at == seen_.end()) return false;
    return at->second.signatures.size() >= kMostKept || at->second.signatures.contains(signature);
}

void Novelty::came_to_nothing(Clause clause) {
    Seen& s = seen_[clause];
    if (s.barren > s.under_way) --s.barren;
}

std::string signature(const Because& because, const Case& shown, bool intermittent) {
    if (intermittent) {
        const auto& hints = shown.first.hints;
        return std::to_string(static_cast<unsigned>(because.clause)) + ":" +
               std::to_string(static_cast<unsigned>(because.evidence.field)) + ":" +
               std::to_string(hints ? hints->ep.type : 0) + ":at times";
    }
    std::string out = std::to_string(static_cast<unsigned>(because.clause)) + ":" +
                      std::to_string(static_cast<unsigned>(because.evidence.field)) + ":" +
                      std::to_string(static_cast<unsigned>(shown.metamorphic));
    const Query& q = shown.first;
    out += q.node ? ":node" : "";
    out += q.service ? ":service" : "";
    out += ":" + std::to_string(q.flags);
    if (q.hints) {
        for (const auto& r : number_fields()) {
            // mode and mr_mode are set in nearly every query; they tell nothing unless they are all there is.
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
        out += shown.before.empty() ? "" : ":before";
        out += shown.sequence.processes == 1 ? "" : ":processes";
        out += ":" + std::to_string(q.hints ? q.hints->ep.type : 0);
        for (const auto& o : shown.sequence.operations) {
            if (o.what == Transfer::Progress) continue;
            out += ":" + std::to_string(static_cast<unsigned>(o.what)) + "/" + std::to_string(o.flags);
        }
    }
    if (shown.kind == Case::Kind::Group) {
        const GroupScript& g = shown.group;
        for (const std::uint64_t n : {static_cast<std::uint64_t>(g.act), static_cast<std::uint64_t>(g.set), g.operation,
                                      static_cast<std::uint64_t>(g.call)})
            out += ":" + std::to_string(n);
    }
    for (const auto& a : shown.actions) out += ":" + std::to_string(static_cast<unsigned>(a.verb));
    return out;
}

bool alike(const Because& a, const Because& b) {
    if (a.clause == b.clause) return true;
    // Which transfer's call ended the process, or the close behind them, is found by shrinking: the last one that was
    // made need not be it.
    const auto ended = [](const Because& x) {
        const bool closing = x.clause == Clause::domain_close_child;
        return is_crash(x.evidence) && (closing || clause_text(x.clause).judges == Judges::Traffic);
    };
    if (ended(a) && ended(b)) return a.evidence.crash == b.evidence.crash && a.evidence.actual == b.evidence.actual;
    // Of fi_getinfo: which hint it stumbled over is found by shrinking.  A transfer's own call stays what it is.
    const auto refused = [](const Because& x) {
        const Evidence& e = x.evidence;
        const Judges judges = clause_text(x.clause).judges;
        if (judges == Judges::Traffic || judges == Judges::Group) return false;
        return (e.field == Field::call_return && e.relation == Relation::Equals && e.expected == 0) ||
               (e.field == Field::call_count && e.relation == Relation::AtLeast && e.expected == 1);
    };
    return refused(a) && refused(b);
}

bool selects(Clause clause) {
    constexpr std::array kOnes = {Clause::msg_completion_selected, Clause::tagged_completion_selected,
                                  Clause::rma_completion_selected, Clause::atomic_completion_selected,
                                  Clause::endpoint_op_flags_defaults};
    return std::ranges::find(kOnes, clause) != kOnes.end();
}

}  // namespace selvage::conformance
