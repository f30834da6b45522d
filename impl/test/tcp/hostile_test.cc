// Strangers at the port, and many peers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

int knock(const SocketAddress& at) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(socket, &at.any, static_cast<socklen_t>(at.length())) ? -1 : socket;
}

bool was_closed(int socket) {
    char byte;
    const ssize_t got = recv(socket, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

struct Pair {
    Side a, b;
    Peer* peer = a.peer(b);
    size_t sent = 0;
    bool talk() {
        send_text(a.transport, *peer, "still here");
        ++sent;
        return run({&a, &b}, [&] { return b.sink.frames.size() == sent; });
    }
};

TEST(TcpPendingConnections, GarbageIsCutOffAtItsFirstBytesAndDisturbsNobody) {
    Pair pair;
    ASSERT_TRUE(pair.talk());
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        const int socket = knock(pair.b.transport.address());
        ASSERT_GE(socket, 0);
        std::string garbage(1 + random() % 500, '\0');
        for (char& byte : garbage) byte = static_cast<char>(random());
        if (round % 3 == 0) {  // a hello, spoilt somewhere
            uint8_t bytes[net::kNoteMax];
            const size_t size = net::write_note(net::Note{}, bytes);
            garbage.assign(reinterpret_cast<char*>(bytes), size);
            garbage[random() % size] ^= static_cast<char>(1 + random() % 255);
            garbage.resize(random() % (size + 1));
        }
        (void)::send(socket, garbage.data(), garbage.size(), MSG_NOSIGNAL);
        pair.b.progress();
        if (round % 2) shutdown(socket, SHUT_WR);
        pair.b.progress();
        close(socket);
        if (round % 20 == 0) {
            ASSERT_TRUE(pair.talk());
        }
    }
    ASSERT_TRUE(pair.talk());
    EXPECT_TRUE(pair.b.sink.downs.empty());
    EXPECT_EQ(pair.b.transport.peers_up(), 1u);
}

// A whole handshake but for the key, or with a proof of somebody else's conversation.
TEST(TcpPendingConnections, AProofOfAnotherConversationIsRefused) {
    Side b;
    const int first = knock(b.transport.address()), second = knock(b.transport.address());
    uint8_t hello[net::kNoteMax];
    const size_t size = net::write_note(net::Note{}, hello);
    uint8_t challenge[2][net::kNoteFixed];
    for (const int socket : {first, second}) {
        ASSERT_EQ(::send(socket, hello, size, 0), static_cast<ssize_t>(size));
        for (int i = 0; i < 10; ++i) b.progress();
        ASSERT_EQ(recv(socket, challenge[socket == second], net::kNoteFixed, 0), static_cast<ssize_t>(net::kNoteFixed));
    }
    net::Note proof;
    proof.type = net::NoteType::Proof;
    net::prove_caller({}, net::make_transcript(hello, size, challenge[0], net::kNoteFixed), proof.digest);
    uint8_t bytes[net::kNoteMax];
    const size_t length = net::write_note(proof, bytes);
    for (const int socket : {second, first}) {
        ASSERT_EQ(::send(socket, bytes, length, 0), static_cast<ssize_t>(length));
        for (int i = 0; i < 10; ++i) b.progress();
        net::Note answer;
        size_t used = 0;
        const ssize_t got = recv(socket, bytes + length, net::kNoteMax - length, 0);
        ASSERT_GT(got, 0);
        ASSERT_EQ(net::read_note(bytes + length, static_cast<size_t>(got), &answer, &used), net::Scan::Whole);
        EXPECT_EQ(answer.type, socket == second ? net::NoteType::Reject : net::NoteType::Welcome);
    }
    EXPECT_EQ(b.transport.peers_up(), 1u);
    close(first);
    close(second);
}

TEST(TcpPendingConnections, ThoseWhoSayNothingAreFewAndDoNotStay) {
    Pair pair;
    ASSERT_TRUE(pair.talk());
    std::vector<int> silent;
    for (size_t i = 0; i < net::kPendingMax; ++i) {
        silent.push_back(knock(pair.b.transport.address()));
        ASSERT_GE(silent.back(), 0);
        if (i % 16 == 0) pair.b.progress();
    }
    for (int i = 0; i < 20; ++i) {
        usleep(1000);
        pair.b.progress();
    }
    // All places are taken. After the grace the oldest makes room, so somebody who has something to say gets in.
    usleep(static_cast<useconds_t>(net::kPendingGrace) * 1000);
    Side c;
    Peer* to_b = c.peer(pair.b);
    send_text(c.transport, *to_b, "let me in");
    ++pair.sent;
    ASSERT_TRUE(run({&pair.b, &c}, [&] { return pair.b.sink.frames.size() == pair.sent; }));
    EXPECT_TRUE(was_closed(silent.front()));
    EXPECT_FALSE(was_closed(silent.back()));
    ASSERT_TRUE(pair.talk());
    // And after the limit none is left, though nothing else happens at the port: the descriptor wakes. The kernel may
    // tell the ends of the connections one after another.
    const auto all_closed = [&] { return std::all_of(silent.begin(), silent.end(), was_closed); };
    const int64_t until = net::now_milliseconds() + net::kPendingLimit + 1000;
    while (!all_closed() && net::now_milliseconds() < until) {
        pair.b.progress();
        if (!pair.b.transport.arm()) continue;
        pollfd wait{.fd = pair.b.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
        poll(&wait, 1, 3000);
    }
    EXPECT_TRUE(all_closed());
    for (const int socket : silent) close(socket);
}

// Connections without end from a process of their own, which never say anything: `rate` a second, or all at once.
class IdleCallers {
public:
    // From 127.0.0.`host`.
    IdleCallers(const SocketAddress& to, uint8_t host, int count, int rate) {
        process_ = fork();
        if (process_ == 0) be(to, host, count, rate);
    }
    ~IdleCallers() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    IdleCallers(const IdleCallers&) = delete;
    IdleCallers& operator=(const IdleCallers&) = delete;

private:
    // Nothing but system calls, as other threads of the parent may have held locks.
    [[noreturn]] static void be(const SocketAddress& to, uint8_t host, int count, int rate) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int64_t start = net::now_milliseconds();
        for (int i = 0; i < count; ++i) {
            const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            SocketAddress from = loopback();
            from.v4.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
            (void)bind(socket, &from.any, static_cast<socklen_t>(from.length()));
            (void)connect(socket, &to.any, static_cast<socklen_t>(to.length()));
            while (rate && (net::now_milliseconds() - start) * rate < int64_t{1000} * i) usleep(500);
        }
        for (;;) pause();
    }
    pid_t process_;
};

size_t descriptors_left() {
    std::vector<int> opened;
    for (int one; (one = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) opened.push_back(one);
    for (const int one : opened) close(one);
    return opened.size();
}

TEST(TcpPendingConnections, ThoseWhoSayNothingLeaveTheApplicationItsDescriptors) {
    Pair pair;
    ASSERT_TRUE(pair.talk());
    Side late;
    rlimit old{};
    getrlimit(RLIMIT_NOFILE, &old);
    rlimit tight = old;
    tight.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &tight);
    const size_t before = descriptors_left();
    {
        IdleCallers idle(pair.b.transport.address(), 1, 58, 0);
        run(
            {&pair.b}, [] { return false; }, 300);
        const size_t left = descriptors_left();
        setrlimit(RLIMIT_NOFILE, &old);
        EXPECT_LE(before - left, 64 / net::kPendingShare) << before << ", then " << left;
        // And they keep nobody out.
        setrlimit(RLIMIT_NOFILE, &tight);
        send_text(late.transport, *late.peer(pair.b), "let me in");
        ++pair.sent;
        EXPECT_TRUE(run(
            {&pair.b, &late}, [&] { return pair.b.sink.frames.size() == pair.sent; }, 1000));
    }
    setrlimit(RLIMIT_NOFILE, &old);
    EXPECT_TRUE(pair.talk());
}

// One handshake after the other, without a second attempt: how many of them are dropped.
int count_dropped(Side& target, int count) {
    int dropped = 0;
    for (int i = 0; i < count; ++i) {
        net::Dial dial;
        net::Note hello;
        hello.port = static_cast<uint16_t>(1 + i);
        hello.instance = static_cast<uint64_t>(4711 + i);
        if (dial.start(loopback(), target.transport.address(), hello)) return -1;
        net::Step step = net::Step::Pending;
        const bool ended = run(
            {&target}, [&] { return (step = dial.advance({})) != net::Step::Pending; }, 2000);
        dropped += !ended || step != net::Step::Done;
        usleep(20'000);
    }
    return dropped;
}

TEST(TcpPendingConnections, HundredsASecondWhoSayNothingKeepNobodyOut) {
    for (const uint8_t host : {uint8_t{2}, uint8_t{1}}) {  // another address than that of the others, and the same one
        Pair pair;
        ASSERT_TRUE(pair.talk());
        IdleCallers idle(pair.b.transport.address(), host, 100'000, 600);
        run(
            {&pair.b}, [] { return false; }, 1000);  // until there is no place left
        EXPECT_EQ(count_dropped(pair.b, 40), 0) << "idle callers at 127.0.0." << int{host};
        EXPECT_TRUE(pair.talk());
    }
}

// Somebody who has sent the hello, and takes time for the proof.
TEST(TcpPendingConnections, ACallerOfAnotherAddressIsNotEvictedForThoseWhoSayNothing) {
    Side b;
    const int slow = knock(b.transport.address());
    uint8_t hello[net::kNoteMax], challenge[net::kNoteFixed];
    const size_t size = net::write_note(net::Note{}, hello);
    ASSERT_EQ(::send(slow, hello, size, 0), static_cast<ssize_t>(size));
    IdleCallers idle(b.transport.address(), 2, 100'000, 2000);
    run(
        {&b}, [] { return false; }, 1500);
    ASSERT_EQ(recv(slow, challenge, sizeof challenge, MSG_DONTWAIT), static_cast<ssize_t>(sizeof challenge));
    EXPECT_FALSE(was_closed(slow));
    close(slow);
}

TEST(TcpPendingConnections, ReplyingLateDoesNotBlockOthers) {
    Pair pair;
    const int slow = knock(pair.b.transport.address());
    uint8_t hello[net::kNoteMax];
    const size_t size = net::write_note(net::Note{}, hello);
    for (size_t i = 0; i < size; ++i) {
        ASSERT_EQ(::send(slow, hello + i, 1, 0), 1);
        pair.b.progress();
        if (i % 10 == 0) {
            ASSERT_TRUE(pair.talk());
        }
    }
    close(slow);
}

// The other end of a connection by hand: it proves itself and can then send what it likes.
class Impostor {
public:
    Impostor(Side& target, uint16_t port) {
        net::Note hello;
        hello.port = port;
        hello.instance = uint64_t{4711} << 16 | port;
        net::Dial dial;
        if (dial.start(loopback(), target.transport.address(), hello)) return;
        net::Step step = net::Step::Pending;
        run({&target}, [&] { return (step = dial.advance({})) != net::Step::Pending; });
        if (step == net::Step::Done) socket = dial.release_socket();
    }
    ~Impostor() {
        if (socket >= 0) close(socket);
    }
    Impostor(Impostor&& other) noexcept : socket(std::exchange(other.socket, -1)) {}
    Impostor& operator=(Impostor&& other) noexcept {
        std::swap(socket, other.socket);
        return *this;
    }

    int socket = -1;  // or -1: it was not let in
};

TEST(TcpPeers, OneAddressHasOnlySoManyOfThoseWhoCallThemselves) {
    setenv("FI_TCP_PEERS_PER_HOST", "40", 1);
    Side hub;
    unsetenv("FI_TCP_PEERS_PER_HOST");
    std::vector<Impostor> callers;
    for (uint16_t i = 0; i < 50; ++i) {
        callers.emplace_back(hub, static_cast<uint16_t>(1000 + i));
        EXPECT_EQ(callers.back().socket >= 0, i < 40) << i;
    }
    EXPECT_EQ(hub.transport.peers_up(), 40u);
    // Whom the endpoint calls itself is not among them; and who goes makes room.
    Side called;
    ASSERT_EQ(send_text(hub.transport, *hub.peer(called), "hello"), SendResult::Done);
    EXPECT_TRUE(run({&hub, &called}, [&] { return called.sink.frames.size() == 1; }));
    callers.erase(callers.begin());
    ASSERT_TRUE(run({&hub}, [&] { return hub.transport.peers_up() == 40; }));
    Impostor next(hub, 2000);
    EXPECT_GE(next.socket, 0);
    Impostor another(hub, 2001);
    EXPECT_LT(another.socket, 0);
}

TEST(TcpPeers, ThoseWhoComeAndGoOrAreRefusedLeaveNothing) {
    setenv("FI_TCP_PEERS_PER_HOST", "2", 1);
    Side hub;
    unsetenv("FI_TCP_PEERS_PER_HOST");
    const auto come_and_go = [&](uint16_t first, uint16_t count) {
        size_t gone = 0;
        for (uint16_t port = first; port < first + count; port = static_cast<uint16_t>(port + 3)) {
            {
                const Impostor in(hub, port), another(hub, static_cast<uint16_t>(port + 1)),
                    refused(hub, static_cast<uint16_t>(port + 2));
                ASSERT_GE(in.socket, 0);
                ASSERT_GE(another.socket, 0);
                ASSERT_LT(refused.socket, 0);
            }
            // Whom the flusher's thread lets in is counted before the hub takes him for a peer.
            gone += 2;
            ASSERT_TRUE(run({&hub}, [&] { return hub.sink.downs.size() == gone; }));
        }
        hub.sink.downs.clear();
        hub.sink.downs.shrink_to_fit();
        run(
            {&hub}, [] { return false; }, 50);
    };
    come_and_go(1000, 300);
    const size_t before = mallinfo2().uordblks;
    come_and_go(2000, 1500);
    const size_t after = mallinfo2().uordblks;
    EXPECT_LT(after, before + (size_t{64} << 10)) << "1,500 callers: a record of each would take 900 KiB";
}

TEST(TcpPeers, AThousandCostFewKilobytesEach) {
#ifdef SELVAGE_SANITIZED
    GTEST_SKIP() << "it measures time and memory, and a sanitizer takes both";
#endif
    constexpr size_t kPeers = 1000;
    Side hub;
    ASSERT_EQ(hub.result, 0);
    std::vector<std::unique_ptr<Side>> others;
    for (size_t i = 0; i < kPeers; ++i) {
        others.push_back(std::make_unique<Side>());
        ASSERT_EQ(others.back()->result, 0) << i;
    }
    const size_t before = mallinfo2().uordblks;
    const int64_t start = net::now_milliseconds();
    for (auto& other : others) {
        Peer* peer = hub.peer(*other);
        ASSERT_TRUE(peer);
        ASSERT_EQ(send_text(hub.transport, *peer, "hello"), SendResult::Done);
    }
    const int64_t deadline = start + 60000;
    size_t greeted = 0;
    while (greeted < kPeers && net::now_milliseconds() < deadline) {
        hub.progress();
        greeted = 0;
        for (auto& other : others) {
            other->progress();
            greeted += !other->sink.frames.empty();
        }
    }
    ASSERT_EQ(greeted, kPeers);
    for (int i = 0; i < 10; ++i) hub.progress();
    const size_t used = mallinfo2().uordblks - before;  // of both sides
    printf("%zu peers up after %ld ms, %zu bytes per connection\n", hub.transport.peers_up(),
           static_cast<long>(net::now_milliseconds() - start), used / kPeers);
    EXPECT_LT(used / kPeers, 8192u);
    // One of them talks; that a thousand others are there costs it nothing but epoll.
    Peer* back = others[500]->sink.frames[0].from;
    send_text(others[500]->transport, *back, "one of many");
    ASSERT_TRUE(run({&hub, others[500].get()}, [&] { return hub.sink.frames.size() == 1; }));
    EXPECT_EQ(hub.sink.frames[0].payload, "one of many");
}

}  // namespace
}  // namespace selvage::impl::test
