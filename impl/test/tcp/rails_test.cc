// Frames that are divided among several connections (rails.h), between two transports on the loopback interface, and
// with peers that say what is not so.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <optional>

#include "impl/test/tcp/silent_pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLong = RailPair::kLong;
constexpr size_t kShort = tcp::kSplitMin;  // that is divided

TEST(TcpRails, LongFramesAreDividedAndAllComeInTheirOrder) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(pair.send(pair.a, *pair.to_b, i % 3 ? kLong - static_cast<size_t>(i) * 997 : 50));
        ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), i % 4 ? kLong : 5000));
    }
    ASSERT_TRUE(pair.all_there());
    pair.expect_whole(pair.a);
    pair.expect_whole(pair.b);
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.transport.is_silent() && pair.b.transport.is_silent(); }));
    for (const auto& [token, error] : pair.a.sink.tokens) EXPECT_EQ(error, 0) << token;
    for (const unsigned last : {2u, 3u}) {
        for (const int fd : rail_sockets(last, pair.b, true)) {
            tcp_info info{};
            socklen_t size = sizeof info;
            ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
            // More than the handshake; how much is up to the windows.
            EXPECT_GE(info.tcpi_bytes_acked, tcp::RailWindow::kLeast) << last;
            EXPECT_GE(info.tcpi_bytes_received, tcp::RailWindow::kLeast) << last;
        }
    }
}

TEST(TcpRails, WithoutInvitationThereIsNothingBesideTheFirstConnection) {
    Side a, b;
    Peer* to_b = a.peer(b);
    const std::string text = pattern(kLong, 1);
    for (size_t i = 0; i < 10; ++i) {
        ASSERT_TRUE(
            run({&a, &b}, [&] { return send_text(a.transport, *to_b, text, i, false, &a) != SendResult::Again; }));
    }
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 10; }));
    EXPECT_EQ(to_b->rails, nullptr);
    EXPECT_EQ(to_b->invitation, nullptr);
    EXPECT_EQ(b.sink.frames[0].from->invitation, nullptr);
}

TEST(TcpRails, ARailThatBreaksIsLeftWithoutAnError) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < 6; ++i) ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kLong));
        for (int i = 0; i < 6; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kLong));
        // Of the ends of both, each once; later rounds find the one that was called again elsewhere.
        for (const int fd : rail_sockets(round % 2 ? 2 : 3, pair.b, round & 2)) shutdown(fd, SHUT_RDWR);
        ASSERT_TRUE(pair.all_there()) << round;
    }
    pair.expect_whole(pair.a);
    pair.expect_whole(pair.b);
    EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.transport.rails_up(*pair.to_b) == 2; }));
}

size_t open_descriptors() {
    size_t count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

// By turns at either end, with parts under way in both directions.
TEST(TcpRails, ARailThatComesAndGoesLosesNothing) {
    RailPair pair(1);
    ASSERT_TRUE(pair.connect());
    const size_t before = open_descriptors();
    size_t ends = 0;
    uint32_t ended = 0;  // the call of the rail that was
    const auto is_up = [&] {
        return pair.to_a()->rails->rail[0].sequence != ended && pair.a.transport.rails_up(*pair.to_b) == 1 &&
               pair.b.transport.rails_up(*pair.to_a()) == 1;
    };
    for (int round = 0; round < 256; ++round) {
        ASSERT_TRUE(run({&pair.a, &pair.b}, is_up)) << round;
        ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kShort));
        ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kShort));
        Peer* const end = round & 1 ? pair.to_b : pair.to_a();
        ended = pair.to_a()->rails->rail[0].sequence;
        ends += !shutdown(end->rails->rail[0].socket, SHUT_RDWR);
        if (round % 8 == 7) {
            ASSERT_TRUE(pair.all_there()) << round;
            pair.expect_whole(pair.a);
            pair.expect_whole(pair.b);
            for (RailSide* side : {&pair.a, &pair.b}) side->sink.frames.resize(1);
            pair.sent[0] = pair.sent[1] = 1;
        }
    }
    EXPECT_GE(ends, 256u);
    EXPECT_TRUE(run({&pair.a, &pair.b}, is_up));
    EXPECT_LE(open_descriptors(), before + 1);
}

// Who is called and ends each rail at once is not called as fast as that can be done.
TEST(TcpRails, ARailThatIsEndedAtOnceIsCalledNowAndThen) {
    RailPair pair(1);
    ASSERT_TRUE(pair.connect());
    const int64_t until = net::now_milliseconds() + 500;
    uint32_t first = 0, last = 0;
    while (net::now_milliseconds() < until) {
        pair.a.progress();
        pair.b.progress();
        tcp::Rail& rail = pair.to_a()->rails->rail[0];
        if (rail.state != tcp::Rail::State::Up) continue;
        if (!first) first = rail.sequence;
        last = rail.sequence;
        shutdown(rail.socket, SHUT_RDWR);
    }
    EXPECT_GT(last, first);
    EXPECT_LE(last - first, 2 * 500 / tcp::kRailPause);
}

// The end of the rail is reported once, when the caller has not read all that came before. Nothing else would show it:
// what the caller has sent by the rail was taken, and nothing comes any more.
TEST(TcpRails, TheEndOfARailBehindBytesThatAreNotReadYetIsNoticed) {
    constexpr size_t kInThree = 96u << 10;
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    // With another peer, those that are silent are looked at by epoll alone: so all that comes is seen at once.
    Side other;
    Peer* const to_other = pair.a.peer(other);
    ASSERT_TRUE(run({&pair.a, &other}, [&] { return to_other->phase == Peer::Phase::Up; }));
    for (uint32_t i = 0; i < 4 * tcp::kHotMisses; ++i) pair.a.progress();
    ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kInThree));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kInThree));
    for (const int fd : rail_sockets(2, pair.b, true)) {
        const int unconnected = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        ASSERT_EQ(dup2(unconnected, fd), fd);  // what it has not read is lost
        close(unconnected);
    }
    ASSERT_TRUE(pair.all_there(3000));
    pair.expect_whole(pair.a);
    pair.expect_whole(pair.b);
}

// The called end's of the rails, from under it: the connections do not end.
std::vector<int> take_sockets(const RailPair& pair) {
    std::vector<int> taken;
    for (const unsigned last : {2u, 3u}) {
        for (const int fd : rail_sockets(last, pair.b, true)) {
            taken.push_back(dup(fd));
            const int unconnected = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            EXPECT_EQ(dup2(unconnected, fd), fd);
            close(unconnected);
        }
    }
    return taken;
}

// The caller does not see it, and what the other end could say would stand behind the frame that is incomplete.
TEST(TcpRails, WhoWasCalledAndLosesARailIsAskedForIt) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    const std::vector<int> kept = take_sockets(pair);
    ASSERT_EQ(kept.size(), 2u);
    const int64_t start = net::now_milliseconds();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kLong));
    ASSERT_TRUE(pair.all_there());
    pair.expect_whole(pair.a);
    EXPECT_LT(net::now_milliseconds() - start, 3000);
    for (const int fd : kept) close(fd);
}

// The caller sends, and the other end's kernel has taken what is lost there.
TEST(TcpRails, WhoWasCalledAndLosesWhatItHadNotReadIsAskedForARail) {
    const LinkTimeout timeout("500");
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    const std::vector<int> kept = take_sockets(pair);
    ASSERT_EQ(kept.size(), 2u);
    const int64_t start = net::now_milliseconds();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kLong));
    ASSERT_TRUE(pair.all_there());
    pair.expect_whole(pair.b);
    EXPECT_LT(net::now_milliseconds() - start, 3000);
    for (const int fd : kept) close(fd);
}

// As answers to reads are sent. What a rail has lost is sent again when the memory is somebody else's.
TEST(TcpRails, APayloadWithoutATokenIsCopiedWhenItsMemoryIsTakenBack) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    pair.texts.push_back(pattern(kLong, 7));
    std::string memory = pair.texts.back();
    ASSERT_EQ(send_text(pair.a.transport, *pair.to_b, memory, pair.texts.size() - 1), SendResult::Held);
    ++pair.sent[0];
    ASSERT_FALSE(pair.to_b->rails->out.empty());
    for (const unsigned last : {2u, 3u}) {
        for (const int fd : rail_sockets(last, pair.b, true)) {
            const int unconnected = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            ASSERT_EQ(dup2(unconnected, fd), fd);
            close(unconnected);
        }
    }
    const iovec range{memory.data(), memory.size()};
    pair.a.transport.copy_sources(&range, 1);
    memory.assign(memory.size(), '?');
    ASSERT_TRUE(pair.all_there());
    pair.expect_whole(pair.b);
}

TEST(TcpRails, ASenderWhoDoesNotCallForAWhileKeepsItsRails) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), kLong));
    const int64_t until = net::now_milliseconds() + 3 * tcp::kRailStall;
    while (net::now_milliseconds() < until) pair.a.progress();
    ASSERT_TRUE(pair.all_there());
    pair.expect_whole(pair.a);
    EXPECT_EQ(pair.a.transport.rails_up(*pair.to_b), 2u);
    EXPECT_EQ(rail_sockets(2, pair.b, true).size(), 1u);
    EXPECT_EQ(rail_sockets(3, pair.b, true).size(), 1u);
}

// Nobody believes an address: here another endpoint has it.
TEST(TcpRails, AnAddressThatLeadsToAnotherEndpointIsLeftAlone) {
    // Of the ports that are free at one address, one that nobody else has at the other.
    std::deque<RailSide> found;
    std::optional<RailSide> second;
    do {
        found.emplace_back(loopback());
        second.emplace(loopback_of(2, found.back().transport.address().port()));
    } while (second->result == -FI_EADDRINUSE && found.size() < 32);
    RailSide &b = found.back(), &other = *second;
    ASSERT_EQ(other.result, 0);
    RailSide a;
    Peer* to_b = a.peer_at(b.where());
    const std::string text = pattern(kLong, 1);
    size_t sent = 0;
    const int64_t until = net::now_milliseconds() + 1000;
    while (net::now_milliseconds() < until) {
        other.progress();
        ASSERT_TRUE(
            run({&a, &b}, [&] { return send_text(a.transport, *to_b, text, 0, false, &a) != SendResult::Again; }));
        ++sent;
        ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == sent; }));
        EXPECT_TRUE(b.sink.frames.back().payload == text);
        ASSERT_EQ(a.transport.rails_up(*to_b), 0u);
    }
    EXPECT_EQ(other.transport.peers_up(), 0u);
    EXPECT_TRUE(a.sink.downs.empty());
}

TEST(TcpRails, ThePeerOfAnEndpointThatClosesIsNotifiedWhenItWasWaitingForParts) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(pair.send(pair.a, *pair.to_b, kLong));
    // As if the process had been killed: everything of it ends at once.
    for (const unsigned last : {1u, 2u, 3u}) {
        for (const int fd : rail_sockets(last, pair.b, false)) shutdown(fd, SHUT_RDWR);
    }
    ASSERT_TRUE(run({&pair.b}, [&] { return !pair.b.sink.downs.empty(); }));
    ASSERT_TRUE(run({&pair.a}, [&] { return !pair.a.sink.downs.empty(); }));
    EXPECT_EQ(pair.b.transport.peers_up(), 0u);
    ASSERT_TRUE(run({&pair.a}, [&] { return pair.a.sink.tokens.size() >= 4; }));
}

}  // namespace
}  // namespace selvage::impl::test
