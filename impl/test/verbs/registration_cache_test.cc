// Registrations that are kept: made at the second use, used again, and never used for other pages than they were made
// for.
#include "impl/transport/verbs/registration_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "impl/test/verbs/fake_device.h"
#include "impl/test/verbs/mapping.h"
#include "impl/transport/verbs/exports.h"
#include "impl/transport/verbs/knobs.h"

namespace selvage::impl::test {
namespace {

using selvage::test::Mapping;
using verbs::DeviceRange;

constexpr size_t kSize = 64 << 10;

class Cache : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_NE(verbs::PageWatch::hold(), nullptr) << "this system has no userfaultfd for this process";
        verbs::PageWatch::let_go();
    }
    ~Cache() override {
        for (const char* name : {"FI_MR_CACHE_MONITOR", "FI_MR_CACHE_MAX_COUNT", "FI_MR_CACHE_MAX_SIZE"})
            unsetenv(name);
    }
    // As for a message that is sent from there: whether the device could read it.
    bool sends(const Mapping& source, size_t size = kSize, size_t offset = 0) {
        LongRange found;
        const iovec range{source.bytes + offset, size};
        if (!find_local(device.domain, range, nullptr, false, &found)) return false;
        EXPECT_EQ(found.address, source.at(offset));
        verbs::release_mr(found.token);
        return true;
    }
    size_t registrations(const std::function<void()>& of) {
        const size_t before = device.registrations;
        of();
        return device.registrations - before;
    }
    FakeDevice device;
    Mapping memory{1 << 20};
};

TEST_F(Cache, ARangeIsRegisteredAtItsSecondUseAndOnlyThen) {
    EXPECT_FALSE(sends(memory));
    EXPECT_EQ(registrations([&] { EXPECT_TRUE(sends(memory)); }), 1u);
    EXPECT_EQ(registrations([&] {
                  for (int i = 0; i < 100; ++i) EXPECT_TRUE(sends(memory));
                  EXPECT_TRUE(sends(memory, kSize / 2, 1000)) << "a part of it";
              }),
              0u);
    EXPECT_EQ(device.regions_open(), 1u);
}

TEST_F(Cache, ALongOneIsRegisteredForItsFirstUseAndKeptFromTheSecond) {
    EXPECT_EQ(registrations([&] { EXPECT_TRUE(sends(memory, verbs::kLongUnnamed)); }), 1u);
    EXPECT_EQ(device.regions_open(), 0u);
    EXPECT_EQ(registrations([&] {
                  for (int i = 0; i < 10; ++i) EXPECT_TRUE(sends(memory, verbs::kLongUnnamed));
              }),
              1u);
}

TEST_F(Cache, AShortOneIsNotLookedAt) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(sends(memory, verbs::kLongNamed - 1));
}

// What peers may read, what is sent from and what the device writes to are registrations of their own.
TEST_F(Cache, PeersCannotReadWhatIsSentFromOrReceivedInto) {
    const iovec range{memory.bytes, verbs::kLongExported};
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(sends(memory, range.iov_len));
    ASSERT_EQ(device.regions_open(), 1u);
    verbs::release_mr(acquire_mr(device.domain, range, IBV_ACCESS_LOCAL_WRITE, false));
    DeviceRange* place = acquire_mr(device.domain, range, IBV_ACCESS_LOCAL_WRITE, false);
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->access, IBV_ACCESS_LOCAL_WRITE);
    LongRange exported;
    EXPECT_EQ(registrations([&] { EXPECT_TRUE(export_range(device.domain, range, nullptr, &exported)); }), 1u);
    EXPECT_EQ(static_cast<DeviceRange*>(exported.token)->access, IBV_ACCESS_REMOTE_READ);
    EXPECT_TRUE(exported.exported);
    verbs::release_mr(exported.token);
    verbs::release_mr(place);
}

TEST_F(Cache, OtherPagesAreAnotherRange) {
    sends(memory), sends(memory);
    ASSERT_EQ(device.regions_open(), 1u);
    EXPECT_EQ(registrations([&] {
                  memory.renew('n');
                  EXPECT_TRUE(sends(memory));
              }),
              1u);
    EXPECT_EQ(device.regions_open(), 1u) << "the old one is gone";
    EXPECT_EQ(registrations([&] { EXPECT_TRUE(sends(memory)); }), 0u);
}

TEST_F(Cache, PagesThatChangeWhileTheyAreRegisteredAreNotTakenForWhatTheyWere) {
    sends(memory);
    device.on_register = [&] { memory.renew('n'); };
    EXPECT_TRUE(sends(memory)) << "this message is its application's mistake";
    device.on_register = nullptr;
    EXPECT_EQ(registrations([&] { EXPECT_TRUE(sends(memory)); }), 1u);
}

TEST_F(Cache, WhatIsInUseOutlivesItsPlaceInTheCache) {
    sends(memory);
    LongRange found;
    ASSERT_TRUE(find_local(device.domain, {memory.bytes, kSize}, nullptr, false, &found));
    memory.renew('n');
    EXPECT_TRUE(sends(memory)) << "from the new pages";
    EXPECT_EQ(device.regions_open(), 2u);
    verbs::release_mr(found.token);
    EXPECT_EQ(device.regions_open(), 1u);
}

TEST_F(Cache, MemoryThatWentIsUnlockedByAndBy) {
    {
        Mapping brief(kSize);
        sends(brief), sends(brief);
        ASSERT_EQ(device.regions_open(), 1u);
    }
    EXPECT_EQ(device.regions_open(), 1u);
    // A sweep asks without the lock that makes a change be seen at once.
    for (int i = 0; i < 5000 && device.regions_open(); ++i) {
        verbs::sweep_kept(device.domain);
        usleep(1000);
    }
    EXPECT_EQ(device.regions_open(), 0u);
}

TEST_F(Cache, MemoryThatOthersShareIsNotKept) {
    Mapping shared(1 << 20, MAP_SHARED);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(sends(shared));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(sends(shared, verbs::kLongUnnamed)) << "but it is sent";
    EXPECT_EQ(device.regions_open(), 0u);
}

TEST_F(Cache, TheRangeThatWasNotUsedForLongestMakesRoom) {
    setenv("FI_MR_CACHE_MAX_COUNT", "3", 1);
    for (size_t i = 0; i < 3; ++i) sends(memory, kSize, i * kSize), sends(memory, kSize, i * kSize);
    sends(memory, kSize, 0);  // the second is the oldest now
    sends(memory, kSize, 3 * kSize), sends(memory, kSize, 3 * kSize);
    EXPECT_EQ(device.regions_open(), 3u);
    EXPECT_EQ(registrations([&] {
                  for (const size_t i : {0, 2, 3}) EXPECT_TRUE(sends(memory, kSize, i * kSize));
              }),
              0u);
    EXPECT_EQ(registrations([&] { EXPECT_TRUE(sends(memory, kSize, kSize)); }), 1u);
}

TEST_F(Cache, TheBytesThatAreKeptAreBounded) {
    setenv("FI_MR_CACHE_MAX_SIZE", "150000", 1);
    for (size_t i = 0; i < 6; ++i) sends(memory, kSize, i % 3 * kSize);
    EXPECT_EQ(device.regions_open(), 2u);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(sends(memory, 200'000)) << "longer than the limit";
}

TEST_F(Cache, NothingIsKeptWhereTheUserWantsNone) {
    for (const char* setting : {"FI_MR_CACHE_MONITOR=disabled", "FI_MR_CACHE_MAX_COUNT=0", "FI_MR_CACHE_MAX_SIZE=0"}) {
        const std::string text = setting;
        const size_t split = text.find('=');
        setenv(text.substr(0, split).c_str(), text.c_str() + split + 1, 1);
        for (int i = 0; i < 3; ++i) EXPECT_FALSE(sends(memory)) << setting;
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(sends(memory, verbs::kLongUnnamed)) << setting;
        EXPECT_EQ(device.regions_open(), 0u) << setting;
        device.domain.unnamed.close();
        unsetenv(text.substr(0, split).c_str());
    }
}

TEST_F(Cache, WhatIsKeptMakesRoomForADeviceThatTakesNoMore) {
    device.regions_max = 2;
    for (size_t i = 0; i < 2; ++i) sends(memory, kSize, i * kSize), sends(memory, kSize, i * kSize);
    ASSERT_EQ(device.regions_open(), 2u);
    sends(memory, kSize, 2 * kSize);
    EXPECT_TRUE(sends(memory, kSize, 2 * kSize));
    EXPECT_EQ(device.regions_open(), 2u);
    device.registers = false;
    sends(memory, kSize, 3 * kSize);
    EXPECT_FALSE(sends(memory, kSize, 3 * kSize));
    device.registers = true;
    EXPECT_TRUE(sends(memory, kSize, 3 * kSize));
}

}  // namespace
}  // namespace selvage::impl::test
