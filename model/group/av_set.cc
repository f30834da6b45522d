// fi_av_set(3): spec/clauses/av_set.toml.
//
// What a set holds shows in the group that is made of it: who can join, and whose result stands where.  It is judged
// where the same operation was right in a group of all members, so that nothing else is to blame.
#include <rdma/fi_domain.h>

#include <algorithm>

#include "model/group/group_rules.h"

namespace selvage::model {
namespace {

using namespace rules;

bool is_sound(const GroupCase& c) { return all_complete(c, kOfAll) && !results_right(c, kOfAll).is_broken(); }

Ruling group_is_made(const GroupCase& c) {
    const auto order = order_of(c, kOfScript);
    for (const GroupFact f :
         {GroupFact::SetReturned, GroupFact::AddrReturned, GroupFact::JoinReturned, GroupFact::JoinError}) {
        Ruling r = each_fact(c, kOfScript, order, f, Relation::Equals, 0, "a call on the set, or a join by it");
        if (r.is_broken()) return r;
    }
    return each_fact(c, kOfScript, order, GroupFact::Joined, Relation::AtLeast, 1, "its join completes");
}

Ruling group_works(const GroupCase& c) {
    const auto order = order_of(c, kOfScript);
    for (const GroupFact f : {GroupFact::Returned, GroupFact::Errors}) {
        Ruling r = each_fact(c, kOfScript, order, f, Relation::Equals, 0, "the operation, in the group of the set");
        if (r.is_broken()) return r;
    }
    Ruling r = each_fact(c, kOfScript, order, GroupFact::Entries, Relation::AtLeast, 1, "entries of success");
    if (r.is_broken()) return r;
    Ruling results = results_right(c, kOfScript);
    return results.is_broken() ? std::move(results) : Ruling::holds();
}

Ruling set_is(const GroupCase& c, AddressSet set) {
    if (!is_collective(c) || c.script.set != set || !round_of(c, kOfScript).began) return Ruling::not_applicable();
    if (!is_sound(c)) return Ruling::not_applicable();
    // The root has to be in the group.
    const auto order = order_of(c, kOfScript);
    if (has_root(c.script.operation) && std::find(order.begin(), order.end(), c.script.root) == order.end())
        return Ruling::not_applicable();
    if (c.seen.crashed()) return round_of(c, kOfScript).posted ? Ruling::not_applicable() : Ruling::broken(crash(c));
    Ruling made = group_is_made(c);
    return made.is_broken() ? std::move(made) : group_works(c);
}

}  // namespace

namespace clause {

// Of the range of all. Whether their joins complete is judged by collective.join.completes.
Ruling av_set_range_inclusive(const GroupCase& c) {
    const int round = plain_round(c);
    if (!is_collective(c) || c.seen.crashed() || !round_of(c, round).began) return Ruling::not_applicable();
    const auto order = order_of(c, round);
    Ruling made = each_fact(c, round, order, GroupFact::SetReturned, Relation::Equals, 0, "fi_av_set of a range");
    if (made.is_broken()) return made;
    return each_fact(c, round, order, GroupFact::JoinReturned, Relation::Equals, 0,
                     "a join by an address of the range");
}
Ruling av_set_stride_every(const GroupCase& c) { return set_is(c, AddressSet::Stride); }
Ruling av_set_insert_appends(const GroupCase& c) { return set_is(c, AddressSet::Insert); }
Ruling av_set_remove_removes(const GroupCase& c) { return set_is(c, AddressSet::Remove); }
Ruling av_set_union_appends(const GroupCase& c) { return set_is(c, AddressSet::Union); }
Ruling av_set_intersect_keeps_common(const GroupCase& c) { return set_is(c, AddressSet::Intersect); }
Ruling av_set_diff_removes_common(const GroupCase& c) { return set_is(c, AddressSet::Diff); }

Ruling av_set_addr_joins(const GroupCase& c) {
    const int round = plain_round(c);
    const auto order = order_of(c, round);
    if (!is_collective(c) || c.seen.crashed() || !round_of(c, round).began ||
        !all_have(c, round, order, GroupFact::SetReturned, Relation::Equals, 0))
        return Ruling::not_applicable();
    return each_fact(c, round, order, GroupFact::AddrReturned, Relation::Equals, 0, "fi_av_set_addr");
}

// The order of these is that of the vector, of which the page says nothing.
Ruling av_set_universe_all(const GroupCase& c) {
    const bool ordered = c.script.operation != FI_ALLREDUCE && c.script.operation != FI_BARRIER;
    return ordered ? Ruling::not_applicable() : set_is(c, AddressSet::Universe);
}

}  // namespace clause
}  // namespace selvage::model
