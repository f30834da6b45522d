// Which form blocks of a group come in: what is measured to be faster, and the same at all members.
#include "impl/collective/piece_choice.h"

#include <gtest/gtest.h>

namespace selvage::impl {
namespace {

constexpr unsigned kClass = 3;

// A group's operations of one class, one after another.
struct Operations {
    PieceChoice choice;
    bool whole = false;  // the next one
    uint32_t done[2] = {};

    template <typename Cost>
    void run(uint32_t count, Cost cost) {
        for (uint32_t i = 0; i < count; ++i) {
            const bool timed = choice.is_timed(kClass), next = choice.begin(kClass);
            if (timed) choice.finish(kClass, cost(whole));
            ++done[whole];
            whole = next;
        }
    }
};

auto takes(int64_t pieces, int64_t whole) {
    return [=](bool is_whole) { return is_whole ? whole : pieces; };
}

TEST(PieceChoice, TheFirstTrialTakesEightOperations) {
    Operations fast;
    fast.run(4, takes(200, 100));
    EXPECT_EQ(fast.done[0], 2u);
    EXPECT_EQ(fast.done[1], 2u);
    fast.run(4, takes(200, 100));
    EXPECT_EQ(fast.done[1], 4u);
    Operations slow;
    slow.run(8, takes(100, 200));
    // The one behind the trial comes as the last of it.
    slow.run(1, takes(100, 200));
    EXPECT_EQ(slow.done[1], 5u);
    slow.run(20, takes(100, 200));
    EXPECT_EQ(slow.done[1], 5u);
    fast.run(20, takes(200, 100));
    EXPECT_EQ(fast.done[0], 4u);
}

TEST(PieceChoice, WhatIsSlowerIsHardlyTried) {
    Operations pieces, whole;
    pieces.run(20'000, takes(100, 200));
    whole.run(20'000, takes(200, 100));
    EXPECT_LT(pieces.done[1], 150u);
    EXPECT_LT(whole.done[0], 150u);
}

TEST(PieceChoice, AMachineThatChangesIsNoticed) {
    Operations both;
    both.run(5000, takes(100, 200));
    both.done[0] = both.done[1] = 0;
    both.run(5000, takes(200, 100));
    EXPECT_GT(both.done[1], 2500u);
}

// What disturbs one row of a trial, or the first operation of each, is no cost.
TEST(PieceChoice, ADisturbanceIsNoCost) {
    Operations one;
    uint32_t turn = 0;
    one.run(8, [&](bool whole) {
        ++turn;
        if (turn % 2) return int64_t{100'000};
        return int64_t{turn == 4 ? 5000 : whole ? 100 : 200};
    });
    one.run(10, takes(200, 100));
    EXPECT_EQ(one.done[0], 4u);
}

TEST(PieceChoice, WhatIsHardlyBetterChangesNothing) {
    Operations pieces, whole;
    pieces.run(1000, takes(100, 200));
    pieces.done[1] = 0;
    pieces.run(5000, takes(100, 97));
    EXPECT_LT(pieces.done[1], 100u);
    whole.run(1000, takes(200, 100));
    whole.done[0] = 0;
    whole.run(5000, takes(97, 100));
    EXPECT_LT(whole.done[0], 100u);
}

// The transport learns to move them meanwhile.
TEST(PieceChoice, WholeBlocksThatAreALittleSlowerAtFirstHaveASecondTrialSoon) {
    Operations faster, slower;
    faster.run(8, takes(100, 108));
    faster.run(5000, takes(100, 80));
    EXPECT_LT(faster.done[0], 100u);
    slower.run(5000, takes(100, 108));
    EXPECT_LT(slower.done[1], 150u);
}

TEST(PieceChoice, ClassesAreMeasuredApart) {
    const Shape allgather{FI_ALLGATHER, 4, 0, 0, 64u << 10, 8, true},
        alltoall{FI_ALLTOALL, 4, 0, 0, 64u << 10, 8, true};
    const Shape longer{FI_ALLGATHER, 4, 0, 0, 128u << 10, 8, true}, longest{FI_ALLTOALL, 4, 0, 0, 1u << 30, 8, true};
    EXPECT_NE(piece_class(allgather), piece_class(alltoall));
    EXPECT_NE(piece_class(allgather), piece_class(longer));
    EXPECT_EQ(piece_class(longest), kPieceClasses - 1);
}

}  // namespace
}  // namespace selvage::impl
