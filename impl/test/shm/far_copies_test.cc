// Copies past the caches: which bytes they write, and when they are taken.
#include "impl/transport/shm/far_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace selvage::impl::shm {
namespace {

constexpr int64_t kSlow = 1500, kFast = 400;  // nanoseconds for 4 KiB

// Nanoseconds from one look at the clock to the next, at best.
int64_t cost_of_clock() {
    int64_t least = kSlow;
    for (int i = 0; i < 100; ++i) {
        const int64_t began = monotonic_nanoseconds();
        least = std::min(least, monotonic_nanoseconds() - began);
    }
    return least;
}

TEST(ShmFarCopies, WriteTheirBytesAndNoOther) {
    constexpr size_t kMost = 4096 + 64;
    alignas(kLine) static std::byte to[kMost + kLine];
    std::vector<std::byte> from(kMost + 16);
    for (size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i * 7 + 1);
    for (size_t size = 0; size <= kMost; size += size < 200 ? 1 : 61) {
        for (const size_t shift : {0, 1, 8, 15}) {
            memset(to, 0, sizeof to);
            copy_past_caches(to, from.data() + shift, size);
            ASSERT_EQ(memcmp(to, from.data() + shift, size), 0) << size << " from " << shift;
            for (size_t i = size; i < sizeof to; ++i) ASSERT_EQ(to[i], std::byte(0)) << size << " wrote at " << i;
        }
    }
}

TEST(ShmFarCopies, BeginWithTheSecondSlowCopyAndEndWithTheSecondFastOne) {
    FarCopies copies;
    EXPECT_FALSE(copies.is_far());
    copies.took(kSlow, 4096);
    EXPECT_FALSE(copies.is_far()) << "it may have been an interrupt";
    copies.took(kSlow, 4096);
    EXPECT_TRUE(copies.is_far());
    for (int i = 0; i < 10; ++i) copies.took(kSlow, 4096);
    copies.took(kFast, 4096);
    EXPECT_TRUE(copies.is_far());
    copies.took(kFast, 4096);
    EXPECT_FALSE(copies.is_far());
}

TEST(ShmFarCopies, AreNotTakenForASlowCopyNowAndThen) {
    FarCopies copies;
    for (int i = 0; i < 100; ++i) {
        copies.took(kSlow, 4096);
        copies.took(kFast, 4096);
        ASSERT_FALSE(copies.is_far());
    }
}

TEST(ShmFarCopies, GoByTheTimeOfALine) {
    FarCopies copies;
    for (int i = 0; i < 3; ++i) copies.took(4 * kFast, 16 * 1024);
    EXPECT_FALSE(copies.is_far());
    for (int i = 0; i < 3; ++i) copies.took(4 * kSlow, 16 * 1024);
    EXPECT_TRUE(copies.is_far());
}

// Within one processor's caches a plain copy is fast, so who was far is found near again.
TEST(ShmFarCopies, TimeAPlainCopyNowAndThenToFindWhoIsNearAgain) {
    if (cost_of_clock() > kFast) GTEST_SKIP() << "the clock takes longer than the copy";
    FarCopies copies;
    for (int i = 0; i < 3; ++i) copies.took(kSlow, 4096);
    // A line more: a compiler that instruments takes the copy of what is behind whole lines, nothing, for one too far.
    alignas(kLine) static std::byte to[4096 + kLine];
    static const std::byte from[4096] = {};
    for (int i = 0; i < 10000 && copies.is_far(); ++i) copies.copy(to, from, sizeof from);
    EXPECT_FALSE(copies.is_far());
}

}  // namespace
}  // namespace selvage::impl::shm
