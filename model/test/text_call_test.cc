// The text form of a call: what is read, and that nothing is lost on the way out and in.
#include <chrono>

#include "model/spec/clause.h"
#include "model/test/text_gen.h"

namespace selvage::model {
namespace {

Query call(std::string_view text) {
    Query out;
    TextError error;
    EXPECT_TRUE(parse_call(text, out, error)) << text << "\n at " << error.at << ": " << error.message;
    return out;
}

Info hints(std::string_view text) {
    Info out;
    TextError error;
    EXPECT_TRUE(parse_hints(text, out, error)) << text << "\n at " << error.at << ": " << error.message;
    return out;
}

std::uint64_t value(Family family, std::string_view text) {
    std::uint64_t out = 0;
    EXPECT_TRUE(parse_value(family, text, out)) << text;
    return out;
}

void round_trip(const Query& query) {
    const auto text = print_call(query);
    Query back;
    TextError error;
    RC_ASSERT(parse_call(text, back, error));
    if (!(back == query)) RC_FAIL(text + "\n" + print_call(back));
}

RC_GTEST_PROP(CallText, ReadsBackEveryCallItPrints, ()) { round_trip(random_query()); }

RC_GTEST_PROP(CallText, ReadsBackHintsAlone, ()) {
    const auto info = random_info();
    Info back;
    TextError error;
    const auto text = print_hints(info);
    RC_ASSERT(parse_hints(text, back, error));
    if (!(back == info)) RC_FAIL(text + "\n" + print_hints(back));
}

RC_GTEST_PROP(CallText, ReadsBackEveryValueOfEveryFamily, ()) {
    const auto family = static_cast<Family>(*rc::gen::inRange(1, static_cast<int>(Family::wait_obj) + 1));
    const auto number = random_number(family);
    std::uint64_t back = 0;
    RC_ASSERT(parse_value(family, print_value(family, number), back));
    RC_ASSERT(back == number);
}

TEST(CallText, ReadsAWholeCall) {
    const auto q = call(R"(version=1.17 node="192.0.2.2" service="7471" flags=FI_SOURCE )"
                        R"(hints={caps=FI_MSG|FI_RMA, ep_attr.type=FI_EP_RDM})");
    EXPECT_EQ(q.version, Version(1, 17));
    EXPECT_EQ(q.node, "192.0.2.2");
    EXPECT_EQ(q.service, "7471");
    EXPECT_EQ(q.flags, value(Family::getinfo_flags, "FI_SOURCE"));
    ASSERT_TRUE(q.hints);
    EXPECT_EQ(q.hints->caps, value(Family::caps, "FI_RMA|FI_MSG"));
    EXPECT_EQ(q.hints->ep.type, value(Family::ep_type, "FI_EP_RDM"));
    EXPECT_EQ(q.hints->present, kAllParts);
}

TEST(CallText, PrintsWhatTheHeaderShows) {
    const std::string text = R"(version=1.17 node="192.0.2.2" service="7471" flags=FI_SOURCE )"
                             R"(hints={caps=FI_MSG|FI_RMA, ep_attr.type=FI_EP_RDM})";
    EXPECT_EQ(print_call(call(text)), text);
}

TEST(CallText, ReadsTheExampleOfEveryClause) {
    for (const auto& clause : clauses()) {
        SCOPED_TRACE(clause.id);
        const auto query = call(clause.example_call);
        EXPECT_EQ(call(print_call(query)), query);
    }
}

TEST(CallText, TakesTheNewestVersionWhenNoneIsGiven) { EXPECT_EQ(call("").version, kNewest); }

TEST(CallText, SkipsLineBreaksAndComments) {
    const auto q = call("# why\nversion=1.9\n  hints={ # all parts\n  caps = FI_MSG | # messages\n FI_RMA,\n}\n# end");
    EXPECT_EQ(q.version, Version(1, 9));
    EXPECT_EQ(q.hints->caps, value(Family::caps, "FI_MSG|FI_RMA"));
}

TEST(CallText, TellsNullHintsFromEmptyOnes) {
    EXPECT_FALSE(call("version=1.17").hints);
    EXPECT_FALSE(call("version=1.17 hints=NULL").hints);
    EXPECT_EQ(call("hints={}").hints->present, kAllParts);
    EXPECT_EQ(call("hints=bare{}").hints->present, 0);
    EXPECT_EQ(print_call(call("version=1.17 hints=bare{}")), "version=1.17 hints=bare{}");
    EXPECT_EQ(print_call(call("version=1.17 hints={}")), "version=1.17 hints={}");
}

TEST(CallText, BareHintsHaveThePartsThatAreNamed) {
    const auto q = call("version=1.17 hints=bare{tx_attr.size=0, domain_attr=present, ep_attr=NULL}");
    EXPECT_TRUE(q.hints->has(Part::Tx));
    EXPECT_TRUE(q.hints->has(Part::Domain));
    EXPECT_FALSE(q.hints->has(Part::Ep));
    EXPECT_FALSE(q.hints->has(Part::Fabric));
    EXPECT_EQ(print_call(q), "version=1.17 hints=bare{tx_attr=present, domain_attr=present}");
}

TEST(CallText, FullHintsCanLackAPart) {
    EXPECT_FALSE(hints("tx_attr=NULL").has(Part::Tx));
    EXPECT_TRUE(hints("tx_attr=NULL").has(Part::Rx));
    EXPECT_TRUE(hints("nic=present").has(Part::Nic));
}

TEST(CallText, HintsNeedNoBraces) {
    const auto h = hints("caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_RDM, domain_attr.mr_mode=0");
    EXPECT_EQ(h.present, kAllParts);
    EXPECT_EQ(h.caps, value(Family::caps, "FI_MSG|FI_ATOMIC"));
    EXPECT_EQ(hints(""), hints("{}"));
    EXPECT_EQ(hints("bare{caps=FI_MSG}").present, 0);
}

TEST(CallText, TellsAnEmptyStringFromNone) {
    EXPECT_EQ(hints("domain_attr.name=\"\"").domain.name, "");
    EXPECT_EQ(hints("domain_attr.name=NULL").domain.name, Text{});
    EXPECT_EQ(hints("domain_attr.name=\"NULL\"").domain.name, "NULL");
    EXPECT_EQ(call("node=\"\"").node, "");
    EXPECT_EQ(call("node=NULL").node, Text{});
}

TEST(CallText, StringsWithoutBlanksNeedNoQuotes) {
    EXPECT_EQ(hints("fabric_attr.prov_name=tcp;ofi_rxm").fabric.prov_name, "tcp;ofi_rxm");
    EXPECT_EQ(call("node=192.0.2.2 service=7471").node, "192.0.2.2");
}

TEST(CallText, KnowsTheEscapesOfC) {
    EXPECT_EQ(call(R"(node="\a\b\f\n\r\t\v\0\\\"\x7fe")").node, std::string("\a\b\f\n\r\t\v\0\\\"\x7f"
                                                                            "e",
                                                                            12));
    EXPECT_EQ(print_call({.version = Version(1, 0), .node = "a\x01\xff\n\"", .service = {}, .flags = 0, .hints = {}}),
              R"(version=1.0 node="a\x01\xff\n\"")");
}

TEST(CallText, KeepsUnknownBitsInHex) {
    EXPECT_EQ(print_value(Family::mr_mode, 3 | 1ULL << 40U), "FI_MR_BASIC|FI_MR_SCALABLE|0x10000000000");
    EXPECT_EQ(value(Family::mr_mode, "FI_MR_LOCAL|0x10000000000|2"),
              value(Family::mr_mode, "FI_MR_LOCAL") | 2 | 1ULL << 40U);
    EXPECT_EQ(print_value(Family::caps, 0), "none");
    EXPECT_EQ(value(Family::caps, "none"), 0U);
}

TEST(CallText, KeepsUnknownEnumNumbers) {
    EXPECT_EQ(print_value(Family::ep_type, 99), "99");
    EXPECT_EQ(print_value(Family::ep_type, 0), "FI_EP_UNSPEC");
    EXPECT_EQ(print_value(Family::protocol, 0x80000001), "0x80000001");
    EXPECT_EQ(print_value(Family::tclass, 0x12e), "FI_TC_DSCP|0x2e");
    EXPECT_EQ(value(Family::tclass, "FI_TC_DSCP|0x2e"), 0x12eU);
}

TEST(CallText, ReadsAliasesAndPrintsTheFirstName) {
    EXPECT_EQ(print_value(Family::caps, value(Family::caps, "FI_ATOMICS")), "FI_ATOMIC");
    EXPECT_EQ(print_value(Family::caps, value(Family::caps, "FI_XPU_TRIGGER")), "FI_XPU");
    EXPECT_EQ(print_value(Family::tclass, value(Family::tclass, "FI_TC_LABEL")), "FI_TC_BEST_EFFORT");
    EXPECT_EQ(print_value(Family::comp_order, 0x1ff), "FI_ORDER_STRICT");
    EXPECT_EQ(print_value(Family::comp_order, 0xff), "0xff");
}

TEST(CallText, ReadsFlagsThatOtherCallsDefine) {
    EXPECT_EQ(call("flags=FI_MORE").flags, value(Family::op_flags, "FI_MORE"));
}

TEST(CallText, ReadsSizesWithoutALimit) {
    EXPECT_EQ(hints("ep_attr.max_msg_size=max").ep.max_msg_size, ~0ULL);
    EXPECT_EQ(hints("ep_attr.tx_ctx_cnt=FI_SHARED_CONTEXT").ep.tx_ctx_cnt, ~0ULL);
    EXPECT_EQ(hints("domain_attr.rx_ctx_cnt=FI_SHARED_CONTEXT").domain.rx_ctx_cnt, ~0ULL);
    EXPECT_EQ(print_hints(hints("ep_attr.max_msg_size=0xffffffffffffffff, ep_attr.rx_ctx_cnt=max")),
              "ep_attr.max_msg_size=max, ep_attr.rx_ctx_cnt=FI_SHARED_CONTEXT");
}

TEST(CallText, ReadsVersionsPackedAndSpelt) {
    EXPECT_EQ(call("version=0x10011").version, Version(1, 17));
    EXPECT_EQ(call("version=65535.65535").version.packed, 0xffffffffU);
    EXPECT_EQ(hints("fabric_attr.api_version=1.9").fabric.api_version, 0x10009U);
    EXPECT_EQ(print_hints(hints("fabric_attr.prov_version=117.0, fabric_attr.api_version=7")),
              "fabric_attr.prov_version=117.0, fabric_attr.api_version=7");
    Version version;
    EXPECT_TRUE(parse_version("1.17", version));
    for (const auto* wrong :
         {"", "1", "1.", ".1", "1.17.0", "1.x", "1.65536", "v1.17", "1 .17", "0x1.2", "0x100000000"})
        EXPECT_FALSE(parse_version(wrong, version)) << wrong;
}

TEST(CallText, ReadsObjects) {
    EXPECT_EQ(hints("handle=#1").handle, 1U);
    EXPECT_EQ(hints("domain_attr.domain=#foreign").domain.domain, kForeign);
    EXPECT_EQ(hints("fabric_attr.fabric=NULL").fabric.fabric, 0U);
    EXPECT_EQ(print_hints(hints("handle=#12, fabric_attr.fabric=#foreign")), "handle=#12, fabric_attr.fabric=#foreign");
}

TEST(CallText, AddressesBringTheirLength) {
    EXPECT_EQ(hints("src_addr=192.0.2.1:0").src_addrlen, 16U);
    EXPECT_EQ(hints("src_addrlen=0, src_addr=192.0.2.1:0").src_addrlen, 0U);
    EXPECT_EQ(hints("src_addr=192.0.2.1:0, src_addrlen=3").src_addrlen, 3U);
    EXPECT_EQ(hints("dest_addr=[::1]:7471").dest_addrlen, 28U);
    EXPECT_EQ(hints("src_addrlen=16").src_addr, Text{});
    EXPECT_EQ(hints("src_addr=hex:").src_addr, "");
    EXPECT_EQ(hints("src_addr=NULL").src_addr, Text{});
    EXPECT_EQ(hints("domain_attr.auth_key=hex:0102ff").domain.auth_key_size, 3U);
    EXPECT_EQ(print_hints(hints("src_addr=192.0.2.1:0, src_addrlen=3")),
              "src_addrlen=3, src_addr=sockaddr_in:192.0.2.1:0");
    EXPECT_EQ(print_hints(hints("src_addrlen=16")), "src_addrlen=16");
}

TEST(CallText, PrintsBytesAsTheAddressTheyAre) {
    for (const auto* text : {"src_addr=sockaddr_in:192.0.2.1:7471", "src_addr=sockaddr_in6:[fe80::1%2]:65535",
                             "dest_addr=str:\"fi_shm://a b\"", "dest_addr=hex:0a0b0c",
                             "dest_addr=hex:", "addr_format=FI_ADDR_STR, src_addr=str:\"x\"",
                             "addr_format=FI_ADDR_PSMX2, src_addr=hex:7800"})
        EXPECT_EQ(print_hints(hints(text)), text);
    EXPECT_EQ(hints("dest_addr=str:\"ab\"").dest_addr, std::string("ab\0", 3));
    EXPECT_EQ(hints("dest_addr=hex:0A0b").dest_addr, "\x0a\x0b");
}

TEST(CallText, PrintsFieldsOfEveryForm) {
    const auto h =
        hints("caps=FI_MSG, src_addr=192.0.2.1:1, domain_attr.name=\"eth0\", ep_attr.mem_tag_format=255, rx_attr=NULL");
    EXPECT_EQ(print_field(h, Field::caps), "FI_MSG");
    EXPECT_EQ(print_field(h, Field::mode), "none");
    EXPECT_EQ(print_field(h, Field::src_addr), "sockaddr_in:192.0.2.1:1");
    EXPECT_EQ(print_field(h, Field::domain_name), "\"eth0\"");
    EXPECT_EQ(print_field(h, Field::fabric_name), "NULL");
    EXPECT_EQ(print_field(h, Field::ep_mem_tag_format), "0xff");
    EXPECT_EQ(print_field(h, Field::part_tx), "present");
    EXPECT_EQ(print_field(h, Field::part_rx), "NULL");
}

TEST(CallText, PrintsErrorsByName) {
    EXPECT_EQ(print_error(-61), "FI_ENODATA");
    EXPECT_EQ(print_error(61), "FI_ENODATA");
    EXPECT_EQ(print_error(0), "FI_SUCCESS");
    EXPECT_EQ(print_error(-11), "FI_EAGAIN");
    EXPECT_EQ(print_error(-123456), "-123456");
    EXPECT_EQ(print_error(std::numeric_limits<int>::min()), "-2147483648");
}

TEST(CallText, PrintsLongStringsInLinearTime) {
    Query q;
    q.node = std::string(4U << 20U, '\xff');
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(call(print_call(q)), q);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace selvage::model
