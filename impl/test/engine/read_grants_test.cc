// Reads under a grant that stands: which are made at once, and what becomes of them when the memory is taken back.
#include "impl/test/engine/grants.h"

namespace selvage::impl::test {
namespace {

class EngineReadGrants : public EngineGrants {
protected:
    explicit EngineReadGrants(const Setting& setting = uncounted()) : EngineGrants(setting) {
        pair.net.at_once = true;
        completed = FI_READ | FI_RMA;
    }
    ssize_t read(uint64_t at, size_t length = kAccessBytes) {
        std::fill(local.begin(), local.end(), 0);
        return fi_read(pair.a.ep, local.data(), length, nullptr, pair.to_b, at, key, nullptr);
    }
    // The first read asks, and is granted the region.
    void first() {
        ASSERT_EQ(read(0), 0);
        ASSERT_EQ(next(), 0);
        ASSERT_TRUE(came(0));
        ASSERT_EQ(count(FrameOp::ReadGrant), 1);
    }
};

TEST_F(EngineReadGrants, TheNextReadOfTheRegionNeedsNobody) {
    first();
    const uint64_t sent = pair.net.sent;
    for (const uint64_t at : {uint64_t{0}, uint64_t{12'345}, uint64_t{kRegionBytes - kAccessBytes}}) {
        ASSERT_EQ(read(at), 0);
        EXPECT_EQ(entry(), 0) << "without a progress of the target";
        EXPECT_TRUE(came(at));
    }
    EXPECT_EQ(pair.net.sent, sent);
    EXPECT_EQ(next(), -1);
}

TEST_F(EngineReadGrants, WhatIsNotInTheRegionIsAskedFor) {
    first();
    ASSERT_EQ(read(kRegionBytes - kAccessBytes + 1), 0);
    EXPECT_NE(next(), 0);
    EXPECT_EQ(count(FrameOp::Read), 2);
}

TEST_F(EngineReadGrants, AnotherKeyIsAskedFor) {
    first();
    Bytes other = pattern(kRegionBytes, 2);
    key = pair.b.exposes(other.data(), other.size(), FI_REMOTE_READ, 8);
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(memcmp(local.data(), other.data(), kAccessBytes), 0);
    EXPECT_EQ(count(FrameOp::Read), 2);
}

TEST_F(EngineReadGrants, AClosedRegionIsNotReadThoughAnotherHasItsKey) {
    first();
    close_region();
    Bytes other = pattern(kRegionBytes, 2);
    ASSERT_EQ(pair.b.exposes(other.data(), other.size()), key);
    const uint64_t pulled = pair.net.pulled;
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(pair.net.pulled, pulled);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(memcmp(local.data(), other.data(), kAccessBytes), 0);
}

TEST_F(EngineReadGrants, ARegionThatIsClosedWhileItIsReadFailsTheReadWithItsKey) {
    first();
    pair.net.before_pull = [&] {
        if (pair.b.regions.empty()) return;
        close_region();
        std::fill(memory.begin(), memory.end(), 0xee);  // it is somebody else's by now
    };
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), FI_ENOKEY);
    EXPECT_EQ(next(), -1);
}

TEST_F(EngineReadGrants, WhatCannotBePulledIsAskedFor) {
    first();
    pair.net.pull_error = -FI_EPERM;
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(entry(), -1);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(count(FrameOp::ReadGrant), 2);
}

// A read that overtook the message would return what was there before.
TEST_F(EngineReadGrants, WhatWasSentBeforeIsNotOvertaken) {
    first();
    const Bytes bytes = pattern(100, 3);
    ASSERT_EQ(fi_recv(pair.b.ep, memory.data(), bytes.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_inject(pair.a.ep, bytes.data(), bytes.size(), pair.to_b), 0);
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(memcmp(local.data(), bytes.data(), bytes.size()), 0);
    EXPECT_EQ(count(FrameOp::Read), 2);
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(entry(), 0) << "the message was received by now";
}

TEST_F(EngineReadGrants, AReadBehindOneThatIsUnderWayIsAskedFor) {
    first();
    key = pair.b.exposes(memory.data(), memory.size(), FI_REMOTE_READ, 8);
    ASSERT_EQ(read(0), 0);
    key = 7;
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(entry(), -1);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(entry(), 0);
    EXPECT_EQ(count(FrameOp::Read), 3);
}

TEST_F(EngineReadGrants, AGrantWithoutItsRegionDropsItsPeer) {
    on_frame = [](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::Read)) packet.header.flags = 0;
        if (packet.header.op == static_cast<uint8_t>(FrameOp::ReadGrant)) packet.header.flags = kFrameStanding;
        return true;
    };
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

TEST_F(EngineReadGrants, AGrantOfAnotherRegionDropsItsPeer) {
    on_frame = [](Packet& packet) {
        if (packet.header.op != static_cast<uint8_t>(FrameOp::ReadGrant)) return true;
        change_region(packet, [](StandingGrant& region) { region.length = kAccessBytes - 1; });
        return true;
    };
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

class EngineCountedReads : public EngineReadGrants {
protected:
    EngineCountedReads() : EngineReadGrants(counted()) {}
};

TEST_F(EngineCountedReads, AreAllAskedFor) {
    first();
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(entry(), -1);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(count(FrameOp::Read), 2);
}

TEST_F(EngineCountedReads, OneThatIsAskedForAgainIsCountedOnce) {
    pair.net.pull_error = EPERM;
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(count(FrameOp::Read), 2);
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRemoteRead]), 1u);
}

TEST(StandingGrants, TheOldestMakesRoomAndAKeyHasOneGrant) {
    constexpr uint64_t kRead = FI_REMOTE_READ;
    StandingGrants grants;
    for (uint64_t key = 1; key <= 9; ++key)
        grants.add(key, key, {.address = 0, .length = 100, .at = 0, .access = kRead});
    EXPECT_FALSE(grants.find({.address = 0, .length = 1, .key = 1}, kRead));
    for (uint64_t key = 2; key <= 9; ++key) EXPECT_TRUE(grants.find({.address = 99, .length = 1, .key = key}, kRead));
    grants.add(20, 5, {.address = 0, .length = 200, .at = 0, .access = kRead});
    for (uint64_t key = 2; key <= 9; ++key) EXPECT_TRUE(grants.find({.address = 99, .length = 1, .key = key}, kRead));
    EXPECT_EQ(grants.find({.address = 100, .length = 100, .key = 5}, kRead)->epoch, 20u);
    EXPECT_FALSE(grants.find({.address = 100, .length = 100, .key = 5}, FI_REMOTE_WRITE));
}

}  // namespace
}  // namespace selvage::impl::test
