// Writes under a grant that stands: which are made at once, and what becomes of them when the memory is taken back.
#include "impl/test/engine/grants.h"

namespace selvage::impl::test {
namespace {

class EngineWriteGrants : public EngineGrants {
protected:
    explicit EngineWriteGrants(const Setting& setting = uncounted()) : EngineGrants(setting) {
        pair.net.writes_at_once = true;
        completed = FI_WRITE | FI_RMA;
    }
    ssize_t write(uint64_t at, size_t length = kAccessBytes) {
        local = pattern(kRegionBytes, ++seed);
        return fi_write(pair.a.ep, local.data(), length, nullptr, pair.to_b, at, key, nullptr);
    }
    // The first write asks, and is granted the region.
    void first() {
        ASSERT_EQ(write(0), 0);
        ASSERT_EQ(next(), 0);
        ASSERT_TRUE(came(0));
        ASSERT_EQ(count(FrameOp::WriteGrant), 1);
        ASSERT_EQ(pair.net.written, 0u);
    }
    int asked() const { return count(FrameOp::Write) + count(FrameOp::WriteRts); }

    unsigned seed = 100;
};

TEST_F(EngineWriteGrants, TheNextWriteOfTheRegionNeedsNobody) {
    first();
    const uint64_t sent = pair.net.sent;
    for (const uint64_t at : {uint64_t{0}, uint64_t{12'345}, uint64_t{kRegionBytes - kAccessBytes}}) {
        ASSERT_EQ(write(at), 0);
        EXPECT_TRUE(came(at)) << "before the call returns";
        EXPECT_EQ(entry(), 0) << "without a progress of the target";
    }
    EXPECT_EQ(pair.net.sent, sent);
    EXPECT_EQ(pair.net.written, 3u);
    EXPECT_EQ(next(), -1);
}

TEST_F(EngineWriteGrants, OneThatIsNotPulledIsGrantedTheRegionToo) {
    pair.net.pulls = false;
    ASSERT_EQ(write(0, 5'000), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(count(FrameOp::Write), 1);
    EXPECT_EQ(count(FrameOp::WriteGrant), 1);
    ASSERT_EQ(write(0, 5'000), 0);
    EXPECT_TRUE(came(0, 5'000));
    EXPECT_EQ(pair.net.written, 1u);
}

// Or else sizes are mixed up where it is decided which way is faster, and what a peer has done is taken for known.
TEST_F(EngineWriteGrants, OneForWhichAskingIsFasterIsMeasuredAsWhatItIs) {
    pair.net.pulls = false;
    ASSERT_EQ(write(0, 50'000), 0);
    EXPECT_EQ(next(), 0);
    pair.net.asks = true;
    pair.net.asked.clear();
    for (const size_t length : {100, 5'000, 5'500}) {
        ASSERT_EQ(write(0, length), 0);
        EXPECT_EQ(next(), 0);
    }
    EXPECT_EQ(pair.net.asked, (std::vector<size_t>{5'000, 5'500}));
    pair.net.asks = false;
    ASSERT_EQ(write(0, 5'000), 0);
    EXPECT_EQ(pair.net.written, 1u) << "their answers say that the peer has done all";
}

TEST_F(EngineWriteGrants, OneInSegmentsIsGrantedTheRegionToo) {
    pair.net.pulls = false;
    ASSERT_EQ(write(0, 50'000), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0, 50'000));
    EXPECT_EQ(count(FrameOp::WriteGrant), 1);
    ASSERT_EQ(write(1, 50'000), 0);
    EXPECT_TRUE(came(1, 50'000));
    EXPECT_EQ(pair.net.written, 1u);
}

TEST_F(EngineWriteGrants, SeveralPiecesOfMemoryAreWrittenInTheirOrder) {
    first();
    local = pattern(kRegionBytes, 50);
    const iovec pieces[] = {{local.data() + 50'000, 5'000}, {local.data(), 5'000}};
    ASSERT_EQ(fi_writev(pair.a.ep, pieces, nullptr, 2, pair.to_b, 100, key, nullptr), 0);
    EXPECT_EQ(entry(), 0);
    EXPECT_EQ(pair.net.written, 1u);
    EXPECT_EQ(memcmp(memory.data() + 100, local.data() + 50'000, 5'000), 0);
    EXPECT_EQ(memcmp(memory.data() + 5'100, local.data(), 5'000), 0);
}

TEST_F(EngineWriteGrants, WhatIsNotInTheRegionIsAskedFor) {
    first();
    ASSERT_EQ(write(kRegionBytes - kAccessBytes + 1), 0);
    EXPECT_GT(next(), 0);
    EXPECT_EQ(pair.net.written, 0u);
}

TEST_F(EngineWriteGrants, AShortOneIsSent) {
    first();
    ASSERT_EQ(write(0, 1'000), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(pair.net.written, 0u);
}

TEST_F(EngineWriteGrants, OneWithDataIsSentAsTheTargetLearnsOfIt) {
    first();
    local = pattern(kRegionBytes, 50);
    ASSERT_EQ(fi_writedata(pair.a.ep, local.data(), kAccessBytes, nullptr, 42, pair.to_b, 0, key, nullptr), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(pair.net.written, 0u);
    fi_cq_tagged_entry came_with;
    ASSERT_EQ(pair.b.read(&came_with), 1);
    EXPECT_EQ(came_with.data, 42u);
}

TEST_F(EngineWriteGrants, AClosedRegionIsNotWrittenThoughAnotherHasItsKey) {
    first();
    close_region();
    const Bytes before = memory;
    Bytes other(kRegionBytes);
    ASSERT_EQ(pair.b.exposes(other.data(), other.size()), key);
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(pair.net.written, 0u);
    EXPECT_EQ(memory, before);
    EXPECT_EQ(memcmp(local.data(), other.data(), kAccessBytes), 0);
}

TEST_F(EngineWriteGrants, AClosedRegionsKeyIsRefused) {
    first();
    close_region();
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), FI_ENOKEY);
    EXPECT_EQ(pair.net.written, 0u);
}

TEST_F(EngineWriteGrants, ARegionThatMayBeReadAloneIsNotWritten) {
    close_region();
    key = pair.b.exposes(memory.data(), memory.size(), FI_REMOTE_READ, 8);
    pair.net.at_once = true;
    std::fill(local.begin(), local.end(), 0);
    completed = FI_READ | FI_RMA;
    ASSERT_EQ(fi_read(pair.a.ep, local.data(), kAccessBytes, nullptr, pair.to_b, 0, key, nullptr), 0);
    ASSERT_EQ(next(), 0);
    ASSERT_EQ(count(FrameOp::ReadGrant), 1);
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), FI_EACCES);
    EXPECT_EQ(pair.net.written, 0u);
}

TEST_F(EngineWriteGrants, AGrantForAReadServesWrites) {
    pair.net.at_once = true;
    completed = FI_READ | FI_RMA;
    ASSERT_EQ(fi_read(pair.a.ep, local.data(), kAccessBytes, nullptr, pair.to_b, 0, key, nullptr), 0);
    ASSERT_EQ(next(), 0);
    completed = FI_WRITE | FI_RMA;
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(entry(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(pair.net.written, 1u);
}

TEST_F(EngineWriteGrants, WhatCannotBeWrittenIsSent) {
    first();
    pair.net.write_fails = true;
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(entry(), -1);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(asked(), 2);
}

// A write that overtook the message would be overwritten by it.
TEST_F(EngineWriteGrants, WhatWasSentBeforeIsNotOvertaken) {
    first();
    const Bytes bytes = pattern(100, 3);
    ASSERT_EQ(fi_recv(pair.b.ep, memory.data(), bytes.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_inject(pair.a.ep, bytes.data(), bytes.size(), pair.to_b), 0);
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(pair.net.written, 0u);
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(entry(), 0) << "the message was received by now";
    EXPECT_EQ(pair.net.written, 1u);
}

TEST_F(EngineWriteGrants, AWriteBehindOneThatIsUnderWayIsSent) {
    first();
    ASSERT_EQ(write(kRegionBytes - 100, 100), 0);
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(entry(), -1);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(entry(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(pair.net.written, 0u);
}

TEST_F(EngineWriteGrants, AGrantThatNobodyAskedForDropsItsPeer) {
    pair.net.writes_at_once = false;
    on_frame = [](Packet& packet) {
        if (packet.header.op != static_cast<uint8_t>(FrameOp::Ack)) return true;
        const StandingGrant region{.address = 0, .length = kRegionBytes, .at = 0, .access = FI_REMOTE_WRITE};
        packet.header.op = static_cast<uint8_t>(FrameOp::WriteGrant);
        packet.header.size = sizeof region;
        packet.bytes.resize(sizeof region);
        memcpy(packet.bytes.data(), &region, sizeof region);
        return true;
    };
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

TEST_F(EngineWriteGrants, AGrantOfAnotherRegionDropsItsPeer) {
    on_frame = [](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::WriteGrant))
            change_region(packet, [](StandingGrant& region) { region.length = kAccessBytes - 1; });
        return true;
    };
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

TEST_F(EngineWriteGrants, AGrantThatIsCutOffDropsItsPeer) {
    on_frame = [](Packet& packet) {
        if (packet.header.op != static_cast<uint8_t>(FrameOp::WriteGrant)) return true;
        packet.bytes.pop_back();
        --packet.header.size;
        return true;
    };
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

class EngineCountedWrites : public EngineWriteGrants {
protected:
    EngineCountedWrites() : EngineWriteGrants(counted()) {}
};

TEST_F(EngineCountedWrites, AreAllSent) {
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), 0);
    ASSERT_EQ(write(0), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(came(0));
    EXPECT_EQ(count(FrameOp::WriteGrant), 0);
    EXPECT_EQ(pair.net.written, 0u);
}

}  // namespace
}  // namespace selvage::impl::test
