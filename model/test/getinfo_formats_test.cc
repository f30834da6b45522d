// The promises on address formats, case by case.
#include "model/test/getinfo_make.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

Query query_format(std::uint64_t format) {
    Query q = query_for();
    q.hints->addr_format = format;
    return q;
}
Info addressed(std::uint64_t format, Text src) {
    Info o = rdm();
    o.addr_format = format;
    set_src(o, std::move(src));
    return o;
}

TEST(GetinfoFormats, FormatSelectsOffers) {
    EXPECT_EQ(fit(getinfo_formats_hint_fits, query_format(FI_SOCKADDR_IN), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_formats_hint_fits, query_format(FI_SOCKADDR), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_formats_hint_fits, query_format(FI_SOCKADDR_IN6), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_formats_hint_fits, query_format(FI_SOCKADDR_IN6), rdm(), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(getinfo_formats_hint_fits, query_format(FI_SOCKADDR_IN6), addressed(FI_SOCKADDR, {})), Choice::May);
    EXPECT_EQ(fit(getinfo_formats_hint_fits, query_for(), rdm()), Choice::NotRequested);
}

TEST(GetinfoFormats, ADeclaredProviderMaySpeakMoreThanItShows) {
    Entry e{.offer = rdm(), .most = {}};
    e.most.addr_format = choice_bit(Family::addr_format, FI_ADDR_STR);
    const auto fits = [&](std::uint64_t format, Origin origin) {
        const Query q = query_format(format);
        const World world;
        const Profile p{.provider = "teaching", .version = q.version, .origin = origin, .entries = {e}};
        return getinfo_formats_hint_fits(MatchCase{q, world, p, e}).choice();
    };
    EXPECT_EQ(fits(FI_ADDR_STR, Origin::Declared), Choice::Fits);
    EXPECT_EQ(fits(FI_SOCKADDR_IN6, Origin::Declared), Choice::No);
}

TEST(GetinfoFormats, FormatIsHonoured) {
    EXPECT_EQ(offer(getinfo_formats_hint_honoured, query_format(FI_SOCKADDR_IN), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_formats_hint_honoured, query_format(FI_SOCKADDR), rdm()), NotApplicable);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_honoured, query_format(FI_SOCKADDR), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_honoured, query_format(FI_SOCKADDR_IN), rdm()), NotApplicable);
    EXPECT_EQ(offer(getinfo_formats_hint_honoured, query_format(FI_SOCKADDR_IN6), rdm()), Broken);
    EXPECT_EQ(offer(getinfo_formats_hint_honoured, query_format(FI_SOCKADDR_IN), addressed(FI_SOCKADDR, {})), Broken);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_honoured, query_format(FI_SOCKADDR), addressed(FI_ADDR_STR, {})), Broken);
    EXPECT_EQ(offer(getinfo_formats_hint_honoured, query_for(), rdm()), NotApplicable);
}

TEST(GetinfoFormats, AnswerNamesAKnownFormat) {
    EXPECT_EQ(offer(getinfo_formats_answer_known, query_for(), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_formats_answer_known, query_for(), addressed(0x80000001, {})), Holds)
        << "provider specific";
    EXPECT_EQ(offer(getinfo_formats_answer_known, query_for(), addressed(99, {})), Broken);
    EXPECT_EQ(offer(getinfo_formats_answer_known, query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY), addressed(99, {})),
              NotApplicable);
}

TEST(GetinfoFormats, GeneralSocketAddressTellsItsKind) {
    EXPECT_EQ(offer(getinfo_formats_sockaddr_family, query_for(), addressed(FI_SOCKADDR, ip4("192.0.2.1"))), Holds);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_family, query_for(), addressed(FI_SOCKADDR, ip6("::1"))), Holds);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_family, query_for(), addressed(FI_SOCKADDR, Text("xxxxxxxxxxxxxxxx"))),
              Broken);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_family, query_for(), addressed(FI_SOCKADDR, Text(*ip4("::") + "pad"))),
              Broken);
    EXPECT_EQ(offer(getinfo_formats_sockaddr_family, query_for(), rdm()), NotApplicable);
}

TEST(GetinfoFormats, AMalformedHintIsNotTheAnswersFault) {
    Query q = query_format(FI_SOCKADDR_IN);
    q.hints->src_addr = std::string("\x02");
    for (const std::uint64_t length : {0U, 1U}) {
        q.hints->src_addrlen = length;
        Info echo = addressed(FI_SOCKADDR_IN, Text(std::string(length, '\x02')));
        EXPECT_EQ(offer(getinfo_formats_in_shape, q, echo), NotApplicable) << length;
        EXPECT_EQ(offer(getinfo_addresses_src_length_told, q, echo), NotApplicable) << length;
    }
    EXPECT_EQ(offer(getinfo_formats_in_shape, query_format(FI_SOCKADDR_IN), addressed(FI_SOCKADDR_IN, Text("\x02"))),
              Broken);
    Query other = query_format(FI_SOCKADDR_IN);
    set_dest(*other.hints, ip6("fd00::2"));
    EXPECT_EQ(offer(getinfo_formats_in_shape, other, addressed(FI_SOCKADDR_IN, ip6("fd00::1"))), NotApplicable)
        << "an answer follows the side that was malformed";
}

TEST(GetinfoFormats, AnAddressComesWithItsFormat) {
    EXPECT_EQ(offer(getinfo_addresses_format_told, query_for(), addressed(FI_SOCKADDR_IN, ip4("192.0.2.1"))), Holds);
    EXPECT_EQ(offer(getinfo_addresses_format_told, query_for(), addressed(FI_FORMAT_UNSPEC, ip4("192.0.2.1"))), Broken);
    Info nameless = addressed(FI_FORMAT_UNSPEC, {});
    nameless.src_addr.reset();
    nameless.dest_addr.reset();
    EXPECT_EQ(offer(getinfo_addresses_format_told, query_for(), nameless), NotApplicable);
}

TEST(GetinfoFormats, SpecialSocketAddressesHaveTheirShape) {
    EXPECT_EQ(offer(getinfo_formats_in_shape, query_for(), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_formats_in_shape, query_for(), addressed(FI_SOCKADDR_IN, ip6("::1"))), Broken);
    Info long_one = rdm();
    long_one.src_addrlen = 28;
    EXPECT_EQ(offer(getinfo_formats_in_shape, query_for(), long_one), Broken);
    EXPECT_EQ(offer(getinfo_formats_in_shape, query_for(), addressed(FI_SOCKADDR_IN, {})), NotApplicable);
    Info dest = rdm();
    set_dest(dest, ip6("::1"));
    EXPECT_EQ(offer(getinfo_formats_in_shape, query_for(), dest), Broken) << "dest_addr too";

    EXPECT_EQ(offer(getinfo_formats_in6_shape, query_for(), addressed(FI_SOCKADDR_IN6, ip6("::1"))), Holds);
    EXPECT_EQ(offer(getinfo_formats_in6_shape, query_for(), addressed(FI_SOCKADDR_IN6, ip4("192.0.2.1"))), Broken);
    EXPECT_EQ(offer(getinfo_formats_in6_shape, query_for(), rdm()), NotApplicable);

    std::string ib(48, '\0');
    ib[0] = 27;
    EXPECT_EQ(offer(getinfo_formats_ib_shape, query_for(), addressed(FI_SOCKADDR_IB, ib)), Holds);
    EXPECT_EQ(offer(getinfo_formats_ib_shape, query_for(), addressed(FI_SOCKADDR_IB, ip4("192.0.2.1"))), Broken);
    EXPECT_EQ(offer(getinfo_formats_ib_shape, query_for(), rdm()), NotApplicable);
}

TEST(GetinfoFormats, StringsEndAndLookLikeUris) {
    const auto str = [](std::string s) { return addressed(FI_ADDR_STR, std::move(s)); };
    const std::string good("fi_shm://17:0\0", 14);
    EXPECT_EQ(offer(getinfo_formats_str_terminated, query_for(), str(good)), Holds);
    EXPECT_EQ(offer(getinfo_formats_str_terminated, query_for(), str("fi_shm://17:0")), Broken);
    EXPECT_EQ(offer(getinfo_formats_str_terminated, query_for(), rdm()), NotApplicable);
    EXPECT_EQ(offer(getinfo_formats_str_uri, query_for(), str(good)), Holds);
    EXPECT_EQ(offer(getinfo_formats_str_uri, query_for(), str(std::string("fi_shm\0", 7))), Holds)
        << "all but the name is optional";
    EXPECT_EQ(offer(getinfo_formats_str_uri, query_for(), str(std::string("17:0\0", 5))), Broken);
    EXPECT_EQ(offer(getinfo_formats_str_uri, query_for(), str(std::string("://x\0", 5))), Broken);
    EXPECT_EQ(offer(getinfo_formats_str_uri, query_for(), rdm()), NotApplicable);
}

}  // namespace
}  // namespace selvage::model
