// Who goes on sending, faster than it is read, holds nobody up who only throws that away.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "impl/test/tcp/fake_sink.h"

namespace {
std::atomic<int64_t> ends{0};  // milliseconds of net::now_milliseconds() until which there is always more to read
std::atomic<int> reads{0};     // that were given something
}  // namespace

// In the place of the C library's, for this program.
extern "C" ssize_t recv(int socket, void* buffer, size_t size, int flags) {
    const long got = syscall(SYS_recvfrom, socket, buffer, size, flags, nullptr, nullptr);
    if (got >= 0 || selvage::impl::net::now_milliseconds() >= ends) return got;
    ++reads;
    return static_cast<ssize_t>(size);
}

namespace selvage::impl::test {
namespace {

constexpr int64_t kUnending = 10 * net::kLinger;

class TcpUnendingInput : public testing::Test {
protected:
    void begin() {
        reads = 0;
        ends = net::now_milliseconds() + kUnending;
    }
    static bool is_going_on() { return net::now_milliseconds() < ends; }
    ~TcpUnendingInput() override { ends = 0; }
};

// Before: all that he sent was read first, as long as there was more.
TEST_F(TcpUnendingInput, OfACallerWhoIsRefusedIsReadNoLongerThanItTakesToTellHim) {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    {
        net::PendingConnection caller;
        caller.socket = sockets[0];
        begin();
        caller.refuse(net::Refusal::Kind);
        EXPECT_TRUE(is_going_on());
        EXPECT_GT(reads, 0);
    }
    ends = 0;
    uint8_t bytes[net::kNoteMax];
    net::Note said;
    size_t used = 0;
    const ssize_t got = recv(sockets[1], bytes, sizeof bytes, 0);
    ASSERT_GT(got, 0);
    ASSERT_EQ(net::read_note(bytes, static_cast<size_t>(got), &said, &used), net::Scan::Whole);
    EXPECT_EQ(said.refusal, net::Refusal::Kind);
    ::close(sockets[1]);
}

// Before: closing took as long as the peer went on.
TEST_F(TcpUnendingInput, OfAPeerDoesNotKeepAnEndpointFromClosing) {
    Side a, b;
    Peer* peer = a.peer(b);
    send_text(a.transport, *peer, "here");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    begin();
    a.transport.close();
    EXPECT_TRUE(is_going_on());
    EXPECT_GT(reads, 0);
}

}  // namespace
}  // namespace selvage::impl::test
