// Control and data progress, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <array>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

// The two kinds of progress have the same clauses.
struct Kind {
    Field field;
    Demand (*known)(const QueryCase&);
    Fit (*auto_fits)(const MatchCase&);
    Ruling (*auto_granted)(const OfferCase&);
    Fit (*manual_fits)(const MatchCase&);
    Ruling (*defined)(const OfferCase&);
};

constexpr auto kKinds = std::to_array<Kind>({
    {Field::domain_control_progress, clause::domain_control_progress_known, clause::domain_control_progress_auto_fits,
     clause::domain_control_progress_auto_granted, clause::domain_control_progress_manual_fits,
     clause::domain_control_progress_defined},
    {Field::domain_data_progress, clause::domain_data_progress_known, clause::domain_data_progress_auto_fits,
     clause::domain_data_progress_auto_granted, clause::domain_data_progress_manual_fits,
     clause::domain_data_progress_defined},
});

TEST(DomainProgress, UnknownModelIsRefused) {
    for (const auto& k : kKinds) {
        const auto refused = demand(k.known, query_for({{k.field, 99}}));
        EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
        EXPECT_EQ(refused.errnos, std::vector<int>{FI_ENODATA});
        EXPECT_EQ(demand(k.known, query_for({{k.field, FI_PROGRESS_MANUAL}})).kind, Demand::Kind::Nothing);
        EXPECT_EQ(demand(k.known, query_for({})).kind, Demand::Kind::NotRequested);
    }
}

TEST(DomainProgress, AutoFitsWhatNeedsNoApplication) {
    for (const auto& k : kKinds) {
        const auto wants = query_for({{k.field, FI_PROGRESS_AUTO}});
        const auto manual = entry(info({{k.field, FI_PROGRESS_MANUAL}}));
        EXPECT_EQ(fit(k.auto_fits, wants, entry(info({{k.field, FI_PROGRESS_AUTO}})), Origin::Inferred), Choice::Fits);
        EXPECT_EQ(fit(k.auto_fits, wants, manual, Origin::Inferred), Choice::May) << "it may start a thread";
        EXPECT_EQ(fit(k.auto_fits, wants, manual, Origin::Declared), Choice::No);
        EXPECT_EQ(fit(k.auto_fits, query_for({{k.field, FI_PROGRESS_MANUAL}}), manual, Origin::Declared),
                  Choice::NotRequested);
        EXPECT_EQ(fit(k.auto_fits, query_for({}), manual, Origin::Declared), Choice::NotRequested);
    }
}

TEST(DomainProgress, AutoIsReportedWhenAsked) {
    for (const auto& k : kKinds) {
        const auto wants = query_for({{k.field, FI_PROGRESS_AUTO}});
        EXPECT_EQ(rule(k.auto_granted, wants, info({{k.field, FI_PROGRESS_AUTO}})), kHolds);
        EXPECT_EQ(rule(k.auto_granted, wants, info({{k.field, FI_PROGRESS_MANUAL}})), kBroken);
        EXPECT_EQ(rule(k.auto_granted, query_for({{k.field, FI_PROGRESS_MANUAL}}), info({{k.field, FI_PROGRESS_AUTO}})),
                  kSkips);
        EXPECT_EQ(rule(k.auto_granted, flagged(wants, FI_PROV_ATTR_ONLY), info()), kSkips);
    }
}

TEST(DomainProgress, ManualFitsEveryOffer) {
    for (const auto& k : kKinds) {
        const auto automatic = entry(info({{k.field, FI_PROGRESS_AUTO}}));
        EXPECT_EQ(fit(k.manual_fits, query_for({{k.field, FI_PROGRESS_MANUAL}}), automatic, Origin::Declared),
                  Choice::Fits);
        EXPECT_EQ(fit(k.manual_fits, query_for({{k.field, FI_PROGRESS_AUTO}}), automatic, Origin::Declared),
                  Choice::NotRequested);
        EXPECT_EQ(fit(k.manual_fits, query_for({}), automatic, Origin::Declared), Choice::NotRequested);
    }
}

TEST(DomainProgress, EntryReportsADefinedModel) {
    for (const auto& k : kKinds) {
        EXPECT_EQ(rule(k.defined, call(), info({{k.field, FI_PROGRESS_AUTO}})), kHolds);
        EXPECT_EQ(rule(k.defined, call(), info({{k.field, FI_PROGRESS_MANUAL}})), kHolds);
        EXPECT_EQ(rule(k.defined, call(), info({{k.field, FI_PROGRESS_UNSPEC}})), kBroken);
        EXPECT_EQ(rule(k.defined, call(), info({{k.field, 3}})), kBroken);
        EXPECT_EQ(rule(k.defined, flagged(call(), FI_PROV_ATTR_ONLY), info()), kSkips);
    }
}

TEST(DomainProgress, AutoShouldFindWhatIsFoundWithoutAsking) {
    const auto p = clause::domain_progress_auto_recommended;
    const auto both = answer({endpoint(FI_EP_RDM), endpoint(FI_EP_MSG)});
    const auto one = answer({endpoint(FI_EP_RDM)});
    const auto open = query_for({});
    for (const auto& k : kKinds) {
        const auto wants = query_for({{k.field, FI_PROGRESS_AUTO}});
        EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, wants, both, open, both), kHolds);
        EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, wants, both, open, one), kHolds)
            << "losing by relaxing is another clause's";
        EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, wants, one, open, both), kBroken);
        EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, wants, answer({}, -FI_ENODATA), open, both), kBroken);
        EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, query_for({{k.field, FI_PROGRESS_MANUAL}}), one, open, both),
                  kSkips);
        EXPECT_EQ(rule(p, MetamorphicRelation::Relaxed, wants, one, query_for({{Field::caps, FI_MSG}}), both), kSkips);
        EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, wants, one, open, both), kSkips);
    }
}

}  // namespace
}  // namespace selvage::model
