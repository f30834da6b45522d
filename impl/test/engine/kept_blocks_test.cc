// Blocks for messages of collectives that came before their receive.
#include <gtest/gtest.h>

#include "impl/engine/collective_receives.h"

namespace selvage::impl {
namespace {

TEST(KeptBlocks, ALongBlockIsUsedAgainForAnyLengthThatIsKept) {
    KeptBlocks blocks;
    void* const first = blocks.take(40'000);
    ASSERT_NE(first, nullptr);
    memset(first, 1, 64u << 10);
    blocks.give(first, 40'000);
    void* const second = blocks.take(64u << 10);
    EXPECT_EQ(second, first);
    blocks.give(second, 64u << 10);
}

TEST(KeptBlocks, ShortAndLongerOnesAndTooManyAreFreed) {
    KeptBlocks blocks;
    for (const size_t size : {size_t{300}, size_t{32} << 10, (size_t{64} << 10) + 1}) {
        std::vector<void*> taken;
        for (int i = 0; i < 40; ++i) taken.push_back(blocks.take(size));
        for (void* block : taken) {
            ASSERT_NE(block, nullptr);
            memset(block, 1, size);
            blocks.give(block, size);
        }
    }
    blocks.give(nullptr, 64u << 10);
}

}  // namespace
}  // namespace selvage::impl
