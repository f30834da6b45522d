// The predicates of spec/clauses/endpoint_rx_attr.toml and endpoint_context.toml, by hand from the text.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "model/test/endpoint_make.h"

namespace selvage::model {
namespace {

using namespace fields_test;
using enum Field;
using Kind = Demand::Kind;

TEST(EndpointRxCaps, RefusesAPrimaryOrModifierThatWasNotRequested) {
    const auto judge = clause::endpoint_rx_caps_outside_request;
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}, {rx_caps, FI_TAGGED}})).kind, Kind::MustRefuse);
    EXPECT_EQ(demand(judge, query_for({{caps, FI_RMA | FI_READ}, {rx_caps, FI_REMOTE_READ}})).kind, Kind::MustRefuse);
    EXPECT_EQ(demand(judge, query_for({{caps, FI_RMA}, {rx_caps, FI_REMOTE_READ}})).kind, Kind::Nothing);
    EXPECT_EQ(demand(judge, query_for({{caps, FI_MSG}, {rx_caps, FI_MSG | FI_SOURCE}})).kind, Kind::MayRefuse);
    EXPECT_EQ(demand(judge, query_for({{rx_caps, FI_TAGGED}})).kind, Kind::NotRequested);
}

TEST(EndpointRxCaps, MayRefuseWhatDoesNotApply) {
    const auto judge = clause::endpoint_rx_caps_foreign;
    EXPECT_EQ(demand(judge, query_for({{rx_caps, FI_MSG | FI_SEND}})).kind, Kind::MayRefuse);
    EXPECT_EQ(demand(judge, query_for({{rx_caps, FI_MSG | FI_RECV}})).kind, Kind::Nothing);
    EXPECT_EQ(demand(judge, query_for(Values{})).kind, Kind::NotRequested);
}

TEST(EndpointRxCaps, FitWhatTheContextHas) {
    const auto judge = clause::endpoint_rx_caps_granted;
    const auto q = query_for({{caps, FI_MSG | FI_TAGGED}, {rx_caps, FI_TAGGED}});
    EXPECT_EQ(declared(judge, q, {{rx_caps, FI_TAGGED}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{tx_caps, FI_TAGGED}, {rx_caps, FI_MSG}}), Choice::No);
    EXPECT_EQ(declared(judge, query_for({{caps, FI_TAGGED}}), {}), Choice::NotRequested);
}

TEST(EndpointRxCaps, AreReturnedWithWhatWasAsked) {
    const auto judge = clause::endpoint_rx_caps_returned;
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_SOURCE}}), {{rx_caps, FI_MSG | FI_SOURCE}}), kHolds);
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_SOURCE}}), {{rx_caps, FI_MSG}}), kBroken);
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_SOURCE}, {rx_caps, FI_MSG}}), {{rx_caps, FI_MSG}}), kHolds);
    EXPECT_EQ(rule(judge, query_for({{caps, FI_MSG | FI_SEND}}), {{rx_caps, 0}}), kSkips);  // receives nothing
    EXPECT_EQ(rule(judge, call(), {{rx_caps, 0}}), kSkips);
}

TEST(EndpointRxCaps, AreWithinThoseOfTheWhole) {
    const auto judge = clause::endpoint_rx_caps_within_info;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_RMA}, {rx_caps, FI_RMA | FI_REMOTE_READ}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_RMA}, {rx_caps, FI_RMA | FI_MULTI_RECV}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_RMA}}), kSkips);
}

TEST(EndpointRxCaps, HoldOnlyWhatAppliesToReceiveContexts) {
    const auto judge = clause::endpoint_rx_caps_only_applicable;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{rx_caps, FI_MSG | FI_RECV | FI_SOURCE}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{rx_caps, FI_MSG | FI_SEND}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{rx_caps, FI_FENCE}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointRxCaps, OfZeroGetWhatTheSpelledOutOnesGet) {
    const World w;
    const auto spelled = query_for({{caps, FI_MSG | FI_FENCE}, {rx_caps, FI_MSG}});
    const auto zero = query_for({{caps, FI_MSG | FI_FENCE}});
    const Answer two{0, false, std::vector<Info>(2, info())};
    const Answer one{0, false, std::vector<Info>(1, info())};
    const auto judge = [&](const Query& a, const Query& b, const Answer& answer) {
        return clause::endpoint_rx_caps_zero({MetamorphicRelation::Relaxed, w, a, two, b, answer}).outcome();
    };
    EXPECT_EQ(judge(spelled, zero, two), kHolds);
    EXPECT_EQ(judge(spelled, zero, one), kBroken);
    EXPECT_EQ(judge(zero, zero, one), kSkips);
    const Answer other{0, false, std::vector<Info>(2, info({{rx_caps, FI_MSG}}))};
    EXPECT_EQ(judge(spelled, zero, other), kBroken);
}

TEST(EndpointRxMode, FitsOffersThatRequireNoMore) {
    Entry needs = entry(info({{mode, FI_MSG_PREFIX}, {rx_mode, FI_MSG_PREFIX}}));
    needs.needed_mode = FI_MSG_PREFIX;
    const auto judge = clause::endpoint_rx_mode_granted;
    const auto both = FI_MSG_PREFIX | FI_CONTEXT;
    EXPECT_EQ(fit(judge, query_for({{mode, both}, {rx_mode, FI_MSG_PREFIX}}), needs, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(judge, query_for({{mode, both}, {rx_mode, FI_CONTEXT}}), needs, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(judge, query_for({{mode, both}}), needs, Origin::Declared), Choice::NotRequested);
}

TEST(EndpointRxMode, IsReturnedWithinTheModeOfTheHints) {
    const auto judge = clause::endpoint_rx_mode_returned;
    EXPECT_EQ(rule(judge, query_for({{mode, FI_MSG_PREFIX}}), {{rx_mode, FI_MSG_PREFIX}}), kHolds);
    EXPECT_EQ(rule(judge, query_for({{mode, FI_CONTEXT}}), {{rx_mode, FI_MSG_PREFIX}}), kBroken);
    EXPECT_EQ(rule(judge, call(), {{rx_mode, FI_MSG_PREFIX}}), kSkips);
}

TEST(EndpointRxMode, IsWithinThatOfTheWhole) {
    const auto judge = clause::endpoint_rx_mode_within_info;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{mode, FI_RX_CQ_DATA}, {rx_mode, FI_RX_CQ_DATA}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{rx_mode, FI_RX_CQ_DATA}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointRxOpFlags, FitWhatIsOfferedOrDeclared) {
    const auto judge = clause::endpoint_rx_op_flags_granted;
    const auto q = query_for({{rx_op_flags, FI_MULTI_RECV}});
    EXPECT_EQ(declared(judge, q, {{rx_op_flags, FI_MULTI_RECV}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{rx_op_flags, FI_COMPLETION}}), Choice::No);
    EXPECT_EQ(declared(judge, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointRxOpFlags, AreReturnedWithAllThatWereAsked) {
    const auto q = query_for({{rx_op_flags, FI_COMPLETION}});
    EXPECT_EQ(rule(clause::endpoint_rx_op_flags_returned, q, {{rx_op_flags, FI_COMPLETION}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_rx_op_flags_returned, q, {{rx_op_flags, 0}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_rx_op_flags_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointRxOpFlags, HoldOnlyFlagsForReceives) {
    const auto judge = clause::endpoint_rx_op_flags_only_applicable;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{rx_op_flags, FI_COMPLETION | FI_MULTI_RECV}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{rx_op_flags, FI_DELIVERY_COMPLETE}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointRxMsgOrder, FitsWhatIsOffered) {
    const auto judge = clause::endpoint_rx_msg_order_granted;
    const auto q = query_for({{rx_msg_order, FI_ORDER_RAW}});
    EXPECT_EQ(declared(judge, q, {{rx_msg_order, FI_ORDER_RAW}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{rx_msg_order, FI_ORDER_SAS}}), Choice::No);
    EXPECT_EQ(declared(judge, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointRxMsgOrder, IsReturnedWithEveryOrderThatWasAsked) {
    const auto q = query_for({{rx_msg_order, FI_ORDER_SAS}});
    EXPECT_EQ(rule(clause::endpoint_rx_msg_order_returned, q, {{rx_msg_order, FI_ORDER_SAS | FI_ORDER_RAW}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_rx_msg_order_returned, q, {{rx_msg_order, FI_ORDER_RAW}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_rx_msg_order_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointRxCompOrder, FitsAnEqualOrStricterOne) {
    const auto judge = clause::endpoint_rx_comp_order_granted;
    const auto q = query_for({{rx_comp_order, FI_ORDER_STRICT}});
    EXPECT_EQ(declared(judge, q, {{rx_comp_order, FI_ORDER_STRICT | FI_ORDER_DATA}}), Choice::Fits);
    EXPECT_EQ(declared(judge, q, {{rx_comp_order, FI_ORDER_DATA}}), Choice::No);
    EXPECT_EQ(declared(judge, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointRxCompOrder, IsReturnedEqualOrStricter) {
    const auto q = query_for({{rx_comp_order, FI_ORDER_DATA}});
    EXPECT_EQ(rule(clause::endpoint_rx_comp_order_returned, q, {{rx_comp_order, FI_ORDER_STRICT | FI_ORDER_DATA}}),
              kHolds);
    EXPECT_EQ(rule(clause::endpoint_rx_comp_order_returned, q, {{rx_comp_order, FI_ORDER_STRICT}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_rx_comp_order_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointBufferedRecv, FitsWhateverIsAsked) {
    const auto judge = clause::endpoint_buffered_recv_hint;
    EXPECT_EQ(declared(judge, query_for({{rx_total_buffered_recv, ~0ULL}}), {{rx_total_buffered_recv, 0}}),
              Choice::Fits);
    EXPECT_EQ(declared(judge, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointRxSize, FitsUpToTheLargest) {
    const auto q = query_for({{rx_size, 64}});
    EXPECT_EQ(declared(clause::endpoint_rx_size_granted, q, {{rx_size, 64}}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_rx_size_granted, q, {{rx_size, 63}}), Choice::No);
    EXPECT_EQ(declared(clause::endpoint_rx_size_granted, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointRxSize, IsReturnedAtLeastAsAsked) {
    const auto q = query_for({{rx_size, 64}});
    EXPECT_EQ(rule(clause::endpoint_rx_size_returned, q, {{rx_size, 64}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_rx_size_returned, q, {{rx_size, 63}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_rx_size_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointRxIovLimit, FitsUpToTheLargest) {
    const auto q = query_for({{rx_iov_limit, 4}});
    EXPECT_EQ(declared(clause::endpoint_rx_iov_limit_granted, q, {{rx_iov_limit, 4}}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_rx_iov_limit_granted, q, {{rx_iov_limit, 3}}), Choice::No);
    EXPECT_EQ(declared(clause::endpoint_rx_iov_limit_granted, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointRxIovLimit, IsReturnedAtLeastAsAsked) {
    const auto q = query_for({{rx_iov_limit, 4}});
    EXPECT_EQ(rule(clause::endpoint_rx_iov_limit_returned, q, {{rx_iov_limit, 8}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_rx_iov_limit_returned, q, {{rx_iov_limit, 1}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_rx_iov_limit_returned, query_for(Values{}), Values{}), kSkips);
}

}  // namespace
}  // namespace selvage::model
