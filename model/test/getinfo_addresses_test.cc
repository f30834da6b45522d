// The promises on src_addr, dest_addr and handle, case by case.
#include <arpa/inet.h>

#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

Query from(Text src) {
    Query q = query_for(FI_MSG);
    q.hints->addr_format = FI_SOCKADDR_IN;
    set_src(*q.hints, std::move(src));
    return q;
}
Query to(Text dest) {
    Query q = query_for(FI_MSG);
    q.hints->addr_format = FI_SOCKADDR_IN;
    set_dest(*q.hints, std::move(dest));
    return q;
}
Info with_dest(Text dest) {
    Info o = rdm();
    set_dest(o, std::move(dest));
    return o;
}

TEST(GetinfoAddresses, RefusesSourceAddressOfNoLength) {
    Query q = from(ip4("192.0.2.1"));
    EXPECT_EQ(kind(getinfo_addresses_src_hint_needs_length, q), Demand::Kind::Nothing);
    q.hints->src_addrlen = 0;
    const auto d = demand(getinfo_addresses_src_hint_needs_length, q);
    EXPECT_EQ(d.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(d.errnos, (std::vector<int>{FI_EINVAL, FI_ENODATA}));
    q.flags = FI_SOURCE;
    EXPECT_EQ(kind(getinfo_addresses_src_hint_needs_length, q), Demand::Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_addresses_src_hint_needs_length, query_for()), Demand::Kind::NotRequested);
}

TEST(GetinfoAddresses, RefusesDestinationOfNoLengthWhereItCounts) {
    Query q = to(ip4("192.0.2.2"));
    EXPECT_EQ(kind(getinfo_addresses_dest_hint_needs_length, q), Demand::Kind::Nothing);
    q.hints->dest_addrlen = 0;
    EXPECT_EQ(kind(getinfo_addresses_dest_hint_needs_length, q), Demand::Kind::MustRefuse);
    q.service = "7471";
    EXPECT_EQ(kind(getinfo_addresses_dest_hint_needs_length, q), Demand::Kind::NotRequested);
    q.flags = FI_SOURCE;
    EXPECT_EQ(kind(getinfo_addresses_dest_hint_needs_length, q), Demand::Kind::MustRefuse);
}

TEST(GetinfoAddresses, IgnoresSourceAddressUnderFiSource) {
    Query with = from(ip4("198.51.100.1"));
    with.service = "1";
    with.flags = FI_SOURCE;
    Query without = with;
    set_src(*without.hints, {});
    const auto judged = [&](const Answer& a, const Answer& b) {
        return pair(getinfo_addresses_src_ignored_with_source, MetamorphicRelation::Relaxed, with, a, without, b);
    };
    EXPECT_EQ(judged(granted(rdm()), granted(rdm())), Holds);
    EXPECT_EQ(judged(refused(), granted(rdm())), Broken);
    EXPECT_EQ(judged(granted(rdm()), granted(msg())), Broken);
    EXPECT_EQ(judged(refused(FI_ENOMEM), granted(rdm())), NotApplicable);
    without.hints->caps = 0;
    EXPECT_EQ(judged(refused(), granted(rdm())), NotApplicable) << "more than the address differs";
    Query counts = from(ip4("198.51.100.1"));
    EXPECT_EQ(pair(getinfo_addresses_src_ignored_with_source, MetamorphicRelation::Relaxed, counts, refused(),
                   query_for(FI_MSG), granted(rdm())),
              NotApplicable);
}

TEST(GetinfoAddresses, IgnoresLengthsWithoutAddresses) {
    Query src = query_for();
    src.hints->src_addrlen = 16;
    EXPECT_EQ(pair(getinfo_addresses_src_length_alone, MetamorphicRelation::Relaxed, src, granted(rdm()), query_for(),
                   granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_addresses_src_length_alone, MetamorphicRelation::Relaxed, src, refused(), query_for(),
                   granted(rdm())),
              Broken);
    EXPECT_EQ(pair(getinfo_addresses_src_length_alone, MetamorphicRelation::Relaxed, from(ip4("192.0.2.9")), refused(),
                   query_for(FI_MSG), granted(rdm())),
              NotApplicable);
    Query dest = query_for();
    dest.hints->dest_addrlen = 16;
    EXPECT_EQ(pair(getinfo_addresses_dest_length_alone, MetamorphicRelation::Relaxed, dest, granted(rdm()), query_for(),
                   granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_addresses_dest_length_alone, MetamorphicRelation::Relaxed, dest, refused(), query_for(),
                   granted(rdm())),
              Broken);
    EXPECT_EQ(pair(getinfo_addresses_dest_length_alone, MetamorphicRelation::Relaxed, src, refused(), query_for(),
                   granted(rdm())),
              NotApplicable);
}

TEST(GetinfoAddresses, IgnoresDestinationBesideNode) {
    Query with = to(ip4("198.51.100.1"));
    with.node = "192.0.2.2";
    Query without = with;
    set_dest(*without.hints, {});
    EXPECT_EQ(pair(getinfo_addresses_dest_ignored_with_node, MetamorphicRelation::Relaxed, with, granted(rdm()),
                   without, granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_addresses_dest_ignored_with_node, MetamorphicRelation::Relaxed, with, refused(), without,
                   granted(rdm())),
              Broken);
    with.flags = without.flags = FI_SOURCE;
    EXPECT_EQ(pair(getinfo_addresses_dest_ignored_with_node, MetamorphicRelation::Relaxed, with, refused(), without,
                   granted(rdm())),
              NotApplicable);
}

TEST(GetinfoAddresses, SourceHintSelectsLocalAddresses) {
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("192.0.2.77", 9)), rdm()), Choice::May) << "seen with 1";
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("192.0.2.1", 9)), rdm()), Choice::Fits);
    Info unseen = rdm();
    unseen.src_addr.reset();
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("192.0.2.77", 9)), unseen), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("198.51.100.1")), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("0.0.0.0")), rdm()), Choice::May);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("192.0.2.1")), rdm(), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("192.0.2.77")), rdm(), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, query_for(), rdm()), Choice::NotRequested);
    Info opaque = rdm();
    opaque.addr_format = FI_ADDR_STR;
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(ip4("198.51.100.1")), opaque), Choice::May);
}

TEST(GetinfoAddresses, DestinationHintNeverExcludesForCertain) {
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(ip4("192.0.2.2")), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(ip4("198.51.100.1")), rdm()), Choice::May);
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(ip4("192.0.2.1")), rdm(), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(ip4("192.0.2.2")), rdm(), Origin::Inferred), Choice::May);
    Info remote_only = rdm();
    remote_only.caps &= ~std::uint64_t{FI_LOCAL_COMM};
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(ip4("192.0.2.1")), remote_only, Origin::Inferred), Choice::May);
    Query ignored = to(ip4("192.0.2.2"));
    ignored.node = "192.0.2.2";
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, ignored, rdm()), Choice::NotRequested);
}

TEST(GetinfoAddresses, LinkLocalHostOnAnotherLinkIsAnotherPlace) {
    const auto link_local = [](std::uint32_t scope) {
        sockaddr_in6 s{};
        s.sin6_family = AF_INET6;
        inet_pton(AF_INET6, "fe80::1", &s.sin6_addr);
        s.sin6_scope_id = scope;
        return Text(std::string(reinterpret_cast<const char*>(&s), sizeof s));
    };
    Info o = rdm();
    o.addr_format = FI_SOCKADDR_IN6;
    set_src(o, link_local(2));
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(link_local(2)), o, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(link_local(12292)), o, Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(getinfo_addresses_src_hint_fits, from(link_local(0)), o, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(link_local(2)), o, Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(getinfo_addresses_dest_hint_fits, to(link_local(12292)), o, Origin::Inferred), Choice::May);
}

TEST(GetinfoAddresses, KeepsTheSourceAddressOfTheHints) {
    Info o = rdm();
    set_src(o, ip4("192.0.2.1", 4711));
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, from(ip4("192.0.2.1")), o), Holds)
        << "a zero port may be filled in";
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, from(ip4("192.0.2.1", 4711)), o), Holds);
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, from(ip4("192.0.2.1", 4712)), o), Broken);
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, from(ip4("192.0.2.9")), o), Broken);
    const auto e = offer_evidence(getinfo_addresses_src_hint_kept, from(ip4("192.0.2.9")), o);
    EXPECT_EQ(e.expected_text, ip4("192.0.2.9", 4711));
    EXPECT_EQ(e.offer, 3);
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, from(ip4("0.0.0.0")), o), NotApplicable);
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, query_for(), o), NotApplicable);
    set_src(o, {});
    EXPECT_EQ(offer(getinfo_addresses_src_hint_kept, from(ip4("192.0.2.1")), o), Broken);
}

TEST(GetinfoAddresses, KeepsTheDestinationOfTheHints) {
    EXPECT_EQ(offer(getinfo_addresses_dest_hint_kept, to(ip4("192.0.2.2", 1)), with_dest(ip4("192.0.2.2", 1))), Holds);
    EXPECT_EQ(offer(getinfo_addresses_dest_hint_kept, to(ip4("192.0.2.2", 1)), with_dest(ip4("192.0.2.3", 1))), Broken);
    EXPECT_EQ(offer(getinfo_addresses_dest_hint_kept, to(ip4("192.0.2.2", 1)), rdm()), Broken);
    Query node = to(ip4("192.0.2.2", 1));
    node.node = "192.0.2.3";
    EXPECT_EQ(offer(getinfo_addresses_dest_hint_kept, node, rdm()), NotApplicable);
}

TEST(GetinfoAddresses, ReturnsASourceAddress) {
    Info o = rdm();
    EXPECT_EQ(offer(getinfo_addresses_src_returned, query_for(), o), Holds);
    set_src(o, {});
    EXPECT_EQ(offer(getinfo_addresses_src_returned, query_for(), o), Broken);
    EXPECT_EQ(offer(getinfo_addresses_src_returned, query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY), o), NotApplicable);
}

TEST(GetinfoAddresses, SourceAndDestinationAreOfOneFamily) {
    EXPECT_EQ(offer(getinfo_addresses_src_corresponds, query_for(), with_dest(ip4("192.0.2.2"))), Holds);
    EXPECT_EQ(offer(getinfo_addresses_src_corresponds, query_for(), with_dest(ip6("2001:db8::1"))), Broken);
    EXPECT_EQ(offer(getinfo_addresses_src_corresponds, query_for(), rdm()), NotApplicable);
}

TEST(GetinfoAddresses, ReturnsTheDestinationOfANode) {
    EXPECT_EQ(offer(getinfo_addresses_dest_returned, query_node("192.0.2.2"), with_dest(ip4("192.0.2.2"))), Holds);
    EXPECT_EQ(offer(getinfo_addresses_dest_returned, query_node("192.0.2.2"), rdm()), Broken);
    EXPECT_EQ(offer(getinfo_addresses_dest_returned, query_node("192.0.2.2", nullptr, FI_SOURCE), rdm()),
              NotApplicable);
    EXPECT_EQ(offer(getinfo_addresses_dest_returned, query_node(nullptr, "7471"), rdm()), NotApplicable);
}

TEST(GetinfoAddresses, DestinationIsTheNode) {
    EXPECT_EQ(offer(getinfo_addresses_dest_corresponds, query_node("192.0.2.2"), with_dest(ip4("192.0.2.2", 5))),
              Holds);
    EXPECT_EQ(offer(getinfo_addresses_dest_corresponds, query_node("192.0.2.2"), with_dest(ip4("192.0.2.3", 5))),
              Broken);
    EXPECT_EQ(offer(getinfo_addresses_dest_corresponds, query_node("2001:db8::1"), with_dest(ip6("2001:db8::2"))),
              Broken);
    EXPECT_EQ(offer(getinfo_addresses_dest_corresponds, query_node("host"), with_dest(ip4("192.0.2.3"))),
              NotApplicable);
    EXPECT_EQ(offer(getinfo_addresses_dest_corresponds, query_node("192.0.2.2"), with_dest(ip6("::1"))), NotApplicable);
}

TEST(GetinfoAddresses, NoDestinationWithoutATarget) {
    EXPECT_EQ(offer(getinfo_addresses_dest_absent_without_target, nothing(), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_addresses_dest_absent_without_target, query_for(), with_dest(ip4("192.0.2.2"))), Broken);
    EXPECT_EQ(
        offer(getinfo_addresses_dest_absent_without_target, query_node(nullptr, "1"), with_dest(ip4("192.0.2.2"))),
        NotApplicable);
    EXPECT_EQ(offer(getinfo_addresses_dest_absent_without_target, to(ip4("192.0.2.2")), with_dest(ip4("192.0.2.2"))),
              NotApplicable);
}

TEST(GetinfoAddresses, LengthsGoWithAddresses) {
    Info o = with_dest(ip4("192.0.2.2"));
    EXPECT_EQ(offer(getinfo_addresses_src_length_told, query_for(), o), Holds);
    EXPECT_EQ(offer(getinfo_addresses_dest_length_told, query_for(), o), Holds);
    EXPECT_EQ(offer(getinfo_addresses_no_length_without_address, query_for(), o), NotApplicable);
    o.src_addrlen = o.dest_addrlen = 0;
    EXPECT_EQ(offer(getinfo_addresses_src_length_told, query_for(), o), Broken);
    EXPECT_EQ(offer(getinfo_addresses_dest_length_told, query_for(), o), Broken);
    Info none = rdm();
    EXPECT_EQ(offer(getinfo_addresses_dest_length_told, query_for(), none), NotApplicable);
    EXPECT_EQ(offer(getinfo_addresses_no_length_without_address, query_for(), none), Holds);
    none.dest_addrlen = 16;
    EXPECT_EQ(offer(getinfo_addresses_no_length_without_address, query_for(), none), Broken);
    none.dest_addrlen = 0;
    none.src_addr.reset();
    EXPECT_EQ(offer(getinfo_addresses_no_length_without_address, query_for(), none), Broken);
    EXPECT_EQ(offer(getinfo_addresses_src_length_told, query_for(), none), NotApplicable);
}

TEST(GetinfoAddresses, HintsMayBeRefusedInAnotherFormatThanTheirs) {
    EXPECT_EQ(kind(getinfo_addresses_hint_format_agrees, from(ip4("192.0.2.1"))), Demand::Kind::Nothing);
    EXPECT_EQ(kind(getinfo_addresses_hint_format_agrees, from(ip6("::1"))), Demand::Kind::MayRefuse);
    Query truncated = from(ip4("192.0.2.1"));
    truncated.hints->src_addrlen = 8;
    EXPECT_EQ(kind(getinfo_addresses_hint_format_agrees, truncated), Demand::Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_addresses_hint_format_agrees, to(Text("x"))), Demand::Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_addresses_hint_format_agrees, query_for()), Demand::Kind::NotRequested);
}

TEST(GetinfoAddresses, PassiveEndpointComesBack) {
    World world;
    world.opened = {{World::Opened::Kind::Fabric, "f", "", "teaching"},
                    {World::Opened::Kind::Pep, "f", "", "teaching"}};
    Query q = query_for();
    q.hints->handle = 2;
    Info o = rdm();
    o.handle = 2;
    EXPECT_EQ(offer(getinfo_addresses_pep_handle_kept, q, o, world), Holds);
    EXPECT_EQ(offer(getinfo_addresses_pep_handle_kept, q, rdm(), world), Broken);
    EXPECT_EQ(kind(getinfo_addresses_other_handle, q, world), Demand::Kind::NotRequested);
    q.hints->handle = 1;
    EXPECT_EQ(offer(getinfo_addresses_pep_handle_kept, q, rdm(), world), NotApplicable);
    EXPECT_EQ(kind(getinfo_addresses_other_handle, q, world), Demand::Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_addresses_other_handle, query_for(), world), Demand::Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_addresses_handle_null, q, world), Demand::Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_addresses_handle_null, query_for(), world), Demand::Kind::NotRequested);
    Query domain = query_for();
    domain.hints->domain.domain = kForeign;
    EXPECT_EQ(kind(getinfo_addresses_other_handle, domain, world), Demand::Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_addresses_instance_narrows, domain, world), Demand::Kind::MayRefuse);
    EXPECT_EQ(kind(getinfo_addresses_instance_narrows, query_for(), world), Demand::Kind::NotRequested);
}

}  // namespace
}  // namespace selvage::model
