// Who is charged with what: a call that names no provider is answered by all of them, and each is judged by its
// entries.
#include <algorithm>

#include "model/judge/judge.h"
#include "model/test/getinfo_make.h"

namespace selvage::model::getinfo_test {
namespace {

Profile mine(const char* name = "mine") {
    Profile p;
    p.provider = name;
    return p;
}

Answer answer_of(std::initializer_list<const char*> providers) {
    Answer a;
    a.list_null = false;
    for (const char* name : providers) {
        a.offers.push_back(rdm());
        a.offers.back().fabric.prov_name = name;
    }
    return a;
}

std::vector<Clause> charges(const Query& q, const Answer& a, const char* provider = "mine") {
    const Profile profile = mine(provider);
    const World world;
    Tally tally;
    std::vector<Because> broken;
    judge(q, world, a, &profile, tally, broken);
    std::vector<Clause> out;
    for (const Because& b : broken) out.push_back(b.clause);
    return out;
}

bool charges(const Query& q, const Answer& a, Clause c, const char* provider = "mine") {
    const auto all = charges(q, a, provider);
    return std::find(all.begin(), all.end(), c) != all.end();
}

// FI_READ without FI_RMA or FI_ATOMIC must be refused.
Query lonely_read() { return query_for(FI_READ); }

TEST(JudgeShare, AnotherProvidersGrantIsNobodyElsesDoing) {
    constexpr Clause kClause = Clause::getinfo_caps_read_needs_partner;
    EXPECT_FALSE(charges(lonely_read(), answer_of({"another"}), kClause));
    EXPECT_TRUE(charges(lonely_read(), answer_of({"another", "mine"}), kClause));
    Query named = lonely_read();
    named.hints->fabric.prov_name = "mine";
    EXPECT_TRUE(charges(named, answer_of({"mine"}), kClause));
}

TEST(JudgeShare, AnErrorOfACallThatNamesNobodyIsNoOnes) {
    Answer refused;
    refused.ret = -FI_EPERM;
    EXPECT_TRUE(charges(lonely_read(), refused).empty());
    Query named = lonely_read();
    named.hints->fabric.prov_name = "mine";
    EXPECT_TRUE(charges(named, refused, Clause::getinfo_caps_read_needs_partner));
}

TEST(JudgeShare, ANameThatComesTwiceIsItsBearersDoing) {
    Query q = nothing();
    q.flags = FI_PROV_ATTR_ONLY;
    constexpr Clause kClause = Clause::getinfo_flags_attr_only_once_each;
    EXPECT_FALSE(charges(q, answer_of({"mine", "another", "another"}), kClause));
    EXPECT_TRUE(charges(q, answer_of({"mine", "another", "mine"}), kClause));
}

TEST(JudgeShare, AnotherNameInTheAnswerIsTheDoingOfWhoWasAskedFor) {
    constexpr Clause kClause = Clause::fabric_prov_name_layered_granted;
    Query q = nothing();
    q.hints = Info{};
    q.hints->fabric.prov_name = "layer;mine";
    // Who answers to a name that is not its own is charged with that, and nobody else.
    EXPECT_FALSE(charges(q, answer_of({"another"}), kClause));
    EXPECT_TRUE(charges(q, answer_of({"mine"}), kClause));
    const Answer half = answer_of({"layer"});
    EXPECT_FALSE(charges(q, half, kClause));
    EXPECT_TRUE(charges(q, half, kClause, "mine;layer"));
}

TEST(JudgeShare, WhoIsMissingWhereEveryoneIsListedIsCharged) {
    Profile profile = mine();
    Entry e;
    e.offer = rdm();
    e.offer.fabric.prov_name = "mine";
    profile.entries.push_back(e);
    const World world;
    for (const bool there : {false, true}) {
        Tally tally;
        std::vector<Because> broken;
        judge(nothing(), world, there ? answer_of({"another", "mine"}) : answer_of({"another"}), &profile, tally,
              broken);
        const bool charged = std::any_of(broken.begin(), broken.end(), [](const Because& b) {
            return b.clause == Clause::getinfo_call_nothing_given_lists_all;
        });
        EXPECT_EQ(charged, !there);
    }
}

TEST(JudgeShare, ARefusalIsChargedToTheFieldThatStandsBesideTheName) {
    Profile profile = mine();
    Entry e;
    e.offer = rdm();
    e.offer.fabric.prov_name = "mine";
    profile.entries.push_back(e);
    Query q = nothing();
    q.hints.emplace();
    q.hints->rx.total_buffered_recv = 1;
    q.hints->fabric.prov_name = "mine";
    Answer refused;
    refused.ret = -FI_ENODATA;
    const World world;
    Tally tally;
    std::vector<Because> broken;
    judge(q, world, refused, &profile, tally, broken);
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken.front().clause, Clause::endpoint_buffered_recv_hint);
}

}  // namespace
}  // namespace selvage::model::getinfo_test
