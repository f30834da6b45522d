// The predicates tostr.data.*, tostr.static.* and tostr.caller.* of spec/clauses/tostr.toml, by hand from the text.
#include <gtest/gtest.h>
#include <rdma/fi_endpoint.h>

#include "model/test/tostr_make.h"

namespace selvage::model {
namespace {

using namespace fields_test;

const TextCase kGood = said(FI_TYPE_CAPS, FI_MSG, "FI_MSG");

TEST(TostrData, IsReadWithoutACrash) {
    const auto judge = clause::tostr_data_pointer;
    EXPECT_EQ(rule(judge, kGood), kHolds);
    EXPECT_EQ(rule(judge, crashed(kGood)), kBroken);
    EXPECT_EQ(rule(judge, said(4000, 0, "")), kSkips);
    EXPECT_EQ(rule(judge, crashed(said(FI_TYPE_EP_TYPE, 999, ""))), kSkips);  // a value without a name
    auto c = crashed(kGood);
    c.wrote_past = true;
    EXPECT_EQ(rule(judge, c), kSkips);
    c = crashed(kGood);
    c.data_null = true;
    EXPECT_EQ(rule(judge, c), kSkips);
    c = crashed(kGood);
    c.length = 0;
    EXPECT_EQ(rule(judge, c), kSkips);
}

TEST(TostrData, OfZeroNamesNoFlag) {
    const auto judge = clause::tostr_data_zero;
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, 0, "")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_MSG_ORDER, 0, "FI_ORDER_NONE")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, 0, "FI_MSG")), kBroken);
    EXPECT_EQ(rule(judge, kGood), kSkips);
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_TYPE, 0, "FI_EP_MSG")), kSkips);
}

TEST(TostrData, OfAZeroedStructureNamesNoFlag) {
    const auto judge = clause::tostr_data_zero;
    const Info zero = info();
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, zero, "caps: [ ] comp_order: [ FI_ORDER_NONE ]")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, zero, "caps: [ FI_MSG ]")), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, zero, "mode: FI_CONTEXT")), kBroken);
    const Info one = info({{Field::rx_size, 1}});
    EXPECT_EQ(rule(judge, said(FI_TYPE_RX_ATTR, one, "caps: [ FI_MSG ]")), kSkips);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, one, "caps: [ FI_MSG ]")), kBroken);  // tx_attr alone is zero
}

TEST(TostrData, WithoutANameDoesNoHarm) {
    const auto judge = clause::tostr_data_unknown;
    const auto unknown = 1ULL << 62;
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, FI_MSG | unknown, "FI_MSG")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, FI_MSG | unknown, "Unknown")), kBroken);
    EXPECT_EQ(rule(judge, crashed(said(FI_TYPE_CAPS, unknown, ""))), kBroken);
    EXPECT_EQ(rule(judge, crashed(said(FI_TYPE_PROTOCOL, 0x7777, ""))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_PROTOCOL, 0x7777, "Unknown")), kHolds);
    EXPECT_EQ(rule(judge, kGood), kSkips);
    // A name that is younger than the interface may be one that the library lacks.
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, FI_HMEM | unknown, "")), kHolds);
}

TEST(TostrData, WithoutANameDoesNoHarmInAStructure) {
    const Info odd = info({{Field::ep_type, 999}});
    const Info plain = info();
    const auto judge = clause::tostr_data_unknown;
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, odd, "type: ?")), kHolds);
    EXPECT_EQ(rule(judge, crashed(said(FI_TYPE_INFO, odd, ""))), kBroken);
    EXPECT_EQ(rule(judge, crashed(said(FI_TYPE_INFO, plain, ""))), kSkips);
}

TEST(TostrData, IsPrintable) {
    const auto judge = clause::tostr_data_printable;
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, FI_MSG, "FI_MSG\n\t")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, FI_MSG, "FI_MSG\x01")), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, 0, "")), kSkips);
    Info named = info();
    named.domain.name = "a\x01";
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, named, "name: a\x01")), kSkips);  // the caller's own bytes
}

TEST(TostrStatic, ReturnsAString) {
    const auto judge = clause::tostr_static_internal;
    auto c = internal(kGood);
    EXPECT_EQ(rule(judge, c), kHolds);
    c.terminated = false;  // NULL came back
    EXPECT_EQ(rule(judge, c), kBroken);
    EXPECT_EQ(rule(judge, kGood), kSkips);
    EXPECT_EQ(rule(judge, internal(said(4000, 0, ""))), kSkips);
}

TEST(TostrCaller, GetsItsBufferBack) {
    const auto judge = clause::tostr_caller_returns_buffer;
    auto c = kGood;
    EXPECT_EQ(rule(judge, c), kHolds);
    c.returned_buffer = false;
    EXPECT_EQ(rule(judge, c), kBroken);
    c.length = 0;
    EXPECT_EQ(rule(judge, c), kSkips);
    EXPECT_EQ(rule(judge, internal(kGood)), kSkips);
}

TEST(TostrCaller, FindsTheStringInItsBuffer) {
    const auto judge = clause::tostr_caller_writes;
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 100, "FI_MSG, FI_RMA")), kHolds);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 100, "")), kBroken);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 2, "")), kSkips);  // too short for a word
    EXPECT_EQ(rule(judge, cut("", 100, "")), kSkips);
}

TEST(TostrCaller, KeepsTheBytesPastItsBuffer) {
    const auto judge = clause::tostr_caller_within_length;
    auto c = cut("FI_MSG, FI_RMA", 8, "FI_MSG,");
    EXPECT_EQ(rule(judge, c), kHolds);
    c.wrote_past = true;
    EXPECT_EQ(rule(judge, c), kBroken);
    EXPECT_EQ(rule(judge, crashed(c)), kBroken);  // the guard page was hit
    c.length = 0;
    EXPECT_EQ(rule(judge, c), kSkips);
    EXPECT_EQ(rule(judge, crashed(kGood)), kSkips);
}

TEST(TostrCaller, GetsATerminatedString) {
    const auto judge = clause::tostr_caller_terminated;
    auto c = cut("FI_MSG, FI_RMA", 8, "FI_MSG,");
    EXPECT_EQ(rule(judge, c), kHolds);
    c.terminated = false;
    EXPECT_EQ(rule(judge, c), kBroken);
    c.length = 0;
    EXPECT_EQ(rule(judge, c), kSkips);
    EXPECT_EQ(rule(judge, internal(kGood)), kSkips);
}

TEST(TostrCaller, GetsNothingAtALengthOfZero) {
    const auto judge = clause::tostr_caller_length_zero;
    auto c = cut("FI_MSG, FI_RMA", 0, "");
    c.terminated = false;
    EXPECT_EQ(rule(judge, c), kHolds);
    EXPECT_EQ(rule(judge, crashed(c)), kBroken);
    c.wrote_past = true;
    EXPECT_EQ(rule(judge, c), kBroken);
    EXPECT_EQ(rule(judge, kGood), kSkips);
}

TEST(TostrCaller, GetsTheBeginningInAShortBuffer) {
    const auto judge = clause::tostr_caller_cut_short;
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 8, "FI_MSG,")), kHolds);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 8, "FI_MSG")), kHolds);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 8, "FI_MS..")), kBroken);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 80, "FI_MSG, FI_RMA")), kSkips);
}

TEST(TostrCaller, WhoLiesAboutLengthsIsPromisedNothing) {
    Info i = info();
    i.src_addr = "0123456789abcdef";
    auto c = said(FI_TYPE_INFO, i, "fi_infox");
    c.full = "fi_info: and so on";
    c.length = 9;
    EXPECT_EQ(rule(clause::tostr_caller_cut_short, c), kSkips) << "16 bytes of which the length says nothing";
    i.src_addrlen = 16;
    EXPECT_EQ(rule(clause::tostr_caller_cut_short, c), kBroken);
    i.ep.auth_key_size = 4;
    EXPECT_EQ(rule(clause::tostr_caller_cut_short, c), kSkips) << "a key of 4 bytes at NULL";
}

TEST(TostrCaller, GetsTheTextThatFiTostrReturns) {
    const auto judge = clause::tostr_caller_same_text;
    auto c = internal(kGood);
    EXPECT_EQ(rule(judge, c), kHolds);
    c.full = "FI_MSG, FI_SEND";
    EXPECT_EQ(rule(judge, c), kBroken);
    c.datatype = FI_TYPE_FID;  // told by an address
    EXPECT_EQ(rule(judge, c), kSkips);
    EXPECT_EQ(rule(judge, kGood), kSkips);
}

TEST(TostrCaller, GetsItsOwnTextWhileCallsOverlap) {
    const auto judge = clause::tostr_caller_thread_safe;
    auto c = kGood;
    EXPECT_EQ(rule(judge, c), kSkips);
    c.concurrent = true;
    EXPECT_EQ(rule(judge, c), kHolds);
    EXPECT_EQ(rule(judge, crashed(c)), kBroken);
    c.string = "FI_RMA";
    EXPECT_EQ(rule(judge, c), kBroken);
    c.reentrant = false;
    EXPECT_EQ(rule(judge, c), kSkips);
}

}  // namespace
}  // namespace selvage::model
