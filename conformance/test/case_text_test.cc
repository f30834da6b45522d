// Case files: what is printed is read back, and what cannot be read is told with line, word and remedy.
#include "conformance/case/case_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "conformance/case/names.h"
#include "conformance/case/quoted.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::Info;
using model::Query;

template <typename T>
T member(std::initializer_list<T> all) {
    return *rc::gen::elementOf(std::vector<T>(all));
}

std::string any_string() { return *rc::gen::arbitrary<std::string>(); }

model::Text any_text() {
    if (*rc::gen::inRange(0, 2) == 0) return std::nullopt;
    auto text = any_string();
    std::erase(text, '\0');
    return text;
}

Info any_info() {
    Info info;
    info.present = *rc::gen::inRange(0, 2) == 0 ? model::kAllParts : std::uint8_t{1U << unsigned(model::Part::Tx)};
    info.caps = *rc::gen::arbitrary<std::uint64_t>();
    if (info.has(model::Part::Domain)) info.domain.mr_mode = *rc::gen::inRange<std::uint64_t>(0, 4096);
    if (info.has(model::Part::Fabric)) info.fabric.prov_name = any_text();
    if (info.has(model::Part::Tx)) info.tx.size = *rc::gen::arbitrary<std::uint64_t>();
    return info;
}

Query any_query() {
    Query q;
    q.version = model::Version(1, *rc::gen::inRange(0U, 20U));
    q.node = any_text();
    q.flags = *rc::gen::inRange<std::uint64_t>(0, 1024);
    if (*rc::gen::inRange(0, 2) != 0) q.hints = any_info();
    return q;
}

Action any_action() {
    Action a;
    const auto rows = verbs();
    a.verb = rows[*rc::gen::inRange<std::size_t>(0, rows.size())].verb;
    a.object = *rc::gen::inRange(-1, 5);
    a.argument = *rc::gen::inRange(-1, 5);
    a.flags = member<std::uint64_t>({0, 1, 0x8000});
    if (*rc::gen::inRange(0, 3) == 0) a.name = any_string();
    return a;
}

Case any_case() {
    Case c;
    c.kind =
        member({Case::Kind::Call, Case::Kind::Pair, Case::Kind::SideEffects, Case::Kind::Lifecycle, Case::Kind::Text});
    c.provider = member<std::string>({"", "tcp", "tcp;ofi_rxm", "a \"quoted\" \\ one"});
    c.first = any_query();
    if (*rc::gen::inRange(0, 2) != 0) c.second = any_query();
    c.metamorphic = member({model::MetamorphicRelation::Repeated, model::MetamorphicRelation::FedBack,
                            model::MetamorphicRelation::NullVersusEmpty});
    c.fed_back = *rc::gen::inRange(-1, 4);
    c.act = member({model::SideEffects::Act::Load, model::SideEffects::Act::GetInfo, model::SideEffects::Act::Other});
    c.fail_allocation = *rc::gen::inRange<std::uint64_t>(0, 9);
    c.env_provider = any_string();
    const auto count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) c.actions.push_back(any_action());
    c.string.datatype = *rc::gen::inRange<std::uint64_t>(0, 40);
    c.string.value = *rc::gen::arbitrary<std::uint64_t>();
    c.string.length = *rc::gen::inRange<std::uint64_t>(0, 5000);
    if (*rc::gen::inRange(0, 2) != 0) c.string.info = any_info();
    c.string.reentrant = *rc::gen::arbitrary<bool>();
    c.string.data_null = *rc::gen::arbitrary<bool>();
    c.string.concurrent = *rc::gen::arbitrary<bool>();
    return c;
}

std::string error_of(std::string_view text) {
    CaseFile out;
    CaseError error;
    EXPECT_FALSE(parse_case(text, out, error)) << text;
    return error.str();
}

RC_GTEST_PROP(CaseText, ReadsBackWhatItPrints, ()) {
    const Case c = any_case();
    const auto text = print_case(c, model::clauses().front().clause, "a comment\nof two lines");
    CaseFile out;
    CaseError error;
    if (!parse_case(text, out, error)) RC_FAIL(error.str() + "\n" + text);
    RC_LOG() << text;
    RC_ASSERT(out.shown == c);
    RC_ASSERT(out.clause == model::clauses().front().clause);
}

RC_GTEST_PROP(CaseText, QuotedStringsReadBack, (const std::string& text)) {
    std::string out;
    RC_ASSERT(unquote(quote(text), out));
    RC_ASSERT(out == text);
}

TEST(CaseText, LooksAsDocumented) {
    Case c;
    c.kind = Case::Kind::Lifecycle;
    c.provider = "tcp";
    c.first.version = model::Version(1, 17);
    c.actions = {{.verb = Action::Verb::OpenFabric, .name = {}},
                 {.verb = Action::Verb::OpenDomain, .object = 1, .name = {}},
                 {.verb = Action::Verb::OpenEq, .object = 1, .name = {}},
                 {.verb = Action::Verb::BindEq, .object = 2, .argument = 3, .flags = 0x10, .name = {}},
                 {.verb = Action::Verb::Close, .object = 2, .name = {}}};
    EXPECT_EQ(print_case(c, {}, "why"),
              "selvage-case 1\n"
              "# why\n"
              "kind = lifecycle\n"
              "provider = \"tcp\"\n"
              "call = version=1.17\n"
              "fabric1 = open fabric offer=0\n"
              "domain2 = open domain fabric1\n"
              "eq3 = open eq fabric1\n"
              "bind domain2 eq3 flags=0x10\n"
              "close domain2\n");
}

TEST(CaseText, ReadsABareCall) {
    CaseFile out;
    CaseError error;
    ASSERT_TRUE(parse_case("version=1.17 hints={caps=FI_MSG}", out, error)) << error.str();
    EXPECT_EQ(out.shown.kind, Case::Kind::Call);
    EXPECT_EQ(out.shown.first.version, model::Version(1, 17));
    EXPECT_FALSE(out.clause.has_value());
}

TEST(CaseText, TellsWhereAndWhatWouldBeRight) {
    EXPECT_EQ(error_of("selvage-case 2\nkind = call\n"),
              "line 1: 'selvage-case 2': the first line of a case file is \"selvage-case 1\"");
    EXPECT_EQ(error_of("selvage-case 1\nkind = cal\n"),
              "line 2: 'cal': expected one of call, pair, side-effects, lifecycle, text, traffic, group");
    EXPECT_EQ(error_of("selvage-case 1\nkind = lifecycle\ndomain1 = open fabric offer=0\n"),
              "line 3: 'domain1': objects are numbered in the order in which they are opened: write fabric1 = open "
              "fabric ...");
    EXPECT_EQ(error_of("selvage-case 1\nkind = lifecycle\nfabric1 = open fabric offer=0\nclose domain1\n"),
              "line 4: 'domain1': object 1 is called fabric1 here");
    EXPECT_NE(error_of("selvage-case 1\nkind = call\ncolour = red\n").find("line 3: 'colour': no such key"),
              std::string::npos);
    EXPECT_NE(error_of("selvage-case 1\nprovider = \"tcp\"\n").find("does not say its kind"), std::string::npos);
    EXPECT_NE(error_of("selvage-case 1\nclause = no.such\n").find("no clause has this id"), std::string::npos);
    EXPECT_NE(error_of("").find("line 1"), std::string::npos);
}

}  // namespace
}  // namespace selvage::conformance
