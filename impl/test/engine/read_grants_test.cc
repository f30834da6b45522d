// Reads under a grant that stands: which are made at once, and what becomes of them when the memory is taken back.
#include "impl/engine/read_grants.h"

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kRegionBytes = 100'000;
constexpr size_t kReadBytes = 10'000;

class EngineReadGrants : public testing::Test {
protected:
    static Setting uncounted() {
        Setting setting;
        setting.pulls = true;
        setting.caps &= ~FI_RMA_EVENT;
        return setting;
    }
    explicit EngineReadGrants(const Setting& setting = uncounted()) : pair(setting) {
        pair.net.at_once = true;
        pair.net.inspect = [this](Packet& packet) {
            ++frames[packet.header.op];
            return !on_frame || on_frame(packet);
        };
        key = pair.b.exposes(memory.data(), memory.size());
    }
    int count(FrameOp op) const { return frames[static_cast<int>(op)]; }
    ssize_t read(uint64_t at, size_t length = kReadBytes) {
        std::fill(local.begin(), local.end(), 0);
        return fi_read(pair.a.ep, local.data(), length, nullptr, pair.to_b, at, key, nullptr);
    }
    // The error of the next completion at side a, 0 for a success, -1 when there is none.
    int entry() {
        fi_cq_tagged_entry entry;
        const ssize_t result = pair.a.read(&entry);
        if (result < 0) return pair.a.read_error().err;
        EXPECT_EQ(entry.flags, result == 1 ? uint64_t{FI_READ | FI_RMA} : 0);
        return result == 1 ? 0 : -1;
    }
    int next() {
        pair.progress();
        return entry();
    }
    bool came(uint64_t at, size_t length = kReadBytes) const {
        return memcmp(local.data(), memory.data() + at, length) == 0;
    }
    // The first read asks, and is granted the region.
    void first() {
        ASSERT_EQ(read(0), 0);
        ASSERT_EQ(next(), 0);
        ASSERT_TRUE(came(0));
        ASSERT_EQ(count(FrameOp::ReadGrant), 1);
    }
    void close_region() {
        EXPECT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
        pair.b.regions.pop_back();
    }

    Pair pair;
    int frames[256] = {};
    std::function<bool(Packet&)> on_frame;
    Bytes memory = pattern(kRegionBytes, 1);
    Bytes local = Bytes(kRegionBytes);
    uint64_t key = 0;
};

TEST_F(EngineReadGrants, TheNextReadOfTheRegionNeedsNobody) {
    first();
    const uint64_t sent = pair.net.sent;
    for (const uint64_t at : {uint64_t{0}, uint64_t{12'345}, uint64_t{kRegionBytes - kReadBytes}}) {
        ASSERT_EQ(read(at), 0);
        EXPECT_EQ(entry(), 0) << "without a progress of the target";
        EXPECT_TRUE(came(at));
    }
    EXPECT_EQ(pair.net.sent, sent);
    EXPECT_EQ(next(), -1);
}

TEST_F(EngineReadGrants, WhatIsNotInTheRegionIsAskedFor) {
    first();
    ASSERT_EQ(read(kRegionBytes - kReadBytes + 1), 0);
    EXPECT_NE(next(), 0);
    EXPECT_EQ(count(FrameOp::Read), 2);
}

TEST_F(EngineReadGrants, AnotherKeyIsAskedFor) {
    first();
    Bytes other = pattern(kRegionBytes, 2);
    key = pair.b.exposes(other.data(), other.size(), FI_REMOTE_READ, 8);
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(memcmp(local.data(), other.data(), kReadBytes), 0);
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
    EXPECT_EQ(memcmp(local.data(), other.data(), kReadBytes), 0);
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
        StandingGrant region;
        std::byte* at = packet.bytes.data() + packet.bytes.size() - sizeof region;
        memcpy(&region, at, sizeof region);
        region.length = kReadBytes - 1;
        memcpy(at, &region, sizeof region);
        return true;
    };
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

class EngineCountedReads : public EngineReadGrants {
protected:
    static Setting counted() {
        Setting setting = uncounted();
        setting.caps |= FI_RMA_EVENT;
        return setting;
    }
    EngineCountedReads() : EngineReadGrants(counted()) {}
};

TEST_F(EngineCountedReads, AreAllAskedFor) {
    first();
    ASSERT_EQ(read(0), 0);
    EXPECT_EQ(entry(), -1);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(count(FrameOp::Read), 2);
}

TEST(ReadGrants, TheOldestMakesRoomAndAKeyHasOneGrant) {
    ReadGrants grants;
    for (uint64_t key = 1; key <= 9; ++key) grants.add(key, key, {.address = 0, .length = 100, .at = 0});
    EXPECT_FALSE(grants.find({.address = 0, .length = 1, .key = 1}));
    for (uint64_t key = 2; key <= 9; ++key) EXPECT_TRUE(grants.find({.address = 99, .length = 1, .key = key}));
    grants.add(20, 5, {.address = 0, .length = 200, .at = 0});
    for (uint64_t key = 2; key <= 9; ++key) EXPECT_TRUE(grants.find({.address = 99, .length = 1, .key = key}));
    EXPECT_EQ(grants.find({.address = 100, .length = 100, .key = 5})->epoch, 20u);
}

}  // namespace
}  // namespace selvage::impl::test
