// Provider names, layered names and FI_PROVIDER, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info of(const char* provider) { return with(info(), Field::fabric_prov_name, provider); }
Query requesting(const char* provider) { return query_for(of(provider)); }

TEST(FabricProvName, IsTold) {
    const auto p = clause::fabric_prov_name_present;
    EXPECT_EQ(rule(p, call(), of("tcp")), kHolds);
    EXPECT_EQ(rule(p, call(), info()), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), info()), kBroken) << "there too";
}

TEST(FabricProvName, FitsTheProviderOfThatName) {
    const auto p = clause::fabric_prov_name_fits;
    EXPECT_EQ(fit(p, requesting("tcp"), entry(of("tcp")), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(""), entry(of("tcp")), Origin::Inferred), Choice::May) << "an empty name";
    EXPECT_EQ(fit(p, requesting("tcp"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::NotRequested);
    EXPECT_EQ(fit(p, query_for({}), entry(of("tcp")), Origin::Inferred), Choice::NotRequested);
}

TEST(FabricProvName, ExcludesOtherProviders) {
    const auto p = clause::fabric_prov_name_excludes;
    EXPECT_EQ(fit(p, requesting("verbs"), entry(of("tcp")), Origin::Inferred), Choice::No);
    EXPECT_EQ(fit(p, requesting("tc"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::No)
        << "part of a name is no name";
    EXPECT_EQ(fit(p, requesting("tcp"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::NotRequested);
    EXPECT_EQ(fit(p, query_for({}), entry(of("tcp")), Origin::Inferred), Choice::NotRequested);
}

TEST(FabricProvName, EntryIsOfTheProviderOfTheHints) {
    const auto p = clause::fabric_prov_name_granted;
    EXPECT_EQ(rule(p, requesting("tcp"), of("tcp")), kHolds);
    EXPECT_EQ(rule(p, requesting("tcp"), of("ofi_rxm;tcp")), kHolds);
    EXPECT_EQ(rule(p, requesting("tcp"), of("udp")), kBroken);
    EXPECT_EQ(rule(p, requesting("tcp"), of("tcpx;ofi_rxm")), kBroken);
    EXPECT_EQ(rule(p, query_for({}), of("udp")), kSkips);
    EXPECT_EQ(rule(p, flagged(requesting("tcp"), FI_PROV_ATTR_ONLY), of("udp")), kSkips);
    EXPECT_EQ(rule(p, requesting("^tcp"), of("udp")), kSkips) << "an ill-formed name has its own clause";
}

Outcome ill_formed(const char* provider, int ret) {
    const World world;
    const Query q = requesting(provider);
    const Answer answer{ret, ret != 0, {}};
    return clause::fabric_prov_name_ill_formed(AnswerCase{q, world, answer, nullptr}).outcome();
}

TEST(FabricProvName, IllFormedBringsNothing) {
    for (const auto* name : {"^tcp", ";tcp", "tcp;", ";", "tcp;;ofi_rxm"}) {
        EXPECT_EQ(ill_formed(name, -FI_ENODATA), kHolds) << name;
        EXPECT_EQ(ill_formed(name, 0), kBroken) << name;
    }
    for (const auto* name : {"tcp", "tcp;ofi_rxm", ""}) EXPECT_EQ(ill_formed(name, 0), kSkips) << name;
}

TEST(FabricProvName, UnregisteredProviderHasNoAnswer) {
    const auto p = clause::fabric_prov_name_unregistered;
    const auto none = answer({}, -FI_ENODATA);
    World without_tcp;
    without_tcp.fi_provider = "^tcp";
    EXPECT_EQ(rule(p, requesting("no such"), none), kHolds);
    EXPECT_EQ(rule(p, requesting("no such"), answer({of("tcp")})), kBroken);
    EXPECT_EQ(rule(p, requesting("no such"), answer({}, -FI_EINVAL)), kBroken);
    EXPECT_EQ(rule(p, requesting("tcp"), answer({of("tcp")}), without_tcp), kBroken);
    EXPECT_EQ(rule(p, requesting("tcp"), none, without_tcp), kHolds);
    EXPECT_EQ(rule(p, requesting("udp"), answer({of("udp")}), without_tcp), kSkips);
    EXPECT_EQ(rule(p, requesting("tcp"), answer({of("tcp")})), kSkips);
    EXPECT_EQ(rule(p, query_for(of("no such"), Version(9, 9)), answer({}, -FI_ENOSYS)), kHolds)
        << "it fails for another reason";
}

TEST(FabricProvName, OneLayerAloneMayBringBoth) {
    const auto p = clause::fabric_prov_name_one_layer;
    EXPECT_EQ(fit(p, requesting("tcp"), entry(of("tcp;ofi_rxm")), Origin::Declared), Choice::May);
    EXPECT_EQ(fit(p, requesting("tcp"), entry(of("tcp")), Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting("udp"), entry(of("tcp;ofi_rxm")), Origin::Declared), Choice::NotRequested);
}

TEST(FabricProvName, BothLayersFitOnlyTheirLayering) {
    const auto p = clause::fabric_prov_name_layered;
    EXPECT_EQ(fit(p, requesting("tcp;ofi_rxm"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting("tcp;ofi_rxm"), entry(of("tcp")), Origin::Inferred), Choice::No);
    EXPECT_EQ(fit(p, requesting("tcp;ofi_rxm"), entry(of("udp;ofi_rxd")), Origin::Inferred), Choice::No);
    EXPECT_EQ(fit(p, requesting("ofi_rxm;tcp"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::NotRequested)
        << "order: next";
    EXPECT_EQ(fit(p, requesting("tcp"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::NotRequested);
}

TEST(FabricProvName, LayersFitInEitherOrder) {
    const auto p = clause::fabric_prov_name_layered_order;
    EXPECT_EQ(fit(p, requesting("ofi_rxm;tcp"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting("ofi_rxm;udp"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting("tcp;ofi_rxm"), entry(of("tcp;ofi_rxm")), Origin::Inferred), Choice::NotRequested);
}

TEST(FabricProvName, EntryConsistsOfBothLayers) {
    const auto p = clause::fabric_prov_name_layered_granted;
    EXPECT_EQ(rule(p, requesting("tcp;ofi_rxm"), of("tcp;ofi_rxm")), kHolds);
    EXPECT_EQ(rule(p, requesting("tcp;ofi_rxm"), of("ofi_rxm;tcp")), kHolds);
    EXPECT_EQ(rule(p, requesting("tcp;ofi_rxm"), of("tcp")), kBroken);
    EXPECT_EQ(rule(p, requesting("tcp;ofi_rxm"), of("udp;ofi_rxm")), kBroken);
    EXPECT_EQ(rule(p, requesting("tcp"), of("tcp")), kSkips);
    EXPECT_EQ(rule(p, requesting(";tcp"), of("tcp")), kSkips) << "joins no two names";
}

TEST(FabricProvName, BothOrdersBringTheSame) {
    const auto p = clause::fabric_prov_name_layered_same_answers;
    const auto some = answer({endpoint(FI_EP_RDM, "tcp;ofi_rxm")});
    const auto none = answer({}, -FI_ENODATA);
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, requesting("tcp;ofi_rxm"), some, requesting("ofi_rxm;tcp"), some),
              kHolds);
    Query list = requesting("tcp;ofi_rxm");
    Query other_list = requesting("ofi_rxm;tcp");
    list.flags = other_list.flags = FI_PROV_ATTR_ONLY;
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, list, some, other_list, none), kSkips)
        << "no endpoints are listed";
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, requesting("tcp;ofi_rxm"), some, requesting("ofi_rxm;tcp"), none),
              kBroken);
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, requesting("tcp;ofi_rxm"), none, requesting("ofi_rxm;tcp"), some),
              kBroken);
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, requesting("tcp;ofi_rxm"), some, requesting("ofi_rxm;udp"), none),
              kSkips);
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, requesting("tcp"), some, requesting("udp"), none), kSkips);
}

// A process with FI_PROVIDER set: what it sees, and what is there without the variable.
class FabricEnvironment : public ::testing::Test {
protected:
    Outcome seen(Ruling (*p)(const SideEffects&), const char* variable, std::vector<std::string> providers,
                 bool names = false) {
        World world;
        world.fi_provider = variable;
        SideEffects c;
        c.act = names ? SideEffects::Act::ProvAttrOnly : SideEffects::Act::EnvProvider;
        c.world = &world;
        c.answer = &without_;
        c.providers = std::move(providers);
        return p(c).outcome();
    }
    Answer without_ = answer({of("shm"), of("tcp"), of("tcp;ofi_rxm"), of("udp"), of("udp;ofi_rxd")});
};

TEST_F(FabricEnvironment, ListKeepsOthersAway) {
    const auto p = clause::fabric_environment_include;
    EXPECT_EQ(seen(p, "tcp,shm", {"tcp", "shm", "tcp"}), kHolds);
    EXPECT_EQ(seen(p, "tcp", {"tcp", "tcp;ofi_rxm"}), kHolds) << "a layer over it may follow";
    EXPECT_EQ(seen(p, "tcp", {"tcp", "udp"}), kBroken);
    EXPECT_EQ(seen(p, "tcp", {"tcp", "udp;ofi_rxd"}), kBroken);
    EXPECT_EQ(seen(p, "^tcp", {"udp"}), kSkips);
    EXPECT_EQ(seen(p, "", {"udp"}), kSkips);
}

TEST_F(FabricEnvironment, ListedProvidersAreThere) {
    const auto p = clause::fabric_environment_include_allows;
    EXPECT_EQ(seen(p, "tcp,shm", {"tcp", "shm"}), kHolds);
    EXPECT_EQ(seen(p, "tcp,shm", {"tcp"}), kBroken);
    EXPECT_EQ(seen(p, "tcp,ofi_rxm", {"tcp", "ofi_rxm;tcp"}), kHolds);
    EXPECT_EQ(seen(p, "tcp,ofi_rxm", {"tcp"}), kBroken) << "both layers are listed";
    EXPECT_EQ(seen(p, "verbs", {}), kSkips) << "it is not there without the variable";
    EXPECT_EQ(seen(p, "^tcp", {}), kSkips);
}

TEST_F(FabricEnvironment, CaretKeepsTheListedAway) {
    const auto p = clause::fabric_environment_exclude;
    EXPECT_EQ(seen(p, "^tcp", {"udp", "shm"}), kHolds);
    EXPECT_EQ(seen(p, "^tcp,udp", {"udp"}), kBroken);
    EXPECT_EQ(seen(p, "^tcp", {"tcp;ofi_rxm"}), kBroken) << "nor as a layer";
    EXPECT_EQ(seen(p, "tcp", {"tcp"}), kSkips);
}

TEST_F(FabricEnvironment, CaretLeavesTheOthers) {
    const auto p = clause::fabric_environment_exclude_others;
    EXPECT_EQ(seen(p, "^tcp", {"shm", "udp", "udp;ofi_rxd"}), kHolds) << "layers over tcp are left out";
    EXPECT_EQ(seen(p, "^tcp", {"shm", "udp"}), kBroken);
    EXPECT_EQ(seen(p, "tcp", {"tcp"}), kSkips);
}

TEST_F(FabricEnvironment, NamesInAnotherCaseMayCountOrNot) {
    EXPECT_EQ(seen(clause::fabric_environment_include, "tcP", {"tcp"}), kHolds);
    EXPECT_EQ(seen(clause::fabric_environment_include, "tcP", {"udp"}), kBroken);
    EXPECT_EQ(seen(clause::fabric_environment_include_allows, "tcP", {}), kSkips);
    EXPECT_EQ(seen(clause::fabric_environment_exclude, "^tcP", {"tcp"}), kHolds);
    EXPECT_EQ(seen(clause::fabric_environment_exclude_others, "^tcP", {"shm", "udp", "udp;ofi_rxd"}), kHolds);
}

TEST_F(FabricEnvironment, WhatIsKeptAwayIsNotEvenNamed) {
    const auto p = clause::fabric_environment_never_appears;
    EXPECT_EQ(seen(p, "^tcp", {"udp", "ofi_rxm"}, true), kHolds);
    EXPECT_EQ(seen(p, "^tcp", {"udp", "tcp"}, true), kBroken);
    EXPECT_EQ(seen(p, "tcp", {"tcp", "ofi_rxm"}, true), kHolds) << "a utility provider may follow";
    EXPECT_EQ(seen(p, "tcp", {"tcp", "udp"}, true), kBroken);
    EXPECT_EQ(seen(p, "^tcp", {"tcp"}), kSkips) << "an answer with endpoints: the other clauses";
    EXPECT_EQ(seen(p, "tcp;ofi_rxm", {"udp"}, true), kSkips) << "a layered name is none that registers";
    EXPECT_EQ(seen(clause::fabric_environment_include, "tcp;ofi_rxm", {"tcp;ofi_rxm"}), kSkips);
}

}  // namespace
}  // namespace selvage::model
