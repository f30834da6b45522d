// Who sleeps until something arrives is woken by what can be done, not by sockets with which nothing is to be done: a
// transport with rails (rails.h) reads and sends less than its sockets would allow.
#include <gtest/gtest.h>
#include <poll.h>

#include "impl/test/tcp/silent_pair.h"

namespace selvage::impl::test {
namespace {

constexpr int kSlept = 500;
constexpr int kWakesMost = 200;

// How often one that sleeps whenever it may is woken in that time.
int wakes_of(Side& side) {
    int wakes = 0;
    const int64_t until = net::now_milliseconds() + kSlept;
    for (int64_t left = kSlept; left > 0; left = until - net::now_milliseconds()) {
        side.progress();
        pollfd wait{.fd = side.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
        if (side.transport.arm()) (void)poll(&wait, 1, static_cast<int>(left));
        ++wakes;
    }
    return wakes;
}

// Short frames, until there is no room.
void fill(RailSide& from, Peer& to) {
    const std::string text(4000, 'x');
    for (int i = 0; i < 3; ++i) {
        while (send_text(from.transport, to, text) != SendResult::Again) from.progress();
        from.progress();
    }
}

// The socket would take twice as much as may be kept.
TEST(TcpSleeper, IsNotWokenByASocketThatHasMoreRoomThanTheCopies) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const int room = tcp::KeptBytes::kRoom;
    ASSERT_EQ(setsockopt(pair.to_b->tx, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    fill(pair.a, *pair.to_b);
    if (pair.to_b->kept->room()) GTEST_SKIP() << "the kernel lets no socket hold so much (net.core.wmem_max)";
    EXPECT_LE(wakes_of(pair.a), kWakesMost);
    // All the same it goes on when there is room.
    EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.transport.is_silent(); }));
}

// A part of a frame does not come by its rail, and what is behind it on the first connection waits.
TEST(TcpSleeper, IsNotWokenByWhatItDoesNotReadYet) {
    SilentPair pair(1);
    ASSERT_TRUE(pair.connect());
    Peer* const to_a = pair.to_a();
    const SilentLink silent = pair.silence(2);
    const std::string text = pattern(96u << 10, 1), behind(4000, 'x');
    ASSERT_EQ(send_text(pair.a.transport, *pair.to_b, text, 0, false, &pair), SendResult::Held);
    ASSERT_TRUE(run({&pair.b}, [&] { return to_a->splitting && !to_a->rails->in.parts[0].left; }));
    for (int i = 0; i < 10; ++i) ASSERT_EQ(send_text(pair.a.transport, *pair.to_b, behind), SendResult::Done);
    pair.a.progress();
    fill(pair.b, *to_a);
    ASSERT_TRUE(to_a->splitting);
    EXPECT_LE(wakes_of(pair.b), kWakesMost);
    EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return !to_a->splitting && pair.b.transport.is_silent(); }));
}

}  // namespace
}  // namespace selvage::impl::test
