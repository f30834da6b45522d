// The type of address vectors, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info vector_of(std::uint64_t av_type, std::uint64_t ep_type = FI_EP_RDM) {
    return info({{Field::ep_type, ep_type}, {Field::domain_av_type, av_type}});
}
Query requesting(std::uint64_t av_type) { return query_for({{Field::domain_av_type, av_type}}); }

TEST(DomainAv, UnknownTypeIsRefused) {
    const auto p = clause::domain_av_known;
    const auto refused = demand(p, requesting(99));
    EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(refused.errnos, std::vector<int>{FI_ENODATA});
    EXPECT_EQ(demand(p, requesting(FI_AV_TABLE)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(FI_AV_UNSPEC)).kind, Demand::Kind::NotRequested);
    EXPECT_EQ(demand(p, call()).kind, Demand::Kind::NotRequested);
}

TEST(DomainAv, MapFitsWhatCanUseAMap) {
    const auto p = clause::domain_av_map_fits;
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_MAP)), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_UNSPEC)), Origin::Inferred), Choice::Fits)
        << "either";
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_TABLE)), Origin::Inferred), Choice::May)
        << "the optimal one only";
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_TABLE)), Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_AV_TABLE), entry(vector_of(FI_AV_TABLE)), Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_MAP, FI_EP_MSG)), Origin::Declared),
              Choice::NotRequested);
}

TEST(DomainAv, TableFitsWhatCanUseATable) {
    const auto p = clause::domain_av_table_fits;
    EXPECT_EQ(fit(p, requesting(FI_AV_TABLE), entry(vector_of(FI_AV_TABLE, FI_EP_DGRAM)), Origin::Inferred),
              Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_AV_TABLE), entry(vector_of(FI_AV_MAP)), Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_TABLE)), Origin::Declared), Choice::NotRequested);
}

TEST(DomainAv, UnspecFitsEveryOffer) {
    const auto p = clause::domain_av_unspec_fits;
    EXPECT_EQ(fit(p, query_for({}), entry(vector_of(FI_AV_TABLE)), Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_TABLE)), Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, call(), entry(vector_of(FI_AV_TABLE)), Origin::Declared), Choice::NotRequested);
}

TEST(DomainAv, EntryReportsTheTypeOfTheHintsOrEither) {
    const auto p = clause::domain_av_granted;
    EXPECT_EQ(rule(p, requesting(FI_AV_MAP), vector_of(FI_AV_MAP)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_AV_MAP), vector_of(FI_AV_UNSPEC)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_AV_MAP), vector_of(FI_AV_TABLE)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_AV_TABLE), vector_of(FI_AV_MAP)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_AV_MAP), vector_of(FI_AV_TABLE, FI_EP_MSG)), kSkips)
        << "connected endpoints use none";
    EXPECT_EQ(rule(p, query_for({}), vector_of(FI_AV_TABLE)), kSkips);
}

TEST(DomainAv, EntryReportsADefinedType) {
    const auto p = clause::domain_av_answer_known;
    EXPECT_EQ(rule(p, query_for({}), vector_of(FI_AV_UNSPEC)), kHolds);
    EXPECT_EQ(rule(p, query_for({}), vector_of(FI_AV_TABLE)), kHolds);
    EXPECT_EQ(rule(p, query_for({}), vector_of(3)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), vector_of(3)), kSkips);
}

TEST(DomainAv, ConnectedEndpointsMayPassOverTheHint) {
    const auto p = clause::domain_av_connected;
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_MAP, FI_EP_MSG)), Origin::Declared), Choice::May);
    EXPECT_EQ(fit(p, requesting(FI_AV_MAP), entry(vector_of(FI_AV_MAP, FI_EP_RDM)), Origin::Declared),
              Choice::NotRequested);
    EXPECT_EQ(fit(p, query_for({}), entry(vector_of(FI_AV_MAP, FI_EP_MSG)), Origin::Declared), Choice::NotRequested);
}

}  // namespace
}  // namespace selvage::model
