// Answers in the slot of a question (impl/transport/shm/layout.h, bell.h): the first frames to a peer that came first.
#include <poll.h>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

// `a` has asked, and `b` has taken the question.
struct Answering : testing::Test {
    Name a_name{"a"}, b_name{"b"};
    ShmTransport a, b;
    FakeSink at_a, at_b;
    ShmPeer* to_b = nullptr;
    ShmPeer* to_a = nullptr;
    std::vector<std::string> answers;

    void SetUp() override {
        ASSERT_EQ(a.open_at(a_name.text, {}), 0);
        ASSERT_EQ(b.open_at(b_name.text, {}), 0);
        ASSERT_EQ(a.find_peer_at(b_name.text, &to_b), 0);
        send_text(a, *to_b, "question");
        ASSERT_TRUE(progress_until(b, at_b, [this] { return !at_b.arrivals.empty(); }));
        ASSERT_EQ(b.find_peer_at(a_name.text, &to_a), 0);
        ASSERT_EQ(to_a, at_b.arrivals[0].peer);
    }
    SendResult answer(size_t size) {
        answers.push_back(pattern(size, static_cast<unsigned>(answers.size())));
        return send_text(b, *to_a, answers.back());
    }
    void expect_all() {
        ASSERT_TRUE(progress_until(a, at_a, [this] { return at_a.arrivals.size() >= answers.size(); }));
        ASSERT_EQ(at_a.arrivals.size(), answers.size());
        for (size_t i = 0; i < answers.size(); ++i) {
            EXPECT_EQ(at_a.arrivals[i].payload, answers[i]) << i;
            EXPECT_EQ(at_a.arrivals[i].peer, to_b);
        }
    }
    bool entered() const { return to_a->out.lines; }
    void look_for_long() {
        for (int i = 0; i < 5000; ++i) a.progress(at_a);
    }
};

using ShmAnswered = Answering;

TEST_F(ShmAnswered, TheFirstNeedNoRegionButThatOfTheQuestion) {
    EXPECT_EQ(answer(0), SendResult::Done);
    EXPECT_EQ(answer(8), SendResult::Done);
    EXPECT_EQ(answer(1500), SendResult::Done);
    EXPECT_FALSE(entered());
    expect_all();
}

TEST_F(ShmAnswered, MoreThanTheSlotHoldsComeInOrder) {
    for (size_t i = 0; i < 200; ++i) {
        ASSERT_EQ(answer(i), SendResult::Done);
        if (i % 16 == 15) expect_all();
    }
    EXPECT_TRUE(entered());
    expect_all();
}

TEST_F(ShmAnswered, MoreThanTheSlotHoldsComeInOrderThoughNobodyLooked) {
    for (size_t i = 0; i < 60; ++i) ASSERT_EQ(answer(8), SendResult::Done);
    EXPECT_TRUE(entered());
    expect_all();
}

TEST_F(ShmAnswered, OneThatDoesNotFitGoesByARing) {
    ASSERT_EQ(answer(8), SendResult::Done);
    while (answer(shm::kAnswerLines * shm::kLine) == SendResult::Again) answers.pop_back();
    EXPECT_TRUE(entered());
    ASSERT_EQ(answer(8), SendResult::Done);
    expect_all();
}

TEST_F(ShmAnswered, WhoLooksNoMoreIsAnsweredByARing) {
    look_for_long();
    EXPECT_FALSE(to_b->slot_answers.awaited);
    ASSERT_EQ(answer(8), SendResult::Done);
    EXPECT_TRUE(entered());
    expect_all();
}

// As if it had been written before the sender said that it looks no more, and was seen by nobody.
TEST_F(ShmAnswered, OneThatWasOverlookedComesBeforeTheRing) {
    look_for_long();
    to_b->remote.slot->answers_closed.store(0);
    ASSERT_EQ(answer(8), SendResult::Done);
    look_for_long();
    EXPECT_TRUE(at_a.arrivals.empty());
    to_b->remote.slot->answers_closed.store(1);
    ASSERT_EQ(answer(9), SendResult::Done);
    expect_all();
}

TEST_F(ShmAnswered, ASleeperIsWoken) {
    ASSERT_TRUE(a.arm());
    ASSERT_EQ(answer(8), SendResult::Done);
    pollfd entry = {a.wait_descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, 50), 1);  // sooner than by its timer
    expect_all();
}

TEST_F(ShmAnswered, OneThatIsThereKeepsFromSleeping) {
    ASSERT_EQ(answer(8), SendResult::Done);
    EXPECT_FALSE(a.arm());
    expect_all();
    EXPECT_TRUE(a.arm());
}

TEST_F(ShmAnswered, TheyOutliveWhoGaveThem) {
    ASSERT_EQ(answer(8), SendResult::Done);
    b.close();
    ASSERT_TRUE(progress_until(a, at_a, [this] { return !at_a.downs.empty(); }));
    ASSERT_EQ(at_a.arrivals.size(), 1u);
    EXPECT_EQ(at_a.downs[0].second, FI_ECONNRESET);
}

TEST_F(ShmAnswered, AFrameBeyondTheSlotEndsThePeer) {
    shm::first_word(to_a->in.slot().answers).store(shm::kParityBit | (shm::kAnswerLines * shm::kLine));
    ASSERT_TRUE(progress_until(a, at_a, [this] { return !at_a.downs.empty(); }));
    EXPECT_EQ(at_a.downs[0].second, FI_ECONNABORTED);
    EXPECT_TRUE(at_a.arrivals.empty());
}

// Who offers its memory to be read has to hear which way is faster.
TEST_F(ShmAnswered, WhatIsOfferedToBeReadGoesByARing) {
    ASSERT_EQ(answer(8), SendResult::Done);
    static_cast<void>(b.offers(*to_a, 1 << 20));
    EXPECT_TRUE(entered());
    ASSERT_EQ(answer(8), SendResult::Done);
    expect_all();
}

}  // namespace
}  // namespace selvage::impl::test
