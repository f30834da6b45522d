// What the predicates on groups have in common.  Only the chapters of this folder include it.
#pragma once

#include <rdma/fabric.h>

#include <string>
#include <vector>

#include "model/chapters/rules.h"
#include "model/group/group.h"
#include "model/group/membership.h"

namespace selvage::model::rules {

/// The rounds of a Collective, by index.
inline constexpr int kOfAll = 0, kOfScript = 1;

inline const GroupRound& round_of(const GroupCase& c, int round) {
    return c.seen.rounds[static_cast<std::size_t>(round)];
}
inline std::int64_t fact(const GroupCase& c, int round, std::uint64_t m, GroupFact f) {
    return round_of(c, round).members[m].at(f);
}

/// The round in which all members are a group: what it shows is of the operation, not of the set.
inline int plain_round(const GroupCase& c) { return c.script.set == AddressSet::Range ? kOfScript : kOfAll; }
inline std::vector<std::uint64_t> order_of(const GroupCase& c, int round) {
    return members_of(round == kOfAll ? AddressSet::Range : c.script.set, c.script.members);
}

/// Without the capability the calls of the script are not the application's to make, whatever comes of them.
inline bool is_collective(const GroupCase& c) {
    return c.script.act == GroupAct::Collective && (c.info.caps & FI_COLLECTIVE) != 0;
}
/// A crash is of the round that began last.
inline bool crashed_in(const GroupCase& c, int round) {
    return c.seen.crashed() && (round == kOfScript || !round_of(c, kOfScript).began);
}
inline Evidence crash(const GroupCase& c) {
    return evidence_of_crash(c.seen.crashed_signal, c.seen.hung, c.seen.exited);
}

/// Evidence about a fact of a member.  `what` is for people.
Evidence about_fact(const GroupCase& c, int round, std::uint64_t m, GroupFact f, Relation r, std::int64_t expected,
                    std::string what);
/// Evidence about value k of its result.
Evidence about_value(const GroupCase& c, int round, std::uint64_t m, std::uint64_t k, std::uint64_t expected);

/// The first member of `all` of whom the fact does not stand in the relation breaks it.
Ruling each_fact(const GroupCase& c, int round, const std::vector<std::uint64_t>& all, GroupFact f, Relation r,
                 std::int64_t expected, const char* what);
/// Does it stand for all of them?
bool all_have(const GroupCase& c, int round, const std::vector<std::uint64_t>& all, GroupFact f, Relation r,
              std::int64_t expected);

/// Every member has called the operation, with success.
bool all_called(const GroupCase& c, int round);
/// And it is complete at every member, without an error.
bool all_complete(const GroupCase& c, int round);
/// Every result is what it must be.
Ruling results_right(const GroupCase& c, int round);

}  // namespace selvage::model::rules
