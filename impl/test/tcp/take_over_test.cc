// A first connection that goes on over another link (take_over.h): what is kept for it, and what who was called does.
// That links die is tested with two hosts (network.cc).
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "impl/test/tcp/liar.h"

namespace selvage::impl::test {
namespace {

using tcp::KeptBytes;

std::string taken_from(KeptBytes& kept) {
    std::string all;
    iovec pieces[2];
    const size_t count = kept.gather(pieces);
    for (size_t i = 0; i < count; ++i) all.append(static_cast<char*>(pieces[i].iov_base), pieces[i].iov_len);
    kept.advance(all.size());
    return all;
}

void add(KeptBytes& kept, std::string text) {
    const size_t half = text.size() / 2;
    const iovec pieces[] = {{text.data(), half}, {text.data() + half, text.size() - half}};
    kept.add(pieces, text.size());
}

TEST(TcpKeptBytes, WhatTheOtherEndDoesNotHaveIsSentAgain) {
    KeptBytes kept;
    ASSERT_TRUE(kept.allocate());
    kept.open(3);
    add(kept, "abc");
    EXPECT_TRUE(kept.empty());
    add(kept, "defgh");
    EXPECT_EQ(kept.unsent(), 0u);
    ASSERT_TRUE(kept.go_on(2));
    EXPECT_EQ(taken_from(kept), "fgh");
    add(kept, "ij");
    kept.forget(4);
    EXPECT_FALSE(kept.go_on(2));
    ASSERT_TRUE(kept.go_on(3));
    EXPECT_EQ(taken_from(kept), "ghij");
}

TEST(TcpKeptBytes, NothingIsKeptBeforeTheStreamBegins) {
    KeptBytes kept;
    ASSERT_TRUE(kept.allocate());
    kept.open(5);
    EXPECT_EQ(kept.room(), 5u);
    add(kept, "abc");
    EXPECT_FALSE(kept.begun());
    add(kept, "de");
    EXPECT_TRUE(kept.begun());
    EXPECT_EQ(kept.next(), 0u);
    EXPECT_EQ(kept.room(), KeptBytes::kRoom);
}

TEST(TcpKeptBytes, APositionThatWasNotSentIsRefused) {
    KeptBytes kept;
    ASSERT_TRUE(kept.allocate());
    kept.open(0);
    add(kept, "abc");
    EXPECT_FALSE(kept.go_on(4));
    EXPECT_FALSE(kept.go_on(~uint64_t{0}));
    ASSERT_TRUE(kept.go_on(3));
    EXPECT_EQ(kept.unsent(), 0u);
}

TEST(TcpKeptBytes, TheRingGoesRound) {
    KeptBytes kept;
    ASSERT_TRUE(kept.allocate());
    kept.open(0);
    std::string text(KeptBytes::kRoom / 4 * 3, '\0');
    std::iota(text.begin(), text.end(), '\1');
    add(kept, text);
    kept.forget(10);
    EXPECT_EQ(kept.room(), KeptBytes::kRoom - 10);
    add(kept, text);
    ASSERT_TRUE(kept.go_on(text.size() - 10));
    EXPECT_EQ(taken_from(kept) + taken_from(kept), text.substr(text.size() - 10) + text);
}

TEST(TcpTakeOver, TheStreamGoesOnInTheMiddleOfAFrame) {
    Mover mover;
    const std::string text(3000, 'x');
    mover.first.write(Mover::frame(3000), text.data(), 1000);
    Raw next(mover.victim);
    ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
    EXPECT_EQ(mover.said.rail, tcp::kFirstStream);
    ASSERT_EQ(mover.said.taken, sizeof(Header) + 1000);
    next.write(tcp::control_header(tcp::kResumeOp, 0), text.data(), 2000);
    ASSERT_TRUE(mover.has_frames(1));
    EXPECT_EQ(mover.victim.sink.frames[0].payload, text);
    EXPECT_TRUE(mover.victim.sink.downs.empty());
}

// More than one look takes, just before it is answered.
TEST(TcpTakeOver, WhatTheKernelHasAcknowledgedIsTaken) {
    Mover mover;
    std::string frames;
    for (int i = 0; i < 256; ++i) {
        const Header header = Mover::frame(4000);
        frames.append(reinterpret_cast<const char*>(&header), sizeof header).append(4000, 'x');
    }
    Raw next(mover.victim);
    next.after_proof = [&] { mover.first.write(frames.data(), frames.size()); };
    ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
    EXPECT_GE(mover.said.taken + mover.first.under_way(), frames.size());
}

// More than the kernels take, of which nothing is read before the other connection is there. They take no more once
// they have taken nothing for longer than an acknowledgement is put off.
TEST(TcpTakeOver, WhatIsMissingIsSentAgain) {
    constexpr int64_t kFull = 250;  // milliseconds
    Mover mover;
    mover.first.take_little_ahead();
    mover.first.write(Mover::frame(4), "abcd", 4);
    ASSERT_TRUE(mover.has_frames(1));
    Peer* const peer = mover.victim.sink.frames[0].from;
    std::string expected;
    for (int64_t until = net::now_milliseconds() + kFull; net::now_milliseconds() < until; mover.victim.progress()) {
        std::string text(4000, '\0');
        std::iota(text.begin(), text.end(), static_cast<char>(expected.size()));
        if (send_text(mover.victim.transport, *peer, text) != SendResult::Done) continue;
        until = net::now_milliseconds() + kFull;
        const Header header = Mover::frame(4000);
        expected.append(reinterpret_cast<const char*>(&header), sizeof header).append(text);
    }
    Raw next(mover.victim);
    ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
    const std::string before = mover.first.take_all();
    EXPECT_LT(before.size(), expected.size());
    next.write(tcp::control_header(tcp::kResumeOp, before.size()), nullptr, 0);
    EXPECT_TRUE(before + next.take(expected.size() - before.size()) == expected);
    EXPECT_TRUE(mover.victim.sink.downs.empty());
}

TEST(TcpTakeOver, AConnectionThatIsGivenUpBeforeItIsUsedIsNotTheEndOfThePeer) {
    Mover mover;
    for (int i = 0; i < 3; ++i) {
        Raw next(mover.victim);
        ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
    }
    const int64_t until = net::now_milliseconds() + 50;
    while (net::now_milliseconds() < until) mover.victim.progress();
    Raw last(mover.victim);
    ASSERT_EQ(mover.call(last).type, net::NoteType::Welcome);
    last.write(tcp::control_header(tcp::kResumeOp, 0), nullptr, 0);
    last.write(Mover::frame(4), "abcd", 4);
    ASSERT_TRUE(mover.has_frames(1));
    EXPECT_TRUE(mover.victim.sink.downs.empty());
}

// Each time in the middle of a frame.
TEST(TcpTakeOver, AStreamGoesOnAThousandTimes) {
    Mover mover;
    std::unique_ptr<Raw> last;
    for (uint32_t i = 0; i < 1000; ++i) {
        Raw& old = last ? *last : mover.first;
        const Header header = {.size = 4, .op = 0, .flags = 0, .aux = 0, .word = {i, 0, 0}};
        old.write(header, "ab", 2);
        auto next = std::make_unique<Raw>(mover.victim);
        ASSERT_EQ(mover.call(*next).type, net::NoteType::Welcome) << i;
        next->write(tcp::control_header(tcp::kResumeOp, 0), "cd", 2);
        ASSERT_TRUE(mover.has_frames(1));
        EXPECT_EQ(mover.victim.sink.frames[0].header.word[0], i);
        EXPECT_EQ(mover.victim.sink.frames[0].payload, "abcd");
        mover.victim.sink.frames.clear();
        last = std::move(next);
    }
    EXPECT_TRUE(mover.victim.sink.downs.empty());
}

TEST(TcpTakeOver, WhoseStreamIsNotCountedCannotGoOn) {
    Liar liar;
    Raw rail(liar.victim), next(liar.victim);
    ASSERT_EQ(rail.call(liar.rail_hello({.rail = 0}), liar.key->key()).type, net::NoteType::Welcome);
    const net::Note answer = next.call(liar.rail_hello({.rail = tcp::kFirstStream}), liar.key->key());
    EXPECT_EQ(answer.type, net::NoteType::Reject);
    EXPECT_EQ(liar.victim.transport.peers_up(), 1u);
}

TEST(TcpTakeOver, AnOlderCallDoesNotCount) {
    Mover mover;
    Raw next(mover.victim), late(mover.victim);
    ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
    next.write(tcp::control_header(tcp::kResumeOp, 0), nullptr, 0);
    mover.sequence -= 2;
    EXPECT_EQ(mover.call(late).type, net::NoteType::Reject);
    next.write(Mover::frame(4), "abcd", 4);
    ASSERT_TRUE(mover.has_frames(1));
}

TEST(TcpTakeOver, WhatCannotBeResumedEndsThePeer) {
    const Header lies[] = {tcp::control_header(tcp::kResumeOp, 1), tcp::control_header(tcp::kResumeOp, ~uint64_t{0}),
                           tcp::control_header(tcp::kProbeOp), Mover::frame(0)};
    for (const Header& lie : lies) {
        Mover mover;
        Raw next(mover.victim);
        ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
        next.write(lie, nullptr, 0);
        EXPECT_TRUE(run({&mover.victim}, [&] { return mover.victim.transport.peers_up() == 0; }));
    }
}

TEST(TcpTakeOver, AStreamThatIsCountedTwiceIsMalformed) {
    Mover mover;
    mover.first.write(tcp::control_header(tcp::kKeepOp), nullptr, 0);
    EXPECT_TRUE(mover.is_dropped());
}

// No link has died.
TEST(TcpTakeOver, TheEndOfACountedConnectionIsThePeersAsEver) {
    Mover mover;
    mover.first.end();
    EXPECT_TRUE(run(
        {&mover.victim}, [&] { return mover.victim.sink.downs.size() == 1; }, 1000));
}

}  // namespace
}  // namespace selvage::impl::test
