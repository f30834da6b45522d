// Strangers at the port, and many peers.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

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

TEST(TcpStrangers, GarbageIsCutOffAtItsFirstBytesAndDisturbsNobody) {
    Pair pair;
    ASSERT_TRUE(pair.talk());
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        const int socket = knock(pair.b.transport.address());
        ASSERT_GE(socket, 0);
        std::string garbage(1 + random() % 500, '\0');
        for (char& byte : garbage) byte = static_cast<char>(random());
        if (round % 3 == 0) {  // a hello, spoilt somewhere
            uint8_t bytes[tcp::kNoteMax];
            const size_t size = tcp::write_note(tcp::Note{}, bytes);
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
TEST(TcpStrangers, AProofOfAnotherConversationIsRefused) {
    Side b;
    const int first = knock(b.transport.address()), second = knock(b.transport.address());
    uint8_t hello[tcp::kNoteMax];
    const size_t size = tcp::write_note(tcp::Note{}, hello);
    uint8_t challenge[2][tcp::kNoteFixed];
    for (const int socket : {first, second}) {
        ASSERT_EQ(::send(socket, hello, size, 0), static_cast<ssize_t>(size));
        for (int i = 0; i < 10; ++i) b.progress();
        ASSERT_EQ(recv(socket, challenge[socket == second], tcp::kNoteFixed, 0), static_cast<ssize_t>(tcp::kNoteFixed));
    }
    tcp::Note proof;
    proof.type = tcp::NoteType::kProof;
    tcp::prove_caller({}, tcp::make_transcript(hello, size, challenge[0], tcp::kNoteFixed), proof.digest);
    uint8_t bytes[tcp::kNoteMax];
    const size_t length = tcp::write_note(proof, bytes);
    for (const int socket : {second, first}) {
        ASSERT_EQ(::send(socket, bytes, length, 0), static_cast<ssize_t>(length));
        for (int i = 0; i < 10; ++i) b.progress();
        tcp::Note answer;
        size_t used = 0;
        const ssize_t got = recv(socket, bytes + length, tcp::kNoteMax - length, 0);
        ASSERT_GT(got, 0);
        ASSERT_EQ(tcp::read_note(bytes + length, static_cast<size_t>(got), &answer, &used), tcp::Scan::kWhole);
        EXPECT_EQ(answer.type, socket == second ? tcp::NoteType::kReject : tcp::NoteType::kWelcome);
    }
    EXPECT_EQ(b.transport.peers_up(), 1u);
    close(first);
    close(second);
}

TEST(TcpStrangers, ThoseWhoSayNothingAreFewAndDoNotStay) {
    Pair pair;
    ASSERT_TRUE(pair.talk());
    std::vector<int> silent;
    for (size_t i = 0; i < tcp::kStrangersMax; ++i) {
        silent.push_back(knock(pair.b.transport.address()));
        ASSERT_GE(silent.back(), 0);
        if (i % 16 == 0) pair.b.progress();
    }
    for (int i = 0; i < 20; ++i) {
        usleep(1000);
        pair.b.progress();
    }
    // All places are taken. After the grace the oldest makes room, so somebody who has something to say gets in.
    usleep(static_cast<useconds_t>(tcp::kStrangerGrace) * 1000);
    Side c;
    Peer* to_b = c.peer(pair.b);
    send_text(c.transport, *to_b, "let me in");
    ++pair.sent;
    ASSERT_TRUE(run({&pair.b, &c}, [&] { return pair.b.sink.frames.size() == pair.sent; }));
    EXPECT_TRUE(was_closed(silent.front()));
    EXPECT_FALSE(was_closed(silent.back()));
    ASSERT_TRUE(pair.talk());
    // And after the limit none is left, though nothing else happens at the port: the descriptor wakes.
    const int64_t until = tcp::now_milliseconds() + tcp::kStrangerLimit + 1000;
    while (!was_closed(silent.back()) && tcp::now_milliseconds() < until) {
        pair.b.progress();
        if (!pair.b.transport.arm()) continue;
        pollfd wait{.fd = pair.b.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
        poll(&wait, 1, 3000);
    }
    for (const int socket : silent) {
        EXPECT_TRUE(was_closed(socket));
        close(socket);
    }
}

TEST(TcpStrangers, ReplyingLateDoesNotBlockOthers) {
    Pair pair;
    const int slow = knock(pair.b.transport.address());
    uint8_t hello[tcp::kNoteMax];
    const size_t size = tcp::write_note(tcp::Note{}, hello);
    for (size_t i = 0; i < size; ++i) {
        ASSERT_EQ(::send(slow, hello + i, 1, 0), 1);
        pair.b.progress();
        if (i % 10 == 0) {
            ASSERT_TRUE(pair.talk());
        }
    }
    close(slow);
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
    const int64_t start = tcp::now_milliseconds();
    for (auto& other : others) {
        Peer* peer = hub.peer(*other);
        ASSERT_TRUE(peer);
        ASSERT_EQ(send_text(hub.transport, *peer, "hello"), SendResult::kDone);
    }
    const int64_t deadline = start + 60000;
    size_t greeted = 0;
    while (greeted < kPeers && tcp::now_milliseconds() < deadline) {
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
           static_cast<long>(tcp::now_milliseconds() - start), used / kPeers);
    EXPECT_LT(used / kPeers, 8192u);
    // One of them talks; that a thousand others are there costs it nothing but epoll.
    Peer* back = others[500]->sink.frames[0].from;
    send_text(others[500]->transport, *back, "one of many");
    ASSERT_TRUE(run({&hub, others[500].get()}, [&] { return hub.sink.frames.size() == 1; }));
    EXPECT_EQ(hub.sink.frames[0].payload, "one of many");
}

}  // namespace
}  // namespace selvage::impl::test
