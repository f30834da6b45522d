// What endpoints of the shared object count, as another process would read it.
#include <gtest/gtest.h>

#include "impl/test/engine/stat_view.h"
#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

using impl::PeerLife;
using impl::Stat;
using impl::StatType;
using impl::test::StatView;

class LibraryStat : public testing::TestWithParam<const char*> {
protected:
    // The endpoint that was enabled first, of those that are open.
    static StatView first_endpoint() {
        StatView first;
        for (const StatView& view : impl::test::read_stat()) {
            if (view.type == StatType::Endpoint && (!first.endpoint || view.endpoint < first.endpoint)) first = view;
        }
        return first;
    }
    static StatView only_peer_of(const StatView& endpoint) {
        StatView peer;
        for (const StatView& view : impl::test::read_stat()) {
            if (view.type == StatType::Peer && view.endpoint == endpoint.endpoint) peer = view;
        }
        return peer;
    }
};
INSTANTIATE_TEST_SUITE_P(Providers, LibraryStat, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(LibraryStat, DiscoveryMakesNoFile) {
    const Network network(GetParam());
    EXPECT_EQ(impl::test::stat_path(), "");
}

TEST_P(LibraryStat, AMessageForAPostedReceiveLeavesNothingToCount) {
    Network network(GetParam());
    Pair pair(network);
    pair.enable();
    pair.greet();
    const StatView view = first_endpoint();
    EXPECT_NE(view.endpoint, 0U);
    for (const Stat stat : {Stat::Unexpected, Stat::AnnouncedShort, Stat::InFrames, Stat::Lost, Stat::Refused}) {
        EXPECT_EQ(view.at(stat), 0U) << static_cast<int>(stat);
    }
}

TEST_P(LibraryStat, APeerThatComesAgainAtItsAddressIsCounted) {
    Network network(GetParam());
    Pair pair(network);
    pair.enable();
    pair.greet();
    char name[256];
    size_t length = sizeof name;
    ASSERT_EQ(fi_getname(pair.b.ep.base(), name, &length), 0);
    ASSERT_EQ(pair.b.ep.close(), 0);
    for (int i = 0; i < 100'000 && first_endpoint().at(Stat::Lost) == 0; ++i) pair.progress();
    ASSERT_EQ(first_endpoint().at(Stat::Lost), 1U);
    EXPECT_EQ(only_peer_of(first_endpoint()).life, PeerLife::Down);
    EXPECT_EQ(first_endpoint().at(Stat::Reconnects), 0U);

    Side again;
    ASSERT_EQ(again.open(network), 0);
    ASSERT_EQ(fi_setname(again.ep.base(), name, length), 0);
    ASSERT_EQ(fi_enable(again.ep.get()), 0);
    ASSERT_EQ(again.meet(pair.a), 0);
    char byte = 0;
    ASSERT_EQ(fi_recv(again.ep.get(), &byte, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    fi_cq_entry entry;
    const auto arrived = [&] { return fi_cq_read(again.cq.get(), &entry, 1) == 1; };
    ASSERT_EQ(pair.until_taken([&] { return fi_inject(pair.a.ep.get(), "y", 1, pair.a.peer); }), 0);
    for (int i = 0; i < 1'000'000 && !arrived(); ++i) pair.progress();
    EXPECT_EQ(byte, 'y');
    for (int i = 0; i < 1000; ++i) pair.progress();
    EXPECT_EQ(first_endpoint().at(Stat::Reconnects), 1U);
    EXPECT_EQ(only_peer_of(first_endpoint()).at(Stat::Reconnects), 1U);
    EXPECT_EQ(only_peer_of(first_endpoint()).life, PeerLife::Active);
}

TEST_P(LibraryStat, TheFileIsThereFromTheFirstEndpointToTheLast) {
    Network network(GetParam());
    {
        Pair pair(network);
        EXPECT_EQ(impl::test::stat_path(), "") << "nothing is enabled";
        pair.enable();
        EXPECT_NE(impl::test::stat_path(), "");
    }
    EXPECT_EQ(impl::test::stat_path(), "");
}

}  // namespace
}  // namespace selvage::test
