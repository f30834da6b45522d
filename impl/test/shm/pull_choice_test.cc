// Whether long transfers come through the ring or are read by the kernel: what was measured decides.
#include "impl/transport/shm/pull_choice.h"

#include <gtest/gtest.h>

namespace selvage::impl::test {
namespace {

using shm::kPullMin;
using shm::PullChoice;
using shm::says_pull;
using Way = PullChoice::Way;

// A peer whose transfers take what the test says.
struct Traffic {
    PullChoice choice;
    uint64_t now = 1;
    uint64_t ring = 100'000;   // nanoseconds per transfer
    uint64_t kernel = 50'000;  // likewise
    int timed = 0;             // transfers for which the clock was read
    uint64_t switches = 0;     // to threads of others

    bool pulls(uint64_t bytes) const { return says_pull(choice.word(), bytes); }
    // Returns how many of them were read.
    int transfers(int count, uint64_t bytes) {
        int read = 0;
        for (int i = 0; i < count; ++i) {
            const bool pull = pulls(bytes);
            now += pull ? kernel : ring;
            if (choice.counts(bytes)) {
                ++timed;
                choice.finished(pull ? Way::Kernel : Way::Ring, bytes, bytes, {now, switches});
            }
            read += pull;
        }
        return read;
    }
};

constexpr uint64_t kLength = 1 << 20;
constexpr uint64_t kShort = 8 << 10;

TEST(ShmPullChoice, NothingIsReadBeforeThatIsAllowed) {
    Traffic t;
    EXPECT_EQ(t.transfers(100, kShort), 0);
    t.choice.allow();
    EXPECT_TRUE(t.pulls(kShort)) << "the ring is known by now";
    EXPECT_FALSE(t.pulls(2 * kShort)) << "but not for all sizes";
}

TEST(ShmPullChoice, WhatIsLongerThanTheRingIsReadAtFirst) {
    Traffic t;
    t.choice.allow();
    EXPECT_TRUE(t.pulls(kLength));
    EXPECT_FALSE(t.pulls(kShort)) << "it is through the ring at once, whether or not the peer runs";
}

// Each piece of a ring would wait for a turn of the scheduler.
TEST(ShmPullChoice, WhereOthersRunMeanwhileLongTransfersAreReadAndTheRingIsNotTried) {
    Traffic t;
    t.choice.allow();
    t.ring = t.kernel = 20'000'000;
    for (int i = 0; i < 900; ++i) {
        ++t.switches;
        t.ring = i % 4 ? 10'000'000 : 40'000'000;
        EXPECT_EQ(t.transfers(1, kLength), 1) << i;
    }
}

TEST(ShmPullChoice, ASwitchNowAndThenIsNoCrowd) {
    Traffic t;
    t.choice.allow();
    t.kernel = 150'000;
    for (int i = 0; i < 900; ++i) {
        t.switches += i % 8 == 0;
        t.transfers(1, kLength);
    }
    EXPECT_FALSE(t.pulls(kLength));
}

// Neither class has two transfers in a row.
TEST(ShmPullChoice, SizesThatTakeTurnsAreMeasuredAsWell) {
    Traffic t;
    t.kernel = 150'000;
    t.choice.allow();
    int read = 0;
    for (int i = 0; i < 500; ++i) read += t.transfers(1, kLength) + t.transfers(1, kShort);
    EXPECT_FALSE(t.pulls(kLength));
    EXPECT_FALSE(t.pulls(kShort));
    EXPECT_LT(read, 100);
}

TEST(ShmPullChoice, ShortTransfersAreNeverRead) {
    EXPECT_FALSE(says_pull(~0U, kPullMin - 1));
    EXPECT_FALSE(says_pull(~0U, 0));
    EXPECT_TRUE(says_pull(~0U, kPullMin));
    EXPECT_TRUE(says_pull(~0U, uint64_t{4} << 30));
}

TEST(ShmPullChoice, TheFasterWayIsTakenAndTheOtherHardlyEver) {
    Traffic t;
    t.choice.allow();
    EXPECT_GT(t.transfers(10'000, kLength), 9'800);
    Traffic slow;
    slow.kernel = 150'000;
    slow.choice.allow();
    EXPECT_LT(slow.transfers(10'000, kLength), 200);
}

// The pieces of four transfers come in turn: the first ends when nearly all of the bytes are here.
TEST(ShmPullChoice, TransfersThatEndTogetherAreNotTakenForFastOnes) {
    Traffic t;
    t.choice.allow();
    int read = 0;
    for (int window = 0; window < 1000; ++window) {
        for (int i = 0; i < 4; ++i) {
            if (t.pulls(kLength)) {
                read += t.transfers(1, kLength);
                continue;
            }
            const uint64_t moved = i ? kLength / 1000 : 4 * kLength - 3 * kLength / 1000;
            t.now += t.ring * moved / kLength;
            if (t.choice.counts(kLength)) t.choice.finished(Way::Ring, kLength, moved, {t.now, 0});
        }
    }
    EXPECT_GT(read, 3'800);
}

TEST(ShmPullChoice, OfLongTransfersFewAreMeasured) {
    Traffic t;
    t.choice.allow();
    EXPECT_GE(t.transfers(20, 4 << 20), 15);
}

TEST(ShmPullChoice, TheClockIsReadSeldomOnceBothWaysAreKnown) {
    Traffic t;
    t.choice.allow();
    t.transfers(200, kPullMin);
    const int before = t.timed;
    t.transfers(10'240, kPullMin);
    EXPECT_LE(t.timed - before, 10 * 40);
}

// The first of a size touch memory for the first time, and the kernel has these.
TEST(ShmPullChoice, WhatWasMeasuredWhileAllWasNewIsMeasuredAgainSoon) {
    Traffic t;
    t.choice.allow();
    t.kernel = 400'000;
    t.transfers(5, kLength);
    t.kernel = 80'000;
    t.transfers(5, kLength);
    EXPECT_FALSE(t.pulls(kLength));
    t.transfers(40, kLength);
    EXPECT_TRUE(t.pulls(kLength));
}

TEST(ShmPullChoice, AChangeOfTheMachineIsFound) {
    Traffic t;
    t.choice.allow();
    t.transfers(5'000, kLength);
    t.ring = 20'000;
    t.transfers(2'100, kLength);
    EXPECT_LT(t.transfers(5'000, kLength), 100);
}

TEST(ShmPullChoice, EachClassOfSizeIsForItself) {
    Traffic t;
    t.choice.allow();
    t.transfers(100, kLength);
    t.kernel = 150'000;
    t.transfers(100, kPullMin);
    EXPECT_TRUE(t.pulls(kLength));
    EXPECT_FALSE(t.pulls(kPullMin));
}

TEST(ShmPullChoice, PausesOfTheApplicationAreNoCost) {
    Traffic t;
    t.choice.allow();
    for (int i = 0; i < 1'000; ++i) {
        if (i % 10 == 0) t.now += 10'000'000;
        t.transfers(1, kLength);
    }
    EXPECT_TRUE(t.pulls(kLength));
    Traffic begins;
    begins.choice.allow();
    for (int i = 0; i < 4; ++i) {
        begins.now += 10'000'000;
        begins.transfers(1, kLength);
    }
    begins.kernel = 150'000;
    begins.transfers(200, kLength);
    EXPECT_FALSE(begins.pulls(kLength)) << "the pauses fell on the ring";
}

}  // namespace
}  // namespace selvage::impl::test
