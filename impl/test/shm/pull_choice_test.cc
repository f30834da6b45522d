// Whether long transfers come through the ring or are read by the kernel: what was measured decides.
#include "impl/transport/shm/pull_choice.h"

#include <gtest/gtest.h>

#include <functional>

namespace selvage::impl::test {
namespace {

using shm::kPullMin;
using shm::PullChoice;
using shm::says_pull;
using Way = PullChoice::Way;

// A peer whose transfers take what the test says.
struct Traffic {
    PullChoice choice{};
    uint64_t now = 1;
    uint64_t ring = 100'000;                                       // nanoseconds per transfer
    uint64_t kernel = 50'000;                                      // likewise
    std::function<uint64_t(uint64_t)> ring_cost{}, kernel_cost{};  // likewise, by the size, where it matters
    bool kernel_is_open = true;  // or all goes through the ring, whatever the choice says
    int timed = 0;               // transfers for which the clock was read
    int asked = 0;               // of these, with the switches
    uint64_t switches = 0;       // to threads of others

    uint64_t cost(bool pull, uint64_t bytes) const {
        const auto& by_size = pull ? kernel_cost : ring_cost;
        return by_size ? by_size(bytes) : pull ? kernel : ring;
    }
    bool pulls(uint64_t bytes) const { return says_pull(choice.word(), bytes); }
    // Returns how many of them were read.
    int transfers(int count, uint64_t bytes) {
        int read = 0;
        for (int i = 0; i < count; ++i) {
            const bool pull = pulls(bytes) && kernel_is_open;
            now += cost(pull, bytes);
            if (choice.counts(bytes)) {
                ++timed;
                asked += choice.counts_switches();
                choice.finished(pull ? Way::Kernel : Way::Ring, bytes, bytes, {now, switches});
            }
            read += pull;
        }
        return read;
    }
};

constexpr uint64_t kLength = 1 << 20;
constexpr uint64_t kShort = 8 << 10;

// Four by each call of 100 us, so 25 us each.
TEST(ShmPullChoice, ThoseThatOneCallReadsCostEachAPartOfIt) {
    constexpr uint64_t kBytes = 2 * kShort;
    for (const uint64_t ring : {20'000, 40'000}) {
        Traffic t{.ring = ring};
        t.choice.allow();
        for (int i = 0; i < 50; ++i) {
            if (!t.pulls(kBytes)) {
                t.transfers(1, kBytes);
                continue;
            }
            bool counts = false;
            for (int k = 0; k < 4; ++k) counts = t.choice.counts(kBytes);
            t.now += 100'000;
            if (counts) t.choice.finished(Way::Kernel, kBytes, 4 * kBytes, {t.now, 0}, 4);
        }
        ASSERT_TRUE(t.choice.is_chosen(kBytes)) << ring;
        EXPECT_EQ(t.pulls(kBytes), ring == 40'000) << ring;
    }
}

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

// Machines. Lines that move between two caches take the time of a line each; the kernel one of its own before the first
// byte.
constexpr uint64_t kMost = 64 << 10;
uint64_t near_lines(uint64_t bytes) { return 100 + bytes / 20; }
uint64_t far_lines(uint64_t bytes) { return 500 + bytes / 2; }
uint64_t quick_kernel(uint64_t bytes) { return 950 + bytes / 20; }
uint64_t slow_kernel(uint64_t bytes) { return 3'000 + bytes / 10; }

void expect_the_cheaper(Traffic& t, int settled_within) {
    for (uint64_t bytes = kPullMin; bytes <= kMost; bytes *= 2) {
        t.transfers(settled_within, bytes);
        const bool kernel = 8 * t.cost(true, bytes) < 7 * t.cost(false, bytes);
        EXPECT_EQ(t.pulls(bytes), kernel) << bytes;
        const int read = t.transfers(1000, bytes);
        EXPECT_TRUE(kernel ? read > 900 : read < 100) << bytes << ": " << read;
    }
}

TEST(ShmPullChoice, TheKernelIsTakenFrom2KiBOnWhereItIsCheaperThere) {
    Traffic t{.ring_cost = far_lines, .kernel_cost = quick_kernel};
    ASSERT_LT(t.cost(true, 2 << 10) * 8, t.cost(false, 2 << 10) * 7);
    t.choice.allow();
    expect_the_cheaper(t, 100);
}

TEST(ShmPullChoice, LinesAreTakenWhereTheyAreCheaper) {
    Traffic t{.ring_cost = near_lines, .kernel_cost = slow_kernel};
    t.choice.allow();
    expect_the_cheaper(t, 100);
}

// The cores move apart, and together again.
TEST(ShmPullChoice, WhereTheCheaperWayChangesItIsFollowed) {
    Traffic t{.ring_cost = near_lines, .kernel_cost = quick_kernel};
    t.choice.allow();
    for (int i = 0; i < 6; ++i) {
        t.ring_cost = i % 2 ? far_lines : near_lines;
        for (uint64_t bytes = kPullMin; bytes <= kMost; bytes *= 2) {
            const bool is_short = bytes < 16 << 10;
            t.transfers(is_short ? 8'192 + 100 : 1'024 + 100, bytes);
            EXPECT_EQ(t.pulls(bytes), i % 2 == 1) << i << ": " << bytes;
        }
    }
}

// One transfer in twenty takes five times as long, by either way.
TEST(ShmPullChoice, ADisturbanceNowAndThenChangesNothing) {
    Traffic t;
    t.choice.allow();
    uint32_t random = 1;
    t.ring_cost = t.kernel_cost = nullptr;
    int read = 0;
    for (int i = 0; i < 50'000; ++i) {
        random = random * 1664525 + 1013904223;
        const bool disturbed = (random >> 8) % 20 == 0;
        t.ring = disturbed ? 8'500 : 1'700;
        t.kernel = disturbed ? 6'500 : 1'300;
        read += t.transfers(1, 8 << 10);
    }
    EXPECT_GT(read, 47'500);
}

// The second trial contradicts the first, so a third comes soon.
TEST(ShmPullChoice, AMistakeCostsFewTransfers) {
    Traffic t;
    t.choice.allow();
    t.transfers(1'200, 16 << 10);
    ASSERT_TRUE(t.pulls(16 << 10));
    t.kernel = 400'000;  // while others run
    while (t.pulls(16 << 10)) t.transfers(1, 16 << 10);
    t.transfers(32, 16 << 10);
    EXPECT_FALSE(t.pulls(16 << 10));
    t.kernel = 50'000;
    EXPECT_GT(t.transfers(1'000, 16 << 10), 800);
}

TEST(ShmPullChoice, ShortTransfersAreTriedSeldomWhereTheChoiceIsClear) {
    Traffic t{.ring_cost = near_lines, .kernel_cost = slow_kernel};
    t.choice.allow();
    t.transfers(20'000, kPullMin);
    EXPECT_LT(t.transfers(80'000, kPullMin), 12 * 16);
}

// As all that is injected.
TEST(ShmPullChoice, AWayThatIsNeverTakenIsGivenUp) {
    Traffic t{.kernel_is_open = false};
    t.choice.allow();
    t.transfers(10'000, 4 << 10);
    EXPECT_LT(t.timed, 2'500);
    EXPECT_FALSE(t.pulls(4 << 10));
    t.kernel_is_open = true;
    t.transfers(9'000, 4 << 10);
    EXPECT_TRUE(t.pulls(4 << 10));
}

TEST(ShmPullChoice, WhoRanMeanwhileIsAskedForLongTransfersAlone) {
    Traffic t;
    t.choice.allow();
    t.transfers(100, 16 << 10);
    EXPECT_GT(t.timed, 0);
    EXPECT_EQ(t.asked, 0);
    t.transfers(5, kLength);
    EXPECT_EQ(t.asked, 5);
}

}  // namespace
}  // namespace selvage::impl::test
