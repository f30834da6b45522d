// The predicates of spec/clauses/endpoint_ep_attr.toml, by hand from the text.
#include <gtest/gtest.h>
#include <rdma/fabric.h>

#include "model/test/endpoint_make.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

using namespace fields_test;
using enum Field;

TEST(EndpointType, FitsOnlyTheSameType) {
    const auto q = query_for({{ep_type, FI_EP_RDM}});
    EXPECT_EQ(inferred(clause::endpoint_type_granted, q, {{ep_type, FI_EP_RDM}}), Choice::Fits);
    EXPECT_EQ(inferred(clause::endpoint_type_granted, q, {{ep_type, FI_EP_MSG}}), Choice::No);
    EXPECT_EQ(inferred(clause::endpoint_type_granted, query_for(Values{}), {{ep_type, FI_EP_MSG}}),
              Choice::NotRequested);
}

TEST(EndpointType, IsReturnedAsAsked) {
    const auto q = query_for({{ep_type, FI_EP_RDM}});
    EXPECT_EQ(rule(clause::endpoint_type_returned, q, {{ep_type, FI_EP_RDM}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_type_returned, q, {{ep_type, FI_EP_DGRAM}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_type_returned, query_for(Values{}), {{ep_type, FI_EP_DGRAM}}), kSkips);
    EXPECT_EQ(
        rule(clause::endpoint_type_returned, flagged(query_for({{ep_type, FI_EP_RDM}}), FI_PROV_ATTR_ONLY), Values{}),
        kSkips);
}

TEST(EndpointType, IsNamedInTheAnswer) {
    EXPECT_EQ(rule(clause::endpoint_type_named, query_for(Values{}), {{ep_type, FI_EP_MSG}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_type_named, query_for(Values{}), {{ep_type, FI_EP_UNSPEC}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_type_named, flagged(query_for(Values{}), FI_PROV_ATTR_ONLY), Values{}), kSkips);
}

TEST(EndpointProtocol, FitsTheSameProtocolOrOneThatIsDeclaredToBeGranted) {
    const auto q = query_for({{ep_protocol, FI_PROTO_UDP}});
    EXPECT_EQ(declared(clause::endpoint_protocol_granted, q, {{ep_protocol, FI_PROTO_UDP}}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_protocol_granted, q, {{ep_protocol, FI_PROTO_RXD}}), Choice::No);
    EXPECT_EQ(declared(clause::endpoint_protocol_granted, q, {{ep_protocol, FI_PROTO_RXD}},
                       {{ep_protocol, choice_bit(Family::protocol, FI_PROTO_UDP)}}),
              Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_protocol_granted, query_for(Values{}), {{ep_protocol, FI_PROTO_RXD}}),
              Choice::NotRequested);
}

TEST(EndpointProtocol, IsReturnedAsAsked) {
    const auto q = query_for({{ep_protocol, FI_PROTO_UDP}});
    EXPECT_EQ(rule(clause::endpoint_protocol_returned, q, {{ep_protocol, FI_PROTO_UDP}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_protocol_returned, q, {{ep_protocol, FI_PROTO_RXD}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_protocol_returned, call(), {{ep_protocol, FI_PROTO_RXD}}), kSkips);
}

TEST(EndpointProtocol, IsNamedOrTheProvidersOwn) {
    EXPECT_EQ(rule(clause::endpoint_protocol_known, query_for(Values{}), {{ep_protocol, FI_PROTO_SHM}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_protocol_known, query_for(Values{}), {{ep_protocol, 0x80000001}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_protocol_known, query_for(Values{}), {{ep_protocol, 0x4000}}), kBroken);
    EXPECT_EQ(
        rule(clause::endpoint_protocol_known, flagged(query_for(Values{}), FI_PROV_ATTR_ONLY), {{ep_protocol, 0x4000}}),
        kSkips);
}

// A library that is newer than the spec may name more.
TEST(EndpointProtocol, IsUnknownOnlyToALibraryOfTheSpec) {
    World newer;
    newer.library = Version(kNewest.major_part(), kNewest.minor_part() + 1);
    const auto q = query_for(Values{});
    const auto o = info({{ep_protocol, 0x4000}});
    EXPECT_EQ(clause::endpoint_protocol_known({q, newer, o, 0, nullptr}).outcome(), kSkips);
}

TEST(EndpointProtocolVersion, FitsTheSameOrAHigherOne) {
    const auto q = query_for({{ep_protocol_version, 2}});
    EXPECT_EQ(declared(clause::endpoint_protocol_version_granted, q, {{ep_protocol_version, 3}}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_protocol_version_granted, q, {{ep_protocol_version, 1}}), Choice::No);
    EXPECT_EQ(inferred(clause::endpoint_protocol_version_granted, q, {{ep_protocol_version, 1}}), Choice::May);
    EXPECT_EQ(declared(clause::endpoint_protocol_version_granted, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointProtocolVersion, IsReturnedAsAskedOrHigher) {
    const auto q = query_for({{ep_protocol_version, 2}});
    EXPECT_EQ(rule(clause::endpoint_protocol_version_returned, q, {{ep_protocol_version, 2}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_protocol_version_returned, q, {{ep_protocol_version, 1}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_protocol_version_returned, query_for(Values{}), {{ep_protocol_version, 1}}),
              kSkips);
}

TEST(EndpointMaxMsgSize, FitsUpToTheOfferedSize) {
    const auto q = query_for({{ep_max_msg_size, 100}});
    EXPECT_EQ(declared(clause::endpoint_max_msg_size_granted, q, {{ep_max_msg_size, 100}}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_max_msg_size_granted, q, {{ep_max_msg_size, 99}}), Choice::No);
    EXPECT_EQ(declared(clause::endpoint_max_msg_size_granted, query_for(Values{}), {{ep_max_msg_size, 99}}),
              Choice::NotRequested);
}

TEST(EndpointMaxMsgSize, IsReturnedAtLeastAsAsked) {
    const auto q = query_for({{ep_max_msg_size, 100}});
    EXPECT_EQ(rule(clause::endpoint_max_msg_size_returned, q, {{ep_max_msg_size, 101}}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_max_msg_size_returned, q, {{ep_max_msg_size, 99}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_max_msg_size_returned, query_for(Values{}), {{ep_max_msg_size, 1}}), kSkips);
}

TEST(EndpointPrefixSize, IsZeroWithoutTheMode) {
    EXPECT_EQ(rule(clause::endpoint_prefix_size_zero_without_mode, query_for(Values{}), Values{}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_prefix_size_zero_without_mode, query_for(Values{}), {{ep_msg_prefix_size, 16}}),
              kBroken);
    EXPECT_EQ(rule(clause::endpoint_prefix_size_zero_without_mode, query_for(Values{}),
                   {{ep_msg_prefix_size, 16}, {mode, FI_MSG_PREFIX}}),
              kSkips);
}

TEST(EndpointPrefixSize, IsAMultipleOfEight) {
    EXPECT_EQ(rule(clause::endpoint_prefix_size_multiple_of_8, query_for(Values{}), {{ep_msg_prefix_size, 24}}),
              kHolds);
    EXPECT_EQ(rule(clause::endpoint_prefix_size_multiple_of_8, query_for(Values{}), {{ep_msg_prefix_size, 20}}),
              kBroken);
    EXPECT_EQ(rule(clause::endpoint_prefix_size_multiple_of_8, query_for(Values{}), {{ep_msg_prefix_size, 0}}), kSkips);
}

TEST(EndpointPrefixSize, LeavesAnotherSizeToTheProvider) {
    const auto q = query_for({{ep_msg_prefix_size, 16}});
    EXPECT_EQ(declared(clause::endpoint_prefix_size_hint, q, {{ep_msg_prefix_size, 16}}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_prefix_size_hint, q, {{ep_msg_prefix_size, 24}}), Choice::May);
    EXPECT_EQ(declared(clause::endpoint_prefix_size_hint, q, {{ep_msg_prefix_size, 8}}), Choice::May);
    EXPECT_EQ(declared(clause::endpoint_prefix_size_hint, query_for(Values{}), {{ep_msg_prefix_size, 8}}),
              Choice::NotRequested);
}

TEST(EndpointOrderSize, FitsUpToTheOfferedSizeInEachField) {
    for (const Field f : {ep_max_order_raw_size, ep_max_order_war_size, ep_max_order_waw_size}) {
        const auto q = query_for({{f, 64}});
        EXPECT_EQ(declared(clause::endpoint_order_size_granted, q, {{f, 64}}), Choice::Fits);
        EXPECT_EQ(declared(clause::endpoint_order_size_granted, q, {{f, 63}}), Choice::No);
        EXPECT_EQ(inferred(clause::endpoint_order_size_granted, q, {{f, 63}}), Choice::May);
    }
    EXPECT_EQ(declared(clause::endpoint_order_size_granted, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointOrderSize, TakesMinusOneAsLargerThanAnySize) {
    const auto q = query_for({{ep_max_order_raw_size, ~0ULL}});
    EXPECT_EQ(declared(clause::endpoint_order_size_granted, q, {{ep_max_order_raw_size, 1ULL << 40}}), Choice::No);
    EXPECT_EQ(declared(clause::endpoint_order_size_granted, q, {{ep_max_order_raw_size, ~0ULL}}), Choice::Fits);
}

TEST(EndpointOrderSize, IsRefusedForOneFieldThatDoesNotFit) {
    const auto q = query_for({{ep_max_order_raw_size, 1}, {ep_max_order_waw_size, 9}});
    EXPECT_EQ(declared(clause::endpoint_order_size_granted, q, {{ep_max_order_raw_size, 5}}), Choice::No);
}

TEST(EndpointOrderSize, IsNotSureWithoutRmaInTheCall) {
    const auto q = query_for({{caps, FI_MSG}, {ep_max_order_raw_size, 1}});
    EXPECT_EQ(inferred(clause::endpoint_order_size_granted, q, {{ep_max_order_raw_size, 5}}), Choice::May);
}

TEST(EndpointOrderSize, IsReturnedAtLeastAsAskedInEachField) {
    for (const Field f : {ep_max_order_raw_size, ep_max_order_war_size, ep_max_order_waw_size}) {
        const auto q = query_for({{f, 64}});
        EXPECT_EQ(rule(clause::endpoint_order_size_returned, q, {{caps, FI_RMA}, {f, ~0ULL}}), kHolds);
        EXPECT_EQ(rule(clause::endpoint_order_size_returned, q, {{caps, FI_ATOMIC}, {f, 0}}), kBroken);
        EXPECT_EQ(rule(clause::endpoint_order_size_returned, q, {{caps, FI_MSG}, {f, 0}}), kSkips)
            << "nothing to keep in order";
    }
    EXPECT_EQ(rule(clause::endpoint_order_size_returned, query_for(Values{}), Values{}), kSkips);
}

TEST(EndpointTagFormat, FitsFieldsThatFindTheirPlace) {
    const auto fits = [](std::uint64_t expected, std::uint64_t offered) {
        return declared(clause::endpoint_tag_format_granted, query_for({{ep_mem_tag_format, expected}}),
                        {{ep_mem_tag_format, offered}});
    };
    EXPECT_EQ(fits(0x30ff, 0x30ff), Choice::Fits);
    EXPECT_EQ(fits(0x30ff, 0xaaaaaaaaaaaaaaaa), Choice::Fits);  // neighbours serve together
    EXPECT_EQ(fits(0x5555555555555555, 0xaaaaaaaaaaaaaaaa), Choice::Fits);
    EXPECT_EQ(fits(0xaaaaaaaaaaaaaaaa, 0x5555555555555555), Choice::No);  // 64 fields in 63
    EXPECT_EQ(fits(0x30ff, 0xffff), Choice::No);                          // three fields in one
    EXPECT_EQ(fits(0xffff, 0xff), Choice::No);                            // too small
    EXPECT_EQ(fits(0xff0f, 0xf0ff), Choice::No);                          // the last field finds no place
    EXPECT_EQ(fits(0, 0xff), Choice::NotRequested);
}

TEST(EndpointTagFormat, IsOpenWhereAnInferredProfileShowsLess) {
    EXPECT_EQ(inferred(clause::endpoint_tag_format_granted, query_for({{ep_mem_tag_format, 0xffff}}),
                       {{ep_mem_tag_format, 0xff}}),
              Choice::May);
    EXPECT_EQ(inferred(clause::endpoint_tag_format_granted, query_for({{caps, FI_MSG}, {ep_mem_tag_format, 0xff}}),
                       {{ep_mem_tag_format, 0xff}}),
              Choice::May);
}

TEST(EndpointTagFormat, IsReturnedWithTheFieldsThatWereAsked) {
    const auto q = query_for({{caps, FI_TAGGED}, {ep_mem_tag_format, 0x30ff}});
    const auto returned = [&](std::uint64_t format) {
        return rule(clause::endpoint_tag_format_returned, q, {{caps, FI_TAGGED}, {ep_mem_tag_format, format}});
    };
    EXPECT_EQ(returned(0x30ff), kHolds);
    EXPECT_EQ(returned(0xaaaaaaaaaaaaaaaa), kHolds);
    EXPECT_EQ(returned(0xff), kBroken);
    EXPECT_EQ(returned(0xffff), kBroken);  // a larger number, but one field
    EXPECT_EQ(rule(clause::endpoint_tag_format_returned, query_for(Values{}), {{caps, FI_TAGGED}}), kSkips);
}

TEST(EndpointTagFormat, HasABitWhereTagsAre) {
    const auto judge = clause::endpoint_tag_format_tagged_has_bits;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_TAGGED}, {ep_mem_tag_format, 1}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_TAGGED}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}}), kSkips);
}

TEST(EndpointTxCount, IsOneWithoutAHint) {
    const auto judge = clause::endpoint_tx_count_default;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}, {ep_tx_ctx_cnt, 1}}), kHolds);
    EXPECT_EQ(rule(judge, call(), {{caps, FI_RMA | FI_READ}, {ep_tx_ctx_cnt, 4}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG | FI_RECV}, {ep_tx_ctx_cnt, 0}}), kSkips);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}, {ep_tx_ctx_cnt, FI_SHARED_CONTEXT}}), kBroken);
    EXPECT_EQ(rule(judge, query_for({{ep_tx_ctx_cnt, 4}}), {{caps, FI_MSG}, {ep_tx_ctx_cnt, 4}}), kSkips);
}

TEST(EndpointRxCount, IsOneWithoutAHint) {
    const auto judge = clause::endpoint_rx_count_default;
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}, {ep_rx_ctx_cnt, 1}}), kHolds);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG}, {ep_rx_ctx_cnt, 0}}), kBroken);
    EXPECT_EQ(rule(judge, query_for(Values{}), {{caps, FI_MSG | FI_SEND}, {ep_rx_ctx_cnt, 0}}), kSkips);
}

struct CountCase {
    Field count, most, shared;
    Fit (*granted)(const MatchCase&);
    Ruling (*returned)(const OfferCase&);
    Fit (*shares)(const MatchCase&);
};
const CountCase kCounts[] = {
    {ep_tx_ctx_cnt, domain_max_ep_tx_ctx, domain_max_ep_stx_ctx, clause::endpoint_tx_count_granted,
     clause::endpoint_tx_count_returned, clause::endpoint_tx_count_shared},
    {ep_rx_ctx_cnt, domain_max_ep_rx_ctx, domain_max_ep_srx_ctx, clause::endpoint_rx_count_granted,
     clause::endpoint_rx_count_returned, clause::endpoint_rx_count_shared},
};

TEST(EndpointCounts, FitUpToWhatAnEndpointOfTheDomainCanHave) {
    for (const auto& k : kCounts) {
        const auto q = query_for({{k.count, 4}});
        EXPECT_EQ(declared(k.granted, q, {{k.count, 1}, {k.most, 4}}), Choice::Fits);
        EXPECT_EQ(declared(k.granted, q, {{k.count, 1}, {k.most, 3}}), Choice::No);
        EXPECT_EQ(declared(k.granted, q, {{k.count, 1}, {k.most, 3}}, {{k.count, 8}}), Choice::Fits);
        EXPECT_EQ(inferred(k.granted, q, {{k.count, 1}, {k.most, 3}}), Choice::May);
        EXPECT_EQ(declared(k.granted, query_for({{k.count, FI_SHARED_CONTEXT}}), {}), Choice::NotRequested);
        EXPECT_EQ(declared(k.granted, query_for(Values{}), {}), Choice::NotRequested);
    }
}

TEST(EndpointCounts, AreReturnedAtLeastAsAsked) {
    for (const auto& k : kCounts) {
        const auto q = query_for({{k.count, 4}});
        EXPECT_EQ(rule(k.returned, q, {{k.count, 4}}), kHolds);
        EXPECT_EQ(rule(k.returned, q, {{k.count, 1}}), kBroken);
        EXPECT_EQ(rule(k.returned, query_for(Values{}), {{k.count, 1}}), kSkips);
    }
}

TEST(EndpointCounts, AreLimitedByWhatIsDeclaredOfThemFirst) {
    for (const auto& k : kCounts) {
        const auto fits = [&](std::uint64_t expected, Values most) {
            return declared(k.granted, query_for({{k.count, expected}}), {{k.most, 4}}, most);
        };
        EXPECT_EQ(fits(4, {}), Choice::Fits);
        EXPECT_EQ(fits(9, {}), Choice::No);
        EXPECT_EQ(fits(9, {{k.most, 16}}), Choice::Fits);
        EXPECT_EQ(fits(9, {{k.most, 16}, {k.count, 8}}), Choice::No);
    }
}

TEST(EndpointCounts, SayShareWhereThatWasAskedAndOnlyThere) {
    for (const auto& k : kCounts) {
        const auto q = query_for({{k.count, FI_SHARED_CONTEXT}});
        EXPECT_EQ(rule(k.returned, q, {{k.count, FI_SHARED_CONTEXT}}), kHolds);
        EXPECT_EQ(rule(k.returned, q, {{k.count, 1}}), kBroken);
        EXPECT_EQ(rule(k.returned, query_for({{k.count, 2}}), {{k.count, FI_SHARED_CONTEXT}}), kBroken);
        EXPECT_EQ(rule(k.returned, query_for(Values{}), {{k.count, FI_SHARED_CONTEXT}}),
                  kSkips);  // the default's clause
    }
}

TEST(EndpointCounts, AreSharedOnlyWhereTheDomainCan) {
    for (const auto& k : kCounts) {
        const auto q = query_for({{k.count, FI_SHARED_CONTEXT}});
        EXPECT_EQ(declared(k.shares, q, {{k.shared, 16}}), Choice::Fits);
        EXPECT_EQ(declared(k.shares, q, {{k.shared, 0}}), Choice::No);
        EXPECT_EQ(declared(k.shares, q, {{k.shared, 0}}, {{k.shared, 16}}), Choice::May);
        EXPECT_EQ(inferred(k.shares, q, {{k.shared, 0}}), Choice::May);
        EXPECT_EQ(declared(k.shares, query_for({{k.count, 2}}), {{k.shared, 0}}), Choice::NotRequested);
    }
}

TEST(EndpointAuthKey, AsksForNothingBefore1_5) {
    const auto q = query_for({{ep_auth_key_size, 8}}, Version(1, 4));
    EXPECT_EQ(declared(clause::endpoint_auth_key_before_1_5, q, {}), Choice::Fits);
    EXPECT_EQ(declared(clause::endpoint_auth_key_before_1_5, query_for(Values{}, Version(1, 4)), {}),
              Choice::NotRequested);
}

TEST(EndpointAuthKey, DoesNotFitAnOfferWithoutKeys) {
    const auto q = query_for({{ep_auth_key_size, 8}});
    EXPECT_EQ(declared(clause::endpoint_auth_key_granted, q, {}), Choice::No);
    EXPECT_EQ(declared(clause::endpoint_auth_key_granted, q, {{ep_auth_key_size, 8}}), Choice::May);
    EXPECT_EQ(declared(clause::endpoint_auth_key_granted, q, {}, {{ep_auth_key_size, 64}}), Choice::May);
    EXPECT_EQ(declared(clause::endpoint_auth_key_granted, q, {}, {{ep_auth_key_size, 4}}), Choice::No);
    EXPECT_EQ(inferred(clause::endpoint_auth_key_granted, q, {}), Choice::May);
    EXPECT_EQ(declared(clause::endpoint_auth_key_granted, query_for(Values{}), {}), Choice::NotRequested);
}

TEST(EndpointAuthKey, IsReturnedAsTheSameBytes) {
    auto q = query_for({{ep_auth_key_size, 3}});
    q.hints->ep.auth_key = "abc";
    auto same = info({{ep_auth_key_size, 3}});
    same.ep.auth_key = "abc";
    auto other = same;
    other.ep.auth_key = "abd";
    EXPECT_EQ(rule(clause::endpoint_auth_key_returned, q, same), kHolds);
    EXPECT_EQ(rule(clause::endpoint_auth_key_returned, q, other), kBroken);
    EXPECT_EQ(rule(clause::endpoint_auth_key_returned, q, info()), kBroken);
    EXPECT_EQ(rule(clause::endpoint_auth_key_returned, query_for(Values{}), same), kSkips);
    q.hints->ep.auth_key_size = 900;  // a length that is not that of the bytes
    EXPECT_EQ(rule(clause::endpoint_auth_key_returned, q, same), kSkips);
}

TEST(EndpointAuthKey, HasASizeOnlyWithBytes) {
    auto with_key = info({{ep_auth_key_size, 3}});
    with_key.ep.auth_key = "abc";
    EXPECT_EQ(rule(clause::endpoint_auth_key_size_with_key, query_for(Values{}), with_key), kHolds);
    EXPECT_EQ(rule(clause::endpoint_auth_key_size_with_key, query_for(Values{}), Values{}), kHolds);
    EXPECT_EQ(rule(clause::endpoint_auth_key_size_with_key, query_for(Values{}), {{ep_auth_key_size, 8}}), kBroken);
    EXPECT_EQ(rule(clause::endpoint_auth_key_size_with_key, flagged(query_for(Values{}), FI_PROV_ATTR_ONLY),
                   {{ep_auth_key_size, 8}}),
              kSkips);
}

}  // namespace
}  // namespace selvage::model
