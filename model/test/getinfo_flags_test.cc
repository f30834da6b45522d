// The promises on the flags of the call, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

Info named(const char* provider) {
    Info o;
    o.add(Part::Fabric);
    o.fabric.prov_name = provider;
    o.fabric.prov_version = 1;
    return o;
}
const Query kList = query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY);

TEST(GetinfoFlags, RefusesUnknownFlags) {
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, query_node(nullptr, nullptr, FI_MORE)), Demand::Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, query_node("x", nullptr, FI_MORE | FI_SOURCE)),
              Demand::Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, query_node("x", nullptr, FI_NUMERICHOST | FI_SOURCE)),
              Demand::Kind::Nothing);
    constexpr std::uint64_t kOfProvider = std::uint64_t{1} << 63;
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, query_node("x", nullptr, kOfProvider)), Demand::Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, query_node("x", nullptr, kOfProvider | FI_MORE)),
              Demand::Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, kList), Demand::Kind::Nothing);
    EXPECT_EQ(kind(getinfo_flags_unknown_refused, nothing()), Demand::Kind::NotRequested);
}

TEST(GetinfoFlags, NumericHostResolvesNumbersAndNoNames) {
    EXPECT_EQ(fit(getinfo_flags_numeric_node_resolved, query_node("192.0.2.2", "1", FI_NUMERICHOST), rdm()),
              Choice::Fits);
    EXPECT_EQ(fit(getinfo_flags_numeric_node_resolved, query_node("198.51.100.1", "1", FI_NUMERICHOST), rdm()),
              Choice::May);
    EXPECT_EQ(fit(getinfo_flags_numeric_node_resolved, query_node("192.0.2.2"), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_flags_numeric_name_excluded, query_node("localhost", "1", FI_NUMERICHOST), rdm()),
              Choice::No);
    EXPECT_EQ(fit(getinfo_flags_numeric_name_excluded, query_node("localhost", "1"), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_flags_numeric_name_excluded, query_node("192.0.2.2", "1", FI_NUMERICHOST), rdm()),
              Choice::NotRequested);
    Info own_names = rdm();
    own_names.addr_format = FI_ADDR_STR;
    EXPECT_EQ(fit(getinfo_flags_numeric_name_excluded, query_node("localhost", "1", FI_NUMERICHOST), own_names),
              Choice::May);
}

TEST(GetinfoFlags, NumericHostChangesNothingForNumbers) {
    const Query plain = query_node("192.0.2.2");
    const Query numeric = query_node("192.0.2.2", nullptr, FI_NUMERICHOST);
    EXPECT_EQ(pair(getinfo_flags_numeric_same_answers, MetamorphicRelation::Reordered, plain, granted(rdm()), numeric,
                   granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_flags_numeric_same_answers, MetamorphicRelation::Reordered, plain, granted(rdm()), numeric,
                   refused()),
              Broken);
    const Query name = query_node("localhost");
    const Query number = query_node("localhost", nullptr, FI_NUMERICHOST);
    EXPECT_EQ(pair(getinfo_flags_numeric_same_answers, MetamorphicRelation::Reordered, name, granted(rdm()), number,
                   refused()),
              NotApplicable);
    EXPECT_EQ(pair(getinfo_flags_numeric_same_answers, MetamorphicRelation::Repeated, plain, granted(rdm()), plain,
                   refused()),
              NotApplicable);
}

TEST(GetinfoFlags, ListNamesEachProviderOnce) {
    EXPECT_EQ(answer(getinfo_flags_attr_only_once_each, kList, granted(named("tcp"), named("udp"))), Holds);
    EXPECT_EQ(answer(getinfo_flags_attr_only_once_each, kList, granted(named("tcp"), named("tcp"))), Broken);
    EXPECT_EQ(answer(getinfo_flags_attr_only_once_each, nothing(), granted(named("tcp"), named("tcp"))), NotApplicable);
}

TEST(GetinfoFlags, AListForOneProviderIsNotChargedForAnother) {
    Query q = kList;
    q.hints = named("tcp");
    const auto judged = [&](auto... offers) {
        return answer(getinfo_flags_attr_only_once_each, q, granted(named(offers)...));
    };
    EXPECT_EQ(judged("tcp", "tcp;ofi_rxm", "tcp;ofi_rxm"), Holds);
    EXPECT_EQ(judged("tcp", "tcp;ofi_rxm", "tcp"), Broken);
    EXPECT_EQ(judged("tcp;ofi_rxm", "tcp;ofi_rxm"), Broken) << "it is all that the name brings";
}

TEST(GetinfoFlags, ListNamesEveryProvider) {
    const auto judged = [](const Answer& plain, const Answer& list) {
        return pair(getinfo_flags_attr_only_every_provider, MetamorphicRelation::Reordered, nothing(), plain, kList,
                    list);
    };
    EXPECT_EQ(judged(granted(named("tcp;ofi_rxm")), granted(named("ofi_rxm"), named("tcp"))), Holds);
    EXPECT_EQ(judged(granted(named("tcp;ofi_rxm")), granted(named("tcp"))), Broken);
    EXPECT_EQ(pair(getinfo_flags_attr_only_every_provider, MetamorphicRelation::Reordered, kList, granted(named("udp")),
                   nothing(), granted(named("tcp"))),
              Broken);
    EXPECT_EQ(pair(getinfo_flags_attr_only_every_provider, MetamorphicRelation::Reordered, query_for(),
                   granted(named("tcp")), kList, granted(named("udp"))),
              NotApplicable);
}

TEST(GetinfoFlags, ListIsTheProvidersChoiceWhereMoreIsAsked) {
    EXPECT_EQ(fit(getinfo_flags_attr_only_hints, kList, rdm()), Choice::Fits);
    Query q = query_for(FI_ATOMIC);
    EXPECT_EQ(fit(getinfo_flags_attr_only_hints, q, rdm()), Choice::NotRequested);
    q.flags = FI_PROV_ATTR_ONLY;
    EXPECT_EQ(fit(getinfo_flags_attr_only_hints, q, rdm()), Choice::May);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, q, rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_flags_attr_only_hints, kList, entry_of(rdm()), Origin::Inferred, "tcp;ofi_rxm"), Choice::May);
}

TEST(GetinfoFlags, ListHoldsDefaultsBesideTheNames) {
    EXPECT_EQ(offer(getinfo_flags_attr_only_default_members, kList, named("tcp")), Holds);
    Info o = named("tcp");
    o.ep.type = FI_EP_MSG;
    EXPECT_EQ(offer_evidence(getinfo_flags_attr_only_default_members, kList, o).field, Field::ep_type);
    o = named("tcp");
    o.domain.name = "eth0";
    EXPECT_EQ(offer_evidence(getinfo_flags_attr_only_default_members, kList, o).field, Field::domain_name);
    EXPECT_EQ(offer(getinfo_flags_attr_only_default_members, nothing(), rdm()), NotApplicable);
}

TEST(GetinfoFlags, SourceNodeIsTheLocalSide) {
    const Query q = query_node("192.0.2.1", nullptr, FI_SOURCE);
    EXPECT_EQ(offer(getinfo_flags_source_is_local, q, rdm()), Holds);
    EXPECT_EQ(offer(getinfo_flags_source_is_local, query_node("192.0.2.2", nullptr, FI_SOURCE), rdm()), Broken);
    Info none = rdm();
    set_src(none, {});
    EXPECT_EQ(offer(getinfo_flags_source_is_local, q, none), Broken);
    EXPECT_EQ(offer(getinfo_flags_source_is_local, query_node("192.0.2.2"), rdm()), NotApplicable);
    EXPECT_EQ(offer(getinfo_flags_source_is_local, query_node("host", nullptr, FI_SOURCE), rdm()), NotApplicable);
    EXPECT_EQ(fit(getinfo_flags_source_fits, q, rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_flags_source_fits, query_node("198.51.100.1", "1", FI_SOURCE), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_flags_source_fits, query_node("198.51.100.1", "1", FI_SOURCE), rdm(), Origin::Inferred),
              Choice::May);
    EXPECT_EQ(fit(getinfo_flags_source_fits, query_node("198.51.100.1"), rdm()), Choice::NotRequested);
}

TEST(GetinfoFlags, SourceNeedsNodeOrService) {
    EXPECT_EQ(kind(getinfo_flags_source_needs_node_or_service, query_node(nullptr, nullptr, FI_SOURCE)),
              Demand::Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_flags_source_needs_node_or_service, query_node(nullptr, "1", FI_SOURCE)),
              Demand::Kind::Nothing);
    EXPECT_EQ(kind(getinfo_flags_source_needs_node_or_service, query_node("192.0.2.1", nullptr, FI_SOURCE)),
              Demand::Kind::Nothing);
    EXPECT_EQ(kind(getinfo_flags_source_needs_node_or_service, nothing()), Demand::Kind::NotRequested);
}

TEST(GetinfoFlags, SourceNodeIsNotTheDestination) {
    Info o = rdm();
    EXPECT_EQ(offer(getinfo_flags_source_not_destination, query_node("192.0.2.1", nullptr, FI_SOURCE), o), Holds);
    set_dest(o, ip4("192.0.2.1"));
    EXPECT_EQ(offer(getinfo_flags_source_not_destination, query_node("192.0.2.1", nullptr, FI_SOURCE), o), Broken);
    EXPECT_EQ(offer(getinfo_flags_source_not_destination, query_node("192.0.2.1"), o), NotApplicable);
    Query hinted = query_for();
    hinted.flags = FI_SOURCE;
    hinted.service = "1";
    set_dest(*hinted.hints, ip4("192.0.2.1"));
    EXPECT_EQ(offer(getinfo_flags_source_not_destination, hinted, o), NotApplicable);
}

}  // namespace
}  // namespace selvage::model
