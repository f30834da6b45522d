// Resource management, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info managed(std::uint64_t rm) { return info({{Field::domain_resource_mgmt, rm}}); }
Query requesting(std::uint64_t rm) { return query_for(managed(rm)); }

TEST(DomainRm, UnknownValueIsRefused) {
    const auto p = clause::domain_rm_known;
    const auto refused = demand(p, requesting(99));
    EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(refused.errnos, std::vector<int>{FI_ENODATA});
    EXPECT_EQ(demand(p, requesting(FI_RM_ENABLED)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(FI_RM_UNSPEC)).kind, Demand::Kind::NotRequested);
}

TEST(DomainRm, EnabledFitsWhatManagesResources) {
    const auto p = clause::domain_rm_enabled_fits;
    EXPECT_EQ(fit(p, requesting(FI_RM_ENABLED), entry(managed(FI_RM_ENABLED)), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_RM_ENABLED), entry(managed(FI_RM_DISABLED)), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(p, requesting(FI_RM_ENABLED), entry(managed(FI_RM_DISABLED)), Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_RM_DISABLED), entry(managed(FI_RM_DISABLED)), Origin::Declared),
              Choice::NotRequested);
}

TEST(DomainRm, EnabledIsReportedWhenAsked) {
    const auto p = clause::domain_rm_enabled_granted;
    EXPECT_EQ(rule(p, requesting(FI_RM_ENABLED), managed(FI_RM_ENABLED)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_RM_ENABLED), managed(FI_RM_DISABLED)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_RM_DISABLED), managed(FI_RM_ENABLED)), kSkips) << "protection is no breach";
    EXPECT_EQ(rule(p, requesting(0), managed(FI_RM_DISABLED)), kSkips);
}

TEST(DomainRm, DisabledFitsEveryOffer) {
    const auto p = clause::domain_rm_disabled_fits;
    EXPECT_EQ(fit(p, requesting(FI_RM_DISABLED), entry(managed(FI_RM_ENABLED)), Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_RM_ENABLED), entry(managed(FI_RM_ENABLED)), Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, call(), entry(managed(FI_RM_ENABLED)), Origin::Declared), Choice::NotRequested);
}

TEST(DomainRm, EntryReportsADefinedValue) {
    const auto p = clause::domain_rm_defined;
    EXPECT_EQ(rule(p, call(), managed(FI_RM_DISABLED)), kHolds);
    EXPECT_EQ(rule(p, call(), managed(FI_RM_ENABLED)), kHolds);
    EXPECT_EQ(rule(p, call(), managed(FI_RM_UNSPEC)), kBroken);
    EXPECT_EQ(rule(p, call(), managed(3)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), managed(0)), kSkips);
}

}  // namespace
}  // namespace selvage::model
