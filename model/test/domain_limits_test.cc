// Sizes and counts of a domain, case by case from the text.
#include <rdma/fabric.h>

#include <array>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

// The clauses of one shape: the field, and the two predicates that must speak of it and of no other.
struct Limit {
    Field field;
    Fit (*fits)(const MatchCase&);
    Ruling (*granted)(const OfferCase&);
};

constexpr auto kLimits = std::to_array<Limit>({
    {Field::domain_mr_key_size, clause::domain_mr_key_size_fits, clause::domain_mr_key_size_granted},
    {Field::domain_cq_data_size, clause::domain_cq_data_size_fits, clause::domain_cq_data_size_granted},
    {Field::domain_cq_cnt, clause::domain_cq_cnt_fits, clause::domain_cq_cnt_granted},
    {Field::domain_ep_cnt, clause::domain_ep_cnt_fits, clause::domain_ep_cnt_granted},
    {Field::domain_tx_ctx_cnt, clause::domain_tx_ctx_cnt_fits, clause::domain_tx_ctx_cnt_granted},
    {Field::domain_rx_ctx_cnt, clause::domain_rx_ctx_cnt_fits, clause::domain_rx_ctx_cnt_granted},
    {Field::domain_max_ep_tx_ctx, clause::domain_max_ep_tx_ctx_fits, clause::domain_max_ep_tx_ctx_granted},
    {Field::domain_max_ep_rx_ctx, clause::domain_max_ep_rx_ctx_fits, clause::domain_max_ep_rx_ctx_granted},
    {Field::domain_max_ep_stx_ctx, clause::domain_max_ep_stx_ctx_fits, clause::domain_max_ep_stx_ctx_granted},
    {Field::domain_max_ep_srx_ctx, clause::domain_max_ep_srx_ctx_fits, clause::domain_max_ep_srx_ctx_granted},
    {Field::domain_cntr_cnt, clause::domain_cntr_cnt_fits, clause::domain_cntr_cnt_granted},
    {Field::domain_mr_iov_limit, clause::domain_mr_iov_limit_fits, clause::domain_mr_iov_limit_granted},
    {Field::domain_max_err_data, clause::domain_max_err_data_fits, clause::domain_max_err_data_granted},
});

TEST(DomainLimits, FitWhatCanReachThem) {
    for (const auto& l : kLimits) {
        SCOPED_TRACE(row(l.field).path);
        auto e = entry(info({{l.field, 8}}));
        EXPECT_EQ(fit(l.fits, query_for({{l.field, 7}}), e, Origin::Inferred), Choice::Fits);
        EXPECT_EQ(fit(l.fits, query_for({{l.field, 8}}), e, Origin::Declared), Choice::Fits);
        EXPECT_EQ(fit(l.fits, query_for({{l.field, 9}}), e, Origin::Inferred), Choice::May);
        EXPECT_EQ(fit(l.fits, query_for({{l.field, 9}}), e, Origin::Declared), Choice::No);
        set(e.most, l.field, 9);
        EXPECT_EQ(fit(l.fits, query_for({{l.field, 9}}), e, Origin::Declared), Choice::Fits);
        EXPECT_EQ(fit(l.fits, query_for({}), e, Origin::Declared), Choice::NotRequested);
    }
}

TEST(DomainLimits, EntryReachesTheHints) {
    for (const auto& l : kLimits) {
        SCOPED_TRACE(row(l.field).path);
        EXPECT_EQ(rule(l.granted, query_for({{l.field, 8}}), info({{l.field, 8}})), kHolds);
        EXPECT_EQ(rule(l.granted, query_for({{l.field, 8}}), info({{l.field, 9}})), kHolds);
        EXPECT_EQ(rule(l.granted, query_for({{l.field, 8}}), info({{l.field, 7}})), kBroken);
        EXPECT_EQ(rule(l.granted, query_for({}), info()), kSkips);
        EXPECT_EQ(rule(l.granted, flagged(query_for({{l.field, 8}}), FI_PROV_ATTR_ONLY), info()), kSkips);
    }
}

TEST(DomainLimits, CqDataIsNoneOrAtLeastFourBytes) {
    const auto p = clause::domain_cq_data_size_minimum;
    EXPECT_EQ(rule(p, call(), info({{Field::domain_cq_data_size, 4}})), kHolds);
    EXPECT_EQ(rule(p, call(), info({{Field::domain_cq_data_size, 3}})), kBroken);
    EXPECT_EQ(rule(p, call(), info()), kSkips);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), info({{Field::domain_cq_data_size, 3}})), kSkips);
}

TEST(DomainLimits, MoreRegionsThanOptimalMayFit) {
    const auto p = clause::domain_mr_cnt_fits;
    const auto e = entry(info({{Field::domain_mr_cnt, 8}}));
    EXPECT_EQ(fit(p, query_for({{Field::domain_mr_cnt, 8}}), e, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, query_for({{Field::domain_mr_cnt, 9}}), e, Origin::Declared), Choice::May);
    EXPECT_EQ(fit(p, query_for({}), e, Origin::Declared), Choice::NotRequested);
}

TEST(DomainLimits, EntryReachesTheRegionsOfTheHints) {
    const auto p = clause::domain_mr_cnt_granted;
    EXPECT_EQ(rule(p, query_for({{Field::domain_mr_cnt, 8}}), info({{Field::domain_mr_cnt, 8}})), kHolds);
    EXPECT_EQ(rule(p, query_for({{Field::domain_mr_cnt, 8}}), info({{Field::domain_mr_cnt, 7}})), kBroken);
    EXPECT_EQ(rule(p, query_for({}), info()), kSkips);
}

}  // namespace
}  // namespace selvage::model
