// Transfers that both sides copy: who copies what, what becomes of a part that fails, and what a peer may not ask for.
#include <chrono>
#include <thread>

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLong = 300'000;   // copied by halves
constexpr size_t kShort = 100'000;  // and whole, when others wait behind it

class EngineShare : public testing::Test {
protected:
    static Setting setting() {
        Setting setting;
        setting.pulls = true;
        setting.counters = true;
        return setting;
    }
    EngineShare() : pair(setting()) { pair.net.shares = true; }

    // What comes of `count` operations at a side; an error ends it.
    int await(Node& node, int count = 1) {
        int got = 0;
        for (int i = 0; i < 200 && got < count; ++i) {
            fi_cq_tagged_entry entry;
            const ssize_t result = node.read(&entry);
            if (result < 0) return -node.read_error().err;
            got += static_cast<int>(result);
            if (!result) pair.a.progress(), pair.b.progress();
        }
        return got;
    }
    void send(const Bytes& bytes) {
        ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
    }
    void receive(Bytes& into) {
        ASSERT_EQ(fi_recv(pair.b.ep, into.data(), into.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    }
    void expect_message(size_t size = kLong) {
        const Bytes bytes = pattern(size);
        Bytes got(size);
        receive(got);
        send(bytes);
        EXPECT_EQ(await(pair.b), 1);
        EXPECT_EQ(got, bytes);
        EXPECT_EQ(await(pair.a), 1);
    }
    // Side a writes or reads all of b's memory.
    void access(bool write, Bytes& local, Bytes& memory) {
        const uint64_t key =
            pair.b.exposes(memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 10 + pair.b.regions.size());
        const auto posted = write ? fi_write(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr)
                                  : fi_read(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr);
        ASSERT_EQ(posted, 0);
    }
    int count(FrameOp op) const { return frames[static_cast<int>(op)]; }
    void watch() {
        pair.net.inspect = [this](Packet& packet) { return ++frames[packet.header.op], true; };
    }
    Pair pair;
    int frames[32] = {};
};

TEST_F(EngineShare, TheSenderWritesTheSecondHalfIfItHasTime) {
    expect_message();
    EXPECT_EQ(pair.net.pulled, 1U);
    EXPECT_EQ(pair.net.pushed, 1U);
}

TEST_F(EngineShare, WhatTheSenderDoesNotTakeIsReadByTheReceiver) {
    pair.net.sender_is_quick = false;
    expect_message();
    EXPECT_EQ(pair.net.pulled, 2U);
    EXPECT_EQ(pair.net.pushed, 0U);
}

TEST_F(EngineShare, TheSenderIsNotDoneBeforeTheReceiverIs) {
    Bytes got(kLong);
    const Bytes bytes = pattern(kLong);
    receive(got);
    send(bytes);
    pair.b.progress();
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.b.read(&entry), 0) << "the half that the sender took is not there yet";
    EXPECT_EQ(pair.a.read(&entry), 0);
    EXPECT_EQ(await(pair.b), 1);
    EXPECT_EQ(await(pair.a), 1);
}

TEST_F(EngineShare, APartThatCannotBeCopiedComesInSegments) {
    for (const bool own : {true, false}) {
        for (const bool quick : {true, false}) {
            SCOPED_TRACE(std::string(own ? "the receiver's" : "the sender's") + (quick ? ", taken" : ""));
            pair.net.shares = true;
            pair.net.sender_is_quick = quick;
            pair.net.pull_error = own ? -FI_EACCES : 0;
            pair.net.push_error = own ? 0 : -FI_EACCES;
            frames[static_cast<int>(FrameOp::kSegment)] = 0;
            watch();
            expect_message();
            EXPECT_EQ(count(FrameOp::kSegment) > 0, own || quick);
            EXPECT_EQ(pair.net.shares, own || !quick) << "who cannot write is not asked again";
        }
    }
}

TEST_F(EngineShare, OfSeveralShortMessagesTheSenderWritesWholeOnes) {
    for (const bool quick : {true, false}) {
        pair.net.sender_is_quick = quick;
        pair.net.pulled = pair.net.pushed = 0;
        std::vector<Bytes> sent, got(10, Bytes(kShort));
        for (size_t i = 0; i < got.size(); ++i) {
            sent.push_back(pattern(kShort, i));
            receive(got[i]);
            send(sent[i]);
        }
        EXPECT_EQ(await(pair.b, 10), 10);
        EXPECT_EQ(await(pair.a, 10), 10);
        EXPECT_EQ(got, sent);
        // All but the last have one behind them.
        EXPECT_EQ(pair.net.pushed, quick ? 10U : 0U);
        EXPECT_EQ(pair.net.pulled, quick ? 1U : 10U);
    }
}

TEST_F(EngineShare, AnOpenOfferIsSettledWhenNothingElseIsThereToDo) {
    pair.net.sender_is_quick = false;
    Bytes first(kShort), second(8);
    const Bytes long_one = pattern(kShort), short_one = pattern(8);
    receive(first);
    receive(second);
    send(long_one);
    send(short_one);
    pair.b.progress();  // the sender does nothing meanwhile
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(first, long_one);
}

TEST_F(EngineShare, OnlyWhatTheReceiveHasRoomForIsWritten) {
    for (const size_t room : {kLong - 1, size_t{20'000}, size_t{9'000}}) {
        const Bytes bytes = pattern(kLong);
        Bytes got(kLong, 0xee);
        ASSERT_EQ(fi_recv(pair.b.ep, got.data(), room, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        send(bytes);
        EXPECT_EQ(await(pair.b), -FI_ETRUNC);
        EXPECT_TRUE(std::equal(got.begin(), got.begin() + static_cast<long>(room), bytes.begin())) << room;
        EXPECT_EQ(got[room], 0xee);
        EXPECT_EQ(await(pair.a), 1);
    }
}

TEST_F(EngineShare, RangesAtBothEndsMeet) {
    Bytes bytes = pattern(kLong), got(kLong);
    const iovec from[] = {{bytes.data(), 1}, {bytes.data() + 1, 200'001}, {bytes.data() + 200'002, kLong - 200'002}};
    const iovec to[] = {{got.data(), 150'001}, {got.data() + 150'001, 7}, {got.data() + 150'008, kLong - 150'008}};
    ASSERT_EQ(fi_recvv(pair.b.ep, to, nullptr, 3, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_sendv(pair.a.ep, from, nullptr, 3, pair.to_b, nullptr), 0);
    EXPECT_EQ(await(pair.b), 1);
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(pair.net.pushed, 1U);
}

TEST_F(EngineShare, ReadsAndWritesAreSharedToo) {
    for (const bool quick : {true, false}) {
        for (const bool write : {true, false}) {
            SCOPED_TRACE(std::string(write ? "write" : "read") + (quick ? ", taken" : ""));
            pair.net.sender_is_quick = quick;
            pair.net.pulled = pair.net.pushed = 0;
            Bytes memory = pattern(kLong, 1), local = pattern(kLong, 2);
            access(write, local, memory);
            EXPECT_EQ(await(pair.a), 1);
            EXPECT_EQ(memory, local);
            EXPECT_EQ(local, pattern(kLong, write ? 2 : 1));
            EXPECT_EQ(pair.net.pushed, quick ? 1U : 0U);
            EXPECT_EQ(pair.net.pulled, quick ? 1U : 2U);
        }
    }
}

TEST_F(EngineShare, WhatFollowsAWriteComesAfterIt) {
    Bytes memory(kLong), local = pattern(kLong);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    uint64_t got = 0, word = 77;
    ASSERT_EQ(fi_recv(pair.b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_write(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr), 0);
    ASSERT_EQ(fi_send(pair.a.ep, &word, sizeof word, nullptr, pair.to_b, nullptr), 0);
    for (int i = 0; i < 5; ++i) pair.b.progress();
    EXPECT_EQ(got, 0U) << "the initiator has not written its half yet";
    EXPECT_EQ(await(pair.b), 1);
    EXPECT_EQ(got, 77U);
    EXPECT_EQ(memory, local);
    EXPECT_EQ(await(pair.a, 2), 2);
}

TEST_F(EngineShare, AnAccessOfWhichNothingCanBeReadIsAnErrorAndWhatThePeerCannotWriteIsRead) {
    for (const bool own : {true, false}) {
        for (const bool write : {true, false}) {
            SCOPED_TRACE(std::string(write ? "write" : "read") + (own ? ", own part" : ""));
            pair.net.shares = true;
            pair.net.pull_error = own ? -FI_EACCES : 0;
            pair.net.push_error = own ? 0 : -FI_EACCES;
            Bytes memory = pattern(kLong, 1), local = pattern(kLong, 2);
            access(write, local, memory);
            EXPECT_EQ(await(pair.a), own ? -FI_EIO : 1);
            EXPECT_EQ(memory == local, !own);
            pair.net.pull_error = pair.net.push_error = 0;
            pair.net.shares = true;
            expect_message();  // and all goes on
        }
    }
}

TEST_F(EngineShare, ARegionThatIsGoneIsNotRead) {
    Bytes memory = pattern(kLong), local(kLong);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    ASSERT_EQ(fi_read(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr), 0);
    pair.b.progress();  // grants it
    pair.net.sender_is_quick = false;
    pair.net.inspect = [&](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::kShare)) {
            fi_close(&pair.b.regions.back()->fid);
            pair.b.regions.pop_back();
        }
        return true;
    };
    EXPECT_EQ(await(pair.a), 1);
    pair.settle();
    EXPECT_EQ(pair.net.pushed, 0U);
    pair.net.inspect = nullptr;
    expect_message();  // the peer was not dropped for it
}

TEST_F(EngineShare, ARegionIsClosedWhenNobodyWritesIntoItAnyMore) {
    Bytes memory(kLong), local = pattern(kLong);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    ASSERT_EQ(fi_write(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr), 0);
    pair.b.progress();
    std::atomic<bool> wrote{false};
    std::thread initiator([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        wrote = true;
        pair.a.progress();
    });
    EXPECT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
    pair.b.regions.pop_back();
    EXPECT_TRUE(wrote);
    EXPECT_EQ(memory, local);
    initiator.join();
}

TEST_F(EngineShare, ARegionDoesNotWaitForEverForWhoIsAboutToWriteIntoIt) {
    Bytes memory(kLong), local = pattern(kLong);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    ASSERT_EQ(fi_write(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr), 0);
    pair.b.progress();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
    pair.b.regions.pop_back();
    const auto passed = std::chrono::steady_clock::now() - before;
    EXPECT_GE(passed, std::chrono::milliseconds(900));
    EXPECT_LE(passed, std::chrono::seconds(10));
    // With the endpoint goes what it waits for.
    pair.b.close();
    Bytes other(100);
    pair.b.exposes(other.data(), other.size());
}

TEST_F(EngineShare, APeerThatDiesWithAPartLeavesAnError) {
    for (const bool write : {false, true}) {
        Pair two(setting());
        two.net.shares = true;
        Bytes memory(kLong), local(kLong);
        const uint64_t key = two.b.exposes(memory.data(), memory.size());
        if (write) {
            ASSERT_EQ(fi_write(two.a.ep, local.data(), kLong, nullptr, two.to_b, 0, key, nullptr), 0);
        } else {
            ASSERT_EQ(fi_recv(two.b.ep, memory.data(), kLong, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
            ASSERT_EQ(fi_send(two.a.ep, local.data(), kLong, nullptr, two.to_b, nullptr), 0);
        }
        two.b.progress();
        two.a.close();
        fi_cq_tagged_entry entry;
        for (int i = 0; i < 10; ++i) two.b.progress();
        if (write) {
            EXPECT_EQ(two.b.read(&entry), 0);
        } else {
            ASSERT_EQ(two.b.read(&entry), -FI_EAVAIL);
            EXPECT_EQ(two.b.read_error().err, FI_ECONNRESET);
        }
    }
}

// Of what the peer asks to be written, all must lie in what it was sent.
TEST_F(EngineShare, APeerThatAsksForMoreThanTheMessageIsDropped) {
    struct Ask {
        const char* what;
        uint64_t offset, size, word0, ticket;
        uint8_t flags;
    };
    const uint64_t first = uint64_t{1} << 32;  // the first id of the pool
    const Ask asks[] = {{"beyond its end", kLong - 10, 11, first, 1, 0},
                        {"far beyond it", UINT64_MAX - 5, 10, first, 1, 0},
                        {"nothing", 0, 0, first, 1, 0},
                        {"no ticket", 0, 10, first, 0, 0},
                        {"another message", 0, 10, first + 1, 1, 0},
                        {"a write that is a message", 0, 10, first, 1, kFrameOfWrite},
                        {"a read without targets", 0, 10, 0, 1, kFrameOfRead}};
    for (const Ask& ask : asks) {
        SCOPED_TRACE(ask.what);
        Pair two(setting());
        two.net.shares = true;
        Bytes bytes(kLong), place(64, 7);
        ASSERT_EQ(fi_send(two.a.ep, bytes.data(), kLong, nullptr, two.to_b, nullptr), 0);
        std::vector<std::byte> payload(3 * sizeof(uint64_t));
        const uint64_t words[] = {ask.offset, reinterpret_cast<uintptr_t>(place.data()), ask.size};
        memcpy(payload.data(), words, sizeof words);
        auto& at_b = two.b.transport<true>();
        two.b.progress();
        at_b.forge(*at_b.peer_called(two.a.endpoint.shm_address),
                   {.size = sizeof words,
                    .op = static_cast<uint8_t>(FrameOp::kShare),
                    .flags = ask.flags,
                    .aux = 1,
                    .word = {ask.word0, 5, ask.ticket}},
                   payload);
        two.settle();
        EXPECT_EQ(two.net.pushed, 0U);
        fi_cq_tagged_entry entry;
        ASSERT_EQ(two.a.read(&entry), -FI_EAVAIL);
        EXPECT_EQ(two.a.read_error().err, FI_ECONNABORTED);
    }
}

TEST_F(EngineShare, APeerThatIsDoneWithNothingIsDropped) {
    for (const uint8_t flags : {uint8_t{0}, kFrameOfRead}) {
        Pair two(setting());
        two.net.shares = false;
        Bytes local(kLong), memory(kLong);
        const uint64_t key = two.b.exposes(memory.data(), memory.size());
        char byte;
        ASSERT_EQ(fi_recv(two.a.ep, &byte, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_read(two.a.ep, local.data(), kLong, nullptr, two.to_b, 0, key, nullptr), 0);
        auto& at_b = two.b.transport<true>();
        two.a.progress();
        FakeTransport<true>::Peer* a_at_b;
        ASSERT_EQ(at_b.find_peer(two.to_a, &a_at_b), 0);
        at_b.forge(*a_at_b, {.size = 0,
                             .op = static_cast<uint8_t>(FrameOp::kShareDone),
                             .flags = flags,
                             .aux = 0,
                             .word = {uint64_t{1} << 32, 0, 0}});
        two.a.progress();
        fi_cq_tagged_entry entry;
        two.a.progress();
        ASSERT_EQ(two.a.read(&entry), -FI_EAVAIL);
        EXPECT_EQ(two.a.read_error().err, FI_ECONNABORTED);
    }
}

}  // namespace
}  // namespace selvage::impl::test
