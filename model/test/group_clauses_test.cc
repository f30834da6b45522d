// The group clauses on what a sound group shows, and on the same with one number changed.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/group/membership.h"
#include "model/judge/judge.h"
#include "model/spec/clause.h"
#include "model/test/call_rows.h"
#include "model_gen/predicates.h"

namespace selvage::model {
namespace {

using enum GroupFact;

/// A script with what a sound library shows.
struct Played {
    GroupScript script;
    GroupSeen seen;
    Info info;

    std::int64_t& fact(int round, std::uint64_t m, GroupFact f) {
        return seen.rounds[static_cast<std::size_t>(round)].members[m].facts[static_cast<std::size_t>(f)];
    }
    [[nodiscard]] GroupCase shown() const { return {kNewest, info, script, seen}; }
    [[nodiscard]] Outcome outcome(Ruling (*judge)(const GroupCase&)) const { return judge(shown()).outcome(); }
    [[nodiscard]] std::string broken() const {
        Tally tally;
        std::vector<Because> all;
        judge_group(shown(), tally, all);
        return all.empty() ? "" : std::string(clause_text(all.front().clause).id);
    }
};

void play_round(Played& p, int round, const std::vector<std::uint64_t>& order) {
    GroupRound& r = p.seen.rounds[static_cast<std::size_t>(round)];
    r.began = r.posted = true;
    for (const std::uint64_t m : order) {
        for (const GroupFact f : {Joined, JoinFid, JoinContext, GroupAddress, Entries}) p.fact(round, m, f) = 1;
        const std::uint64_t total = result_length(p.script, order, m);
        for (std::uint64_t k = 0; k < std::min(total, kMostGroupValues); ++k)
            r.members[m].values[k] = result_of(p.script, order, m, place_of(k, total));
    }
}

Played collective(std::uint64_t operation, AddressSet set = AddressSet::Range) {
    Played p;
    p.info.caps = FI_MSG | FI_COLLECTIVE;
    p.script.members = 3;
    p.script.operation = operation;
    p.script.datatype = FI_UINT64;
    p.script.op = FI_SUM;
    p.script.count = 2;
    p.script.root = 1;
    p.script.late = 2;
    p.script.set = set;
    if (set != AddressSet::Range) play_round(p, 0, members_of(AddressSet::Range, 3));
    play_round(p, 1, members_of(set, 3));
    return p;
}

Played alone(GroupAct act, std::uint64_t caps) {
    Played p;
    p.info.caps = FI_MSG | caps;
    p.info.ep.rx_ctx_cnt = 3;
    p.info.domain.auth_key = "selvage!";
    p.script.act = act;
    p.script.members = 3;
    p.seen.rounds[1].began = p.seen.rounds[1].posted = true;
    for (std::uint64_t m = 0; m < 3; ++m) {
        p.fact(1, m, Joined) = 1;
        p.fact(1, m, Messages) = 1;
        p.fact(1, m, Message) = act == GroupAct::NamedContexts ? 100 + static_cast<std::int64_t>(m) : 200;
    }
    return p;
}
Played unknown_sender() {
    Played p = alone(GroupAct::UnknownSender, FI_SOURCE | FI_SOURCE_ERR);
    p.script.members = 2;
    p.fact(1, 1, Error) = FI_EADDRNOTAVAIL;
    p.fact(1, 1, SourceKnown) = 1;
    return p;
}
Played user_ids() {
    Played p = alone(GroupAct::UserIds, FI_SOURCE | FI_AV_USER_ID);
    p.script.members = 2;
    p.fact(1, 1, Source) = 0x5e1a;
    return p;
}
Played other_keys() {
    Played p = alone(GroupAct::OtherKeys, 0);
    p.fact(1, 1, Messages) = 0;
    return p;
}

/// A clause, what shows that it holds, and a change that breaks it.
struct Row {
    Ruling (*judge)(const GroupCase&);
    Played sound;
    void (*harm)(Played&);
};

void spoil(Played& p) { ++p.seen.rounds[p.script.set == AddressSet::Range ? 1 : 0].members[1].values[0]; }
void spoil_set(Played& p) { ++p.seen.rounds[1].members[members_of(p.script.set, 3).back()].values[0]; }

std::vector<Row> rows() {
    using namespace clause;
    return {
        {collective_call_returns, collective(FI_BARRIER), [](Played& p) { p.seen.hung = true; }},
        {collective_query_supported, collective(FI_GATHER), [](Played& p) { p.fact(1, 0, Returned) = -FI_EOPNOTSUPP; }},
        {collective_join_completes, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, Joined) = 0; }},
        {collective_join_once, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, Joined) = 2; }},
        {collective_join_event_fid, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, JoinFid) = 0; }},
        {collective_join_event_context, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, JoinContext) = 0; }},
        {collective_join_waits, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, JoinedEarly) = 1; }},
        {collective_group_address, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, GroupAddress) = 0; }},
        {collective_group_closes, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, Closed) = -FI_EBUSY; }},
        {collective_operation_completes, collective(FI_GATHER), [](Played& p) { p.fact(1, 1, Entries) = 0; }},
        {collective_operation_once, collective(FI_GATHER), [](Played& p) { p.fact(1, 1, Entries) = 2; }},
        {collective_operation_waits, collective(FI_ALLREDUCE), [](Played& p) { p.fact(1, 0, Early) = 1; }},
        {collective_barrier_waits, collective(FI_BARRIER), [](Played& p) { p.fact(1, 0, Early) = 1; }},
        {collective_broadcast_result, collective(FI_BROADCAST),
         [](Played& p) { ++p.seen.rounds[1].members[2].values[1]; }},
        {collective_alltoall_result, collective(FI_ALLTOALL), spoil},
        {collective_allreduce_result, collective(FI_ALLREDUCE), spoil},
        {collective_allgather_result, collective(FI_ALLGATHER), spoil},
        {collective_reduce_scatter_result, collective(FI_REDUCE_SCATTER), spoil},
        {collective_reduce_result, collective(FI_REDUCE), spoil},
        {collective_scatter_result, collective(FI_SCATTER), spoil},
        {collective_gather_result, collective(FI_GATHER), spoil},
        {getinfo_caps_collective_operations, collective(FI_BARRIER),
         [](Played& p) { p.fact(1, 1, Returned) = -FI_ENOSYS; }},
        {getinfo_caps_collective_each, collective(FI_GATHER),
         [](Played& p) { p.fact(1, 0, QueryReturned) = -FI_EOPNOTSUPP; }},
        {av_set_range_inclusive, collective(FI_BARRIER), [](Played& p) { p.fact(1, 2, JoinReturned) = -FI_EINVAL; }},
        {av_set_stride_every, collective(FI_ALLGATHER, AddressSet::Stride), spoil_set},
        {av_set_universe_all, collective(FI_ALLREDUCE, AddressSet::Universe),
         [](Played& p) { p.fact(1, 0, SetReturned) = -FI_ENOMEM; }},
        {av_set_insert_appends, collective(FI_ALLGATHER, AddressSet::Insert), spoil_set},
        {av_set_remove_removes, collective(FI_ALLGATHER, AddressSet::Remove),
         [](Played& p) { p.fact(1, 1, Joined) = 0; }},
        {av_set_union_appends, collective(FI_ALLGATHER, AddressSet::Union), spoil_set},
        {av_set_intersect_keeps_common, collective(FI_ALLGATHER, AddressSet::Intersect),
         [](Played& p) {
             p.seen.rounds[1].posted = false;
             p.seen.crashed_signal = 11;
         }},
        {av_set_diff_removes_common, collective(FI_ALLGATHER, AddressSet::Diff), spoil_set},
        {av_set_addr_joins, collective(FI_BARRIER), [](Played& p) { p.fact(1, 1, AddrReturned) = -FI_ENOSYS; }},
        {endpoint_scalable_opens, alone(GroupAct::NamedContexts, FI_NAMED_RX_CTX),
         [](Played& p) {
             p.seen.failed = "fi_scalable_ep";
             p.seen.rounds[1] = {};
         }},
        {endpoint_scalable_contexts, alone(GroupAct::NamedContexts, FI_NAMED_RX_CTX),
         [](Played& p) { p.fact(1, 2, OpenReturned) = -FI_EINVAL; }},
        {getinfo_caps_named_rx_ctx_targets, alone(GroupAct::NamedContexts, FI_NAMED_RX_CTX),
         [](Played& p) { p.fact(1, 2, Message) = 101; }},
        {getinfo_caps_multicast_transfers, alone(GroupAct::Multicast, FI_MULTICAST),
         [](Played& p) { p.fact(1, 2, Message) = 0; }},
        {getinfo_caps_source_err_data, unknown_sender(), [](Played& p) { p.fact(1, 1, SourceKnown) = 0; }},
        {getinfo_caps_av_user_id_data, user_ids(), [](Played& p) { p.fact(1, 1, Source) = 0; }},
        {endpoint_auth_key_isolates, other_keys(), [](Played& p) { p.fact(1, 1, Messages) = 1; }},
    };
}

TEST(GroupClauses, HoldOnASoundGroupAndAreBrokenByAChange) {
    for (const Row& row : rows()) {
        const auto all = group_predicates();
        const auto p = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.judge == row.judge; });
        ASSERT_NE(p, all.end());
        const auto id = clause_text(p->clause).id;
        EXPECT_EQ(row.sound.outcome(row.judge), Outcome::Holds) << id;
        EXPECT_EQ(row.sound.broken(), "") << id;
        Played harmed = row.sound;
        row.harm(harmed);
        EXPECT_EQ(harmed.outcome(row.judge), Outcome::Broken) << id;
    }
}

TEST(GroupClauses, DoNotApplyWhereNothingWasOpened) {
    for (const auto& p : group_predicates()) {
        Played nothing;
        nothing.script.act = GroupAct::OtherKeys;
        EXPECT_EQ(nothing.outcome(p.judge), Outcome::NotApplicable) << clause_text(p.clause).id;
    }
}

// The calls are not the application's to make there: whatever they do is no deviation, a crash included.
TEST(GroupClauses, SayNothingOfCollectivesOfAnEndpointWithoutTheCapability) {
    for (const Row& row : rows()) {
        if (row.sound.script.act != GroupAct::Collective) continue;
        Played harmed = row.sound;
        row.harm(harmed);
        harmed.info.caps = FI_MSG;
        EXPECT_EQ(harmed.outcome(row.judge), Outcome::NotApplicable);
    }
    Played crashed = collective(FI_BROADCAST, AddressSet::Insert);
    crashed.info.caps = FI_MSG;
    crashed.seen.crashed_signal = 11;
    EXPECT_EQ(crashed.broken(), "");
}

TEST(GroupClauses, HaveARowEach) {
    std::set<Ruling (*)(const GroupCase&)> seen;
    for (const Row& row : rows()) seen.insert(row.judge);
    for (const auto& p : group_predicates())
        EXPECT_TRUE(seen.contains(p.judge) || has_call_row(p.judge)) << clause_text(p.clause).id;
}

// What is wrong in a group of all is not the set's doing.
TEST(GroupClauses, SayNothingOfASetWhereTheOperationIsWrongAnyway) {
    Played p = collective(FI_ALLGATHER, AddressSet::Insert);
    spoil(p);
    spoil_set(p);
    EXPECT_EQ(p.outcome(clause::av_set_insert_appends), Outcome::NotApplicable);
    EXPECT_EQ(p.broken(), "collective.allgather.result");
}

TEST(GroupMembership, FollowsTheRecipeOfTheSet) {
    using V = std::vector<std::uint64_t>;
    EXPECT_EQ(members_of(AddressSet::Stride, 4), (V{0, 2}));
    EXPECT_EQ(members_of(AddressSet::Insert, 3), (V{2, 1, 0}));
    EXPECT_EQ(members_of(AddressSet::Remove, 3), (V{1, 2}));
    EXPECT_EQ(members_of(AddressSet::Union, 3), (V{1, 2, 0}));
    EXPECT_EQ(members_of(AddressSet::Intersect, 4), (V{1, 0}));
    EXPECT_EQ(members_of(AddressSet::Diff, 3), (V{2, 0}));
}

TEST(GroupMembership, GivesTheResultsOfTheDiagramsOfThePage) {
    GroupScript s = collective(FI_ALLTOALL).script;
    s.count = 1;
    const auto order = members_of(AddressSet::Range, 3);
    for (std::uint64_t m = 0; m < 3; ++m)
        for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(result_of(s, order, m, i), input_of(i, m));
    s.operation = FI_REDUCE_SCATTER;
    for (std::uint64_t m = 0; m < 3; ++m)
        EXPECT_EQ(result_of(s, order, m, 0), input_of(0, m) + input_of(1, m) + input_of(2, m));
}

}  // namespace
}  // namespace selvage::model
