// How the payload of frames gets into a ring: what was measured decides.
#include "impl/transport/shm/copy_choice.h"

#include <gtest/gtest.h>

#include <deque>

#include "impl/transport/shm/ring.h"

namespace selvage::impl::test {
namespace {

using shm::CopyChoice;
using shm::says_chosen;
using shm::says_pull;

// A sender that has always as much in the ring as this holds.
struct Stream {
    CopyChoice choice{};
    uint64_t plain = 400, past = 800;  // nanoseconds for 4 KiB
    uint64_t now = 1;
    uint64_t position = 0;
    int timed = 0;
    std::deque<bool> in_ring{};  // whether it went past the caches, of each frame

    void frames(int count, uint64_t size = 4096) {
        const size_t held = shm::kRingLines / shm::lines_of(size);
        for (int i = 0; i < count; ++i) {
            while (in_ring.size() < held) in_ring.push_back(says_pull(choice.word(), size));
            now += (in_ring.front() ? past : plain) * size / 4096;
            in_ring.pop_front();
            position += shm::lines_of(size);
            if (!choice.counts(size, position)) continue;
            ++timed;
            choice.came(size, position, now);
        }
    }
    bool goes_past(uint64_t size = 4096) const { return says_pull(choice.word(), size); }
};

TEST(ShmCopyChoice, TheFasterWayIsTakenThoughFramesOfTheOtherAreInTheRing) {
    for (const uint64_t past : {200, 300, 350, 500, 800}) {
        Stream s{.past = past};
        s.frames(200);
        EXPECT_TRUE(says_chosen(s.choice.word(), 4096));
        EXPECT_EQ(s.goes_past(), past < s.plain) << past;
    }
}

TEST(ShmCopyChoice, NothingCountsInTheFirstLap) {
    Stream s;
    s.frames(15);
    EXPECT_EQ(s.timed, 0);
    s.frames(20);
    EXPECT_GT(s.timed, 0);
}

TEST(ShmCopyChoice, APeerThatMovesIsFound) {
    Stream s{.past = 200};
    s.frames(300);
    ASSERT_TRUE(s.goes_past());
    s.past = 800;
    s.frames(20'000);
    EXPECT_FALSE(s.goes_past());
}

TEST(ShmCopyChoice, TheClockIsReadSeldomOnceBothWaysAreKnown) {
    for (const uint64_t size : {4096, 16 * 1024}) {
        Stream s;
        s.frames(20'000, size);
        s.timed = 0;
        s.frames(100'000, size);
        EXPECT_LT(s.timed, 1000) << size;
    }
}

TEST(ShmCopyChoice, EachClassOfSizeIsForItself) {
    Stream s{.past = 200};
    s.frames(200);
    EXPECT_TRUE(s.goes_past());
    EXPECT_FALSE(s.goes_past(16 * 1024)) << "none has come";
    s.past = 800;
    s.frames(500, 16 * 1024);
    EXPECT_FALSE(s.goes_past(16 * 1024));
    EXPECT_TRUE(s.goes_past());
}

// What was read by the kernel meanwhile took its time, too.
TEST(ShmCopyChoice, WhatComesByNoRingIsNoPartOfASpan) {
    Stream s;
    for (int i = 0; i < 200; ++i) {
        s.frames(3);
        s.now += s.goes_past() ? 0 : 10'000;
        s.choice.interrupt();
    }
    EXPECT_TRUE(says_chosen(s.choice.word(), 4096));
    EXPECT_FALSE(s.goes_past());
}

}  // namespace
}  // namespace selvage::impl::test
