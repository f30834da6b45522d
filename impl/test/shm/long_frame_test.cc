// Frames that are longer than a piece of the ring (impl/transport/shm/long_frame.h), between two transports.
#include <poll.h>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLongest = 512 * 1024;
constexpr size_t kHalf = 48 * 1024;  // most of what the ring holds

struct LongFrames : testing::Test {
    Name a_name{"a"}, b_name{"b"};
    ShmTransport a, b;
    FakeSink at_a, at_b;
    ShmPeer* to_b = nullptr;
    std::string sent, got;
    int token = 0;

    void SetUp() override {
        ASSERT_EQ(a.open_at(a_name.text, {}), 0);
        ASSERT_EQ(b.open_at(b_name.text, {}), 0);
        a.take_long_frames(kLongest);
        b.take_long_frames(kLongest);
        ASSERT_EQ(a.find_peer_at(b_name.text, &to_b), 0);
    }
    // In three parts, of which one is empty, to a place of two.
    SendResult send(size_t size, uint64_t tag = 0) {
        sent = pattern(size, static_cast<unsigned>(tag));
        got.assign(size, '\0');
        const size_t third = size / 3;
        at_b.places = {{got.data(), third + 5}, {got.data() + third + 5, size - third - 5}};
        const iovec parts[] = {{sent.data(), third}, {nullptr, 0}, {sent.data() + third, size - third}};
        Header header{};
        header.size = static_cast<uint32_t>(size);
        header.op = 2;
        header.word[0] = tag;
        return a.send_long(*to_b, {header, parts, 3, &token, false});
    }
    bool until(const std::function<bool()>& done) {
        return progress_until(b, at_b, [&] {
            a.progress(at_a);
            return done();
        });
    }
    // The peer that b has of a.
    ShmPeer& from_a() {
        send_text(a, *to_b, "first");
        EXPECT_TRUE(until([&] { return !at_b.arrivals.empty(); }));
        return *at_b.arrivals[0].peer;
    }
};

TEST_F(LongFrames, OneThatTheRingHoldsIsSentBeforeThePeerLooks) {
    ASSERT_EQ(send(kHalf), SendResult::Done);
    ASSERT_TRUE(until([&] { return !at_b.arrivals.empty(); }));
    EXPECT_EQ(got, sent);
    EXPECT_TRUE(at_a.tokens.empty());
}

// Its last pieces fill the ring again: what had to wait for its end has room all the same, however soon this side makes
// no more progress.
TEST_F(LongFrames, AnswersThatHadToWaitHaveRoomBehindTheLastPiece) {
    constexpr size_t kThreeLaps = 9 * ShmTransport::kFrameMax;
    ASSERT_EQ(send(kThreeLaps), SendResult::Held);
    EXPECT_EQ(send_answer(a, *to_b), SendResult::Again);
    at_a.on_room = [&](ShmPeer&) { EXPECT_EQ(send_answer(a, *to_b), SendResult::Done); };
    ASSERT_TRUE(progress_until(b, at_b, [&] {
        if (at_a.tokens.empty()) a.progress(at_a);
        return at_b.arrivals.size() == 2;
    }));
    EXPECT_EQ(got, sent);
    EXPECT_EQ(at_b.arrivals[1].header.op, 7);
}

TEST_F(LongFrames, EverySizeArrivesUnchangedAndInOrder) {
    uint64_t tag = 0;
    for (const size_t size : {16385ul, 16390ul, 32768ul, 40000ul, 65535ul, 65536ul, 131073ul, kLongest}) {
        ++tag;
        const SendResult result = send(size, tag);
        const size_t tokens = at_a.tokens.size();
        if (result == SendResult::Held) {
            ASSERT_TRUE(until([&] { return at_a.tokens.size() > tokens; }));
            EXPECT_EQ(at_a.tokens.back(), std::make_pair(static_cast<void*>(&token), 0));
        } else {
            ASSERT_EQ(result, SendResult::Done);
        }
        ASSERT_TRUE(until([&] { return at_b.arrivals.size() == tag; }));
        ASSERT_EQ(at_b.arrivals.back().header.word[0], tag);
        ASSERT_EQ(at_b.arrivals.back().header.size, size);
        ASSERT_EQ(got, sent) << size;
    }
    EXPECT_TRUE(at_b.downs.empty());
}

TEST_F(LongFrames, NothingPassesOne) {
    ASSERT_EQ(send(kLongest), SendResult::Held);
    EXPECT_EQ(send_text(a, *to_b, "short"), SendResult::Again);
    EXPECT_FALSE(a.takes_inline(*to_b));
    b.progress(at_b);  // there would be room
    EXPECT_EQ(send_text(a, *to_b, "short"), SendResult::Again);
    EXPECT_FALSE(a.takes_inline(*to_b));
    EXPECT_TRUE(at_a.rooms.empty());
    ASSERT_TRUE(until([&] { return !at_a.rooms.empty(); }));
    EXPECT_EQ(at_a.tokens.size(), 1u);
    EXPECT_EQ(send_text(a, *to_b, "short"), SendResult::Done);
    ASSERT_TRUE(until([&] { return at_b.arrivals.size() == 2; }));
    EXPECT_EQ(at_b.arrivals[0].header.op, 2);
    EXPECT_EQ(at_b.arrivals[1].payload, "short");
    EXPECT_EQ(got, sent);
}

// The owner gives lines back when it has a quarter of the ring, or when there is nothing more: here there is.
TEST_F(LongFrames, OneThatBeginsAtTheEndOfAFullRingFindsRoom) {
    const std::string piece = pattern(ShmTransport::kFrameMax, 1);
    const size_t lines = shm::lines_of(piece.size());
    while (shm::kRingLines - shm::kAnswerRoom - to_b->out.position > 3 * lines + 1) send_text(a, *to_b, "x");
    for (int i = 0; i < 2; ++i) ASSERT_EQ(send_text(a, *to_b, piece), SendResult::Done);
    ASSERT_EQ(send(kLongest), SendResult::Held);
    ASSERT_TRUE(until([&] { return at_b.ends.size() == 1; }));
    EXPECT_EQ(got, sent);
}

TEST_F(LongFrames, BothSidesMaySendFirst) {
    ShmPeer& to_a = from_a();
    std::string back = pattern(kLongest, 9), came(kLongest, '\0');
    at_a.places = {{came.data(), came.size()}};
    Header header{};
    header.size = kLongest;
    const iovec part = {back.data(), back.size()};
    ASSERT_EQ(send(kLongest), SendResult::Held);
    ASSERT_EQ(b.send_long(to_a, {header, &part, 1, &back, false}), SendResult::Held);
    ASSERT_TRUE(until([&] { return at_a.tokens.size() == 1 && at_b.tokens.size() == 1; }));
    ASSERT_TRUE(until([&] { return at_a.ends.size() == 1 && at_b.ends.size() == 1; }));
    EXPECT_EQ(got, sent);
    EXPECT_EQ(came, back);
}

TEST_F(LongFrames, ASleeperIsWokenByOne) {
    from_a();
    ASSERT_TRUE(b.arm());
    pollfd descriptor = {.fd = b.wait_descriptor(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(send(kHalf), SendResult::Done);
    EXPECT_EQ(poll(&descriptor, 1, 50), 1);
}

TEST_F(LongFrames, WhereNobodyTakesThemTheirSenderIsDropped) {
    ShmTransport c;
    Name c_name{"c"};
    ASSERT_EQ(c.open_at(c_name.text, {}), 0);
    ASSERT_EQ(a.find_peer_at(c_name.text, &to_b), 0);
    ASSERT_EQ(send(kHalf), SendResult::Done);
    ASSERT_TRUE(progress_until(c, at_b, [&] { return !at_b.downs.empty(); }));
    EXPECT_EQ(at_b.downs[0].second, FI_ECONNABORTED);
}

TEST_F(LongFrames, OneThatIsTooLongDropsItsSender) {
    ASSERT_EQ(send(kLongest + 1), SendResult::Held);
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
    EXPECT_EQ(at_b.downs[0].second, FI_ECONNABORTED);
    EXPECT_TRUE(at_b.ends.empty());
}

TEST_F(LongFrames, OneThatNobodyWantsDropsItsSender) {
    send(kHalf);
    at_b.places.clear();
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
    EXPECT_EQ(at_b.downs[0].second, FI_ECONNABORTED);
    EXPECT_TRUE(at_b.ends.empty());
}

// What no sender does.
TEST_F(LongFrames, AnotherFrameInTheMiddleDropsItsSender) {
    ASSERT_EQ(send(kLongest), SendResult::Held);
    ASSERT_TRUE(progress_until(b, at_b, [&] { return to_b->out.slot().consumed.load() == to_b->out.position; }));
    ASSERT_TRUE(to_b->out.refresh());
    const Header header{};
    to_b->out.publish(header, nullptr, 0);
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
    EXPECT_EQ(at_b.ends, std::vector<int>{FI_ECONNABORTED});
    EXPECT_TRUE(at_b.arrivals.empty());
}

TEST_F(LongFrames, APieceThatDoesNotFitDropsItsSender) {
    const std::string bytes = pattern(ShmTransport::kFrameMax + 64, 1);
    const auto piece = [&](size_t said, size_t size) {
        const iovec part = {const_cast<char*>(bytes.data()), size};
        to_b->out.publish_as(static_cast<uint32_t>(said), {}, size, &part, 1);
    };
    for (const int which : {0, 1, 2, 3}) {
        at_b.downs.clear();
        at_b.ends.clear();
        ASSERT_EQ(a.find_peer_at(b_name.text, &to_b), 0);
        got.assign(kHalf, '\0');
        at_b.places = {{got.data(), 20'000}};
        if (which) to_b->out.publish_as(20'000, {}, 0, nullptr, 0);
        if (which == 0) piece(100 | shm::kPieceBit, 100);  // of no frame
        if (which == 1) piece(shm::kPieceBit, 0);
        if (which == 2) piece((ShmTransport::kFrameMax + 64) | shm::kPieceBit, ShmTransport::kFrameMax + 64);
        if (which == 3) {
            piece(ShmTransport::kFrameMax | shm::kPieceBit, ShmTransport::kFrameMax);
            piece(4000 | shm::kPieceBit, 4000);  // 20,000 are 16,384 and 3,616
        }
        ASSERT_TRUE(until([&] { return !at_b.downs.empty(); })) << which;
        EXPECT_EQ(at_b.downs[0].second, FI_ECONNABORTED);
        EXPECT_EQ(at_b.ends.size(), which ? 1u : 0u);
        EXPECT_EQ(got.find_first_not_of('\0', 20'000), std::string::npos);
        ASSERT_TRUE(until([&] { return !at_a.downs.empty(); }));
        at_a.downs.clear();
    }
}

// A message of this many bytes from b, to a place of a's.
struct SplitFrames : LongFrames {
    std::string bytes;

    // Which has just sent something, and whose region b has entered.
    ShmPeer& asks() {
        at_b.arrivals.clear();
        ShmPeer& to_a = from_a();
        EXPECT_TRUE(b.may_be_read(to_a));
        return to_a;
    }

    size_t lines_of_send(ShmPeer& to_a, size_t size) {
        bytes = pattern(size, 3);
        got.assign(size, '\0');
        at_a.places = {{got.data(), size}};
        const uint64_t before = to_a.out.position;
        EXPECT_EQ(send_text(b, to_a, bytes), SendResult::Done);
        return to_a.out.position - before;
    }
};

TEST_F(SplitFrames, AnAnswerOfEightKibibytesAndMoreComesInHalves) {
    asks();
    lines_of_send(asks(), ShmTransport::kFrameMax);  // for which all of the ring gets memory
    ASSERT_TRUE(until([&] { return !at_a.arrivals.empty(); }));
    for (const size_t size : {shm::kSplitMin, shm::kSplitMin + 1, size_t{9'999}, ShmTransport::kFrameMax}) {
        at_a.ends.clear();
        ShmPeer& to_a = asks();
        EXPECT_EQ(lines_of_send(to_a, size), shm::split_lines(static_cast<uint32_t>(size))) << size;
        EXPECT_GT(shm::split_lines(static_cast<uint32_t>(size)), shm::lines_of(size));
        ASSERT_TRUE(until([&] { return at_a.ends.size() == 1; })) << size;
        EXPECT_EQ(at_a.ends[0], 0);
        EXPECT_EQ(got, bytes) << size;
    }
}

TEST_F(SplitFrames, WhatFollowsAFrameOfTheSameSenderComesWholeAsDoesWhatIsShorter) {
    asks();
    ShmPeer& to_a = asks();
    send_text(b, to_a, "the answer");
    EXPECT_EQ(lines_of_send(to_a, ShmTransport::kFrameMax), shm::lines_of(ShmTransport::kFrameMax));
    asks();
    EXPECT_EQ(lines_of_send(to_a, shm::kSplitMin - 1), shm::lines_of(shm::kSplitMin - 1));
}

TEST_F(SplitFrames, OneOfNoLengthOrOfMoreThanAFrameDropsItsSender) {
    for (const size_t size : {size_t{0}, ShmTransport::kFrameMax + 1, size_t{shm::kPieceBit} | 16}) {
        at_b.downs.clear();
        ASSERT_EQ(a.find_peer_at(b_name.text, &to_b), 0);
        to_b->out.publish_as(static_cast<uint32_t>(size) | shm::kSplitBit, {}, 0, nullptr, 0);
        ASSERT_TRUE(until([&] { return !at_b.downs.empty(); })) << size;
        EXPECT_EQ(at_b.downs[0].second, FI_ECONNABORTED);
        ASSERT_TRUE(until([&] { return !at_a.downs.empty(); }));
        at_a.downs.clear();
    }
}

TEST_F(LongFrames, ASenderThatGoesInTheMiddleEndsItWithAnError) {
    ASSERT_EQ(send(kLongest), SendResult::Held);
    b.progress(at_b);
    a.close();
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
    EXPECT_EQ(at_b.ends, std::vector<int>{FI_ECONNRESET});
    EXPECT_TRUE(at_b.arrivals.empty());
}

TEST_F(LongFrames, AReceiverThatGoesInTheMiddleGivesThePayloadBack) {
    ASSERT_EQ(send(kLongest), SendResult::Held);
    b.progress(at_b);
    b.close();
    ASSERT_TRUE(progress_until(a, at_a, [&] { return !at_a.downs.empty(); }));
    ASSERT_EQ(at_a.tokens.size(), 1u);
    EXPECT_EQ(at_a.tokens[0], std::make_pair(static_cast<void*>(&token), FI_ECONNRESET));
}

TEST_F(LongFrames, WhatIsDiscardedIsStoredNowhereAndEndsAsEver) {
    ASSERT_EQ(send(kLongest), SendResult::Held);
    b.progress(at_b);
    ShmPeer* peer = nullptr;
    ASSERT_EQ(b.find_peer_at(a_name.text, &peer), 0);
    ShmTransport::discard_placement(*peer);
    const std::string before = got;
    ASSERT_TRUE(until([&] { return at_b.ends.size() == 1; }));
    EXPECT_EQ(got, before);
    EXPECT_NE(got, sent);
    EXPECT_EQ(at_b.ends[0], 0);
}

}  // namespace
}  // namespace selvage::impl::test
