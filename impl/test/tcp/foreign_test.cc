// The other end of a connection is no endpoint of this library: what a dial makes of what it says, and what the log
// says of those who call.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

// A listener that takes the connection and the hello, answers with `answer`, and closes.
net::Foreign foreign_after(const std::string& answer, bool takes_hello = true) {
    SocketAddress address = loopback();
    int listener = -1;
    EXPECT_EQ(net::listen_at(&address, 1, &listener), 0);
    net::Dial dial;
    EXPECT_EQ(dial.start(loopback(), address, net::Note{}), 0);
    int caller = -1;
    net::Step step = net::Step::Pending;
    for (int i = 0; i < 10000 && step == net::Step::Pending; ++i) {
        step = dial.advance({});
        if (caller < 0 && (caller = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
            (void)dial.advance({});
            char hello[net::kNoteMax];
            while (takes_hello && recv(caller, hello, sizeof hello, 0) <= 0) (void)dial.advance({});
            EXPECT_EQ(::send(caller, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
            close(caller);
        }
        usleep(100);
    }
    close(listener);
    EXPECT_EQ(step, net::Step::Failed);
    return dial.foreign;
}

TEST(TcpForeign, AnAnswerThatIsNoNoteIsDistinguishedFromNone) {
    EXPECT_EQ(foreign_after("SSH-2.0-OpenSSH_9.2\r\n"), net::Foreign::Speaks);
    EXPECT_EQ(foreign_after(""), net::Foreign::Silent);
    EXPECT_EQ(foreign_after("", false), net::Foreign::Silent) << "closed over an unread hello: a reset";
    uint8_t challenge[net::kNoteMax];
    net::Note note;
    note.type = net::NoteType::Challenge;
    const size_t size = net::write_note(note, challenge);
    const std::string whole(reinterpret_cast<char*>(challenge), size);
    EXPECT_EQ(foreign_after(whole), net::Foreign::No) << "it speaks the protocol, and is gone";
    EXPECT_EQ(foreign_after(whole.substr(0, 40)), net::Foreign::No);
}

TEST(TcpForeign, ManyCallersOfAnotherProtocolHaveOneLineOfTheLog) {
    Side side;
    testing::internal::CaptureStderr();
    for (int i = 0; i < 50; ++i) {
        const SocketAddress at = side.transport.address();
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_EQ(connect(socket, &at.any, static_cast<socklen_t>(at.length())), 0);
        EXPECT_EQ(::send(socket, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
        char byte;
        EXPECT_TRUE(run({&side}, [&] { return recv(socket, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET; }));
        close(socket);
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
    EXPECT_NE(text.find("<warn> fi_sockaddr://127.0.0.1:"), std::string::npos) << text;
    EXPECT_NE(text.find("speaks another protocol"), std::string::npos) << text;
}

// It closes every connection: a peer that does so for as long as a connection may take is given up.
TEST(TcpForeign, APeerThatNeverAnswersIsGivenUpWithTheTimeOfAConnection) {
    SocketAddress address = loopback();
    int listener = -1;
    ASSERT_EQ(net::listen_at(&address, 64, &listener), 0);
    setenv("FI_TCP_CONNECT_TIMEOUT", "700", 1);
    Side side;
    Peer* peer = nullptr;
    ASSERT_EQ(side.transport.peer_at(address, &peer), 0);
    testing::internal::CaptureStderr();
    const int64_t start = net::now_milliseconds();
    int calls = 0;
    EXPECT_TRUE(run(
        {&side},
        [&] {
            const int caller = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (caller >= 0) {
                ++calls;
                close(caller);
            }
            return !side.sink.downs.empty();
        },
        20000));
    unsetenv("FI_TCP_CONNECT_TIMEOUT");
    close(listener);
    EXPECT_GE(net::now_milliseconds() - start, 700);
    EXPECT_GE(calls, 5);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
    EXPECT_NE(text.find("closes every connection without an answer"), std::string::npos) << text;
}

}  // namespace
}  // namespace selvage::impl::test
