// The predicates of spec/clauses/endpoint_tx_attr.toml and endpoint_context.toml, by hand from the text.  What both
// contexts share is told here for transmit contexts; endpoint_rx_attr_test.cc tells what differs.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "model/test/endpoint_make.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

using namespace fields_test;
using enum Field;
using Kind = Demand::Kind;

TEST(EndpointTxCaps, RefusesAPrimaryOrModifierThatWasNotRequested) {
    const auto judge = clause::endpoint_tx_caps_outside_request;
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}, {tx_caps, FI_RMA}})).kind, Kind::MustRefuse);
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG | FI_RECV}, {tx_caps, FI_SEND}})).kind, Kind::MustRefuse);
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}, {tx_caps, FI_MSG | FI_SEND}})).kind, Kind::Nothing);  // implied
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}, {tx_caps, FI_FENCE}})).kind, Kind::MayRefuse);  // secondary
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}, {tx_caps, FI_DIRECTED_RECV}})).kind, Kind::Nothing);  // foreign
}

TEST(EndpointTxCaps, AsksNothingWhereTheCallAsksForNoCapabilities) {
    const auto judge = clause::endpoint_tx_caps_outside_request;
    EXPECT_EQ(demand(judge, query_for({{tx_caps, FI_RMA}})).kind, Kind::NotRequested);
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}})).kind, Kind::NotRequested);
    EXPECT_EQ(demand(judge, call()).kind, Kind::NotRequested);
    EXPECT_EQ(demand(judge, flagged(query_for({{caps, FI_MSG}, {tx_caps, FI_RMA}}), FI_PROV_ATTR_ONLY)).kind,
              Kind::NotRequested);
}

TEST(EndpointTxCaps, NamesTheErrorsOfARefusal) {
    const World w;
    const auto q = query_for({{caps, FI_MSG}, {tx_caps, FI_RMA}});
    const auto d = clause::endpoint_tx_caps_outside_request({q, w});
    EXPECT_EQ(d.errnos, (std::vector<int>{FI_ENODATA, FI_EBADFLAGS}));
    EXPECT_EQ(d.evidence->field, tx_caps);
    EXPECT_EQ(d.evidence->actual, FI_RMA);
}

TEST(EndpointTxCaps, MayRefuseWhatDoesNotApply) {
    const auto judge = clause::endpoint_tx_caps_foreign;
    EXPECT_EQ(demand(judge, query_for({{tx_caps, FI_MSG | FI_RECV}})).kind, Kind::MayRefuse);
    EXPECT_EQ(demand(judge, query_for({{tx_caps, FI_MSG | FI_SEND}})).kind, Kind::Nothing);
    EXPECT_EQ(demand(judge, query_for(Values{})).kind, Kind::NotRequested);
}

TEST(EndpointTxCaps, FitWhatTheContextHas) {
    const auto judge = clause::endpoint_tx_caps_granted;
    const auto q = query_for({{caps, FI_MSG | FI_RMA}, {tx_caps, FI_MSG}});
    EXPECT_EQ(declared(judge, q, {{tx_caps, FI_MSG | FI_RMA}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{tx_caps, FI_RMA}}), Choice::No);
    EXPECT_EQ(inferred(judge, q, {{tx_caps, FI_RMA}}), Choice::May);
    EXPECT_EQ(declared(judge, query_for({{caps, FI_MSG}}), {{tx_caps, FI_RMA}}), Choice::NotRequested);
    EXPECT_EQ(declared(judge, query_for({{caps, FI_MSG}, {tx_caps, FI_SEND}}), {{tx_caps, FI_MSG}}),
              Choice::May);  // implied
}

TEST(EndpointTxCaps, AreReturnedWithWhatTheContextWasAskedFor) {
    const auto judge = clause::endpoint_tx_caps_returned;
    const auto q = query_for({{caps, FI_MSG | FI_RMA}, {tx_caps, FI_MSG}});
    EXPECT_EQ(rule(judge, q, {{tx_caps, FI_MSG}}), kHolds);
    EXPECT_EQ(rule(judge, q, {{tx_caps, FI_RMA}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_caps, 0}}), kSkips);
}

TEST(EndpointTxCaps, AreReturnedWithWhatAppliesOfTheCall) {
    const auto judge = clause::endpoint_tx_caps_returned;
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_RMA}}), {{tx_caps, FI_MSG | FI_RMA | FI_READ}}), kHolds);
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_RMA}}), {{tx_caps, FI_MSG}}), kBroken);
    EXPECT_EQ(rule(judge, query_for({{caps, FI_SOURCE}}), {{tx_caps, 0}}), kSkips);              // for receivers
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_RECV}}), {{tx_caps, 0}}), kSkips);       // sends nothing
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_SEND}}), {{tx_caps, FI_MSG}}), kHolds);  // implied
}

TEST(EndpointTxCaps, TellOnlyWhatIsMissing) {
    const World w;
    const auto q = query_for({{caps, FI_MSG | FI_SEND | FI_RMA}});
    const auto o = info({{tx_caps, FI_MSG}});
    auto r = clause::endpoint_tx_caps_returned({q, w, o, 3, nullptr});
    ASSERT_TRUE(r.is_broken());
    EXPECT_EQ(r.evidence().offer, 3);
    EXPECT_EQ(r.evidence().expected, FI_MSG | FI_RMA);
}

TEST(EndpointTxCaps, AreWithinThoseOfTheWhole) {
    const auto judge = clause::endpoint_tx_caps_within_info;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}, {tx_caps, FI_MSG | FI_SEND}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG | FI_RECV}, {tx_caps, FI_MSG | FI_SEND}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}, {tx_caps, 0}}), kSkips);
}

TEST(EndpointTxCaps, ThatTheHintsMisplacedAreForOtherClauses) {
    const auto judge = clause::endpoint_tx_caps_within_info;
    const auto beyond = query_for({{caps, FI_MSG}, {tx_caps, FI_RMA}});
    EXPECT_EQ(rule(judge, beyond, {{caps, FI_MSG}, {tx_caps, FI_RMA}}), kSkips) << "outside the request";
    EXPECT_EQ(rule(judge, beyond, {{caps, FI_MSG}, {tx_caps, FI_RMA | FI_TAGGED}}), kBroken);
    const auto foreign = query_for({{tx_caps, FI_DIRECTED_RECV}});
    EXPECT_EQ(rule(judge, foreign, {{caps, FI_MSG}, {tx_caps, FI_DIRECTED_RECV}}), kSkips) << "foreign";
    const auto fitting = query_for({{tx_caps, FI_MULTICAST}});
    EXPECT_EQ(rule(judge, fitting, {{caps, FI_MSG}, {tx_caps, FI_MULTICAST}}), kBroken) << "could have been granted";
}

TEST(EndpointTxCaps, HoldOnlyWhatAppliesToTransmitContexts) {
    const auto judge = clause::endpoint_tx_caps_only_applicable;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_caps, FI_MSG | FI_SEND | FI_FENCE}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_caps, FI_MSG | FI_RECV}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_caps, FI_MSG | FI_LOCAL_COMM}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_caps, 0}}), kSkips);
}

TEST(EndpointTxCaps, OfANewerLibraryMayHoldBitsWithoutAName) {
    World newer;
    newer.library = Version(2, 0);
    const auto q = query_for(Values{});
    const auto o = info({{tx_caps, FI_MSG | 1ULL << 62}});
    EXPECT_EQ(clause::endpoint_tx_caps_only_applicable({q, newer, o, 0, nullptr}).outcome(), kHolds);
    EXPECT_EQ(rule(clause::endpoint_tx_caps_only_applicable, q, o), kBroken);
}

Outcome pair(Ruling (*predicate)(const PairCase&), MetamorphicRelation metamorphic, const Query& a, const Query& b,
             std::size_t offers_a, std::size_t offers_b) {
    const World w;
    const Answer first{0, false, std::vector<Info>(offers_a, info({{tx_caps, FI_MSG}}))};
    const Answer second{offers_b == 0 ? -FI_ENODATA : 0, offers_b == 0,
                        std::vector<Info>(offers_b, info({{tx_caps, FI_MSG}}))};
    return predicate({metamorphic, w, a, first, b, second}).outcome();
}

TEST(EndpointTxCaps, OfZeroGetWhatTheSpelledOutOnesGet) {
    const auto judge = clause::endpoint_tx_caps_zero;
    const auto spelled = query_for({{caps, FI_MSG | FI_SOURCE}, {tx_caps, FI_MSG}});
    const auto zero = query_for({{caps, FI_MSG | FI_SOURCE}});
    EXPECT_EQ(pair(judge, MetamorphicRelation::Relaxed, spelled, zero, 2, 2), kHolds);
    EXPECT_EQ(pair(judge, MetamorphicRelation::Relaxed, spelled, zero, 2, 1), kBroken);
    EXPECT_EQ(pair(judge, MetamorphicRelation::Relaxed, spelled, zero, 1, 0), kBroken);
    EXPECT_EQ(pair(judge, MetamorphicRelation::Repeated, spelled, zero, 2, 1), kSkips);
    const auto less = query_for({{caps, FI_MSG | FI_RMA}, {tx_caps, FI_MSG}});
    EXPECT_EQ(pair(judge, MetamorphicRelation::Relaxed, less, query_for({{caps, FI_MSG | FI_RMA}}), 2, 1), kSkips);
    EXPECT_EQ(pair(judge, MetamorphicRelation::Relaxed, spelled, query_for({{caps, FI_MSG}}), 2, 1),
              kSkips);  // another difference
    const auto newer = query_for({{caps, FI_MSG | FI_MULTICAST}, {tx_caps, FI_MSG}}, Version(1, 2));
    EXPECT_EQ(pair(judge, MetamorphicRelation::Relaxed, newer,
                   query_for({{caps, FI_MSG | FI_MULTICAST}}, Version(1, 2)), 2, 1),
              kSkips)
        << "1.2 does not say what FI_MULTICAST applies to";
}

TEST(EndpointTxMode, FitsOffersThatRequireNoMore) {
    Entry needs = entry(info({{mode, FI_CONTEXT}, {tx_mode, FI_CONTEXT}}));
    needs.needed_mode = FI_CONTEXT;
    const auto judge = clause::endpoint_tx_mode_granted;
    const auto enough = query_for({{mode, FI_CONTEXT}, {tx_mode, FI_CONTEXT}});
    const auto less = query_for({{mode, FI_CONTEXT | FI_ASYNC_IOV}, {tx_mode, FI_ASYNC_IOV}});
    EXPECT_EQ(fit(judge, enough, needs, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(judge, less, needs, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(judge, less, needs, Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(judge, query_for({{mode, FI_CONTEXT}}), needs, Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(judge, query_for({{tx_mode, FI_CONTEXT}}), needs, Origin::Declared),
              Choice::May);  // more than the whole
}

TEST(EndpointTxMode, FitsWhereOnlyTheOtherSideRequiresIt) {
    Entry needs = entry(info({{mode, FI_RX_CQ_DATA}, {rx_mode, FI_RX_CQ_DATA}}));
    needs.needed_mode = FI_RX_CQ_DATA;
    const auto q = query_for({{mode, FI_RX_CQ_DATA | FI_CONTEXT}, {tx_mode, FI_CONTEXT}});
    EXPECT_EQ(fit(clause::endpoint_tx_mode_granted, q, needs, Origin::Declared), Choice::Fits);
}

TEST(EndpointTxMode, IsReturnedWithinTheModeOfTheHints) {
    const auto judge = clause::endpoint_tx_mode_returned;
    EXPECT_EQ(rule(judge, query_for({{mode, FI_CONTEXT}}), {{tx_mode, FI_CONTEXT}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_mode, FI_CONTEXT}}), kBroken);
    const auto own = query_for({{mode, FI_CONTEXT | FI_CONTEXT2}, {tx_mode, FI_CONTEXT2}});
    EXPECT_EQ(rule(judge, own, {{tx_mode, FI_CONTEXT}}), kBroken);
    EXPECT_EQ(rule(judge, call(), {{tx_mode, FI_CONTEXT}}), kSkips);
}

TEST(EndpointTxMode, IsWithinThatOfTheWhole) {
    const auto judge = clause::endpoint_tx_mode_within_info;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{mode, FI_CONTEXT | FI_CONTEXT2}, {tx_mode, FI_CONTEXT}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{mode, FI_CONTEXT2}, {tx_mode, FI_CONTEXT}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{mode, FI_CONTEXT2}}), kSkips);
}

TEST(EndpointTxMode, HoldsOnlyWhatConstrainsTransmits) {
    const auto judge = clause::endpoint_tx_mode_only_transmit;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_mode, FI_CONTEXT | FI_MSG_PREFIX}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_mode, FI_RX_CQ_DATA}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointTxOpFlags, FitWhatIsOfferedOrDeclared) {
    const auto judge = clause::endpoint_tx_op_flags_granted;
    const auto q = query_for({{tx_op_flags, FI_DELIVERY_COMPLETE}});
    EXPECT_EQ(declared(judge, q, {}, {{tx_op_flags, FI_DELIVERY_COMPLETE}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{tx_op_flags, FI_COMPLETION}}), Choice::No);
    EXPECT_EQ(inferred(judge, q, {{tx_op_flags, FI_COMPLETION}}), Choice::May);
    EXPECT_EQ(declared(judge, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointTxOpFlags, AreReturnedWithAllThatWereAsked) {
    const auto q = query_for({{tx_op_flags, FI_INJECT}});
    EXPECT_EQ(rule(clause::endpoint_tx_op_flags_returned, q, {{tx_op_flags, FI_INJECT | FI_COMPLETION}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_tx_op_flags_returned, q, {{tx_op_flags, FI_COMPLETION}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_tx_op_flags_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointTxOpFlags, HoldOnlyFlagsForTransmits) {
    const auto judge = clause::endpoint_tx_op_flags_only_applicable;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_op_flags, FI_COMPLETION | FI_INJECT_COMPLETE}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_op_flags, FI_MULTI_RECV}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_op_flags, FI_PEEK}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointTxMsgOrder, FitsWhatIsOffered) {
    const auto judge = clause::endpoint_tx_msg_order_granted;
    const auto q = query_for({{tx_msg_order, FI_ORDER_SAS}});
    EXPECT_EQ(declared(judge, q, {{tx_msg_order, FI_ORDER_SAS | FI_ORDER_RAW}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{tx_msg_order, FI_ORDER_RAW}}), Choice::No);
    EXPECT_EQ(inferred(judge, q, {{tx_msg_order, FI_ORDER_RAW}}), Choice::May);
    EXPECT_EQ(declared(judge, query_for({{tx_msg_order, FI_ORDER_NONE}}), {}), Choice::NotRequested);
}

TEST(EndpointTxMsgOrder, LeavesPartsOfAPlainOrderToTheSplitRule) {
    const auto judge = clause::endpoint_tx_msg_order_granted;
    const auto part = query_for({{tx_msg_order, FI_ORDER_RMA_RAW}});
    EXPECT_EQ(declared(judge, part, {{tx_msg_order, FI_ORDER_RAW}}), Choice::Fits);
    EXPECT_EQ(declared(judge, part, {{tx_msg_order, FI_ORDER_WAW}}), Choice::No);
    EXPECT_EQ(
        declared(judge, query_for({{tx_msg_order, FI_ORDER_RMA_RAW}}, Version(1, 7)), {{tx_msg_order, FI_ORDER_RAW}}),
        Choice::May);
    const auto whole = query_for({{tx_msg_order, FI_ORDER_RAW}});
    EXPECT_EQ(declared(judge, whole, {{tx_msg_order, FI_ORDER_RMA_RAW | FI_ORDER_ATOMIC_RAW}}), Choice::May);
    EXPECT_EQ(declared(judge, whole, {{tx_msg_order, FI_ORDER_RMA_RAW}}), Choice::No);
}

TEST(EndpointTxMsgOrder, IsReturnedWithEveryOrderThatWasAsked) {
    const auto judge = clause::endpoint_tx_msg_order_returned;
    const auto q = query_for({{tx_msg_order, FI_ORDER_SAS | FI_ORDER_ATOMIC_WAW}});
    EXPECT_EQ(rule(judge, q, {{tx_msg_order, FI_ORDER_SAS | FI_ORDER_ATOMIC_WAW | FI_ORDER_RAR}}), kHolds);
    EXPECT_EQ(rule(judge, q, {{tx_msg_order, FI_ORDER_SAS | FI_ORDER_WAW}}), kHolds);  // the whole covers the part
    EXPECT_EQ(rule(judge, q, {{tx_msg_order, FI_ORDER_SAS}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointMsgOrderSplit, LeavesAPartOfAnOfferedWholeToTheProvider) {
    const auto judge = clause::endpoint_msg_order_split;
    for (const Field f : {tx_msg_order, rx_msg_order}) {
        const auto q = query_for({{f, FI_ORDER_ATOMIC_RAW}});
        EXPECT_EQ(declared(judge, q, {{f, FI_ORDER_RAW}}), Choice::May);
        EXPECT_EQ(declared(judge, q, {{f, FI_ORDER_RAW | FI_ORDER_ATOMIC_RAW}}), Choice::Fits);
        EXPECT_EQ(declared(judge, q, {{f, FI_ORDER_WAR}}), Choice::NotRequested);
        EXPECT_EQ(declared(judge, query_for({{f, FI_ORDER_RAW}}), {{f, FI_ORDER_RAW}}), Choice::NotRequested);
    }
}

TEST(EndpointTxCompOrder, FitsAnEqualOrStricterOne) {
    const auto judge = clause::endpoint_tx_comp_order_granted;
    const auto q = query_for({{tx_comp_order, FI_ORDER_STRICT}});
    EXPECT_EQ(declared(judge, q, {{tx_comp_order, FI_ORDER_STRICT}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{tx_comp_order, FI_ORDER_NONE}}), Choice::No);
    EXPECT_EQ(declared(judge, query_for(Values{}), {{tx_comp_order, FI_ORDER_NONE}}), Choice::NotRequested);
}

TEST(EndpointTxCompOrder, IsReturnedEqualOrStricter) {
    const auto judge = clause::endpoint_tx_comp_order_returned;
    const auto q = query_for({{tx_comp_order, FI_ORDER_STRICT}});
    EXPECT_EQ(rule(judge, q, {{tx_comp_order, FI_ORDER_STRICT}}), kHolds);
    EXPECT_EQ(rule(judge, q, {{tx_comp_order, FI_ORDER_NONE}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_comp_order, FI_ORDER_NONE}}), kSkips);
}

struct SizeCase {
    Field field;
    Fit (*granted)(const MatchCase&);
    Ruling (*returned)(const OfferCase&);
};
const SizeCase kSizes[] = {
    {tx_inject_size, clause::endpoint_inject_size_granted, clause::endpoint_inject_size_returned},
    {tx_size, clause::endpoint_tx_size_granted, clause::endpoint_tx_size_returned},
    {tx_iov_limit, clause::endpoint_tx_iov_limit_granted, clause::endpoint_tx_iov_limit_returned},
    {tx_rma_iov_limit, clause::endpoint_rma_iov_limit_granted, clause::endpoint_rma_iov_limit_returned},
};

TEST(EndpointTxSizes, FitUpToTheLargest) {
    for (const auto& s : kSizes) {
        const auto q = query_for({{s.field, 64}});
        EXPECT_EQ(declared(s.granted, q, {{s.field, 64}}), Choice::Fits);
        EXPECT_EQ(declared(s.granted, q, {{s.field, 63}}), Choice::No);
        EXPECT_EQ(declared(s.granted, q, {{s.field, 63}}, {{s.field, 64}}), Choice::Fits);
        EXPECT_EQ(inferred(s.granted, q, {{s.field, 63}}), Choice::May);
        EXPECT_EQ(declared(s.granted, query_for(Values{}), {{s.field, 63}}), Choice::NotRequested);
    }
}

TEST(EndpointTxSizes, AreReturnedAtLeastAsAsked) {
    for (const auto& s : kSizes) {
        const auto q = query_for({{s.field, 64}});
        EXPECT_EQ(rule(s.returned, q, {{s.field, 65}}), kHolds);
        EXPECT_EQ(rule(s.returned, q, {{s.field, 63}}), kBroken);
        EXPECT_EQ(rule(s.returned, query_for(Values{}), {{s.field, 63}}), kSkips);
    }
}

TEST(EndpointRmaIovLimit, IsNotSureWithoutRmaInTheCall) {
    const auto judge = clause::endpoint_rma_iov_limit_granted;
    const Values offered = {{tx_rma_iov_limit, 4}};
    EXPECT_EQ(inferred(judge, query_for({{caps, FI_MSG}, {tx_rma_iov_limit, 1}}), offered), Choice::May);
    EXPECT_EQ(inferred(judge, query_for({{caps, FI_RMA}, {tx_rma_iov_limit, 1}}), offered), Choice::Fits);
}

TEST(EndpointTxTclass, FitsTheOfferedOneAndDeclaredChoices) {
    const auto judge = clause::endpoint_tx_tclass_granted;
    const auto q = query_for({{tx_tclass, FI_TC_LOW_LATENCY}});
    EXPECT_EQ(declared(judge, q, {{tx_tclass, FI_TC_LOW_LATENCY}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {}, {{tx_tclass, choice_bit(Family::tclass, FI_TC_LOW_LATENCY)}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {}, {{tx_tclass, choice_bit(Family::tclass, FI_TC_BULK_DATA)}}), Choice::No);
    EXPECT_EQ(inferred(judge, q, {}), Choice::May);
    EXPECT_EQ(declared(judge, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointTxTclass, IsReturnedAsAsked) {
    const auto q = query_for({{tx_tclass, FI_TC_LOW_LATENCY}});
    EXPECT_EQ(rule(clause::endpoint_tx_tclass_returned, q, {{tx_tclass, FI_TC_LOW_LATENCY}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_tx_tclass_returned, q, {{tx_tclass, FI_TC_UNSPEC}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_tx_tclass_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointTxTclass, OfBestEffortIsTheDefault) {
    const auto judge = clause::endpoint_tx_tclass_returned;
    const auto q = query_for({{tx_tclass, FI_TC_BEST_EFFORT}});
    EXPECT_EQ(rule(judge, q, {{tx_tclass, FI_TC_UNSPEC}}), kHolds);
    EXPECT_EQ(rule(judge, q, {{tx_tclass, FI_TC_UNSPEC}, {domain_tclass, FI_TC_BULK_DATA}}), kBroken);
}

TEST(EndpointTxTclass, IsOpenOrTheDomainsWithoutAHint) {
    const auto judge = clause::endpoint_tx_tclass_default;
    const auto bulk = FI_TC_BULK_DATA;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_tclass, FI_TC_UNSPEC}, {domain_tclass, bulk}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_tclass, bulk}, {domain_tclass, bulk}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{tx_tclass, bulk}, {domain_tclass, FI_TC_UNSPEC}}), kBroken);
    EXPECT_EQ(rule(judge, query_for({{tx_tclass, bulk}}), {{tx_tclass, bulk}}), kSkips);
}

}  // namespace
}  // namespace selvage::model
