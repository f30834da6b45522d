// Texts that are no calls: each is refused with the place and what would be right, whatever it is.
#include "model/test/text_gen.h"

namespace selvage::model {
namespace {

struct Wrong {
    std::string_view text;
    std::size_t at;
    std::string_view message;  ///< a part of it
};

void expect_refused(const Wrong& wrong, bool whole_call) {
    Query query;
    query.flags = 77;
    Info info;
    info.caps = 77;
    TextError error;
    EXPECT_FALSE(whole_call ? parse_call(wrong.text, query, error) : parse_hints(wrong.text, info, error))
        << wrong.text;
    EXPECT_EQ(error.at, wrong.at) << wrong.text << "\n" << error.message;
    EXPECT_NE(error.message.find(wrong.message), std::string::npos) << wrong.text << "\n" << error.message;
    EXPECT_EQ(query.flags, 77U) << "the output changed";
    EXPECT_EQ(info.caps, 77U) << "the output changed";
}

class CallTextRefuses : public testing::TestWithParam<Wrong> {};
TEST_P(CallTextRefuses, WithPlaceAndReason) { expect_refused(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(
    Calls, CallTextRefuses,
    testing::Values(
        Wrong{"versio=1.17", 0, "unknown argument 'versio'; a call is made of version="},
        Wrong{"version=1.17 caps=FI_MSG", 13, "the field 'caps' belongs into the hints: hints={caps=...}"},
        Wrong{"version=1.17 version=1.17", 13, "'version' is given twice"},
        Wrong{"version 1.17", 8, "found '1.17', but 'version' is followed by '='"},
        Wrong{"version=", 8, "the text ends here, but here stands a version"},
        Wrong{"version=17", 8, "'17' is no version; write 1.17"},
        Wrong{"node=\"a\"service=\"b\"", 8, "arguments are separated by white space"},
        Wrong{"node=\"abc", 5, "no closing '\"'"}, Wrong{"node=\"a\nb\"", 5, "no closing '\"'"},
        Wrong{"node=\"a\\q\"", 7, "unknown escape"}, Wrong{"node=\"\\x1\"", 6, "\\x needs two hexadecimal digits"},
        Wrong{"node=,", 5, "found ',', but here stands a string"},
        Wrong{"flags=FI_SORCE", 6, "unknown word 'FI_SORCE' of getinfo_flags; the nearest of getinfo_flags: FI_SOURCE"},
        Wrong{"hints={caps=FI_MSG", 18, "the hints need a closing '}'"},
        Wrong{"hints={caps=FI_MSG mode=0}", 19, "found 'mode', but fields are separated by ','"},
        Wrong{"hints=FI_MSG", 6, "found 'FI_MSG', but hints are {...}, bare{...} or NULL"},
        Wrong{"hints=", 6, "the text ends here, but hints are"},
        Wrong{"hints={,}", 7, "found ',', but here stands a field"},
        Wrong{"hints={}}", 8, "found '}', but arguments are separated by white space"},
        Wrong{"hints={} x", 9, "unknown argument 'x'"}, Wrong{"\x01", 0, "found '\\x01', but a call is made of"}));

class HintsTextRefuses : public testing::TestWithParam<Wrong> {};
TEST_P(HintsTextRefuses, WithPlaceAndReason) { expect_refused(GetParam(), false); }

INSTANTIATE_TEST_SUITE_P(
    Hints, HintsTextRefuses,
    testing::Values(
        Wrong{"cpas=FI_MSG", 0, "unknown field 'cpas'; the nearest: caps"},
        Wrong{"tx_attr.sizes=1", 0, "the nearest: tx_attr.size, rx_attr.size"},
        Wrong{"mr_mode=0", 0, "domain_attr.mr_mode"}, Wrong{"version=1.17", 0, "unknown field 'version'"},
        Wrong{"caps=FI_MGS", 5, "unknown word 'FI_MGS' of caps; the nearest of caps: FI_MSG"},
        Wrong{"caps=msg", 5, "the nearest of caps: FI_MSG"},
        Wrong{"caps=FI_MSG_PREFIX", 5, "'FI_MSG_PREFIX' is a word of mode, not of caps"},
        Wrong{"caps=FI_MSG|", 12, "here stand words of caps or a number"}, Wrong{"caps=0x", 5, "'0x' is no number"},
        Wrong{"caps=0x10000000000000000", 5, "at most 64 bits"}, Wrong{"caps=-1", 5, "'-1' is no number"},
        Wrong{"caps=FI_MSG, caps=FI_RMA", 13, "the field 'caps' is given twice"},
        Wrong{"ep_attr.type=FI_EP_RDM|FI_EP_MSG", 22, "a field of ep_type holds one value"},
        Wrong{"ep_attr.type=none", 13, "unknown word 'none' of ep_type"},
        Wrong{"tx_attr.size=many", 13, "'many' is no number; write a decimal number"},
        Wrong{"tx_attr.size=FI_SHARED_CONTEXT", 13, "'FI_SHARED_CONTEXT' is no number"},
        Wrong{"tx_attr.size=18446744073709551616", 13, "is no number"},
        Wrong{"tx_attr.size=", 13, "the text ends here, but here stands a number or max"},
        Wrong{"handle=1", 7, "'1' is no object; write #1"}, Wrong{"handle=#0", 7, "'#0' is no object"},
        Wrong{"handle=#far", 7, "'#far' is no object"}, Wrong{"tx_attr=1", 8, "a part is 'present' or 'NULL'"},
        Wrong{"tx_attr=present, tx_attr=present", 17, "the part 'tx_attr' is given twice"},
        Wrong{"tx_attr=NULL, tx_attr.size=1", 14, "'tx_attr.size' contradicts"},
        Wrong{"tx_attr.size=1, tx_attr=NULL", 16, "'tx_attr' contradicts"},
        Wrong{"src_addr=\"x\"", 9, "here stands an address"},
        Wrong{"src_addr=localhost:1", 9, "cannot read 'localhost:1'; here stands an address"},
        Wrong{"src_addr=sockaddr_in:1.2.3:1", 9, "is no IPv4 address and port"},
        Wrong{"src_addr=192.0.2.1:65536", 9, "here stands an address"},
        Wrong{"src_addr=sockaddr_in6:[::1]", 9, "is no IPv6 address and port"},
        Wrong{"src_addr=hex:012", 9, "two hexadecimal digits"}, Wrong{"src_addr=hex:0x0x", 9, "two hexadecimal digits"},
        Wrong{"src_addr=str:abc", 9, "here stands an address"},
        Wrong{"src_addr=str:", 13, "str: is followed by a string"},
        Wrong{"bare{caps=FI_MSG} x", 18, "found 'x', but nothing may follow"},
        Wrong{"caps=FI_MSG}", 11, "found '}', but fields are separated by ','"}));

TEST(CallTextErrors, CutLongTokens) {
    Info info;
    TextError error;
    EXPECT_FALSE(parse_hints("caps=" + std::string(1U << 20U, 'A'), info, error));
    EXPECT_LT(error.message.size(), 300U);
}

TEST(CallTextErrors, ValuesTakeNoBlanksAround) {
    std::uint64_t out = 5;
    for (const auto* wrong : {"", " FI_MSG", "FI_MSG ", "FI_MSG,", "FI_MSG||FI_RMA", "|FI_MSG"})
        EXPECT_FALSE(parse_value(Family::caps, wrong, out)) << wrong;
    EXPECT_EQ(out, 5U);
}

std::string mutated(std::string text) {
    static const std::string kBytes("\0\n \"\\#,{}=|.xX0F:[]%'\xff", 23);
    for (int n = *rc::gen::inRange(1, 5); n > 0; --n) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
        const auto many = *rc::gen::inRange<std::size_t>(0, 6);
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                text.insert(at, 1, *rc::gen::elementOf(kBytes));
                break;
            case 1:
                text.erase(at, many);
                break;
            case 2:
                text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size() + 1), many));
                break;
            default:
                if (at < text.size()) text[at] = *rc::gen::arbitrary<char>();
        }
    }
    return text;
}

// What is refused says why, at a place in the text; what is still read is a call that prints and reads back.
RC_GTEST_PROP(CallTextErrors, NoMutatedCallIsRefusedWithoutReason, ()) {
    const auto text = mutated(print_call(random_query()));
    Query query;
    TextError error;
    if (parse_call(text, query, error)) {
        Query back;
        RC_ASSERT(parse_call(print_call(query), back, error));
        RC_ASSERT(back == query);
    } else {
        RC_ASSERT(!error.message.empty());
        RC_ASSERT(error.at <= text.size());
    }
}

}  // namespace
}  // namespace selvage::model
