// Connections are set up though the application does not call, at either end, and what was reported as sent to a peer
// that is being dialed arrives, or its loss is in the log.
#include <gtest/gtest.h>
#include <rdma/fi_ext.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "impl/config/log.h"
#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr useconds_t kMillisecond = 1000;

bool arrives(Side& side, size_t count) {
    return run({&side}, [&] { return side.sink.frames.size() >= count; });
}

TEST(TcpSetup, TheFirstMessageArrivesThoughItsSenderIsNotCalledAgain) {
    Side a, b;
    ASSERT_EQ(send_text(a.transport, *a.peer(b), "first"), SendResult::Done);
    EXPECT_TRUE(arrives(b, 1)) << "a is not called";
}

TEST(TcpSetup, TheSenderMayCloseWhileTheReceiverIsNotCalled) {
    Side b;
    auto a = std::make_unique<Side>();
    for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(send_text(a->transport, *a->peer(b), "x", i), SendResult::Done);
    const int64_t start = net::now_milliseconds();
    a.reset();
    EXPECT_LT(net::now_milliseconds() - start, 900);
    ASSERT_TRUE(arrives(b, 5));
    ASSERT_TRUE(run({&b}, [&] { return b.sink.downs.size() == 1; }));
    for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(b.sink.frames[i].header.word[0], i);
}

TEST(TcpSetup, NeitherSideIsCalledAndTheMessageIsThere) {
    Side a, b;
    ASSERT_EQ(send_text(a.transport, *a.peer(b), "first"), SendResult::Done);
    usleep(300 * kMillisecond);
    b.progress();
    b.progress();
    ASSERT_EQ(b.sink.frames.size(), 1u) << "it was not waiting at the receiver";
    // And the answer goes the same way, without another connection.
    ASSERT_EQ(send_text(b.transport, *b.sink.frames[0].from, "answer"), SendResult::Done);
    ASSERT_TRUE(arrives(a, 1));
    EXPECT_EQ(a.transport.peers_up() + b.transport.peers_up(), 2u);
}

TEST(TcpSetup, TwoThatDialEachOtherAndAreNotCalledEndWithOneConnection) {
    for (int round = 0; round < 20; ++round) {
        Side a, b;
        ASSERT_EQ(send_text(a.transport, *a.peer(b), "from a"), SendResult::Done);
        ASSERT_EQ(send_text(b.transport, *b.peer(a), "from b"), SendResult::Done);
        usleep(static_cast<useconds_t>(round) * kMillisecond);
        ASSERT_TRUE(run({&a, &b}, [&] { return a.sink.frames.size() == 1 && b.sink.frames.size() == 1; })) << round;
        run(
            {&a, &b}, [] { return false; }, 2);
        EXPECT_EQ(a.transport.peers_up(), 1u);
        EXPECT_EQ(b.transport.peers_up(), 1u);
        EXPECT_TRUE(a.sink.downs.empty());
        EXPECT_TRUE(b.sink.downs.empty());
    }
}

TEST(TcpSetup, TwoThatDialEachOtherMayBothCloseAtOnce) {
    for (int round = 0; round < 20; ++round) {
        auto a = std::make_unique<Side>(), b = std::make_unique<Side>();
        ASSERT_EQ(send_text(a->transport, *a->peer(*b), "from a"), SendResult::Done);
        ASSERT_EQ(send_text(b->transport, *b->peer(*a), "from b"), SendResult::Done);
        if (round % 2) std::swap(a, b);
        a.reset();
        ASSERT_TRUE(arrives(*b, 1)) << round;
    }
}

TEST(TcpSetup, ASleeperWakesWhenItsConnectionIsThere) {
    Side a, b;
    Peer* peer = a.peer(b);
    const std::string big(100'000, 'b');
    ASSERT_EQ(send_text(a.transport, *peer, big), SendResult::Again) << "only small frames are kept";
    for (int i = 0; i < 100 && a.sink.rooms.empty(); ++i) {
        a.progress();
        if (!a.sink.rooms.empty() || !a.transport.arm()) continue;
        pollfd wait{.fd = a.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
        ASSERT_GT(poll(&wait, 1, 3000), 0) << "slept through it; b is not called, its thread is";
    }
    EXPECT_EQ(a.sink.rooms.size(), 1u);
}

// A listener by hand, which stops at one of the four notes.
class Script {
public:
    Script() {
        socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        address = loopback();
        bind(socket_, &address.any, static_cast<socklen_t>(address.length()));
        listen(socket_, 16);
        address = net::local_address(socket_);
    }
    ~Script() {
        hang_up();
        ::close(socket_);
    }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    void hang_up() {
        if (call_ >= 0) ::close(call_);
        call_ = -1;
    }
    // 0: accept, 1: the hello is there, 2: challenge sent and the proof is there, 3: welcome sent.
    bool go_to(int note) {
        if (call_ < 0) {
            pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
            if (poll(&wait, 1, 5000) != 1) return false;
            call_ = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
            at_ = 0;
        }
        for (; at_ < note; ++at_) {
            if (at_ == 0 && !read_note(hello_, &hello_size_)) return false;
            if (at_ == 1 && !challenge()) return false;
            if (at_ == 2 && !welcome()) return false;
        }
        return true;
    }
    // What comes behind the welcome, until there is enough.
    std::string read(size_t size) {
        std::string text(size, '\0');
        size_t got = 0;
        while (got < size) {
            const ssize_t part = recv(call_, text.data() + got, size - got, 0);
            if (part <= 0) break;
            got += static_cast<size_t>(part);
        }
        text.resize(got);
        return text;
    }

    SocketAddress address;

private:
    bool read_note(uint8_t* bytes, size_t* size) {
        const timeval limit{.tv_sec = 5, .tv_usec = 0};
        setsockopt(call_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        *size = net::kNoteFixed;
        return recv(call_, bytes, *size, MSG_WAITALL) == static_cast<ssize_t>(*size);
    }
    bool send(const net::Note& note, uint8_t* bytes, size_t* size) {
        *size = net::write_note(note, bytes);
        return ::send(call_, bytes, *size, MSG_NOSIGNAL) == static_cast<ssize_t>(*size);
    }
    bool challenge() {
        net::Note note;
        note.type = net::NoteType::Challenge;
        uint8_t bytes[net::kNoteMax];
        size_t size;
        if (!send(note, bytes, &size)) return false;
        transcript_ = net::make_transcript(hello_, hello_size_, bytes, size);
        return read_note(bytes, &size);
    }
    bool welcome() {
        net::Note note;
        note.type = net::NoteType::Welcome;
        note.instance = 4711;
        net::prove_listener({}, transcript_, note, note.digest);
        uint8_t bytes[net::kNoteMax];
        size_t size;
        return send(note, bytes, &size);
    }

    int socket_ = -1;
    int call_ = -1;
    int at_ = 0;
    uint8_t hello_[net::kNoteMax];
    size_t hello_size_ = 0;
    net::Transcript transcript_{};
};

constexpr size_t kFrame = sizeof(Header) + 5;

Peer* peer_at(Side& side, const SocketAddress& address) {
    Peer* peer = nullptr;
    EXPECT_EQ(side.transport.peer_at(address, &peer), 0);
    return peer;
}

TEST(TcpSetup, TheSenderMayCloseAtEachNoteOfTheHandshake) {
    for (int note = 0; note <= 3; ++note) {
        Script script;
        auto a = std::make_unique<Side>();
        ASSERT_EQ(send_text(a->transport, *peer_at(*a, script.address), "first"), SendResult::Done);
        ASSERT_TRUE(script.go_to(note)) << note;
        std::thread closing([&] { a.reset(); });
        usleep(100 * kMillisecond);
        EXPECT_TRUE(script.go_to(3)) << note;
        const std::string frame = script.read(kFrame);
        closing.join();
        ASSERT_EQ(frame.size(), kFrame) << note;
        EXPECT_EQ(frame.substr(sizeof(Header)), "first");
    }
}

TEST(TcpSetup, WhatWaitsSurvivesAnAttemptThatIsDroppedAtEachNote) {
    for (int note = 0; note <= 2; ++note) {
        Script script;
        Side a;
        ASSERT_EQ(send_text(a.transport, *peer_at(a, script.address), "first"), SendResult::Done);
        for (int attempt = 0; attempt < 3; ++attempt) {
            ASSERT_TRUE(script.go_to(note)) << note;
            script.hang_up();
            if (attempt == 1) a.progress();  // once by the endpoint's own thread
        }
        ASSERT_TRUE(script.go_to(3)) << note;
        EXPECT_EQ(script.read(kFrame).substr(sizeof(Header)), "first");
        a.progress();
        EXPECT_TRUE(a.sink.downs.empty());
    }
}

TEST(TcpSetup, WhatWaitsSurvivesThatNobodyListensForAMoment) {
    Side a;
    SocketAddress address;
    {
        Side gone;
        address = gone.transport.address();
    }
    ASSERT_EQ(send_text(a.transport, *peer_at(a, address), "patient"), SendResult::Done);
    usleep(300 * kMillisecond);
    a.progress();
    TcpTransport late;
    ASSERT_EQ(late.open_datagram(address, {}), 0);
    FakeSink sink;
    ASSERT_TRUE(run({}, [&] {
        late.progress(sink);
        return sink.frames.size() == 1;
    })) << "a is not called";
    EXPECT_TRUE(a.sink.downs.empty());
}

// A process that is stopped, or has no processor, has a machine that takes its connections.
TEST(TcpSetup, APeerWhoseMachineAnswersHasTheTimeOfOneThatIsUp) {
    setenv("FI_TCP_CONNECT_TIMEOUT", "200", 1);
    setenv("FI_TCP_PEER_TIMEOUT", "1000", 1);
    Script script;
    Side a;
    ASSERT_EQ(send_text(a.transport, *peer_at(a, script.address), "first"), SendResult::Done);
    ASSERT_TRUE(script.go_to(1));  // and no further
    run(
        {&a}, [] { return false; }, 600);
    EXPECT_TRUE(a.sink.downs.empty());
    EXPECT_TRUE(run({&a}, [&] { return a.sink.downs.size() == 1; })) << "not for ever";
    unsetenv("FI_TCP_CONNECT_TIMEOUT");
    unsetenv("FI_TCP_PEER_TIMEOUT");
}

// Who gets no processor looks at a connection when it has been taken and has ended.
TEST(TcpSetup, AConnectionThatEndedBeforeAnyoneLookedWasTaken) {
    for (const bool listens : {true, false}) {
        const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        SocketAddress at = loopback();
        socklen_t length = sizeof at.v4;
        ASSERT_EQ(bind(listener, &at.any, length), 0);
        ASSERT_EQ(getsockname(listener, &at.any, &length), 0);
        if (listens) {
            ASSERT_EQ(listen(listener, 1), 0);
        }
        net::Dial dial;
        ASSERT_EQ(dial.start(loopback(), at, net::Note{}), 0);
        if (listens) {
            const int taken = accept(listener, nullptr, nullptr);
            const linger reset{.l_onoff = 1, .l_linger = 0};
            ASSERT_EQ(setsockopt(taken, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
            close(taken);
        }
        net::Step step = net::Step::Pending;
        for (int i = 0; i < 1000 && step == net::Step::Pending; ++i) {
            usleep(kMillisecond);
            step = dial.advance({});
        }
        EXPECT_EQ(step, net::Step::Failed);
        EXPECT_EQ(dial.was_taken(), listens) << strerror(dial.error);
        close(listener);
    }
}

// The log's lines, instead of standard error.
class Lines {
public:
    Lines() {
        static fi_ops_log operations{};
        operations.size = sizeof operations;
        operations.enabled = [](const fi_provider*, fi_log_level level, fi_log_subsys, uint64_t) -> int {
            return level == FI_LOG_WARN;
        };
        operations.ready = [](const fi_provider*, fi_log_level, fi_log_subsys, uint64_t, uint64_t*) -> int {
            return 0;
        };
        operations.log = [](const fi_provider*, fi_log_level, fi_log_subsys, const char*, int, const char* text) {
            lines().push_back(text);
        };
        static fid_logging logger{};
        logger.ops = &operations;
        import_logger(&logger);
    }
    ~Lines() {
        import_logger(nullptr);
        lines().clear();
    }
    static std::vector<std::string>& lines() {
        static std::vector<std::string> all;
        return all;
    }
};

TEST(TcpSetup, WhatIsLostAfterAllIsInTheLog) {
    Lines lines;
    Script script;
    auto a = std::make_unique<Side>();
    for (int i = 0; i < 7; ++i) {
        ASSERT_EQ(send_text(a->transport, *peer_at(*a, script.address), "first"), SendResult::Done);
    }
    ASSERT_TRUE(script.go_to(1));  // and no further: the process there is stopped, say
    const int64_t start = net::now_milliseconds();
    a.reset();
    const int64_t took = net::now_milliseconds() - start;
    EXPECT_GE(took, net::kSetupLinger);
    EXPECT_LT(took, net::kSetupLinger + net::kLinger + 500);
    ASSERT_EQ(Lines::lines().size(), 1u);
    EXPECT_NE(Lines::lines()[0].find("7 messages"), std::string::npos) << Lines::lines()[0];
}

TEST(TcpSetup, ClosingDoesNotWaitForAPeerForWhichNothingWaits) {
    Script script;
    auto a = std::make_unique<Side>();
    ASSERT_TRUE(peer_at(*a, script.address));
    ASSERT_TRUE(script.go_to(1));
    const int64_t start = net::now_milliseconds();
    a.reset();
    EXPECT_LT(net::now_milliseconds() - start, 500);
}

TEST(TcpSetup, ARestartedCallerGetsInOnceTheEndOfTheOldOneIsSeen) {
    Side b;
    auto a = std::make_unique<Side>();
    const SocketAddress address = a->transport.address();
    send_text(a->transport, *a->peer(b), "first");
    ASSERT_TRUE(run({a.get(), &b}, [&] { return b.sink.frames.size() == 1; }));
    a.reset();
    TcpTransport again;
    ASSERT_EQ(again.open_datagram(address, {}), 0);
    Peer* peer = nullptr;
    ASSERT_EQ(again.peer_at(b.transport.address(), &peer), 0);
    send_text(again, *peer, "second");
    usleep(200 * kMillisecond);  // b is not called, and its thread may not report that the old one is down
    ASSERT_TRUE(arrives(b, 2)) << "the new one is not called";
    EXPECT_EQ(b.sink.downs.size(), 1u);
    EXPECT_EQ(b.sink.frames[1].payload, "second");
}

}  // namespace
}  // namespace selvage::impl::test
