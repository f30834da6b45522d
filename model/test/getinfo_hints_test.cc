// The promises on hints in general, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

TEST(GetinfoHints, ZerosExcludeNothing) {
    EXPECT_EQ(fit(getinfo_hints_zero_is_wildcard, query_for(), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_hints_zero_is_wildcard, query_mode(FI_CONTEXT), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_hints_zero_is_wildcard, query_for(FI_MSG), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_hints_zero_is_wildcard, nothing(), rdm()), Choice::NotRequested);
    Query named = query_for();
    named.hints->domain.name = "paper0";
    EXPECT_EQ(fit(getinfo_hints_zero_is_wildcard, named, rdm()), Choice::NotRequested);
}

TEST(GetinfoHints, DefaultsAreFilledIn) {
    EXPECT_EQ(offer(getinfo_hints_default_filled, query_for(), rdm()), Holds);
    for (const Field f :
         {Field::tx_size, Field::tx_iov_limit, Field::rx_size, Field::rx_iov_limit, Field::ep_max_msg_size}) {
        Info o = rdm();
        set(o, f, 0);
        EXPECT_EQ(offer_evidence(getinfo_hints_default_filled, query_for(), o).field, f);
        Query requested = query_for();
        set(*requested.hints, f, 1);
        EXPECT_EQ(offer(getinfo_hints_default_filled, requested, o), Holds)
            << "another clause judges what was asked for";
    }
    Info sender = rdm();
    sender.caps = FI_MSG | FI_SEND;
    sender.rx = {};
    EXPECT_EQ(offer(getinfo_hints_default_filled, query_for(), sender), Holds) << "it receives nothing";
    EXPECT_EQ(offer(getinfo_hints_default_filled, query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY), Info{}),
              NotApplicable);
}

TEST(GetinfoHints, AbsentPartsAreWildcards) {
    Query without = query_for();
    without.hints->drop(Part::Tx);
    EXPECT_EQ(pair(getinfo_hints_null_substructure, MetamorphicRelation::Relaxed, query_for(), granted(rdm()), without,
                   granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_hints_null_substructure, MetamorphicRelation::Relaxed, query_for(), granted(rdm()), without,
                   refused()),
              Broken);
    EXPECT_EQ(pair(getinfo_hints_null_substructure, MetamorphicRelation::Relaxed, without, refused(), query_for(),
                   granted(rdm())),
              Broken);
    Query domain = query_for();
    domain.hints->drop(Part::Domain);
    EXPECT_EQ(pair(getinfo_hints_null_substructure, MetamorphicRelation::Relaxed, query_for(), refused(), domain,
                   granted(rdm())),
              NotApplicable)
        << "a zero mr_mode says something";
    Query requested = query_for();
    requested.hints->tx.size = 1;
    EXPECT_EQ(pair(getinfo_hints_null_substructure, MetamorphicRelation::Relaxed, requested, refused(), without,
                   granted(rdm())),
              NotApplicable);
}

TEST(GetinfoHints, HintsStayTheCallers) {
    const Query q = query_for();
    const Answer a = granted(rdm());
    SideEffects c;
    c.act = SideEffects::Act::GetInfo;
    c.query = &q;
    c.answer = &a;
    EXPECT_EQ(getinfo_hints_never_written(c).outcome(), Holds);
    EXPECT_EQ(getinfo_hints_not_kept(c).outcome(), Holds);
    c.hints_written = true;
    c.copy_shares = true;
    c.written_field = Field::caps;
    auto written = getinfo_hints_never_written(c);
    ASSERT_TRUE(written.is_broken());
    EXPECT_EQ(written.evidence().field, Field::caps);
    EXPECT_EQ(getinfo_hints_not_kept(c).outcome(), Broken);
    const Query none = nothing();
    c.query = &none;
    EXPECT_EQ(getinfo_hints_never_written(c).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_hints_not_kept(c).outcome(), NotApplicable);
}

}  // namespace
}  // namespace selvage::model
