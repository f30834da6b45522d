// Writes with FI_INJECT_COMPLETE: complete when their bytes were taken, and refused later, if at all.
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

class EngineTaken : public testing::Test {
protected:
    explicit EngineTaken(const Setting& setting = {}) : pair(setting) {
        key = pair.b.exposes(memory.data(), memory.size());
    }
    void write(uint64_t flags, uint64_t to_key) {
        const iovec range = {bytes.data(), bytes.size()};
        const fi_rma_iov target = {.addr = 0, .len = bytes.size(), .key = to_key};
        const fi_msg_rma message = {.msg_iov = &range,
                                    .desc = nullptr,
                                    .iov_count = 1,
                                    .addr = pair.to_b,
                                    .rma_iov = &target,
                                    .rma_iov_count = 1,
                                    .context = &bytes,
                                    .data = 0};
        ASSERT_EQ(fi_writemsg(pair.a.ep, &message, flags | FI_COMPLETION), 0);
    }
    // Whether an entry tells of it while the target makes no progress.
    bool is_told_at_once() {
        fi_cq_tagged_entry entry{};
        const bool told = pair.a.read(&entry) == 1;
        EXPECT_TRUE(!told || entry.op_context == &bytes);
        return told;
    }

    Pair pair;
    Bytes memory = Bytes(1000);
    Bytes bytes = pattern(1000, 1);
    uint64_t key = 0;
};

TEST_F(EngineTaken, OneIsCompleteBeforeItsTargetMakesProgress) {
    write(FI_INJECT_COMPLETE, key);
    EXPECT_TRUE(is_told_at_once());
    pair.progress();
    EXPECT_EQ(memory, bytes);
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.a.read(&entry), 0) << "once";
}

TEST_F(EngineTaken, ARefusalComesAfterItWithTheContextOfTheEndpoint) {
    write(FI_INJECT_COMPLETE, key + 1);
    EXPECT_TRUE(is_told_at_once());
    pair.progress();
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.a.read(&entry), -FI_EAVAIL);
    const fi_cq_err_entry error = pair.a.read_error();
    EXPECT_EQ(error.err, FI_ENOKEY);
    EXPECT_NE(error.op_context, &bytes);
    EXPECT_EQ(memory, Bytes(1000));
}

TEST_F(EngineTaken, AStrongerLevelOrNoneWaitsForTheTarget) {
    for (const uint64_t level : {uint64_t{0}, uint64_t{FI_TRANSMIT_COMPLETE}, uint64_t{FI_DELIVERY_COMPLETE},
                                 uint64_t{FI_INJECT_COMPLETE | FI_FENCE}}) {
        write(level, key);
        EXPECT_FALSE(is_told_at_once()) << level;
        pair.progress();
        EXPECT_TRUE(is_told_at_once()) << level;
    }
}

class EngineTakenCounted : public EngineTaken {
protected:
    static Setting counted() {
        Setting setting;
        setting.counters = true;
        return setting;
    }
    EngineTakenCounted() : EngineTaken(counted()) {}
};

TEST_F(EngineTakenCounted, WhereACounterCountsWritesARefusedOneIsNoSuccess) {
    write(FI_INJECT_COMPLETE, key + 1);
    pair.progress();
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotWrite]), 0u);
    EXPECT_EQ(fi_cntr_readerr(pair.a.counters[kSlotWrite]), 1u);
}

}  // namespace
}  // namespace selvage::impl::test
