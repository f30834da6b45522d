// Transfers that one call pulls together, since they were announced one right behind the other.
#include "impl/engine/pull_batch.h"
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kEach = 20'000;

// Its transport sees what lies behind a frame that it delivers.
class EnginePullTogether : public testing::Test {
protected:
    EnginePullTogether() {
        pair.net.behind = true;
        pair.net.before_pull = [this] {
            ++calls;
            if (on_pull) on_pull();
        };
    }
    // The number is the context of both ends.
    void send(size_t number, size_t length = kEach) {
        sent.push_back(pattern(length, number));
        ASSERT_EQ(fi_send(pair.a.ep, sent.back().data(), length, nullptr, pair.to_b, context_of(number)), 0);
    }
    void receive(size_t number, size_t length = kEach) {
        received.emplace_back(length);
        ASSERT_EQ(fi_recv(pair.b.ep, received.back().data(), length, nullptr, FI_ADDR_UNSPEC, context_of(number)), 0);
    }
    void exchange(size_t count) {
        for (size_t i = 0; i < count; ++i) receive(i);
        for (size_t i = 0; i < count; ++i) send(i);
    }
    static void* context_of(size_t number) { return reinterpret_cast<void*>(number); }
    // The contexts of what has completed there, in order. An error ends them.
    static std::vector<size_t> completed(Node& node) {
        std::vector<size_t> contexts;
        fi_cq_tagged_entry entry;
        while (node.read(&entry) == 1) contexts.push_back(reinterpret_cast<size_t>(entry.op_context));
        return contexts;
    }
    static std::vector<size_t> first(size_t count) {
        std::vector<size_t> numbers(count);
        for (size_t i = 0; i < count; ++i) numbers[i] = i;
        return numbers;
    }

    Pair pair{Setting{.pulls = true}};
    std::deque<Bytes> sent, received;
    int calls = 0;
    std::function<void()> on_pull;
};

TEST_F(EnginePullTogether, MessagesBehindOneAnotherTakeOneCall) {
    exchange(5);
    EXPECT_EQ(completed(pair.b), first(5));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(received, sent);
    EXPECT_EQ(completed(pair.a), first(5));
}

TEST_F(EnginePullTogether, OneAloneIsNotWaitedWith) {
    exchange(1);
    EXPECT_EQ(completed(pair.b), first(1));
    EXPECT_EQ(calls, 1);
}

TEST_F(EnginePullTogether, ACallHasSoManyAndNoMore) {
    exchange(2 * PullBatch::kMost + 1);
    EXPECT_EQ(completed(pair.b), first(2 * PullBatch::kMost + 1));
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(received, sent);
}

TEST_F(EnginePullTogether, ACallHasSoManyBytesAndNoMore) {
    constexpr size_t kLength = PullBatch::kEachMost;
    for (size_t i = 0; i < 6; ++i) receive(i, kLength);
    for (size_t i = 0; i < 6; ++i) send(i, kLength);
    EXPECT_EQ(completed(pair.b), first(6));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(received, sent);
}

TEST_F(EnginePullTogether, LongOnesHaveACallEach) {
    constexpr size_t kTooLong = PullBatch::kEachMost + 1;
    for (size_t i = 0; i < 3; ++i) receive(i, kTooLong);
    send(0);
    send(1, kTooLong);
    send(2, kTooLong);
    EXPECT_EQ(completed(pair.b), first(3));
    EXPECT_EQ(calls, 3);
}

TEST_F(EnginePullTogether, WhatComesBetweenThemIsDeliveredBehindTheFirst) {
    for (size_t i = 0; i < 5; ++i) receive(i);
    send(0);
    send(1);
    send(2, 100);
    send(3);
    send(4);
    EXPECT_EQ(completed(pair.b), first(5));
    EXPECT_EQ(calls, 2);
}

TEST_F(EnginePullTogether, AReceiveWithLessRoomTakesWhatItHasRoomFor) {
    receive(0, 5'000);
    receive(1);
    send(0);
    send(1);
    fi_cq_tagged_entry entry;
    ASSERT_LT(pair.b.read(&entry), 0);
    EXPECT_EQ(pair.b.read_error().err, FI_ETRUNC);
    EXPECT_EQ(completed(pair.b), std::vector<size_t>{1});
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(std::equal(received[0].begin(), received[0].end(), sent[0].begin()));
    EXPECT_EQ(received[1], sent[1]);
}

TEST_F(EnginePullTogether, IfTheCallFailsEachHasItsOwn) {
    on_pull = [this] { pair.net.pull_error = calls == 1 ? -FI_EFAULT : 0; };
    exchange(4);
    EXPECT_EQ(completed(pair.b), first(4));
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(received, sent);
}

TEST_F(EnginePullTogether, WhatCannotBePulledComesInSegments) {
    pair.net.pull_error = -FI_EPERM;
    exchange(3);
    pair.progress();
    EXPECT_EQ(completed(pair.b), first(3));
    EXPECT_EQ(received, sent);
}

// What progress delivers is limited, and a peer can take back what it showed.
TEST_F(EnginePullTogether, NothingIsLeftWhenProgressReturns) {
    pair.net.per_progress = 1;
    exchange(3);
    for (size_t i = 0; i < 3; ++i) {
        pair.b.progress();
        EXPECT_EQ(calls, static_cast<int>(i + 1));
    }
    EXPECT_EQ(completed(pair.b), first(3));
}

TEST_F(EnginePullTogether, AnAnnouncementThatIsChangedBeforeItIsDeliveredKeepsNobodyWaiting) {
    int rts = 0;
    pair.net.inspect = [&](const Packet& packet) {
        return packet.header.op != static_cast<uint8_t>(FrameOp::MessageRts) || ++rts == 1;
    };
    exchange(2);
    EXPECT_EQ(completed(pair.b), first(1));
    EXPECT_EQ(received[0], sent[0]);
}

TEST_F(EnginePullTogether, APeerThatGoesDownBehindThemLosesNothingThatItSent) {
    exchange(3);
    pair.a.close();
    EXPECT_EQ(completed(pair.b), first(3));
    EXPECT_EQ(received, sent);
}

// It shows three announcements, and is gone when the third is to be delivered.
TEST_F(EnginePullTogether, IntoMemoryOfReceivesThatHaveFailedNothingIsPulled) {
    int rts = 0;
    pair.net.inspect = [&](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::MessageRts) && ++rts == 3) {
            pair.b.transport<true>().cut(*pair.b.transport<true>().peer_called(pair.a.endpoint.shm_address));
            return false;
        }
        return true;
    };
    exchange(3);
    fi_cq_tagged_entry entry;
    for (int i = 0; i < 2; ++i) {
        ASSERT_LT(pair.b.read(&entry), 0);
        EXPECT_EQ(pair.b.read_error().err, FI_ECONNRESET);
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(received[0], Bytes(kEach));
}

class EngineAccessTogether : public EnginePullTogether {
protected:
    static constexpr size_t kCount = 4;

    EngineAccessTogether() {
        pair.net.inspect = [this](Packet& packet) {
            if (on_frame) on_frame(packet);
            return true;
        };
    }
    void expose() { key = pair.b.exposes(memory.data(), memory.size()); }
    void close_region() {
        EXPECT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
        pair.b.regions.pop_back();
    }
    void read_all() {
        for (size_t i = 0; i < kCount; ++i) {
            ASSERT_EQ(
                fi_read(pair.a.ep, local.data() + i * kEach, kEach, nullptr, pair.to_b, i * kEach, key, context_of(i)),
                0);
        }
    }
    // With data, which the target counts.
    void write_all() {
        for (size_t i = 0; i < kCount; ++i) {
            ASSERT_EQ(fi_writedata(pair.a.ep, local.data() + i * kEach, kEach, nullptr, 100 + i, pair.to_b, i * kEach,
                                   key, context_of(i)),
                      0);
        }
    }
    std::vector<uint64_t> data_at_target() {
        std::vector<uint64_t> data;
        fi_cq_tagged_entry entry;
        while (pair.b.read(&entry) == 1) data.push_back(entry.data);
        return data;
    }

    Bytes memory = pattern(kCount * kEach, 1);
    Bytes local = pattern(kCount * kEach, 2);
    uint64_t key = 0;
    std::function<void(Packet&)> on_frame;
};

TEST_F(EngineAccessTogether, WritesBehindOneAnotherTakeOneCall) {
    expose();
    write_all();
    EXPECT_EQ(data_at_target(), (std::vector<uint64_t>{100, 101, 102, 103}));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(memory, local);
    EXPECT_EQ(completed(pair.a), first(kCount));
}

TEST_F(EngineAccessTogether, AMessageBehindWritesFindsTheirBytes) {
    expose();
    receive(9);
    write_all();
    send(9);
    EXPECT_EQ(data_at_target().size(), kCount + 1);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(memory, local);
    EXPECT_EQ(received, sent);
}

TEST_F(EngineAccessTogether, IfTheCallFailsEachWriteHasItsOwn) {
    on_pull = [this] { pair.net.pull_error = calls == 1 ? -FI_EFAULT : 0; };
    expose();
    write_all();
    pair.progress();
    EXPECT_EQ(data_at_target().size(), kCount);
    EXPECT_EQ(memory, local);
    EXPECT_EQ(calls, 1 + static_cast<int>(kCount));
    EXPECT_EQ(completed(pair.a), first(kCount));
}

TEST_F(EngineAccessTogether, ReadsThatAreGrantedBehindOneAnotherTakeOneCall) {
    expose();
    read_all();
    pair.progress();
    EXPECT_EQ(completed(pair.a), first(kCount));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(local, memory);
}

// Behind the bytes of all is looked, as for one alone.
TEST_F(EngineAccessTogether, ARegionThatIsClosedBeforeTheCallFailsEachReadWithItsKey) {
    expose();
    read_all();
    on_pull = [this] {
        if (pair.b.regions.empty()) return;
        close_region();
        std::fill(memory.begin(), memory.end(), 0xee);  // it is somebody else's by now
    };
    pair.progress();
    for (size_t i = 0; i < kCount; ++i) {
        fi_cq_tagged_entry entry;
        ASSERT_LT(pair.a.read(&entry), 0);
        EXPECT_EQ(pair.a.read_error().err, FI_ENOKEY);
    }
    EXPECT_TRUE(completed(pair.a).empty());
}

TEST_F(EngineAccessTogether, AWriteUnderAKeyThatIsNoneIsNotPulledWithTheOthers) {
    expose();
    ASSERT_EQ(fi_write(pair.a.ep, local.data(), kEach, nullptr, pair.to_b, 0, key, context_of(0)), 0);
    ASSERT_EQ(fi_write(pair.a.ep, local.data(), kEach, nullptr, pair.to_b, 0, key + 1, context_of(1)), 0);
    ASSERT_EQ(fi_write(pair.a.ep, local.data() + kEach, kEach, nullptr, pair.to_b, kEach, key, context_of(2)), 0);
    pair.b.progress();
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(std::equal(local.begin(), local.begin() + 2 * kEach, memory.begin()));
    size_t errors = 0;
    std::vector<size_t> good;
    fi_cq_tagged_entry entry;
    while (const ssize_t result = pair.a.read(&entry)) {
        if (result < 0) {
            EXPECT_EQ(pair.a.read_error().err, FI_ENOKEY);
            ++errors;
        } else {
            good.push_back(reinterpret_cast<size_t>(entry.op_context));
        }
    }
    EXPECT_EQ(errors, 1u);
    EXPECT_EQ(good, (std::vector<size_t>{0, 2}));
}

}  // namespace
}  // namespace selvage::impl::test
