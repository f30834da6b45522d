// Offers that must not have been given, whatever else their provider has: the judge says so without a declared profile.
#include <algorithm>

#include "model/judge/judge.h"
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace getinfo_test;

// This machine has 192.0.2.1.
World here() {
    World w;
    w.own_hosts = {std::string("\xC0\x00\x02\x01", 4), std::string("\x7F\x00\x00\x01", 4)};
    return w;
}

bool breaks(Clause c, const Query& q, const Info& offer, const World& world = here()) {
    Answer a;
    a.list_null = false;
    a.offers = {offer};
    Profile inferred;
    inferred.provider = offer.fabric.prov_name.value_or("");
    inferred.version = q.version;
    Entry e;
    e.offer = offer;
    inferred.entries = {e};
    Tally tally;
    std::vector<Because> broken;
    judge(q, world, a, &inferred, tally, broken);
    return std::any_of(broken.begin(), broken.end(), [&](const Because& b) { return b.clause == c; });
}

Info offer_to(const char* dest, std::uint64_t caps = FI_LOCAL_COMM | FI_REMOTE_COMM) {
    Info o = rdm();
    o.caps = (o.caps & ~static_cast<std::uint64_t>(FI_LOCAL_COMM | FI_REMOTE_COMM)) | caps;
    set_dest(o, ip4(dest, 1));
    return o;
}

Query hinting(void (*put)(Info&, Text), const char* host) {
    Query q = query_for();
    q.hints->addr_format = FI_SOCKADDR_IN;
    put(*q.hints, ip4(host, 1));
    return q;
}

TEST(Grants, ToAHostNameUnderNumericHostBreakThePromise) {
    const auto clause = Clause::getinfo_flags_numeric_name_excluded;
    EXPECT_TRUE(breaks(clause, query_node("localhost", "1", FI_NUMERICHOST), offer_to("192.0.2.1")));
    EXPECT_FALSE(breaks(clause, query_node("localhost", "1"), offer_to("192.0.2.1")));
    // Numbers have more than one spelling.
    EXPECT_FALSE(breaks(clause, query_node("127.1", "1", FI_NUMERICHOST), offer_to("192.0.2.1")));
    EXPECT_FALSE(breaks(clause, query_node("0xC0000201", "1", FI_NUMERICHOST), offer_to("192.0.2.1")));
    Info own_names = offer_to("192.0.2.1");
    own_names.addr_format = FI_ADDR_STR;
    EXPECT_FALSE(breaks(clause, query_node("localhost", "1", FI_NUMERICHOST), own_names));
}

TEST(Grants, ToANameThatNobodyHasBreakThePromise) {
    const auto clause = Clause::getinfo_call_node_unresolvable;
    EXPECT_TRUE(breaks(clause, query_node("host.invalid", "1"), offer_to("192.0.2.1")));
    EXPECT_FALSE(breaks(clause, query_node("host", "1"), offer_to("192.0.2.1")));
}

TEST(Grants, OfAnotherMachinesAddressAsLocalBreakThePromise) {
    const auto by_flag = Clause::getinfo_flags_source_fits;
    EXPECT_TRUE(breaks(by_flag, query_node("198.51.100.1", "1", FI_SOURCE), rdm()));
    EXPECT_FALSE(breaks(by_flag, query_node("192.0.2.1", "1", FI_SOURCE), rdm()));
    EXPECT_FALSE(breaks(by_flag, query_node("127.0.0.9", "1", FI_SOURCE), rdm()));
    EXPECT_FALSE(breaks(by_flag, query_node("224.0.0.1", "1", FI_SOURCE), rdm()));
    EXPECT_FALSE(breaks(by_flag, query_node("198.51.100.1", "1", FI_SOURCE), rdm(), World{}));
    const auto by_hint = Clause::getinfo_addresses_src_hint_fits;
    EXPECT_TRUE(breaks(by_hint, hinting(set_src, "198.51.100.1"), rdm()));
    EXPECT_FALSE(breaks(by_hint, hinting(set_src, "192.0.2.1"), rdm()));
    EXPECT_FALSE(breaks(by_hint, hinting(set_src, "0.0.0.0"), rdm()));
}

TEST(Grants, ThatCannotReachTheDestinationBreakThePromise) {
    const auto by_node = Clause::getinfo_call_node_resolved;
    EXPECT_TRUE(breaks(by_node, query_node("198.51.100.1"), offer_to("198.51.100.1", FI_LOCAL_COMM)));
    EXPECT_FALSE(breaks(by_node, query_node("198.51.100.1"), offer_to("198.51.100.1")));
    EXPECT_FALSE(breaks(by_node, query_node("198.51.100.1"), offer_to("198.51.100.1", 0)));
    EXPECT_FALSE(breaks(by_node, query_node("192.0.2.1"), offer_to("192.0.2.1", FI_LOCAL_COMM)));
    EXPECT_TRUE(breaks(by_node, query_node("192.0.2.1"), offer_to("192.0.2.1", FI_REMOTE_COMM)));
    // Who names one of the two words need not be told of the other.
    Query local = query_node("198.51.100.1");
    local.hints = *query_for(FI_LOCAL_COMM).hints;
    EXPECT_FALSE(breaks(by_node, local, offer_to("198.51.100.1", FI_LOCAL_COMM)));
    Info loopback = offer_to("198.51.100.1");
    set_src(loopback, ip4("127.0.0.1"));
    EXPECT_TRUE(breaks(by_node, query_node("198.51.100.1"), loopback));
    EXPECT_TRUE(breaks(Clause::getinfo_flags_numeric_node_resolved, query_node("198.51.100.1", "1", FI_NUMERICHOST),
                       offer_to("198.51.100.1", FI_LOCAL_COMM)));
    EXPECT_TRUE(breaks(Clause::getinfo_addresses_dest_hint_fits, hinting(set_dest, "198.51.100.1"),
                       offer_to("198.51.100.1", FI_LOCAL_COMM)));
}

TEST(Grants, OfUserIdsWithoutThemBreakThePromise) {
    const auto clause = Clause::getinfo_caps_av_user_id_class;
    EXPECT_TRUE(breaks(clause, query_for(FI_MSG | FI_AV_USER_ID), rdm()));
    Info has = rdm();
    has.caps |= FI_AV_USER_ID;
    EXPECT_FALSE(breaks(clause, query_for(FI_MSG | FI_AV_USER_ID), has));
    EXPECT_FALSE(breaks(clause, query_for(FI_MSG), rdm()));
}

TEST(Grants, OfAPortForANumberThatIsNoneBreakThePromise) {
    const auto clause = Clause::getinfo_call_service_kept;
    EXPECT_TRUE(breaks(clause, query_node("192.0.2.1", "70000"), offer_to("192.0.2.1")));
    EXPECT_TRUE(breaks(clause, query_node("192.0.2.1", "65536"), offer_to("192.0.2.1")));
    EXPECT_FALSE(breaks(clause, query_node("192.0.2.1", "00001"), offer_to("192.0.2.1")));
    EXPECT_FALSE(breaks(clause, query_node("192.0.2.1", "http"), offer_to("192.0.2.1")));
}

TEST(Grants, AreNotJudgedWhereNamesAloneAreAskedFor) {
    EXPECT_FALSE(breaks(Clause::getinfo_flags_numeric_name_excluded,
                        query_node("localhost", "1", FI_NUMERICHOST | FI_PROV_ATTR_ONLY), offer_to("192.0.2.1")));
}

TEST(Lookups, OfANameUnderNumericHostBreakThePromise) {
    SideEffects c;
    c.act = SideEffects::Act::GetInfo;
    const Query numeric = query_node("localhost", "1", FI_NUMERICHOST);
    c.query = &numeric;
    c.lookups_watched = true;
    EXPECT_EQ(clause::getinfo_flags_numeric_no_lookup(c).outcome(), Outcome::Holds);
    c.lookups = 1;
    EXPECT_EQ(clause::getinfo_flags_numeric_no_lookup(c).outcome(), Outcome::Broken);
    const Query any = query_node("localhost", "1");
    c.query = &any;
    EXPECT_EQ(clause::getinfo_flags_numeric_no_lookup(c).outcome(), Outcome::NotApplicable);
}

}  // namespace
}  // namespace selvage::model
