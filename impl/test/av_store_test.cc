// The slots of address vectors: growth, order of indices, sharing.
#include "impl/av/av_store.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

namespace selvage::impl {
namespace {

uint64_t number_at(AvStore& store, fi_addr_t index) {
    AvCopy copy;
    uint64_t number = UINT64_MAX;
    const void* entry = store.find(index, &copy);
    if (entry) memcpy(&number, entry, sizeof number);
    return number;
}

TEST(AvStoreTest, LowestFreeIndexFirst) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(uint64_t), 0), 0);
    AvLock guard(store);
    for (uint64_t i = 0; i < 10000; ++i) {
        ASSERT_EQ(store.reserve(1), 0);
        ASSERT_EQ(store.insert(&i, FI_ADDR_NOTAVAIL), i);
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
    EXPECT_EQ(number_at(store, 9999), 9999u);
    EXPECT_EQ(store.find(UINT64_MAX, &copy), nullptr);
    EXPECT_EQ(store.reserve(SIZE_MAX), -FI_ENOMEM);
}

TEST(AvStoreTest, IdentifiersOfTheUserAreKeptFromWhenTheyAreWanted) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(uint64_t), 0), 0);
    AvLock guard(store);
    for (uint64_t i = 0; i < 1000; ++i) {
        if (i == 100) {
            ASSERT_EQ(store.keep_user_ids(), 0);
        }
        ASSERT_EQ(store.reserve(1), 0);
        ASSERT_EQ(store.insert(&i, i < 100 ? FI_ADDR_NOTAVAIL : i * 2), i);
    }
    for (uint64_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(store.user_id(i), i < 100 ? FI_ADDR_NOTAVAIL : i * 2);
        ASSERT_EQ(number_at(store, i), i);
    }
    ASSERT_EQ(store.keep_user_ids(), 0);
    EXPECT_EQ(store.user_id(999), 1998u);
    store.set_user_id(7, 70);
    EXPECT_EQ(store.user_id(7), 70u);
    store.remove(7);
    const uint64_t value = 1;
    ASSERT_EQ(store.insert(&value, FI_ADDR_NOTAVAIL), 7u);
    EXPECT_EQ(store.user_id(7), FI_ADDR_NOTAVAIL);
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
        EXPECT_EQ(number_at(one, 4999), 4999u);
        for (uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(one.map()[i], i);
    }
    AvStore other_size;
    EXPECT_EQ(other_size.open_shared(name.c_str(), 16, 0, AvStore::Access::Create), -FI_EINVAL);
    one.close();
    EXPECT_EQ(shm_unlink(name.c_str()), 0);  // still there for the other
    two.close();
}

TEST(AvStoreTest, EntriesStayWhereTheyAreWhileTheStoreGrows) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(uint64_t), 100), 0);
    AvLock guard(store);
    AvCopy copy;
    const void* first = nullptr;
    for (uint64_t i = 0; i < 100000; ++i) {
        ASSERT_EQ(store.reserve(1), 0);
        ASSERT_EQ(store.insert(&i, 0), i);
        if (i == 0) first = store.find(0, &copy);
    }
    EXPECT_EQ(store.find(0, &copy), first);
    for (uint64_t i = 0; i < 100000; ++i) {
        uint64_t found = 0;
        ASSERT_TRUE(store.copy_unlocked<8>(i, 0, &found));
        ASSERT_EQ(found, i);
    }
    uint64_t found = 0;
    EXPECT_FALSE(store.copy_unlocked<8>(100000, 0, &found));
    EXPECT_FALSE(store.copy_unlocked<8>(UINT64_MAX, 0, &found));
    store.remove(99);
    EXPECT_FALSE(store.copy_unlocked<8>(99, 0, &found));
}

// All bytes are the same.
struct Uniform {
    unsigned char bytes[kAvEntryMax];
    explicit Uniform(unsigned char value = 0) { memset(bytes, value, sizeof bytes); }
    bool whole() const { return memcmp(bytes, bytes + 1, sizeof bytes - 1) == 0; }
};

TEST(AvStoreTest, AnEntryIsReadWholeWithoutTheLockWhileOthersComeInItsPlace) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(Uniform), 0), 0);
    std::atomic<bool> ended{false};
    std::thread writer([&] {
        for (int i = 0; i < 200000; ++i) {
            const Uniform entry(static_cast<unsigned char>(1 + i % 250));
            AvLock guard(store);
            static_cast<void>(store.reserve(1));
            static_cast<void>(store.insert(&entry, 0));
            // Of two that are there the older goes, so that its place is the next one's.
            if (i > 0) store.remove(static_cast<fi_addr_t>((i - 1) % 2));
        }
        ended = true;
    });
    uint64_t torn = 0;
    while (!ended) {
        for (const fi_addr_t index : {0, 1}) {
            Uniform found;
            if (store.copy_unlocked<sizeof found>(index, 0, &found) && (!found.whole() || found.bytes[0] == 0)) ++torn;
        }
    }
    writer.join();
    EXPECT_EQ(torn, 0u);
}

// An entry of 12 bytes, as that of an IPv4 address is.
struct Short {
    uint32_t head;
    uint32_t halves[2];
};

TEST(AvStoreTest, AWordGoesWithItsEntry) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(Short), 100), 0);
    AvLock guard(store);
    ASSERT_TRUE(store.keeps_words());
    for (uint32_t i = 0; i < 10000; ++i) {
        ASSERT_EQ(store.word_unlocked(i), 0u);
        ASSERT_EQ(store.reserve(1), 0);
        const Short entry{.head = 0, .halves = {i + 1, ~i}};
        ASSERT_EQ(store.insert(&entry, 0), i);
    }
    for (uint64_t i = 0; i < 10000; ++i) {
        const uint64_t high = static_cast<uint32_t>(~i);
        ASSERT_EQ(store.word_unlocked(i), high << 32 | (i + 1));
    }
    EXPECT_EQ(store.word_unlocked(UINT64_MAX), 0u);
    store.use_again(99);
    EXPECT_FALSE(store.remove(99));
    EXPECT_NE(store.word_unlocked(99), 0u);
    EXPECT_TRUE(store.remove(99));
    EXPECT_EQ(store.word_unlocked(99), 0u);
    const Short entry{.head = 0, .halves = {7, 0}};
    EXPECT_EQ(store.insert(&entry, 0), 99u);
    EXPECT_EQ(store.word_unlocked(99), 7u);
}

TEST(AvStoreTest, EntriesOfOtherSizesKeepNoWords) {
    AvStore odd;
    ASSERT_EQ(odd.open_private(32, 0), 0);
    EXPECT_FALSE(odd.keeps_words());
    AvStore small;
    ASSERT_EQ(small.open_private(4, 0), 0);
    EXPECT_FALSE(small.keeps_words());
}

TEST(AvStoreTest, AWordIsReadWholeWithoutTheLockWhileOthersComeInItsPlace) {
    AvStore store;
    ASSERT_EQ(store.open_private(sizeof(Short), 0), 0);
    std::atomic<bool> ended{false};
    std::thread writer([&] {
        for (uint32_t i = 1; i <= 200000; ++i) {
            const Short entry{.head = i, .halves = {i, i}};
            AvLock guard(store);
            static_cast<void>(store.reserve(1));
            static_cast<void>(store.insert(&entry, 0));
            if (i % 3) store.remove(0);
        }
        ended = true;
    });
    uint64_t torn = 0;
    while (!ended) {
        const uint64_t word = store.word_unlocked(0);
        if (word >> 32 != static_cast<uint32_t>(word)) ++torn;
    }
    writer.join();
    EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace selvage::impl
