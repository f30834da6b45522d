// The byte form of cases: any bytes are an valid query, and what was written is read again.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <rdma/fabric.h>

#include "conformance/case/case_text.h"
#include "conformance/generate/binary/case_bytes.h"
#include "conformance/generate/lifecycles.h"
#include "conformance/generate/normalize.h"
#include "conformance/generate/rng.h"
#include "model/test/text_gen.h"

namespace selvage::conformance {
namespace {

using namespace model;

Query honest_query() {
    Query q = random_query();
    normalize(q);
    return q;
}

Input random_input() {
    Input input;
    Case& c = input.drawn;
    c.kind = *rc::gen::element(Case::Kind::Call, Case::Kind::Pair, Case::Kind::SideEffects, Case::Kind::Lifecycle,
                               Case::Kind::Text);
    c.provider = *rc::gen::element<std::string>("tcp", "shm", "tcp;ofi_rxm", "");
    if (c.kind == Case::Kind::Text) {
        c.string.datatype = *rc::gen::inRange<std::uint64_t>(0, 40);
        c.string.value = *rc::gen::arbitrary<std::uint64_t>();
        c.string.length = *rc::gen::inRange<std::uint64_t>(0, 65537);
        c.string.reentrant = *rc::gen::arbitrary<bool>();
        if (*rc::gen::arbitrary<bool>()) c.string.info = random_info();
        normalize(c.string);
        return input;
    }
    c.first = honest_query();
    if (c.kind == Case::Kind::Pair) {
        c.metamorphic = *rc::gen::element(MetamorphicRelation::Relaxed, MetamorphicRelation::Reworded,
                                          MetamorphicRelation::FedBack);
        input.turn = *rc::gen::arbitrary<std::uint64_t>();
    }
    if (c.kind == Case::Kind::SideEffects) {
        c.act = *rc::gen::element(SideEffects::Act::GetInfo, SideEffects::Act::DupInfo, SideEffects::Act::EnvProvider);
        c.fail_allocation = *rc::gen::inRange<std::uint64_t>(0, 300);
        c.env_provider = *rc::gen::element<std::string>("", "^tcp", "tcp,shm");
    }
    const std::vector<Stage> stages = {{.offer = 1, .ep_type = FI_EP_RDM, .provider = {}}};
    if (c.kind == Case::Kind::Lifecycle) c.actions = random_script(stages, *rc::gen::arbitrary<std::uint64_t>(), 1);
    return input;
}

RC_GTEST_PROP(CaseBytes, WhatIsWrittenIsReadAgain, ()) {
    const Input input = random_input();
    const auto bytes = write_input(input);
    RC_ASSERT(is_case_bytes(bytes));
    RC_ASSERT(read_input(bytes) == input);
}

RC_GTEST_PROP(CaseBytes, AnyBytesAreSomeCaseThatHasATextForm, ()) {
    const auto bytes = *rc::gen::container<std::string>(
        rc::gen::map(rc::gen::inRange(0, 256), [](int c) { return static_cast<char>(c); }));
    const Input input = read_input(bytes);
    RC_ASSERT(read_input(write_input(input)) == input);
    const Case c = to_case(input);
    CaseFile file;
    CaseError error;
    RC_ASSERT(parse_case(print_case(c), file, error));
    RC_ASSERT(file.shown == c);
}

RC_GTEST_PROP(CaseBytes, SecondCallOfAPairFollowsFromTheFirst, ()) {
    Input input = random_input();
    input.drawn.kind = Case::Kind::Pair;
    input.drawn.metamorphic = MetamorphicRelation::Repeated;
    const Case c = to_case(input);
    RC_ASSERT(c.first == c.second);
}

TEST(CaseBytes, TextIsNotTakenForThem) {
    EXPECT_FALSE(is_case_bytes(""));
    EXPECT_FALSE(is_case_bytes("selvage-case 1\nkind = call\n"));
    EXPECT_FALSE(is_case_bytes("version=1.17"));
    EXPECT_TRUE(is_case_bytes(write_input({})));
}

TEST(CaseBytes, LengthsAreNoLongerThanWhatTheyMeasure) {
    Query q;
    q.hints.emplace();
    q.hints->src_addr = std::string(4, 'a');
    q.hints->src_addrlen = 4000;
    q.hints->dest_addrlen = 16;
    normalize(q);
    EXPECT_EQ(q.hints->src_addrlen, 4U);
    EXPECT_EQ(q.hints->dest_addrlen, 16U) << "there is no address that it could lie about";
}

TEST(CaseBytes, NumbersFitTheirMembersAndTextsEndAtTheirNul) {
    Query q;
    q.node = std::string("host\0rest", 9);
    q.version = Version(7, 7);
    q.hints.emplace();
    q.hints->add(Part::Ep);
    q.hints->ep.type = 0x1'0000'0003;
    q.hints->handle = 5;
    normalize(q);
    EXPECT_EQ(q.node, "host");
    EXPECT_EQ(q.hints->ep.type, 3U);
    EXPECT_EQ(q.hints->handle, kForeign);
    EXPECT_EQ(normalized_version(q.version), q.version) << "one of the few that stand for versions that never were";
    EXPECT_NE(normalized_version(Version(7, 7)), Version(7, 7));
}

TEST(CaseBytes, ChoicesOfAnExchangeAreReadAgain) {
    Input input;
    input.drawn.kind = Case::Kind::Traffic;
    input.drawn.provider = "tcp";
    input.turn = 77;
    input.stage = 1;
    input.setup = 200;
    input.choices = std::string("\x80\x01\0z", 4);
    EXPECT_EQ(read_input(write_input(input)), input);
    EXPECT_EQ(to_case(input).kind, Case::Kind::Traffic);
}

TEST(Rng, BeginsWithTheChoicesThatItIsGiven) {
    using namespace std::string_view_literals;
    Rng chosen(5, "\x07\x85\x01"sv);
    EXPECT_EQ(chosen.next(), 7U);
    EXPECT_EQ(chosen.below(100), 0x85U % 100);
    Rng plain(5);
    EXPECT_EQ(chosen.next(), plain.next()) << "then it goes on by its seed";
}

TEST(CaseBytes, NamesThatReplaceAnEntrysOwnAreNobodys) {
    using enum Action::Verb;
    Input input;
    input.drawn.kind = Case::Kind::Lifecycle;
    for (const auto verb : {OpenFabric, OpenDomain, OpenDomain2, OpenOps})
        input.drawn.actions.push_back({.verb = verb, .object = 0, .argument = 0, .flags = 2, .name = "tcp"});
    input.drawn.actions.push_back({.verb = OpenFabric, .object = 0, .argument = 0, .flags = 2, .name = ""});
    const Case c = to_case(input);
    EXPECT_EQ(c.actions[0].name, "no-such-tcp");
    EXPECT_EQ(c.actions[1].name, "no-such-tcp");
    EXPECT_EQ(c.actions[2].name, "no-such-tcp");
    EXPECT_EQ(c.actions[3].name, "tcp") << "an extension is asked for by any name";
    EXPECT_EQ(c.actions[4].name, "") << "the entry's own";
}

TEST(CaseBytes, StructuresAreConvertedFromStructuresOnly) {
    StringProbe p;
    p.datatype = FI_TYPE_INFO;
    p.data_null = true;
    normalize(p);
    EXPECT_TRUE(p.info.has_value());
    EXPECT_FALSE(p.data_null);
    p.datatype = FI_TYPE_EP_TYPE;
    p.value = ~std::uint64_t{0};
    normalize(p);
    EXPECT_FALSE(p.info.has_value());
    EXPECT_EQ(p.value, 0xFFFFFFFFU);
}

}  // namespace
}  // namespace selvage::conformance
