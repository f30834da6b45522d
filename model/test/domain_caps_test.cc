// Capabilities and mode of the domain, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

constexpr std::uint64_t kBoth = FI_LOCAL_COMM | FI_REMOTE_COMM;

Info has(std::uint64_t domain_caps, std::uint64_t caps = 0) {
    return info({{Field::caps, caps}, {Field::domain_caps, domain_caps}});
}
Query requesting(std::uint64_t domain_caps) { return query_for({{Field::domain_caps, domain_caps}}); }

TEST(DomainCaps, RefusesWhatNoDomainCanHave) {
    const auto p = clause::domain_caps_known;
    const auto refused = demand(p, requesting(FI_LOCAL_COMM | FI_MSG));
    EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(refused.errnos, (std::vector<int>{FI_ENODATA, FI_EBADFLAGS}));
    EXPECT_EQ(demand(p, requesting(kBoth | FI_SHARED_AV)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(0)).kind, Demand::Kind::NotRequested);
}

TEST(DomainCaps, FitOnlyWhatHasThemAll) {
    const auto p = clause::domain_caps_fits;
    EXPECT_EQ(fit(p, requesting(FI_LOCAL_COMM), entry(has(kBoth)), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_SHARED_AV), entry(has(kBoth)), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(p, requesting(FI_SHARED_AV), entry(has(kBoth)), Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, requesting(0), entry(has(kBoth)), Origin::Declared), Choice::NotRequested);
}

TEST(DomainCaps, EntryHasWhatTheHintsAskFor) {
    const auto p = clause::domain_caps_granted;
    EXPECT_EQ(rule(p, requesting(FI_LOCAL_COMM), has(kBoth)), kHolds);
    EXPECT_EQ(rule(p, requesting(kBoth), has(FI_LOCAL_COMM)), kBroken);
    EXPECT_EQ(rule(p, requesting(0), has(0)), kSkips);
}

TEST(DomainCaps, EntryHasOnlyWhatADomainCanHave) {
    const auto p = clause::domain_caps_answer_known;
    EXPECT_EQ(rule(p, query_for({}), has(kBoth | FI_SHARED_AV)), kHolds);
    EXPECT_EQ(rule(p, query_for({}), has(FI_MSG)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), has(FI_MSG)), kSkips);
}

TEST(DomainCaps, AgreeWithTheCapabilitiesOfTheEntry) {
    EXPECT_EQ(rule(clause::domain_caps_local_consistent, query_for({}), has(FI_LOCAL_COMM, kBoth)), kHolds);
    EXPECT_EQ(rule(clause::domain_caps_local_consistent, query_for({}), has(FI_REMOTE_COMM, kBoth)), kBroken);
    EXPECT_EQ(rule(clause::domain_caps_local_consistent, query_for({}), has(0, FI_REMOTE_COMM)), kSkips);
    EXPECT_EQ(rule(clause::domain_caps_remote_consistent, query_for({}), has(FI_REMOTE_COMM, kBoth)), kHolds);
    EXPECT_EQ(rule(clause::domain_caps_remote_consistent, query_for({}), has(FI_LOCAL_COMM, kBoth)), kBroken);
    EXPECT_EQ(rule(clause::domain_caps_remote_consistent, query_for({}), has(0, FI_LOCAL_COMM)), kSkips);
    EXPECT_EQ(rule(clause::domain_caps_shared_av_consistent, query_for({}), has(FI_SHARED_AV, FI_SHARED_AV)), kHolds);
    EXPECT_EQ(rule(clause::domain_caps_shared_av_consistent, query_for({}), has(kBoth, FI_SHARED_AV)), kBroken);
    EXPECT_EQ(rule(clause::domain_caps_shared_av_consistent, query_for({}), has(kBoth, kBoth)), kSkips);
}

TEST(DomainCaps, LetItsEndpointsReachSomebody) {
    const auto p = clause::domain_caps_some_communication;
    EXPECT_EQ(rule(p, query_for({}), has(FI_LOCAL_COMM)), kHolds);
    EXPECT_EQ(rule(p, query_for({}), has(FI_REMOTE_COMM)), kHolds);
    EXPECT_EQ(rule(p, query_for({}), has(FI_SHARED_AV)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), has(0)), kSkips);
}

TEST(DomainMode, OfferThatNeedsRestrictedCompFitsWhoSupportsIt) {
    const auto p = clause::domain_mode_fits;
    const auto needs = entry(info({{Field::domain_mode, FI_RESTRICTED_COMP}}));
    EXPECT_EQ(fit(p, query_for({{Field::mode, FI_RESTRICTED_COMP}}), needs, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, query_for({{Field::domain_mode, FI_RESTRICTED_COMP}}), needs, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, query_for({{Field::mode, FI_CONTEXT}}), needs, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, query_for({{Field::mode, FI_CONTEXT}}), needs, Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(p, query_for({}), entry(info()), Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, call(), needs, Origin::Declared), Choice::NotRequested) << "NULL hints support all modes";
}

TEST(DomainMode, EntryNeedsNothingThatTheHintsDoNotSupport) {
    const auto p = clause::domain_mode_within;
    const auto needs = info({{Field::domain_mode, FI_RESTRICTED_COMP}});
    EXPECT_EQ(rule(p, query_for({{Field::mode, FI_RESTRICTED_COMP}}), needs), kHolds);
    EXPECT_EQ(rule(p, query_for({{Field::domain_mode, FI_RESTRICTED_COMP}}), needs), kHolds);
    EXPECT_EQ(rule(p, query_for({}), needs), kBroken);
    EXPECT_EQ(rule(p, call(), needs), kSkips);
}

TEST(DomainMode, EntryReportsADefinedBit) {
    const auto p = clause::domain_mode_answer_known;
    EXPECT_EQ(rule(p, call(), info({{Field::domain_mode, FI_RESTRICTED_COMP}})), kHolds);
    EXPECT_EQ(rule(p, call(), info({{Field::domain_mode, FI_CONTEXT}})), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), info({{Field::domain_mode, FI_CONTEXT}})), kSkips);
}

}  // namespace
}  // namespace selvage::model
