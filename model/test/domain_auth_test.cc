// Authorization keys and the traffic class, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info keyed(const std::string& key) {
    return with(info({{Field::domain_auth_key_size, key.size()}}), Field::domain_auth_key, key);
}

TEST(DomainAuth, KeyChangesNoAnswerBefore15) {
    const auto p = clause::domain_auth_ignored_before;
    const auto plain = query_for({{Field::caps, FI_MSG}}, kOld);
    auto with_key = plain;
    with_key.hints->domain.auth_key = "1234";
    with_key.hints->domain.auth_key_size = 4;
    const auto some = answer({endpoint(FI_EP_RDM)});
    EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, with_key, some, plain, some), kHolds);
    EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, with_key, answer({}, -FI_ENODATA), plain, some), kBroken);
    EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, plain, some, with_key, answer({}, -FI_ENODATA)), kBroken);
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, plain, some, plain, answer({}, -FI_ENODATA)), kSkips);
    auto more = with_key;
    more.hints->caps = 0;
    EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, more, answer({}, -FI_ENODATA), plain, some), kSkips)
        << "something else differs too";
    EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, with_key, answer({}, -FI_ENOMEM), plain, some), kSkips)
        << "no verdict on matching";
}

TEST(DomainAuth, SizeFitsWhatSupportsIt) {
    const auto p = clause::domain_auth_size_fits;
    const auto offered = entry(keyed("abcdefgh"));
    EXPECT_EQ(fit(p, query_for({{Field::domain_auth_key_size, 8}}), offered, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, query_for({{Field::domain_auth_key_size, 4}}), offered, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, query_for({{Field::domain_auth_key_size, 4}}), offered, Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(p, query_for({}), offered, Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, query_for(keyed("abcdefgh")), offered, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, query_for(keyed("hgfedcba")), offered, Origin::Inferred), Choice::May)
        << "another key may be turned away";
}

TEST(DomainAuth, SizeFitsUpToTheLimit) {
    auto limited = entry(info({}));
    limited.most.domain.auth_key_size = 8;
    const auto fits = [&](const Query& q) { return fit(clause::domain_auth_size_fits, q, limited, Origin::Declared); };
    EXPECT_EQ(fits(query_for(keyed("abcdefgh"))), Choice::Fits);
    EXPECT_EQ(fits(query_for({{Field::domain_auth_key_size, 8}})), Choice::May) << "a size without a key";
    EXPECT_EQ(fits(query_for(keyed("abcd"))), Choice::May) << "keys may be of one length alone";
    EXPECT_EQ(fits(query_for(keyed("abcdefghi"))), Choice::No);
}

TEST(DomainAuth, EntryHoldsTheKeyOfTheHints) {
    const auto p = clause::domain_auth_granted;
    EXPECT_EQ(rule(p, query_for(keyed("1234")), keyed("1234")), kHolds);
    EXPECT_EQ(rule(p, query_for(keyed("1234")), keyed("1235")), kBroken);
    EXPECT_EQ(rule(p, query_for(keyed("1234")), info()), kBroken);
    EXPECT_EQ(rule(p, query_for({}), keyed("1234")), kSkips);
    EXPECT_EQ(rule(p, flagged(query_for(keyed("1234")), FI_PROV_ATTR_ONLY), info()), kSkips);
}

TEST(DomainTclass, FitsWhatSupportsIt) {
    const auto p = clause::domain_tclass_fits;
    const auto best = entry(info({{Field::domain_tclass, FI_TC_BEST_EFFORT}}));
    EXPECT_EQ(fit(p, query_for({{Field::domain_tclass, FI_TC_BEST_EFFORT}}), best, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, query_for({{Field::domain_tclass, FI_TC_BULK_DATA}}), best, Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(p, query_for({{Field::domain_tclass, FI_TC_BULK_DATA}}), best, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, query_for({}), best, Origin::Declared), Choice::NotRequested);
    auto both = best;
    both.most.domain.tclass = choice_bit(Family::tclass, FI_TC_BULK_DATA);
    EXPECT_EQ(fit(p, query_for({{Field::domain_tclass, FI_TC_BULK_DATA}}), both, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, query_for({{Field::domain_tclass, FI_TC_SCAVENGER}}), both, Origin::Declared), Choice::No);
}

TEST(DomainTclass, EntryReportsTheClassOfTheHints) {
    const auto p = clause::domain_tclass_granted;
    const auto requested = query_for({{Field::domain_tclass, FI_TC_BULK_DATA}});
    EXPECT_EQ(rule(p, requested, info({{Field::domain_tclass, FI_TC_BULK_DATA}})), kHolds);
    EXPECT_EQ(rule(p, requested, info({{Field::domain_tclass, FI_TC_SCAVENGER}})), kBroken);
    EXPECT_EQ(rule(p, requested, info()), kBroken);
    EXPECT_EQ(rule(p, query_for({}), info({{Field::domain_tclass, FI_TC_BULK_DATA}})), kSkips);
    const auto best_effort = query_for({{Field::domain_tclass, FI_TC_BEST_EFFORT}});
    EXPECT_EQ(rule(p, best_effort, info()), kHolds) << "it is the default";
    EXPECT_EQ(rule(p, best_effort, info({{Field::domain_tclass, FI_TC_BULK_DATA}})), kBroken);
}

TEST(DomainAuth, WithoutAKeyAnEndpointHasNoneThatNobodyAskedFor) {
    const auto p = clause::domain_auth_none;
    EXPECT_EQ(rule(p, query_for({}), info()), kHolds);
    EXPECT_EQ(rule(p, query_for({}), info({{Field::ep_auth_key_size, 4}})), kBroken);
    EXPECT_EQ(rule(p, query_for({{Field::ep_auth_key_size, 4}}), info({{Field::ep_auth_key_size, 4}})), kSkips);
    EXPECT_EQ(rule(p, query_for({}), keyed("1234")), kSkips);
}

}  // namespace
}  // namespace selvage::model
