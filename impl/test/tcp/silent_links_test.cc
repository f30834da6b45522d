// Links that die without a word (silent_link.h) are left in time and without an error, and nothing is lost or comes
// twice; links that are only slow, and peers that only do not read, are not left.
#include <gtest/gtest.h>

#include "impl/test/tcp/silent_pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLong = RailPair::kLong;
constexpr size_t kShort = 500;
constexpr int kInTime = 20'000;  // the kernel would take a minute

// The caller's sockets of the rails get no packets.
class DeafRails {
public:
    explicit DeafRails(const tcp::Rails& rails) {
        sock_filter nothing[] = {{BPF_RET | BPF_K, 0, 0, 0}};
        const sock_fprog filter{.len = 1, .filter = nothing};
        for (const tcp::Rail& rail : rails.rail) {
            if (rail.state != tcp::Rail::State::Up) continue;
            EXPECT_EQ(setsockopt(rail.socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter), 0);
            sockets_.push_back(rail.socket);
        }
        EXPECT_FALSE(sockets_.empty());
    }
    ~DeafRails() {
        const int none = 0;
        for (const int fd : sockets_) (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
    }
    DeafRails(const DeafRails&) = delete;
    DeafRails& operator=(const DeafRails&) = delete;

private:
    std::vector<int> sockets_;
};

// Short frames, so that nothing goes by the rails.
TEST(TcpSilentLinks, TheFirstOfWhoSendsIsLeft) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const int64_t start = net::now_milliseconds();
    {
        const SilentLink silent = pair.silence(1);
        for (int i = 0; i < 200; ++i) ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kShort));
        ASSERT_TRUE(pair.all_there(kInTime));
    }
    EXPECT_GE(net::now_milliseconds() - start, 2900);  // FI_TCP_LINK_TIMEOUT
    ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kLong));
    ASSERT_TRUE(pair.all_there());
    pair.expect_all_whole();
}

// Who was called cannot call, and makes the other end find out.
TEST(TcpSilentLinks, TheFirstOfWhoIsSentToIsLeft) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    {
        const SilentLink silent = pair.silence(1);
        for (int i = 0; i < 200; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kShort));
        ASSERT_TRUE(pair.all_there(kInTime));
    }
    ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kLong));
    ASSERT_TRUE(pair.all_there());
    pair.expect_all_whole();
}

// Of whose frames only the parts on the rails come: nothing of these is read, and what follows them is not seen.
TEST(TcpSilentLinks, TheFirstOfWhoIsSentToIsLeftThoughTheRailsAreFull) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.is_acknowledged(); }));
    {
        const SilentLink silent = pair.silence(1);
        for (int i = 0; i < 4; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kLong));
        pair.progress_for(100);
        for (const int fd : rail_sockets(2, pair.b, true)) ASSERT_GT(tcp::under_way(fd), 0u);
        ASSERT_TRUE(pair.all_there(kInTime));
    }
    pair.expect_all_whole();
}

// The resets of its rails vanish, and the caller sends nothing by which it would find out.
TEST(TcpSilentLinks, TheFirstOfWhoIsSentToIsLeftThoughTheResetsVanish) {
    const LinkTimeout timeout("500");
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.is_acknowledged(); }));
    const SilentLink silent = pair.silence(1);
    {
        const DeafRails deaf(*pair.to_b->rails);
        ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kShort));
        ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return !pair.b.transport.rails_up(*pair.to_a()); }));
    }
    const int64_t start = net::now_milliseconds();
    ASSERT_TRUE(pair.all_there(60'000));
    EXPECT_LT(net::now_milliseconds() - start, 10'000);
    pair.expect_all_whole();
}

TEST(TcpSilentLinks, EachOfThreeIsLeftInTheMiddleOfLongFrames) {
    const LinkTimeout timeout("500");
    for (const unsigned last : {1u, 2u, 3u}) {
        SilentPair pair;
        ASSERT_TRUE(pair.connect());
        const auto exchange = [&] {
            for (int i = 0; i < 12; ++i) {
                ASSERT_TRUE(pair.send(pair.a, *pair.to_b, i % 3 ? kLong : kShort)) << last;
                ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), i % 4 ? kLong : kShort)) << last;
            }
        };
        exchange();
        const SilentLink silent = pair.silence(last);
        exchange();
        ASSERT_TRUE(pair.all_there(kInTime)) << last;
        pair.expect_all_whole();
    }
}

// Nothing has come for longer than a link may be silent, but nothing was sent.
TEST(TcpSilentLinks, AConnectionThatWasIdleHasItsTime) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    pair.progress_for(3500);
    {
        const SilentLink silent = pair.silence(1);
        ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kShort));
        pair.progress_for(1000);
    }
    ASSERT_TRUE(pair.all_there());
    EXPECT_FALSE(pair.was_lost());
    pair.expect_all_whole();
}

// Two packets in a row are lost again and again, and then one is acknowledged.
TEST(TcpSilentLinks, ALinkThatAcknowledgesNowAndThenIsNotLeft) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    for (int round = 0; round < 4; ++round) {
        SilentLink silent = pair.silence(1);
        ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kShort));
        ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kShort));
        pair.progress_for(1000);
        silent.speak();
        ASSERT_TRUE(pair.all_there());
        // The kernel acknowledges some 40 ms later than the frames are there.
        ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.is_acknowledged(); }));
    }
    EXPECT_FALSE(pair.was_lost());
    pair.expect_all_whole();
}

// Its kernel answers, but that there is no room.
TEST(TcpSilentLinks, APeerThatDoesNotReadIsNotLeft) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const std::string text = pattern(4000, 1), longer = pattern(kLong, 2);
    size_t sent = 0;
    const int64_t until = net::now_milliseconds() + 10'000;
    while (net::now_milliseconds() < until) {
        const std::string& next = sent % 8 ? text : longer;
        pair.a.progress();
        if (sent < 3000) sent += send_text(pair.a.transport, *pair.to_b, next, sent, false, &pair) != SendResult::Again;
    }
    EXPECT_TRUE(pair.a.sink.downs.empty());
    EXPECT_FALSE(pair.was_lost());
    for (const tcp::Rail& rail : pair.to_b->rails->rail) EXPECT_NE(rail.state, tcp::Rail::State::Lost);
    // How many that are is the kernel's affair: on a busy machine its buffers grow less.
    const size_t all = pair.b.sink.frames.size() + sent;
    ASSERT_LT(sent, 3000u) << "everything had room";
    ASSERT_TRUE(run(
        {&pair.a, &pair.b}, [&] { return pair.b.sink.frames.size() >= all; }, kInTime));
    EXPECT_EQ(pair.a.transport.rails_up(*pair.to_b), 2u);
    EXPECT_FALSE(pair.was_lost());
}

// Of a peer with two links. The rail comes to the first one's when its own dies, and that of the first connection is
// the rail's when the first dies.
struct ReturningPair : SilentPair {
    ReturningPair() : SilentPair(1) {}
    tcp::Rails& rails_of_a() { return *to_b->rails; }
    bool rail_is_on(unsigned link) {
        const tcp::Rail& rail = rails_of_a().rail[0];
        return rail.state == tcp::Rail::State::Up && rail.link == link && !rail.dial;
    }
    bool rail_comes_to(unsigned link) {
        return run(
            {&a, &b}, [&] { return rail_is_on(link) && b.transport.rails_up(*to_a()) == 1; }, kInTime);
    }
    void exchange(int count = 12) {
        for (int i = 0; i < count; ++i) {
            ASSERT_TRUE(send(a, *to_b, i % 3 ? kLong : kShort)) << i;
            ASSERT_TRUE(send(b, *to_a(), i % 4 ? kLong : kShort)) << i;
        }
    }
};

TEST(TcpLinksThatReturn, ARailGoesBackToItsOwn) {
    const LinkTimeout timeout("500");
    ReturningPair pair;
    ASSERT_TRUE(pair.connect());
    ASSERT_TRUE(pair.rail_is_on(1));
    {
        const SilentLink silent = pair.silence(2);
        pair.exchange();
        ASSERT_TRUE(pair.all_there(kInTime));
        ASSERT_TRUE(pair.rail_comes_to(0));
    }
    // While both send all the time.
    const int64_t until = net::now_milliseconds() + 15'000;
    while (!pair.rail_is_on(1) && net::now_milliseconds() < until) pair.exchange();
    EXPECT_TRUE(pair.rail_is_on(1));
    ASSERT_TRUE(pair.all_there());
    pair.expect_all_whole();
    EXPECT_FALSE(pair.was_lost());
}

// Each of the two dies once and comes back.
TEST(TcpLinksThatReturn, TheLinkThatWasTheFirstIsUsedAgain) {
    const LinkTimeout timeout("500");
    ReturningPair pair;
    ASSERT_TRUE(pair.connect());
    {
        const SilentLink silent = pair.silence(1);
        pair.exchange();
        ASSERT_TRUE(pair.all_there(kInTime));
        EXPECT_EQ(pair.rails_of_a().first_link, 1u);
    }
    ASSERT_TRUE(pair.rail_comes_to(0));
    {
        const SilentLink silent = pair.silence(2);
        pair.exchange();
        ASSERT_TRUE(pair.all_there(kInTime));
        EXPECT_EQ(pair.rails_of_a().first_link, 0u);
    }
    ASSERT_TRUE(pair.rail_comes_to(1));
    pair.exchange();
    ASSERT_TRUE(pair.all_there());
    pair.expect_all_whole();
}

// The second link dies before anything has come back to the first.
TEST(TcpLinksThatReturn, TheFirstIsCalledThoughNothingIsOnIt) {
    const LinkTimeout timeout("500");
    ReturningPair pair;
    ASSERT_TRUE(pair.connect());
    {
        const SilentLink silent = pair.silence(1);
        ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kShort));
        ASSERT_TRUE(pair.all_there());
        ASSERT_EQ(pair.rails_of_a().first_link, 1u);
    }
    const SilentLink silent = pair.silence(2);
    pair.exchange();
    ASSERT_TRUE(pair.all_there(kInTime));
    EXPECT_EQ(pair.rails_of_a().first_link, 0u);
    pair.expect_all_whole();
}

// Both streams are on the first link, which dies when of a frame the parts on the rail are missing.
TEST(TcpLinksThatReturn, PartsAreAskedForByTheLinkThatIsThere) {
    const LinkTimeout timeout("500");
    ReturningPair pair;
    ASSERT_TRUE(pair.connect());
    {
        const SilentLink silent = pair.silence(2);
        pair.exchange();
        ASSERT_TRUE(pair.all_there(kInTime));
        ASSERT_TRUE(pair.rail_comes_to(0));
    }
    pair.rails_of_a().return_at = 0;  // it stays there
    const DeafRails deaf(pair.rails_of_a());
    ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kLong));
    const tcp::SplitArrival& in = pair.rails_of_a().in;
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] {
        return pair.to_b->splitting && !in.parts[0].left && in.parts[1].left && pair.is_acknowledged();
    }));
    const SilentLink silent = pair.silence(1);
    ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kShort));
    ASSERT_TRUE(pair.all_there(kInTime));
    pair.expect_all_whole();
}

// It is called now and then, ever less often, and meanwhile all goes on.
TEST(TcpLinksThatReturn, ALinkThatStaysDeadDisturbsNobody) {
    const LinkTimeout timeout("500");
    ReturningPair pair;
    ASSERT_TRUE(pair.connect());
    const SilentLink silent = pair.silence(1);
    pair.exchange();
    ASSERT_TRUE(pair.all_there(kInTime));
    const int64_t until = net::now_milliseconds() + 7000;
    int64_t longest = 0;
    while (net::now_milliseconds() < until) {
        const int64_t start = net::now_milliseconds();
        pair.exchange(1);
        ASSERT_TRUE(pair.all_there());
        longest = std::max(longest, net::now_milliseconds() - start);
    }
    EXPECT_TRUE(run(
        {&pair.a, &pair.b}, [&] { return pair.rails_of_a().return_pause > tcp::kReturnPause; }, kInTime));
    EXPECT_LT(longest, 2500);  // a call that nobody answers takes longer
    pair.expect_all_whole();
}

}  // namespace
}  // namespace selvage::impl::test
