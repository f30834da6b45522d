// Callers without a key are welcome at their hello; what is made of one who only says that he has none, and what ends
// of releases before this one see.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr uint8_t kKey[] = {1, 2, 3};

net::Note hello_of(net::CallKind kind) {
    net::Note hello;
    hello.kind = kind;
    hello.port = 9;
    hello.instance = 77;
    hello.sequence = 1;
    net::fill_random(hello.random, sizeof hello.random);
    return hello;
}

net::Note keyless_hello() {
    net::Note hello = hello_of(net::CallKind::ReliableDatagram);
    net::mark_keyless(&hello);
    return hello;
}

std::string bytes_of(const net::Note& note) {
    uint8_t bytes[net::kNoteMax];
    const size_t size = net::write_note(note, bytes);
    return {reinterpret_cast<char*>(bytes), size};
}

std::string frame_of(const std::string& text) {
    Header header{};
    header.size = static_cast<uint32_t>(text.size());
    return std::string(reinterpret_cast<char*>(&header), sizeof header) + text;
}

// A caller by hand.
class Caller {
public:
    Caller(Side& side, const std::string& says)
        : side_(side), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const SocketAddress at = side.transport.address();
        EXPECT_EQ(connect(socket_, &at.any, static_cast<socklen_t>(at.length())), 0);
        EXPECT_EQ(::send(socket_, says.data(), says.size(), MSG_NOSIGNAL), static_cast<ssize_t>(says.size()));
    }
    ~Caller() { ::close(socket_); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    // The first note that comes back. False: none, and the connection has ended.
    bool is_answered(net::Note* out) {
        uint8_t bytes[net::kNoteMax];
        size_t size = 0, used = 0;
        ssize_t got = 0;
        const bool ended = run({&side_}, [&] {
            got = recv(socket_, bytes + size, sizeof bytes - size, MSG_DONTWAIT);
            if (got > 0) size += static_cast<size_t>(got);
            return got == 0 || net::read_note(bytes, size, out, &used) == net::Scan::Whole ||
                   (got < 0 && errno != EAGAIN);
        });
        EXPECT_TRUE(ended) << "neither an answer nor an end";
        return got > 0;
    }

private:
    Side& side_;
    int socket_;
};

TEST(TcpKeyless, TheHelloIsAnsweredByTheWelcome) {
    Side b;
    const net::Note hello = keyless_hello();
    Caller caller(b, bytes_of(hello));
    net::Note answer;
    ASSERT_TRUE(caller.is_answered(&answer));
    EXPECT_EQ(answer.type, net::NoteType::Welcome);
    EXPECT_EQ(memcmp(answer.random, hello.random, sizeof hello.random), 0);
    EXPECT_TRUE(run({&b}, [&] { return b.transport.peers_up() == 1; }));
}

TEST(TcpKeyless, AListenerWithAKeyRefusesAndTakesNothing) {
    Side b({kKey, sizeof kKey});
    Caller caller(b, bytes_of(keyless_hello()) + frame_of("unasked"));
    net::Note answer;
    ASSERT_TRUE(caller.is_answered(&answer));
    EXPECT_EQ(answer.type, net::NoteType::Reject);
    EXPECT_EQ(answer.refusal, net::Refusal::Key);
    run(
        {&b}, [] { return false; }, 20);
    EXPECT_EQ(b.transport.peers_up(), 0u);
    EXPECT_EQ(b.sink.connections, 0);
    EXPECT_TRUE(b.sink.frames.empty());
}

TEST(TcpKeyless, FramesBehindTheHelloAreNotTaken) {
    Side b;
    Caller caller(b, bytes_of(keyless_hello()) + frame_of("too early"));
    net::Note answer;
    EXPECT_FALSE(caller.is_answered(&answer)) << "more than a caller may say";
    EXPECT_EQ(b.transport.peers_up(), 0u);
    EXPECT_TRUE(b.sink.frames.empty());
}

// A caller of a release before, or with a key.
TEST(TcpKeyless, WhoDoesNotSaySoIsChallenged) {
    Side b;
    Caller caller(b, bytes_of(hello_of(net::CallKind::ReliableDatagram)));
    net::Note answer;
    ASSERT_TRUE(caller.is_answered(&answer));
    EXPECT_EQ(answer.type, net::NoteType::Challenge);
    EXPECT_EQ(b.transport.peers_up(), 0u);
}

TEST(TcpKeyless, ACallOfARailIsProvedWhateverItSays) {
    Side b;
    net::Note hello = hello_of(net::CallKind::Rail);
    net::mark_keyless(&hello);
    Caller caller(b, bytes_of(hello));
    net::Note answer;
    ASSERT_TRUE(caller.is_answered(&answer));
    EXPECT_EQ(answer.type, net::NoteType::Challenge);
}

// A listener by hand, which answers the hello with one note; what comes behind is read from `socket`.
class Answering {
public:
    Answering() {
        address_ = loopback();
        EXPECT_EQ(net::listen_at(&address_, 4, &listener_), 0);
    }
    ~Answering() {
        ::close(listener_);
        if (socket >= 0) ::close(socket);
    }
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;

    const SocketAddress& address() const { return address_; }
    net::Note await_hello() {
        pollfd wait{.fd = listener_, .events = POLLIN, .revents = 0};
        EXPECT_EQ(poll(&wait, 1, 5000), 1);
        socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        uint8_t bytes[net::kNoteFixed];
        EXPECT_EQ(recv(socket, bytes, sizeof bytes, MSG_WAITALL), static_cast<ssize_t>(sizeof bytes));
        net::Note hello;
        size_t used = 0;
        EXPECT_EQ(net::read_note(bytes, sizeof bytes, &hello, &used), net::Scan::Whole);
        return hello;
    }
    void answer(const net::Note& note) const {
        const std::string bytes = bytes_of(note);
        EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }

    int socket = -1;

private:
    SocketAddress address_;
    int listener_ = -1;
};

net::Note welcome_to(const net::Note& hello) {
    net::Note welcome;
    welcome.type = net::NoteType::Welcome;
    welcome.instance = 4711;
    memcpy(welcome.random, hello.random, sizeof welcome.random);
    return welcome;
}

TEST(TcpKeyless, WhatWaitsFollowsTheWelcome) {
    Answering there;
    Side a;
    Peer* peer = nullptr;
    ASSERT_EQ(a.transport.peer_at(there.address(), &peer), 0);
    ASSERT_EQ(send_text(a.transport, *peer, "first"), SendResult::Done);
    const net::Note hello = there.await_hello();
    EXPECT_TRUE(net::is_keyless(hello));
    run(
        {&a}, [] { return false; }, 20);
    const std::string expected = frame_of("first");
    std::string came(expected.size(), '\0');
    EXPECT_EQ(recv(there.socket, came.data(), came.size(), MSG_DONTWAIT), -1) << "before it is welcome";
    there.answer(welcome_to(hello));
    ASSERT_TRUE(run({&a}, [&] { return a.transport.peers_up() == 1; }));
    EXPECT_EQ(recv(there.socket, came.data(), came.size(), MSG_DONTWAIT), static_cast<ssize_t>(came.size()))
        << "in the progress that takes the welcome";
    EXPECT_EQ(came, expected);
}

// What a dial with this hello makes of this answer.
net::Step step_after(const net::Note& hello, const std::function<net::Note(const net::Note&)>& answer) {
    Answering there;
    net::Dial dial;
    EXPECT_EQ(dial.start(loopback(), there.address(), hello), 0);
    (void)dial.advance({});
    there.answer(answer(there.await_hello()));
    net::Step step = net::Step::Pending;
    for (int i = 0; i < 5000 && step == net::Step::Pending; ++i) {
        step = dial.advance({});
        usleep(1000);
    }
    return step;
}

TEST(TcpKeyless, AWelcomeWithoutAProofIsForWhoSaidThatHeHasNoKey) {
    EXPECT_EQ(step_after(keyless_hello(), welcome_to), net::Step::Done);
    EXPECT_EQ(step_after(hello_of(net::CallKind::ReliableDatagram), welcome_to), net::Step::Failed);
    EXPECT_EQ(step_after(keyless_hello(), [](const net::Note&) { return welcome_to(keyless_hello()); }),
              net::Step::Failed)
        << "it is of another hello";
}

TEST(TcpKeyless, AnEndpointWithAKeyDoesNotSayThatItHasNone) {
    Answering there;
    Side a({kKey, sizeof kKey});
    Peer* peer = nullptr;
    ASSERT_EQ(a.transport.peer_at(there.address(), &peer), 0);
    EXPECT_FALSE(net::is_keyless(there.await_hello()));
}

}  // namespace
}  // namespace selvage::impl::test
