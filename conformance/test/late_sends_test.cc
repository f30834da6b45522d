// Sends that a library completes later than the trace has it: what a replay must not do before their completions came.
#include "conformance/play/late.h"

#include <gtest/gtest.h>

#include <array>

namespace selvage::conformance {
namespace {

constexpr std::uint64_t kQueue = 6;

class LateSendsTest : public testing::Test {
protected:
    iovec piece(std::size_t at, std::size_t length) { return {memory_.data() + at, length}; }

    std::array<char, 100> memory_ = {};
    int context_ = 0, other_ = 0;
    LateSends late_;
};

TEST_F(LateSendsTest, MemoryOfASendWhoseCompletionIsMissingIsInUse) {
    late_.posted(&context_, {piece(10, 10), piece(50, 10)});
    EXPECT_FALSE(late_.use({piece(0, 100)}));
    late_.missed(kQueue, &context_);
    EXPECT_TRUE(late_.use({piece(19, 1)}));
    EXPECT_TRUE(late_.use({piece(0, 1), piece(59, 20)}));
    EXPECT_FALSE(late_.use({piece(20, 30)}));
    EXPECT_FALSE(late_.use({iovec{nullptr, 100}}));
}

TEST_F(LateSendsTest, ACompletionThatComesLateFreesItsMemoryAndContextOnce) {
    late_.posted(&context_, {piece(10, 10)});
    late_.missed(kQueue, &context_);
    EXPECT_TRUE(late_.use(&context_));
    EXPECT_FALSE(late_.use(&other_));
    EXPECT_FALSE(late_.came(kQueue, &other_));
    EXPECT_FALSE(late_.came(kQueue + 1, &context_));
    EXPECT_TRUE(late_.came(kQueue, &context_));
    EXPECT_TRUE(late_.empty());
    EXPECT_FALSE(late_.use({piece(10, 10)}));
    EXPECT_FALSE(late_.came(kQueue, &context_));
}

TEST_F(LateSendsTest, ALateSendKeepsItsMemoryWhenItsContextIsPostedAgain) {
    late_.posted(&context_, {piece(10, 10)});
    late_.missed(kQueue, &context_);
    late_.posted(&context_, {piece(80, 10)});
    EXPECT_TRUE(late_.use({piece(10, 1)}));
    EXPECT_FALSE(late_.use({piece(80, 1)}));
}

}  // namespace
}  // namespace selvage::conformance
