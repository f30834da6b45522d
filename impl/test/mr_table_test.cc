// Memory regions by key.
#include "impl/domain/mr_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "impl/domain/mr.h"

namespace selvage::impl {
namespace {

TEST(MrTableTest, FindsWhatWasInsertedAndNotRemoved) {
    MrTable table;
    EXPECT_EQ(table.find(0), nullptr);
    std::vector<std::unique_ptr<MemoryRegion>> regions;
    for (uint64_t i = 0; i < 3000; ++i) {
        regions.push_back(std::make_unique<MemoryRegion>());
        regions.back()->key = i << 20;
        ASSERT_EQ(table.insert(regions.back().get()), 0);
    }
    MemoryRegion twin;
    twin.key = 5 << 20;
    EXPECT_EQ(table.insert(&twin), -FI_ENOKEY);
    table.remove(regions[5].get());
    EXPECT_EQ(table.insert(&twin), 0);
    EXPECT_EQ(table.find(5 << 20), &twin);
    for (uint64_t i = 6; i < 3000; ++i) EXPECT_EQ(table.find(i << 20), regions[i].get());
    EXPECT_EQ(table.find(1), nullptr);
}

}  // namespace
}  // namespace selvage::impl
