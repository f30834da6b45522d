// The TCP transport with a Sink that only keeps what it gets.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

std::string pattern(size_t size, uint64_t seed) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(seed * 31 + i * 7 + (i >> 8));
    return text;
}

static_assert(Transport<TcpTransport>);
static_assert(ReportsConnections<TcpTransport> && ReportsAddresses<TcpTransport> && DropsPeers<TcpTransport>);
static_assert(CopiesSources<TcpTransport> && DiscardsPlacements<TcpTransport> && !DeliversWhenSent<TcpTransport>);
static_assert(Sink<FakeSink, Peer> && CountsMalformed<FakeSink, Peer> && CountsConnections<FakeSink, Peer>);

TEST(TcpTransport, AFrameArrivesAsItWasSentAndTheAnswerComesBack) {
    Side a, b;
    ASSERT_EQ(a.result, 0);
    ASSERT_EQ(b.result, 0);
    Peer* to_b = a.peer(b);
    ASSERT_TRUE(to_b);
    EXPECT_EQ(send_text(a.transport, *to_b, "question", 7), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
    EXPECT_EQ(b.sink.frames[0].payload, "question");
    EXPECT_EQ(b.sink.frames[0].header.word[0], 7u);
    Peer* back = b.sink.frames[0].from;
    EXPECT_EQ(back, b.peer(a)) << "the caller is known by the address at which it listens";
    EXPECT_EQ(send_text(b.transport, *back, "answer"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.frames.empty(); }));
    EXPECT_EQ(a.sink.frames[0].payload, "answer");
    EXPECT_EQ(a.sink.frames[0].from, to_b);
    EXPECT_EQ(a.transport.peers_up() + b.transport.peers_up(), 2u) << "one connection for both directions";
}

// A stream of frames of any size, in both directions at once, with everything that send() may answer.
struct Stream {
    Side& side;
    Peer* peer;
    uint64_t seed;
    size_t count;
    std::mt19937_64 random{seed};
    size_t next = 0;
    std::deque<std::string> memory{};  // of what is held; nothing is freed before the end
    size_t held = 0;

    static size_t size_of(uint64_t seed, size_t i) {
        std::mt19937_64 random(seed * 1000003 + i);
        constexpr size_t kMost[] = {0, 8, 64, 600, 4096, 5000, 70000, tcp::kFramePayloadMax};
        const size_t most = kMost[random() % std::size(kMost)];
        return most ? random() % (most + 1) : 0;
    }
    void step() {
        for (size_t burst = random() % 20; burst-- && next < count;) {
            memory.push_back(pattern(size_of(seed, next), seed + next));
            const SendResult result =
                send_text(side.transport, *peer, memory.back(), next, random() % 2, &memory.back());
            ASSERT_NE(result, SendResult::Down);
            if (result == SendResult::Again) {
                memory.pop_back();
                return;
            }
            if (result == SendResult::Held) {
                ASSERT_GT(memory.back().size(), TcpTransport::kCopied);
                ++held;
            } else {
                memory.back().assign(memory.back().size(), '#');  // it is ours again
            }
            ++next;
        }
    }
};

void expect_stream(FakeSink& sink, uint64_t seed, size_t count) {
    ASSERT_EQ(sink.frames.size(), count);
    for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(sink.frames[i].header.word[0], i);
        ASSERT_TRUE(sink.frames[i].payload == pattern(Stream::size_of(seed, i), seed + i)) << "frame " << i;
    }
}

TEST(TcpTransport, FramesOfEverySizeArriveWholeOnceAndInOrderInBothDirections) {
    constexpr size_t kCount = 3000;
    Side a, b;
    Stream there{a, a.peer(b), 1, kCount};
    Stream back{b, b.peer(a), 2, kCount};
    ASSERT_TRUE(run(
        {&a, &b},
        [&] {
            there.step();
            back.step();
            return a.sink.frames.size() == kCount && b.sink.frames.size() == kCount;
        },
        60000));
    expect_stream(b.sink, 1, kCount);
    expect_stream(a.sink, 2, kCount);
    EXPECT_EQ(a.sink.tokens.size(), there.held);
    EXPECT_EQ(b.sink.tokens.size(), back.held);
    EXPECT_GT(a.sink.placements, 0);
    EXPECT_TRUE(a.sink.downs.empty());
}

TEST(TcpTransport, TheSameOverTheSixthVersionOfTheProtocol) {
    SocketAddress address;
    address.kind = AddressKind::Inet6;
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_addr = in6addr_loopback;
    TcpTransport a, b;
    FakeSink at_a, at_b;
    if (a.open_datagram(address, {}) == -FI_EADDRNOTAVAIL) GTEST_SKIP() << "no such interface here";
    ASSERT_EQ(b.open_datagram(address, {}), 0);
    Peer* peer = nullptr;
    ASSERT_EQ(a.peer_at(b.address(), &peer), 0);
    send_text(a, *peer, "six");
    for (int i = 0; i < 1000000 && at_b.frames.empty(); ++i) {
        a.progress(at_a);
        b.progress(at_b);
    }
    ASSERT_EQ(at_b.frames.size(), 1u);
    EXPECT_TRUE(net::same_address(at_b.frames[0].from->remote, a.address()));
}

TEST(TcpTransport, AnEndpointSendsToItself) {
    Side a;
    constexpr size_t kCount = 500;
    Stream stream{a, a.peer(a), 3, kCount};
    ASSERT_TRUE(run(
        {&a},
        [&] {
            stream.step();
            return a.sink.frames.size() == kCount;
        },
        30000));
    expect_stream(a.sink, 3, kCount);
    EXPECT_EQ(a.sink.frames[0].from, stream.peer);
}

TEST(TcpTransport, TwoThatDialEachOtherAtOnceEndWithOneConnectionAndLoseNothing) {
    for (int round = 0; round < 50; ++round) {
        Side a, b;
        Peer* to_b = a.peer(b);
        Peer* to_a = b.peer(a);
        EXPECT_EQ(send_text(a.transport, *to_b, "from a"), SendResult::Done);
        EXPECT_EQ(send_text(b.transport, *to_a, "from b"), SendResult::Done);
        ASSERT_TRUE(run({&a, &b}, [&] { return a.sink.frames.size() == 1 && b.sink.frames.size() == 1; })) << round;
        run(
            {&a, &b}, [] { return false; }, 2);
        EXPECT_EQ(a.transport.peers_up(), 1u);
        EXPECT_EQ(b.transport.peers_up(), 1u);
        EXPECT_TRUE(a.sink.downs.empty());
        EXPECT_TRUE(b.sink.downs.empty());
    }
}

TEST(TcpTransport, TwoThreadsThatDialEachOtherAtOnceLoseNothingEither) {
    for (int round = 0; round < 50; ++round) {
        Side a, b;
        std::atomic<int> ready{0}, done{0};
        const auto talk = [&](Side& self, Side& other) {
            Peer* peer = self.peer(other);
            send_text(self.transport, *peer, "hello");
            ++ready;
            while (ready != 2) continue;
            bool mine = false;
            const int64_t deadline = net::now_milliseconds() + 5000;
            while (done != 2 && net::now_milliseconds() < deadline) {
                self.progress();
                if (!mine && self.sink.frames.size() == 1) {
                    mine = true;
                    ++done;
                }
            }
        };
        std::thread thread([&] { talk(b, a); });
        talk(a, b);
        thread.join();
        ASSERT_EQ(a.sink.frames.size(), 1u) << round;
        ASSERT_EQ(b.sink.frames.size(), 1u) << round;
        EXPECT_TRUE(a.sink.downs.empty());
        EXPECT_TRUE(b.sink.downs.empty());
    }
}

TEST(TcpTransport, OnlyHoldersOfTheSameKeyAreAdmitted) {
    const uint8_t one[] = {1, 2, 3, 4}, other[] = {1, 2, 3, 5};
    Side a({one, sizeof one}), b({one, sizeof one}), c({other, sizeof other}), d;
    Peer* to_b = a.peer(b);
    send_text(a.transport, *to_b, "friend");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    for (Side* stranger : {&c, &d}) {
        Peer* to = stranger->peer(b);
        send_text(stranger->transport, *to, "foe");
        ASSERT_TRUE(run({stranger, &b}, [&] { return !stranger->sink.downs.empty(); }));
        EXPECT_EQ(stranger->sink.downs[0].second, FI_EKEYREJECTED);
    }
    EXPECT_EQ(b.sink.frames.size(), 1u);
    EXPECT_TRUE(b.sink.downs.empty());
}

// An address at which nobody listens, and which nobody else on this machine is given: a socket holds it, beside which
// one may listen that asks for that very address.
class HeldAddress {
public:
    HeldAddress() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int on = 1;
        sockaddr_in any = {};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
        EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    }
    ~HeldAddress() { close(socket_); }
    HeldAddress(const HeldAddress&) = delete;
    HeldAddress& operator=(const HeldAddress&) = delete;
    SocketAddress address() const { return net::local_address(socket_); }

private:
    int socket_;
};

TEST(TcpTransport, NobodyListeningIsReportedAndALaterCallMayFindSomebody) {
    Side a;
    const HeldAddress held;
    const SocketAddress gone = held.address();
    Peer* peer = nullptr;
    ASSERT_EQ(a.transport.peer_at(gone, &peer), 0);
    send_text(a.transport, *peer, "lost");
    ASSERT_TRUE(run({&a}, [&] { return a.sink.downs.size() == 1; }));
    EXPECT_EQ(a.sink.downs[0].second, FI_ECONNREFUSED);
    EXPECT_EQ(send_text(a.transport, *peer, "no"), SendResult::Down);
    TcpTransport late;
    ASSERT_EQ(late.open_datagram(gone, {}), 0);
    FakeSink sink;
    ASSERT_EQ(a.transport.peer_at(gone, &peer), 0);
    send_text(a.transport, *peer, "found");
    ASSERT_TRUE(run({&a}, [&] {
        late.progress(sink);
        return sink.frames.size() == 1;
    }));
    EXPECT_EQ(sink.frames[0].payload, "found");
}

TEST(TcpTransport, WhatWasSentBeforeTheEndpointClosedStillArrivesAndThenThePeerIsDown) {
    Side b;
    auto a = std::make_unique<Side>();
    Peer* peer = a->peer(b);
    for (int i = 0; i < 100; ++i) send_text(a->transport, *peer, "deferred", static_cast<uint64_t>(i));
    ASSERT_TRUE(run({a.get(), &b}, [&] { return b.sink.frames.size() == 100; }));
    for (int i = 0; i < 100; ++i) send_text(a->transport, *peer, "deferred", static_cast<uint64_t>(i));
    a.reset();
    ASSERT_TRUE(run({&b}, [&] { return !b.sink.downs.empty(); }));
    EXPECT_EQ(b.sink.frames.size(), 200u);
    EXPECT_EQ(b.transport.peers_up(), 0u);
}

TEST(TcpTransport, APeerThatStopsReadingMeansTryAgainAndThenRoom) {
    Side a, b;
    Peer* peer = a.peer(b);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    const std::string big = pattern(tcp::kFramePayloadMax, 5);
    size_t sent = 0;
    SendResult result;
    do {
        result = send_text(a.transport, *peer, big, sent);
        sent += result != SendResult::Again;
        a.progress();
    } while (result != SendResult::Again && sent < 10000);
    ASSERT_EQ(result, SendResult::Again) << "the kernel took everything";
    while (send_text(a.transport, *peer, "small", 1) == SendResult::Done) ++sent;
    a.sink.rooms.clear();
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.rooms.empty(); }));
    ASSERT_TRUE(run(
        {&a, &b}, [&] { return b.sink.frames.size() == sent + 1; }, 60000));
    EXPECT_TRUE(a.sink.downs.empty());
}

TEST(TcpTransport, ADeferredFrameLeavesThoughTheApplicationStopsCalling) {
    Side a, b;
    Peer* peer = a.peer(b);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    for (int round = 0; round < 3; ++round) {
        b.sink.frames.clear();
        for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(send_text(a.transport, *peer, "x", i), SendResult::Done);
        ASSERT_TRUE(run({&b}, [&] { return b.sink.frames.size() == 5; })) << "a is not called";
        usleep(round * 100000);  // long enough for the flusher to fall asleep
        a.progress();
    }
}

TEST(TcpTransport, APeerThatDisappearsInTheMiddleOfAFrameEndsItsPlacementAndNothingElse) {
    Side a, b, c;
    Peer* to_c = c.peer(b);
    send_text(c.transport, *to_c, "bystander");
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    Peer* peer = a.peer(b);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b, &c}, [&] { return b.sink.frames.size() == 2; }));
    // Half a frame by hand, behind the transport's back.
    Header header{};
    header.size = 100000;
    ASSERT_EQ(::send(peer->tx, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    ASSERT_EQ(::send(peer->tx, std::string(5000, 'x').data(), 5000, 0), 5000);
    ASSERT_TRUE(run({&b}, [&] { return b.sink.placements == 1; }));
    shutdown(peer->tx, SHUT_RDWR);
    ASSERT_TRUE(run({&b}, [&] { return b.sink.downs.size() == 1; }));
    EXPECT_EQ(b.sink.broken_placements, 1);
    send_text(c.transport, *to_c, "still here");
    ASSERT_TRUE(run({&b, &c}, [&] { return b.sink.frames.size() == 3; }));
}

TEST(TcpTransport, AForgedFrameDropsItsSenderOnly) {
    Side a, b;
    Peer* peer = a.peer(b);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    Header header{};
    header.size = UINT32_MAX;
    ASSERT_EQ(::send(peer->tx, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.downs.size() == 1 && a.sink.downs.size() == 1; }));
    EXPECT_EQ(b.sink.downs[0].second, FI_ECONNABORTED);
    peer = a.peer(b);
    send_text(a.transport, *peer, "again");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 2; }));
}

TEST(TcpTransport, ARestartedEndpointAtTheSameAddressIsANewPeer) {
    Side b;
    auto a = std::make_unique<Side>();
    const SocketAddress address = a->transport.address();
    Peer* peer = a->peer(b);
    send_text(a->transport, *peer, "first");
    ASSERT_TRUE(run({a.get(), &b}, [&] { return b.sink.frames.size() == 1; }));
    a.reset();
    TcpTransport again;
    FakeSink sink;
    ASSERT_EQ(again.open_datagram(address, {}), 0);
    ASSERT_EQ(again.peer_at(b.transport.address(), &peer), 0);
    send_text(again, *peer, "second");
    ASSERT_TRUE(run({&b}, [&] {
        again.progress(sink);
        return b.sink.frames.size() == 2;
    }));
    EXPECT_EQ(b.sink.downs.size(), 1u);
    EXPECT_EQ(b.transport.peers_up(), 1u);
}

TEST(TcpTransport, SleepingOnTheDescriptorMissesNothing) {
    Side a, b;
    constexpr size_t kCount = 2000;
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (b.sink.frames.size() < kCount && !stop) {
            b.progress();
            if (b.sink.frames.size() == kCount || !b.transport.arm()) continue;
            pollfd wait{.fd = b.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
            ASSERT_GT(poll(&wait, 1, 10000), 0) << "slept through something";
        }
    });
    Peer* peer = a.peer(b);
    for (size_t i = 0; i < kCount;) {
        i += send_text(a.transport, *peer, pattern(i % 3 ? 8 : 4000, i), i) == SendResult::Done;
        if (i % 7 == 0) {
            a.progress();
            if (a.transport.arm()) {
                pollfd wait{.fd = a.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
                poll(&wait, 1, 1);
            }
        }
    }
    reader.join();
    EXPECT_EQ(b.sink.frames.size(), kCount);
}

TEST(TcpTransport, NoDescriptorLeftIsAnErrorAndPasses) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the check of virtual calls opens a pipe of its own";
#endif
    Side a, b, c;
    rlimit old{};
    getrlimit(RLIMIT_NOFILE, &old);
    rlimit tight = old;
    const int lowest = dup(0);
    close(lowest);
    tight.rlim_cur = static_cast<rlim_t>(lowest);
    setrlimit(RLIMIT_NOFILE, &tight);
    Peer* peer = nullptr;
    EXPECT_EQ(a.transport.peer_at(b.transport.address(), &peer), -FI_EMFILE);
    EXPECT_EQ(peer, nullptr);
    // Room for the caller, none for the one who is called: the call is taken as soon as there is.
    tight.rlim_cur = static_cast<rlim_t>(lowest) + 1;
    setrlimit(RLIMIT_NOFILE, &tight);
    EXPECT_EQ(a.transport.peer_at(b.transport.address(), &peer), 0);
    ASSERT_TRUE(peer);
    send_text(a.transport, *peer, "patience");
    EXPECT_FALSE(run(
        {&a, &b}, [&] { return !b.sink.frames.empty(); }, 100));
    setrlimit(RLIMIT_NOFILE, &old);
    EXPECT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
}

}  // namespace
}  // namespace selvage::impl::test
