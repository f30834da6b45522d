// What the transport counts, or tells the engine to count.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

// A side whose gate counts.
struct Counting {
    explicit Counting(net::Key key = {}) : side(key) { side.transport.count_in(&record); }
    uint64_t at(Stat stat) const { return record.get(stat); }
    bool reaches(Stat stat, uint64_t value, std::initializer_list<Side*> others = {}) {
        return run({&side}, [&] {
            for (Side* other : others) other->progress();
            return at(stat) >= value;
        });
    }

    StatRecord record{};
    Side side;
};

int knock(const Side& at) {
    const SocketAddress address = at.transport.address();
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(socket, &address.any, static_cast<socklen_t>(address.length())) ? -1 : socket;
}

TEST(TcpStat, ACallerThatSendsGarbageIsCountedAsRefused) {
    Counting b;
    const int socket = knock(b.side);
    ASSERT_EQ(::send(socket, "garbage, as long as a note or not", 33, 0), 33);
    EXPECT_TRUE(b.reaches(Stat::Refused, 1));
    close(socket);
}

TEST(TcpStat, ACallerWithAnotherKeyIsCountedAsRefused) {
    const uint8_t key[] = {1, 2, 3};
    Counting b({key, sizeof key});
    Side a;
    Peer* peer = a.peer(b.side);
    ASSERT_NE(peer, nullptr);
    send_text(a.transport, *peer, "let me in");
    EXPECT_TRUE(b.reaches(Stat::Refused, 1, {&a}));
    EXPECT_EQ(b.at(Stat::Expired), 0U);
}

TEST(TcpStat, ACallerThatIsWelcomeOrLeavesIsNotCounted) {
    Counting b;
    Side a;
    Peer* peer = a.peer(b.side);
    ASSERT_NE(peer, nullptr);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b.side}, [&] { return b.side.sink.frames.size() == 1; }));
    close(knock(b.side));
    for (int i = 0; i < 100; ++i) b.side.progress();
    EXPECT_EQ(b.at(Stat::Refused), 0U);
    EXPECT_EQ(b.at(Stat::Expired), 0U);
}

TEST(TcpStat, ACallerThatSaysNothingIsCountedWhenItsTimeIsOver) {
    Counting b;
    const int socket = knock(b.side);
    EXPECT_TRUE(run(
        {&b.side}, [&] { return b.at(Stat::Expired) == 1; }, 2 * net::kPendingLimit));
    EXPECT_EQ(b.at(Stat::Refused), 0U);
    close(socket);
}

TEST(TcpStat, TheSinkHearsOfEachConnectionAndOfAFrameThatIsNone) {
    Side a, b;
    Peer* peer = a.peer(b);
    ASSERT_NE(peer, nullptr);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    EXPECT_EQ(a.sink.connections, 1);
    EXPECT_EQ(b.sink.connections, 1);
    EXPECT_TRUE(a.transport.is_connected(*peer));
    const Header header{.size = UINT32_MAX, .op = 1, .flags = 0, .aux = 0, .word = {}};
    ASSERT_EQ(::send(peer->tx, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    EXPECT_TRUE(run({&a, &b}, [&] { return b.sink.malformed_frames == 1 && !b.sink.downs.empty(); }));
    EXPECT_EQ(a.sink.malformed_frames, 0);
}

}  // namespace
}  // namespace selvage::impl::test
