// The promises on single capabilities, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

constexpr std::uint64_t kAllWays = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

Info with_caps(std::uint64_t caps) {
    Info o = rdm();
    o.caps = caps;
    return o;
}

TEST(GetinfoCapsWords, MessagesGoBothWays) {
    for (const auto rule : {getinfo_caps_msg_both_ways, getinfo_caps_tagged_both_ways}) {
        const std::uint64_t word = rule == getinfo_caps_msg_both_ways ? FI_MSG : FI_TAGGED;
        EXPECT_EQ(offer(rule, query_for(word), with_caps(word | FI_SEND | FI_RECV)), Holds);
        EXPECT_EQ(offer(rule, query_for(word), with_caps(word)), Holds);
        EXPECT_EQ(offer(rule, query_for(word), with_caps(word | FI_SEND)), Broken);
        EXPECT_EQ(offer(rule, query_for(word | FI_SEND), with_caps(word | FI_SEND)), NotApplicable);
    }
    EXPECT_EQ(offer(getinfo_caps_tagged_both_ways, query_for(FI_MSG | FI_TAGGED), with_caps(FI_SEND)), NotApplicable)
        << "told once";
}

TEST(GetinfoCapsWords, OneWayFitsAnOfferOfOneWay) {
    EXPECT_EQ(fit(getinfo_caps_msg_one_way_fits, query_for(FI_MSG | FI_RECV), with_caps(FI_MSG | FI_RECV)),
              Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_msg_one_way_fits, query_for(FI_MSG | FI_RECV), with_caps(FI_MSG | FI_SEND)), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_msg_one_way_fits, query_for(FI_MSG | FI_SEND | FI_RECV), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_caps_msg_one_way_fits, query_for(FI_MSG), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_caps_tagged_one_way_fits, query_for(FI_TAGGED | FI_SEND), with_caps(FI_TAGGED | FI_SEND)),
              Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_tagged_one_way_fits, query_for(FI_TAGGED | FI_SEND), with_caps(FI_MSG)), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_tagged_one_way_fits, query_for(FI_MSG | FI_SEND), rdm()), Choice::NotRequested);
}

TEST(GetinfoCapsWords, RmaAndAtomicsGoAllWays) {
    for (const auto rule : {getinfo_caps_rma_all_directions, getinfo_caps_atomic_all_directions}) {
        const std::uint64_t word = rule == getinfo_caps_rma_all_directions ? FI_RMA : FI_ATOMIC;
        EXPECT_EQ(offer(rule, query_for(word), with_caps(word | kAllWays)), Holds);
        EXPECT_EQ(offer(rule, query_for(word), with_caps(word | FI_READ | FI_WRITE)), Broken);
        EXPECT_EQ(offer(rule, query_for(word | FI_READ), with_caps(word | FI_READ)), NotApplicable);
    }
    EXPECT_EQ(offer(getinfo_caps_atomic_all_directions, query_for(FI_RMA | FI_ATOMIC), with_caps(FI_READ)),
              NotApplicable)
        << "told once";
}

TEST(GetinfoCapsWords, SomeDirectionsFitAnOfferOfThese) {
    EXPECT_EQ(fit(getinfo_caps_rma_restricted_fits, query_for(FI_RMA | FI_READ), with_caps(FI_RMA | FI_READ)),
              Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_rma_restricted_fits, query_for(FI_RMA | FI_READ), with_caps(FI_RMA | FI_WRITE)),
              Choice::No);
    EXPECT_EQ(fit(getinfo_caps_rma_restricted_fits, query_for(FI_RMA | kAllWays), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_caps_atomic_restricted_fits, query_for(FI_ATOMIC | FI_READ), with_caps(FI_ATOMIC)),
              Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_atomic_restricted_fits, query_for(FI_ATOMIC | FI_READ), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_atomic_restricted_fits, query_for(FI_RMA | FI_READ), rdm()), Choice::NotRequested);
}

TEST(GetinfoCapsWords, SourceIsForConnectionlessEndpoints) {
    Info told = msg();
    EXPECT_EQ(offer(getinfo_caps_source_connectionless_granted, query_for(FI_MSG), told), Holds);
    told.caps |= FI_SOURCE;
    EXPECT_EQ(offer(getinfo_caps_source_connectionless_granted, query_for(FI_MSG), told), Broken);
    EXPECT_EQ(offer(getinfo_caps_source_connectionless_granted, query_for(FI_MSG | FI_SOURCE), told), NotApplicable);
    EXPECT_EQ(offer(getinfo_caps_source_connectionless_granted, query_for(FI_MSG), rdm()), NotApplicable);
    EXPECT_EQ(fit(getinfo_caps_source_connectionless_fits, query_for(FI_MSG | FI_SOURCE), msg()), Choice::May);
    EXPECT_EQ(fit(getinfo_caps_source_connectionless_fits, query_for(FI_MSG | FI_SOURCE), rdm()), Choice::NotRequested);
}

TEST(GetinfoCapsWords, SomebodyCanBeReached) {
    EXPECT_EQ(offer(getinfo_caps_comm_neither_asked, query_for(FI_MSG), with_caps(FI_MSG | FI_LOCAL_COMM)), Holds);
    EXPECT_EQ(offer(getinfo_caps_comm_neither_asked, query_for(FI_MSG), with_caps(FI_MSG)), Broken);
    EXPECT_EQ(offer(getinfo_caps_comm_neither_asked, query_for(FI_MSG | FI_LOCAL_COMM), with_caps(FI_MSG)),
              NotApplicable);
    EXPECT_EQ(offer(getinfo_caps_comm_neither_asked, query_for(FI_MSG, Version(1, 4)), with_caps(FI_MSG)),
              NotApplicable);
    EXPECT_EQ(fit(getinfo_caps_comm_both_asked, query_for(FI_LOCAL_COMM | FI_REMOTE_COMM), rdm()), Choice::Fits);
    EXPECT_EQ(
        fit(getinfo_caps_comm_both_asked, query_for(FI_LOCAL_COMM | FI_REMOTE_COMM), with_caps(FI_MSG | FI_LOCAL_COMM)),
        Choice::No);
    EXPECT_EQ(fit(getinfo_caps_comm_both_asked, query_for(FI_LOCAL_COMM), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_caps_secondary_requested, query_for(FI_LOCAL_COMM), with_caps(FI_MSG)), Choice::No)
        << "one alone is judged there";
}

}  // namespace
}  // namespace selvage::model
