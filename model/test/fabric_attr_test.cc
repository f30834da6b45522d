// The fabric attributes, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info named(const char* name) { return with(info(), Field::fabric_name, name); }
Info versioned(std::uint64_t v) { return info({{Field::fabric_prov_version, v}}); }

// An offer of a provider with a version.
Info of(std::string provider, std::uint64_t v) {
    Info i = endpoint(FI_EP_RDM, std::move(provider));
    i.fabric.prov_version = v;
    return i;
}

TEST(FabricName, FitsTheFabricOfThatName) {
    const auto p = clause::fabric_name_fits;
    EXPECT_EQ(fit(p, query_for(named("192.0.2.0/24")), entry(named("192.0.2.0/24")), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, query_for(named("192.0.2.0/25")), entry(named("192.0.2.0/24")), Origin::Inferred), Choice::No);
    EXPECT_EQ(fit(p, query_for({}), entry(named("192.0.2.0/24")), Origin::Inferred), Choice::NotRequested);
}

TEST(FabricName, EntryNamesTheFabricOfTheHints) {
    const auto p = clause::fabric_name_granted;
    EXPECT_EQ(rule(p, query_for(named("a")), named("a")), kHolds);
    EXPECT_EQ(rule(p, query_for(named("a")), named("b")), kBroken);
    EXPECT_EQ(rule(p, query_for({}), named("b")), kSkips);
}

TEST(FabricName, EveryEntryNamesItsFabric) {
    const auto p = clause::fabric_name_present;
    EXPECT_EQ(rule(p, call(), named("a")), kHolds);
    EXPECT_EQ(rule(p, call(), info()), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), info()), kSkips);
}

TEST(FabricProvVersion, FitsThatVersionOrALaterOne) {
    const auto p = clause::fabric_prov_version_fits;
    const auto requesting = [](unsigned major, unsigned minor) {
        return query_for(versioned(FI_VERSION(major, minor)));
    };
    const auto has = entry(versioned(FI_VERSION(2, 3)));
    EXPECT_EQ(fit(p, requesting(2, 3), has, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(1, 9), has, Origin::Inferred), Choice::Fits) << "by major, then minor";
    EXPECT_EQ(fit(p, requesting(2, 4), has, Origin::Inferred), Choice::No);
    EXPECT_EQ(fit(p, requesting(3, 0), has, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, query_for({}), has, Origin::Declared), Choice::NotRequested);
}

TEST(FabricProvVersion, EntryReportsThatVersionOrALaterOne) {
    const auto p = clause::fabric_prov_version_granted;
    EXPECT_EQ(rule(p, query_for(versioned(FI_VERSION(1, 9))), versioned(FI_VERSION(2, 0))), kHolds);
    EXPECT_EQ(rule(p, query_for(versioned(FI_VERSION(2, 0))), versioned(FI_VERSION(1, 9))), kBroken);
    EXPECT_EQ(rule(p, query_for({}), versioned(FI_VERSION(1, 9))), kSkips);
}

TEST(FabricProvVersion, IsTold) {
    const auto p = clause::fabric_prov_version_well_formed;
    EXPECT_EQ(rule(p, call(), versioned(FI_VERSION(1, 0))), kHolds);
    EXPECT_EQ(rule(p, call(), versioned(0)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), versioned(0)), kBroken) << "there too";
}

TEST(FabricProvVersion, OfALayeredEntryIsThatOfTheUtilityProvider) {
    const auto p = clause::fabric_prov_version_utility;
    const auto names = flagged(call(), FI_PROV_ATTR_ONLY);
    const auto told = answer({of("tcp", 5), of("ofi_rxm", 7)});
    const auto by = [&](const Answer& a) { return rule(p, MetamorphicRelation::Reordered, call(), a, names, told); };
    EXPECT_EQ(by(answer({of("tcp", 5), of("tcp;ofi_rxm", 7)})), kHolds);
    EXPECT_EQ(by(answer({of("ofi_rxm;tcp", 7)})), kHolds);
    EXPECT_EQ(by(answer({of("tcp;ofi_rxm", 5)})), kBroken) << "that of the core provider";
    EXPECT_EQ(by(answer({of("tcp", 6)})), kSkips) << "no layers";
    EXPECT_EQ(by(answer({of("udp;ofi_rxd", 6)})), kSkips) << "not told under FI_PROV_ATTR_ONLY";
    EXPECT_EQ(rule(p, MetamorphicRelation::Reordered, names, told, call(), answer({of("tcp;ofi_rxm", 5)})), kBroken)
        << "either way round";
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, call(), told, call(), answer({of("tcp;ofi_rxm", 5)})), kSkips);
}

TEST(FabricApiVersion, IsThatOfTheCall) {
    const auto p = clause::fabric_api_version_equal;
    const auto offer = [](Version v) { return info({{Field::fabric_api_version, v.packed}}); };
    EXPECT_EQ(rule(p, call(kOld), offer(kOld)), kHolds);
    EXPECT_EQ(rule(p, call(kOld), offer(kNow)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(kOld), FI_PROV_ATTR_ONLY), offer(Version{})), kSkips);
}

}  // namespace
}  // namespace selvage::model
