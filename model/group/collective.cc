// fi_collective(3): spec/clauses/collective.toml.
#include <rdma/fi_domain.h>

#include <algorithm>

#include "model/group/group_rules.h"

namespace selvage::model {
namespace {

using namespace rules;

// The plain round got as far as the calls of fi_join_collective.
bool may_join(const GroupCase& c) {
    const int round = plain_round(c);
    return is_collective(c) && !c.seen.crashed() && round_of(c, round).began &&
           all_have(c, round, order_of(c, round), GroupFact::SetReturned, Relation::Equals, 0) &&
           all_have(c, round, order_of(c, round), GroupFact::AddrReturned, Relation::Equals, 0);
}
bool all_joined(const GroupCase& c) {
    const int round = plain_round(c);
    return may_join(c) && all_have(c, round, order_of(c, round), GroupFact::Joined, Relation::AtLeast, 1);
}

bool has_late_member(const GroupCase& c) {
    return c.script.late >= 0 && c.script.late < static_cast<std::int64_t>(c.script.members);
}

// A crash of the script's own round, once that of all has come to its end, is judged by the clause of its set.
bool crashed_by_set(const GroupCase& c) {
    return c.script.set != AddressSet::Range && round_of(c, kOfScript).began && !round_of(c, kOfScript).posted;
}

Ruling result_of_operation(const GroupCase& c, std::uint64_t operation) {
    const int round = plain_round(c);
    if (!is_collective(c) || c.script.operation != operation || c.seen.crashed() || !all_complete(c, round))
        return Ruling::not_applicable();
    return results_right(c, round);
}

// Nobody's entry came before the last member had called, of those to whom `concerns` it.
template <typename Concerns>
Ruling waits_for_late(const GroupCase& c, Concerns&& concerns) {
    const int round = plain_round(c);
    if (!is_collective(c) || c.seen.crashed() || !has_late_member(c) || !all_called(c, round))
        return Ruling::not_applicable();
    auto members = order_of(c, round);
    std::erase_if(members,
                  [&](std::uint64_t m) { return static_cast<std::int64_t>(m) == c.script.late || !concerns(m); });
    return each_fact(c, round, members, GroupFact::Early, Relation::Equals, 0,
                     "entries before the last member had called");
}

}  // namespace

namespace clause {

Ruling collective_call_returns(const GroupCase& c) {
    if (!is_collective(c)) return Ruling::not_applicable();
    if (!c.seen.crashed()) return round_of(c, plain_round(c)).began ? Ruling::holds() : Ruling::not_applicable();
    return crashed_by_set(c) ? Ruling::not_applicable() : Ruling::broken(crash(c));
}

Ruling collective_query_supported(const GroupCase& c) {
    const int round = plain_round(c);
    const auto order = order_of(c, round);
    if (!all_joined(c) || !round_of(c, round).posted ||
        !all_have(c, round, order, GroupFact::QueryReturned, Relation::Equals, 0))
        return Ruling::not_applicable();
    return each_fact(c, round, order, GroupFact::Returned, Relation::Equals, 0,
                     "fi_query_collective says it is supported");
}

Ruling collective_join_completes(const GroupCase& c) {
    if (!may_join(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    const auto order = order_of(c, round);
    if (!all_have(c, round, order, GroupFact::JoinReturned, Relation::Equals, 0)) return Ruling::not_applicable();
    return each_fact(c, round, order, GroupFact::Joined, Relation::AtLeast, 1, "events FI_JOIN_COMPLETE");
}

Ruling collective_join_once(const GroupCase& c) {
    if (!all_joined(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    return each_fact(c, round, order_of(c, round), GroupFact::Joined, Relation::Equals, 1, "events FI_JOIN_COMPLETE");
}

Ruling collective_join_event_fid(const GroupCase& c) {
    if (!all_joined(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    return each_fact(c, round, order_of(c, round), GroupFact::JoinFid, Relation::Equals, 1,
                     "the event has the fid of the group");
}

Ruling collective_join_event_context(const GroupCase& c) {
    if (!all_joined(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    return each_fact(c, round, order_of(c, round), GroupFact::JoinContext, Relation::Equals, 1,
                     "the event has the context of the call");
}

Ruling collective_join_waits(const GroupCase& c) {
    if (!all_joined(c) || !has_late_member(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    auto members = order_of(c, round);
    std::erase(members, static_cast<std::uint64_t>(c.script.late));
    return each_fact(c, round, members, GroupFact::JoinedEarly, Relation::Equals, 0,
                     "events before the last member had joined");
}

Ruling collective_group_address(const GroupCase& c) {
    if (!all_joined(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    return each_fact(c, round, order_of(c, round), GroupFact::GroupAddress, Relation::Equals, 1,
                     "fi_mc_addr gives an address");
}

Ruling collective_group_closes(const GroupCase& c) {
    if (!all_joined(c)) return Ruling::not_applicable();
    const int round = plain_round(c);
    if (!all_complete(c, round)) return Ruling::not_applicable();
    return each_fact(c, round, order_of(c, round), GroupFact::Closed, Relation::Equals, 0, "fi_close of the group");
}

Ruling collective_operation_completes(const GroupCase& c) {
    const int round = plain_round(c);
    if (!is_collective(c) || c.seen.crashed() || !all_called(c, round)) return Ruling::not_applicable();
    const auto order = order_of(c, round);
    Ruling failed = each_fact(c, round, order, GroupFact::Errors, Relation::Equals, 0, "entries of error");
    if (failed.is_broken()) return failed;
    return each_fact(c, round, order, GroupFact::Entries, Relation::AtLeast, 1, "entries of success");
}

Ruling collective_operation_once(const GroupCase& c) {
    const int round = plain_round(c);
    if (!is_collective(c) || c.seen.crashed() || !all_complete(c, round)) return Ruling::not_applicable();
    return each_fact(c, round, order_of(c, round), GroupFact::Entries, Relation::Equals, 1, "entries of one operation");
}

Ruling collective_operation_waits(const GroupCase& c) {
    if (c.script.operation == FI_BARRIER) return Ruling::not_applicable();
    return waits_for_late(c, [&c](std::uint64_t m) { return depends_on_all(c.script, m); });
}

Ruling collective_barrier_waits(const GroupCase& c) {
    if (c.script.operation != FI_BARRIER) return Ruling::not_applicable();
    return waits_for_late(c, [](std::uint64_t) { return true; });
}

Ruling collective_broadcast_result(const GroupCase& c) { return result_of_operation(c, FI_BROADCAST); }
Ruling collective_alltoall_result(const GroupCase& c) { return result_of_operation(c, FI_ALLTOALL); }
Ruling collective_allreduce_result(const GroupCase& c) { return result_of_operation(c, FI_ALLREDUCE); }
Ruling collective_allgather_result(const GroupCase& c) { return result_of_operation(c, FI_ALLGATHER); }
Ruling collective_reduce_scatter_result(const GroupCase& c) { return result_of_operation(c, FI_REDUCE_SCATTER); }
Ruling collective_reduce_result(const GroupCase& c) { return result_of_operation(c, FI_REDUCE); }
Ruling collective_scatter_result(const GroupCase& c) { return result_of_operation(c, FI_SCATTER); }
Ruling collective_gather_result(const GroupCase& c) { return result_of_operation(c, FI_GATHER); }

// Those that a provider lacks it says so of; a barrier is what all others are made of.
Ruling getinfo_caps_collective_operations(const GroupCase& c) {
    if (!all_joined(c) || c.script.operation != FI_BARRIER) return Ruling::not_applicable();
    const int round = plain_round(c);
    if (!round_of(c, round).posted) return Ruling::not_applicable();
    return each_fact(c, round, order_of(c, round), GroupFact::Returned, Relation::Equals, 0, "fi_barrier");
}

Ruling getinfo_caps_collective_each(const GroupCase& c) {
    const int round = plain_round(c);
    // A barrier, which has no data, is judged by collective-operations.
    const bool plainest = c.script.operation != FI_BARRIER && c.script.datatype == FI_UINT64;
    const bool sums = !reduces(c.script.operation) || c.script.op == FI_SUM;
    if (!is_collective(c) || c.seen.crashed() || !round_of(c, round).began || !plainest || !sums)
        return Ruling::not_applicable();
    return each_fact(c, round, {0}, GroupFact::QueryReturned, Relation::Equals, 0, "fi_query_collective");
}

}  // namespace clause
}  // namespace selvage::model
