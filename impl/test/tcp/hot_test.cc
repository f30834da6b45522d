// Which peer is read from without asking epoll first.
#include <gtest/gtest.h>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

// One more frame at `to`, and whom it is from.
Peer& send_one(Side& from, Side& to) {
    const size_t before = to.sink.frames.size();
    EXPECT_EQ(send_text(from.transport, *from.peer(to), "x"), SendResult::Done);
    EXPECT_TRUE(run({&from, &to}, [&] { return to.sink.frames.size() > before; }));
    return *to.sink.frames.back().from;
}

TEST(TcpHotPeer, OfTwoThatSendInTurnNoneIsReadWithoutEpoll) {
    Side a, b, c;
    for (int i = 0; i < 3; ++i) send_one(b, a), send_one(c, a);
    for (int i = 0; i < 8; ++i) {
        EXPECT_FALSE(send_one(b, a).hot) << i;
        EXPECT_FALSE(send_one(c, a).hot) << i;
    }
}

TEST(TcpHotPeer, OneThatSendsAgainAndAgainIsUntilAnotherDoes) {
    Side a, b, c;
    Peer& other = send_one(c, a);
    Peer* peer = nullptr;
    for (uint32_t i = 0; i < 2 * tcp::kHotAfter; ++i) peer = &send_one(b, a);
    EXPECT_TRUE(peer->hot);
    EXPECT_EQ(&send_one(c, a), &other);
    EXPECT_FALSE(peer->hot);
    EXPECT_FALSE(other.hot);
}

}  // namespace
}  // namespace selvage::impl::test
