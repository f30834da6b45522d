// Peers that lie about rails: numbers, lengths, who they are, how much of a stream they have.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "impl/test/tcp/liar.h"

namespace selvage::impl::test {
namespace {

TEST(TcpRailsHostile, ATrueFrameIsTaken) {
    Liar liar;
    Raw rail(liar.victim);
    ASSERT_EQ(rail.call(liar.rail_hello({.rail = 0}), liar.key->key()).type, net::NoteType::Welcome);
    const tcp::SplitHeader split = Liar::split();
    const std::string part(kPart, 'x');
    liar.first.write(Liar::split_header(), &split, sizeof split);
    liar.first.write(part.data(), part.size());
    rail.write(part.data(), part.size());
    ASSERT_TRUE(run({&liar.victim}, [&] { return liar.victim.sink.frames.size() == 1; }));
    EXPECT_EQ(liar.victim.sink.frames[0].payload, part + part);
    EXPECT_EQ(liar.victim.sink.malformed_frames, 0);
}

TEST(TcpRailsHostile, ASplitWithoutRailsIsMalformed) {
    Liar liar;
    const tcp::SplitHeader split = Liar::split();
    liar.first.write(Liar::split_header(), &split, sizeof split);
    EXPECT_TRUE(liar.is_dropped());
}

TEST(TcpRailsHostile, ASplitThatCannotBeIsMalformed) {
    for (int lie = 0; lie < 8; ++lie) {
        Liar liar;
        Raw rail(liar.victim);
        ASSERT_EQ(rail.call(liar.rail_hello({.rail = 0}), liar.key->key()).type, net::NoteType::Welcome);
        tcp::SplitHeader split = Liar::split();
        Header header = Liar::split_header();
        size_t size = sizeof split;
        if (lie == 0) split.number = 1;                                                     // none before it came
        if (lie == 1) split.parts[1] += 1;                                                  // not what the frame has
        if (lie == 2) split.frame.size = split.parts[0] = 1000, split.parts[1] = 0;         // too short to be split
        if (lie == 3) split.frame.size = 2 * (split.parts[0] = split.parts[1] = 1u << 20);  // too long for a frame
        if (lie == 4) std::swap(split.parts[1], split.parts[2]);  // by a rail that is not there
        if (lie == 5) split.parts[0] = 0x80000000u, split.parts[1] = 0x80000000u + kLong;  // adds up in 32 bits
        if (lie == 6) header.size -= 8, size -= 8;                                         // half a header
        if (lie == 7) header.op = 77;
        liar.first.write(header, &split, size);
        EXPECT_TRUE(liar.is_dropped()) << lie;
        EXPECT_EQ(liar.victim.sink.placements, 0) << lie;
    }
}

TEST(TcpRailsHostile, AnAnswerToWhatWasNotSentIsMalformed) {
    for (const uint64_t whole : {uint64_t{1}, ~uint64_t{0}}) {
        Liar liar;
        Raw rail(liar.victim);
        ASSERT_EQ(rail.call(liar.rail_hello({.rail = 0}), liar.key->key()).type, net::NoteType::Welcome);
        Header header{};
        header.size = tcp::kTransportFrame;
        header.op = tcp::kSplitAckOp;
        header.word[0] = whole;
        liar.first.write(header, nullptr, 0);
        EXPECT_TRUE(liar.is_dropped());
    }
}

// It would have the payload back while its part on the first connection is still to be read from there.
TEST(TcpRailsHostile, AnAnswerToAPartThatIsStillToBeSentIsMalformed) {
    Mover mover;
    mover.first.write(Mover::frame(4), "abcd", 4);
    ASSERT_TRUE(mover.has_frames(1));
    Peer* const peer = mover.victim.sink.frames[0].from;
    const int little = 4096;
    mover.first.take_little_ahead();
    ASSERT_EQ(setsockopt(peer->tx, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    const std::string text(TcpTransport::kFrameMax, 'x');
    const auto part_waits = [&] { return peer->buffer && peer->buffer->held_bytes(); };
    for (int i = 0; i < 8 && !part_waits(); ++i) {
        ASSERT_EQ(send_text(mover.victim.transport, *peer, text, 0, false, &mover), SendResult::Held);
        mover.victim.progress();
    }
    ASSERT_TRUE(part_waits());
    const tcp::SplitQueue& out = peer->rails->out;
    for (size_t i = 0; i < tcp::kRailsMax; ++i) ASSERT_EQ(out.unsent(i), 0u);
    mover.first.write(tcp::control_header(tcp::kSplitAckOp, out.next_number()), nullptr, 0);
    EXPECT_TRUE(mover.is_dropped());
    ASSERT_FALSE(mover.victim.sink.tokens.empty());
    EXPECT_NE(mover.victim.sink.tokens.back().second, 0);
}

// A header that is longer than any of these, and would have been read as a length.
TEST(TcpRailsHostile, ALongFrameOfTheTransportIsMalformed) {
    Liar liar;
    Header header{};
    header.size = tcp::kTransportFrame | (sizeof(tcp::SplitHeader) + 1);
    header.op = tcp::kSplitOp;
    liar.first.write(header, nullptr, 0);
    EXPECT_TRUE(liar.is_dropped());
}

TEST(TcpRailsHostile, WhoDoesNotHoldTheSecretGetsNoRail) {
    Liar liar;
    {
        Raw rail(liar.victim);
        const net::Note answer = rail.call(liar.rail_hello({.rail = 0}), {});
        EXPECT_EQ(answer.type, net::NoteType::Reject);
        EXPECT_EQ(answer.refusal, net::Refusal::Key);
    }
    {
        Raw rail(liar.victim);
        net::Note hello = liar.rail_hello({.rail = 0});
        hello.instance = 4712;  // nobody
        EXPECT_EQ(rail.call(hello, liar.key->key()).refusal, net::Refusal::Gone);
    }
    EXPECT_EQ(liar.victim.transport.peers_up(), 1u);
    EXPECT_TRUE(liar.victim.sink.downs.empty());
}

TEST(TcpRailsHostile, ACallThatCannotBeIsRefusedAndTheRailStays) {
    Liar liar;
    Raw rail(liar.victim);
    const net::Note good = liar.rail_hello({.rail = 0});
    ASSERT_EQ(rail.call(good, liar.key->key()).type, net::NoteType::Welcome);
    net::Note lies[5] = {good, liar.rail_hello({.rail = 0, .taken = 1}), liar.rail_hello({.rail = 1, .taken = ~0ull}),
                         liar.rail_hello({.rail = 0}), liar.rail_hello({.rail = 0, .asks = true})};
    lies[3].data[0] = tcp::kRailsMax;
    for (const net::Note& lie : lies) {
        Raw again(liar.victim);
        const bool asks = &lie == &lies[4];
        EXPECT_EQ(again.call(lie, liar.key->key()).refusal, asks ? net::Refusal::Busy : net::Refusal::Gone)
            << &lie - lies;
    }
    net::Note bare = liar.rail_hello({.rail = 0});
    bare.data_size = 3;
    Raw again(liar.victim);
    EXPECT_EQ(again.call(bare, liar.key->key()).refusal, net::Refusal::Gone);
    const std::string part(kPart, 'x');
    const tcp::SplitHeader split = Liar::split();
    liar.first.write(Liar::split_header(), &split, sizeof split);
    liar.first.write(part.data(), part.size());
    rail.write(part.data(), part.size());
    EXPECT_TRUE(run({&liar.victim}, [&] { return liar.victim.sink.frames.size() == 1; }));
}

TEST(TcpRailsHostile, ACallOfAPeerWhoWasNotInvitedIsRefused) {
    Victim victim;
    victim.transport.offer_rails_at(nullptr, 0);
    Raw first(victim);
    net::Note hello;
    hello.port = 9;
    hello.instance = 5;
    hello.sequence = 1;
    const net::Note welcome = first.call(hello, {});
    ASSERT_EQ(welcome.type, net::NoteType::Welcome);
    EXPECT_EQ(welcome.data_size, 0);
    Raw rail(victim);
    hello.kind = net::CallKind::Rail;
    ++hello.sequence;
    tcp::write_rail_call({.rail = 0}, &hello);
    EXPECT_EQ(rail.call(hello, {}).refusal, net::Refusal::Gone);
    EXPECT_EQ(victim.transport.peers_up(), 1u);
}

// Long frames go to a caller of an older library, who makes no rails, as they always did.
TEST(TcpRailsHostile, WhoMakesNoRailsGetsWholeFrames) {
    Liar liar;
    Header header{};
    header.size = 4;
    liar.first.write(header, "abcd", 4);
    ASSERT_TRUE(run({&liar.victim}, [&] { return liar.victim.sink.frames.size() == 1; }));
    Peer* peer = liar.victim.sink.frames[0].from;
    const std::string text(kLong, 'y');
    EXPECT_NE(send_text(liar.victim.transport, *peer, text, 0, false, &liar), SendResult::Down);
    EXPECT_EQ(liar.victim.transport.rails_up(*peer), 0u);
    EXPECT_TRUE(run({&liar.victim}, [&] { return liar.victim.transport.is_silent(); }));
}

// What an endpoint keeps for a peer and its rails, in bytes.
TEST(TcpRailsHostile, RailsHaveABudget) {
    EXPECT_LE(sizeof(tcp::Rails), 12u << 10);
    Liar liar;
    for (int i = 0; i < 1000; ++i) {  // each takes the place of the one before
        Raw rail(liar.victim);
        ASSERT_EQ(rail.call(liar.rail_hello({.rail = static_cast<uint8_t>(i % 3)}), liar.key->key()).type,
                  net::NoteType::Welcome);
    }
    Peer* const peer = liar.victim.transport.living_at(loopback(9));
    ASSERT_NE(peer, nullptr);
    EXPECT_LE(liar.victim.transport.rails_up(*peer), tcp::kRailsMax);
}

TEST(TcpRailsHostile, AnInvitationThatCannotBeIsNone) {
    net::Note welcome;
    welcome.type = net::NoteType::Welcome;
    tcp::Invitation sent{}, read;
    sent.count = 2;
    sent.addresses[0] = sent.addresses[1] = loopback();
    tcp::write_invitation(sent, AddressKind::Inet, &welcome);
    EXPECT_TRUE(tcp::read_invitation(welcome, AddressKind::Inet, 1, &read));
    EXPECT_EQ(read.count, 2u);
    EXPECT_FALSE(tcp::read_invitation(welcome, AddressKind::Inet6, 1, &read));
    for (const size_t size : {size_t{0}, size_t{1}, size_t{17}, size_t{19}, size_t{1 + 16 + 8 * 4}, net::kPrivateMax}) {
        net::Note other = welcome;
        other.data_size = static_cast<uint16_t>(size);
        EXPECT_FALSE(tcp::read_invitation(other, AddressKind::Inet, 1, &read)) << size;
    }
    ++welcome.data[0];  // of another release
    EXPECT_FALSE(tcp::read_invitation(welcome, AddressKind::Inet, 1, &read));
}

// What the other end says to have is less than it had, and then it answers all.
TEST(TcpRailsDivision, WhatIsAnsweredIsNotSentAgain) {
    const auto queue = std::make_unique<tcp::SplitQueue>();
    std::string text(kLong, 'x');
    const iovec range{text.data(), text.size()};
    queue->add(&range, 1, nullptr, {kPart, kPart, 0, 0});
    queue->advance(0, kPart);
    ASSERT_TRUE(queue->resume(0, 0));
    ASSERT_TRUE(queue->may_be_answered(1));
    (void)queue->remove_first();
    EXPECT_EQ(queue->unsent(0), 0u);
    queue->add(&range, 1, nullptr, {kPart, kPart, 0, 0});
    iovec pieces[tcp::kSplitRanges];
    EXPECT_EQ(queue->unsent(0), kPart);
    ASSERT_EQ(queue->gather(0, pieces, tcp::kSplitRanges), 1u);
    EXPECT_EQ(pieces[0].iov_len, kPart);
}

TEST(TcpRailsDivision, StreamsHaveEqualBytesUnderWay) {
    tcp::StreamLoad streams[tcp::kStreams];
    uint32_t parts[tcp::kStreams];
    streams[0].there = streams[1].there = true;
    ASSERT_TRUE(tcp::divide(512u << 10, streams, parts));
    EXPECT_EQ(parts[0], 256u << 10);
    EXPECT_EQ(parts[1], 256u << 10);
    streams[1].waiting = 128u << 10;
    ASSERT_TRUE(tcp::divide(512u << 10, streams, parts));
    EXPECT_EQ(parts[0], 320u << 10);
    streams[1].waiting = 512u << 10;
    EXPECT_FALSE(tcp::divide(512u << 10, streams, parts));
}

TEST(TcpRailsDivision, ARailHasNoMoreThanItsWindow) {
    tcp::StreamLoad streams[tcp::kStreams];
    uint32_t parts[tcp::kStreams];
    streams[0].there = streams[1].there = true;
    streams[1].limit = 64u << 10;
    ASSERT_TRUE(tcp::divide(512u << 10, streams, parts));
    EXPECT_EQ(parts[1], 64u << 10);
    streams[1].waiting = 60u << 10;
    EXPECT_FALSE(tcp::divide(512u << 10, streams, parts));
}

// For which the receiver waits in that share of the time.
uint64_t window_after(tcp::RailWindow& window, int periods, double late) {
    for (int i = 0; i < periods; ++i) {
        window.note_limited();
        window.update(0, 10'000, static_cast<int64_t>(10'000 * late));
    }
    return window.bytes();
}

TEST(TcpRailsDivision, AWindowGrowsWhileTheFirstConnectionIsWaitedFor) {
    tcp::RailWindow window;
    EXPECT_EQ(window_after(window, 20, -0.9), tcp::RailWindow::kMost);
    const uint64_t most = window.bytes();
    EXPECT_EQ(window_after(window, 5, 0.3), most);
    EXPECT_EQ(window_after(window, 1, 0.9), most / 2);
}

TEST(TcpRailsDivision, ARailThatIsWaitedForHasLittleAndThenNothingForAWhile) {
    tcp::RailWindow window;
    EXPECT_LE(window_after(window, 5, 0.9), tcp::RailWindow::kStart);
    EXPECT_FALSE(window.paused(1));
    (void)window_after(window, 12, 0.9);
    EXPECT_TRUE(window.paused(1));
    EXPECT_FALSE(window.paused(tcp::RailWindow::kPause + 1));
    tcp::RailWindow other;
    (void)window_after(other, 20, -0.9);
    other.update(0, 200'000, 190'000);  // for much too long
    EXPECT_EQ(other.bytes(), tcp::RailWindow::kLeast);
}

// However long the other end says to have waited.
TEST(TcpRailsDivision, APauseHasALimit) {
    tcp::RailWindow window;
    (void)window_after(window, 1000, 0.9);
    EXPECT_TRUE(window.paused(tcp::RailWindow::kPause));
    EXPECT_FALSE(window.paused(tcp::RailWindow::kPauseMost));
}

TEST(TcpRailsDivision, WhoIsWaitedForIsTheLast) {
    tcp::SplitArrival in;
    in.begun = 1000;
    in.done[0] = 1100;
    in.done[1] = 1500;
    in.done[2] = in.done[3] = 1000;
    in.count_late();
    EXPECT_EQ(in.late[0], 400u);
    EXPECT_EQ(in.late[1], 0u);
    in.done[0] = 1700;
    in.count_late();
    EXPECT_EQ(in.late[0], 200u);
    EXPECT_EQ(static_cast<int32_t>(in.late[1]), -200);
}

TEST(TcpRailsDivision, ALinkIsDeadWhenNothingComesBackOfWhatIsSentAgain) {
    constexpr unsigned kLimit = 400;
    const auto is_dead = [](const tcp::LinkSample& sample) {
        tcp::LinkWatch watch;
        (void)watch.is_dead(sample, 1000, kLimit);
        return watch.is_dead(sample, 1500, kLimit);
    };
    EXPECT_TRUE(is_dead({.waiting = 1, .silence = 500, .retransmits = 2}));
    EXPECT_TRUE(is_dead({.waiting = 1, .silence = 500, .probes = 3}));
    EXPECT_FALSE(is_dead({.waiting = 1, .silence = 100, .retransmits = 2}));  // something did
    EXPECT_FALSE(is_dead({.waiting = 1, .silence = 60'000}));                 // the other end does not read
    EXPECT_FALSE(is_dead({.waiting = 0, .silence = 60'000, .retransmits = 2}));
}

// Nothing has come of a connection that was idle since it was.
TEST(TcpRailsDivision, ALinkHasItsTimeFromWhenItWasGivenSomething) {
    tcp::LinkWatch watch;
    const tcp::LinkSample lost{.waiting = 1, .silence = 60'000, .acked = 7, .retransmits = 2};
    EXPECT_FALSE(watch.is_dead({.waiting = 0, .silence = 50'000, .acked = 7}, 1000, 400));
    EXPECT_FALSE(watch.is_dead(lost, 11'000, 400));
    EXPECT_FALSE(watch.is_dead(lost, 11'399, 400));
    EXPECT_TRUE(watch.is_dead(lost, 11'400, 400));
    EXPECT_FALSE(watch.is_dead({.waiting = 1, .silence = 60'000, .acked = 8, .retransmits = 2}, 11'420, 400));
}

}  // namespace
}  // namespace selvage::impl::test
