// Two engines, of which one accesses a region of the other under a grant that stands (standing_grants.h).
#pragma once

#include "impl/engine/standing_grants.h"
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {

constexpr size_t kRegionBytes = 100'000;
constexpr size_t kAccessBytes = 10'000;

class EngineGrants : public testing::Test {
protected:
    static Setting uncounted() {
        Setting setting;
        setting.pulls = true;
        setting.caps &= ~FI_RMA_EVENT;
        return setting;
    }
    static Setting counted() {
        Setting setting = uncounted();
        setting.caps |= FI_RMA_EVENT;
        setting.counters = true;
        return setting;
    }
    explicit EngineGrants(const Setting& setting) : pair(setting) {
        pair.net.inspect = [this](Packet& packet) {
            ++frames[packet.header.op];
            return !on_frame || on_frame(packet);
        };
        key = pair.b.exposes(memory.data(), memory.size());
    }
    int count(FrameOp op) const { return frames[static_cast<int>(op)]; }
    // The error of the next completion at side a, 0 for a success, -1 when there is none.
    int entry() {
        fi_cq_tagged_entry entry;
        const ssize_t result = pair.a.read(&entry);
        if (result < 0) return pair.a.read_error().err;
        EXPECT_EQ(entry.flags, result == 1 ? completed : 0);
        return result == 1 ? 0 : -1;
    }
    int next() {
        pair.progress();
        return entry();
    }
    // The bytes of both sides are the same.
    bool came(uint64_t at, size_t length = kAccessBytes) const {
        return memcmp(local.data(), memory.data() + at, length) == 0;
    }
    void close_region() {
        EXPECT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
        pair.b.regions.pop_back();
    }
    // The last thing that the payload of a frame has.
    static void change_region(Packet& packet, const std::function<void(StandingGrant&)>& change) {
        StandingGrant region;
        std::byte* at = packet.bytes.data() + packet.bytes.size() - sizeof region;
        memcpy(&region, at, sizeof region);
        change(region);
        memcpy(at, &region, sizeof region);
    }

    Pair pair;
    int frames[256] = {};
    std::function<bool(Packet&)> on_frame;
    Bytes memory = pattern(kRegionBytes, 1);
    Bytes local = Bytes(kRegionBytes);
    uint64_t key = 0;
    uint64_t completed = 0;  // the flags of an entry
};

}  // namespace selvage::impl::test
