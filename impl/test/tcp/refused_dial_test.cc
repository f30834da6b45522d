// What is posted to an endpoint that has just come does not fail for an attempt that was made before.
#include "impl/transport/net/refused_dial.h"

#include <gtest/gtest.h>

namespace selvage::impl::test {
namespace {

using net::after_refusal;
using net::AfterRefusal;
using net::kRefusedLimit;
using net::kRefusedPause;

TEST(RefusedDial, IsRepeatedUntilItsTimeIsOver) {
    EXPECT_EQ(after_refusal({.now = kRefusedLimit - 1, .since = 0, .attempt = 900, .posted = false, .extended = false}),
              AfterRefusal::CallAgain);
    EXPECT_EQ(after_refusal({.now = kRefusedLimit, .since = 0, .attempt = 990, .posted = false, .extended = false}),
              AfterRefusal::GiveUp);
}

TEST(RefusedDial, OfWhichThisSideLearnsLateSaysNothingOfNow) {
    constexpr int64_t kLate = 3000;
    EXPECT_EQ(after_refusal({.now = kLate, .since = 0, .attempt = 900, .posted = false, .extended = true}),
              AfterRefusal::CallAgain);
    EXPECT_EQ(
        after_refusal({.now = kLate, .since = 0, .attempt = kLate - kRefusedPause, .posted = false, .extended = true}),
        AfterRefusal::GiveUp);
}

TEST(RefusedDial, IsRepeatedOnceForWhatWasPostedSinceItBegan) {
    EXPECT_EQ(after_refusal({.now = kRefusedLimit, .since = 0, .attempt = 990, .posted = true, .extended = false}),
              AfterRefusal::Extend);
    EXPECT_EQ(after_refusal({.now = kRefusedLimit, .since = 0, .attempt = 990, .posted = true, .extended = true}),
              AfterRefusal::GiveUp);
}

}  // namespace
}  // namespace selvage::impl::test
