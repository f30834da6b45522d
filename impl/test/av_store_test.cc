// The slots of address vectors: growth, order of indices, sharing.
#include "impl/av/av_store.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace selvage::impl {
namespace {

TEST(AvStoreTest, LowestFreeIndexFirst) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(uint64_t), 0), 0);
    AvLock guard(store);
    for (uint64_t i = 0; i < 10000; ++i) {
        ASSERT_EQ(store.reserve(1), 0);
        ASSERT_EQ(store.insert(&i, i * 2), i);
    }
    store.remove(17);
    store.remove(4);
    EXPECT_FALSE(store.holds(17));
    const uint64_t value = 1;
    EXPECT_EQ(store.insert(&value, 0), 4u);
    EXPECT_EQ(store.insert(&value, 0), 17u);
    ASSERT_EQ(store.reserve(1), 0);
    EXPECT_EQ(store.insert(&value, 0), 10000u);
    AvCopy copy;
    EXPECT_EQ(*static_cast<const uint64_t*>(store.find(9999, &copy)), 9999u);
    EXPECT_EQ(store.user_id(9999), 19998u);
    EXPECT_EQ(store.find(UINT64_MAX, &copy), nullptr);
    EXPECT_EQ(store.reserve(SIZE_MAX), -FI_ENOMEM);
}

TEST(AvStoreTest, TwoMappingsSeeEachOtherGrow) {
    const std::string name = "/selvage-av-test-" + std::to_string(getpid());
    AvStore one, two;
    ASSERT_EQ(two.open_shared(name.c_str(), 8, 0, AvStore::Access::ReadOnly), -FI_ENOENT);
    ASSERT_EQ(one.open_shared(name.c_str(), 8, 0, AvStore::Access::Create), 0);
    ASSERT_EQ(two.open_shared(name.c_str(), 8, 0, AvStore::Access::Create), 0);
    for (uint64_t i = 0; i < 5000; ++i) {
        AvStore& store = i % 2 ? one : two;
        AvLock guard(store);
        ASSERT_EQ(store.reserve(1), 0);
        ASSERT_EQ(store.insert(&i, 0), i);
    }
    {
        AvLock guard(one);
        AvCopy copy;
        EXPECT_EQ(*static_cast<const uint64_t*>(one.find(4999, &copy)), 4999u);
        for (uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(one.map()[i], i);
    }
    AvStore other_size;
    EXPECT_EQ(other_size.open_shared(name.c_str(), 16, 0, AvStore::Access::Create), -FI_EINVAL);
    one.close();
    EXPECT_EQ(shm_unlink(name.c_str()), 0);  // still there for the other
    two.close();
}

}  // namespace
}  // namespace selvage::impl
