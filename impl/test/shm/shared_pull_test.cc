// Long transfers that both sides copy: who copies what, what the words may say, and that nothing is written late.
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "impl/test/shm/offering_sink.h"

namespace selvage::impl::test {
namespace {

using shm::ChunkRange;
using shm::Claims;
using shm::SharedPull;
using shm::SharedPullReceiver;
using shm::SharedPullSender;
using shm::SharedPullWords;

struct Pieces {
    iovec sources[shm::kSharedRangesMost];
    iovec destinations[shm::kSharedRangesMost];
    size_t count;

    Pieces(const SharedPull& pull, const ChunkRange& chunks) : count(pull.slice(chunks, sources, destinations)) {}
};

uint64_t address_of(const iovec& range) { return reinterpret_cast<uintptr_t>(range.iov_base); }

TEST(ShmSharedPull, ChunksMakeUpTheTransfer) {
    for (const size_t length :
         std::initializer_list<size_t>{65536, 65537, 131071, 1'000'003, 1 << 20, (1 << 20) + 1, 4 << 20, 123'456'789}) {
        const SharedPull pull = transfer(length);
        ASSERT_TRUE(pull.is_valid()) << length;
        ASSERT_GE(pull.chunks, 2u);
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < pull.chunks; ++i) {
            const Pieces pieces(pull, {i, i + 1});
            ASSERT_EQ(pieces.count, 1u);
            EXPECT_EQ(address_of(pieces.sources[0]), bytes);
            EXPECT_EQ(address_of(pieces.destinations[0]), bytes);
            bytes += pieces.sources[0].iov_len;
        }
        EXPECT_EQ(bytes, length);
        EXPECT_EQ(Pieces(pull, {0, pull.chunks}).sources[0].iov_len, length);
    }
}

TEST(ShmSharedPull, AChunkIsTheSamePartOfEachRange) {
    SharedPull pull = transfer(100'000);
    pull.count = 3;
    pull.ranges[1] = {.source = 1 << 20, .destination = 3 << 20, .length = 16384};
    pull.ranges[2] = {.source = 2 << 20, .destination = 4 << 20, .length = 65537};
    for (const uint32_t chunks : {2u, 4u, 8u}) {
        pull.chunks = chunks;
        ASSERT_TRUE(pull.is_valid());
        uint64_t bytes[3] = {};
        for (uint32_t i = 0; i < chunks; ++i) {
            const Pieces pieces(pull, {i, i + 1});
            ASSERT_LE(pieces.count, 3u);
            for (size_t n = 0; n < pieces.count; ++n) {
                const auto of = address_of(pieces.sources[n]) >> 20;
                const shm::SharedRange& all = pull.ranges[of];
                EXPECT_EQ(address_of(pieces.sources[n]), all.source + bytes[of]) << chunks << " " << i;
                EXPECT_EQ(address_of(pieces.destinations[n]), all.destination + bytes[of]);
                EXPECT_EQ(pieces.sources[n].iov_len, pieces.destinations[n].iov_len);
                bytes[of] += pieces.sources[n].iov_len;
            }
        }
        for (size_t n = 0; n < 3; ++n) EXPECT_EQ(bytes[n], pull.ranges[n].length) << chunks << " " << n;
    }
}

TEST(ShmSharedPull, WhatNobodyHelpsWithTakesTwoClaims) {
    SharedPullWords words{};
    SharedPullReceiver receiver;
    receiver.open(words, transfer(4 << 20));
    const ChunkRange first = receiver.claim(false), rest = receiver.claim(false);
    EXPECT_EQ(first.end, 1u);
    EXPECT_EQ(rest.first, 1u);
    EXPECT_EQ(rest.end, 8u);
    EXPECT_FALSE(receiver.claim(false));
    EXPECT_FALSE(receiver.senders());
    bool failed;
    SharedPull found;
    EXPECT_FALSE(SharedPullSender(words).find(&found));
    EXPECT_FALSE(receiver.is_finished(&failed) && failed);
}

TEST(ShmSharedPull, TheSenderTakesChunksFromTheBack) {
    SharedPullWords words{};
    SharedPullReceiver receiver;
    receiver.open(words, transfer(1 << 20));
    SharedPullSender sender(words);
    SharedPull found;
    ASSERT_TRUE(sender.find(&found));
    EXPECT_EQ(found.ranges[0].length, 1u << 20);
    EXPECT_EQ(sender.claim().first, 3u);
    EXPECT_EQ(receiver.claim(false).first, 0u);
    EXPECT_EQ(receiver.claim(false).first, 1u);
    EXPECT_EQ(receiver.claim(false).first, 2u);
    EXPECT_FALSE(receiver.claim(false));
    bool failed;
    EXPECT_FALSE(receiver.is_finished(&failed)) << "a chunk is claimed";
    sender.finish(true);
    EXPECT_TRUE(receiver.is_finished(&failed));
    EXPECT_FALSE(failed);
    EXPECT_FALSE(sender.claim());
}

TEST(ShmSharedPull, AClaimOfAnEarlierTransferFails) {
    SharedPullWords words{};
    SharedPullReceiver receiver;
    receiver.open(words, transfer(65536));
    SharedPullSender late(words);
    SharedPull found;
    ASSERT_TRUE(late.find(&found));
    while (receiver.claim(true)) continue;
    receiver.open(words, transfer(65536));
    EXPECT_FALSE(late.claim());
    EXPECT_EQ(receiver.claim(true).end, 2u);
}

TEST(ShmSharedPull, WhatWasFinishedOfAnEarlierTransferDoesNotCount) {
    SharedPullWords words{};
    SharedPullReceiver receiver;
    bool failed;
    for (int i = 0; i < 2; ++i) {
        receiver.open(words, transfer(65536));
        SharedPullSender sender(words);
        SharedPull found;
        ASSERT_TRUE(sender.find(&found));
        ASSERT_TRUE(sender.claim());
        while (receiver.claim(false)) continue;
        ASSERT_FALSE(receiver.is_finished(&failed)) << i;
        sender.finish(i == 0);
        ASSERT_TRUE(receiver.is_finished(&failed));
        EXPECT_EQ(failed, i == 1);
    }
}

TEST(ShmSharedPull, EachChunkIsCopiedByOne) {
    constexpr int kTransfers = 2000;
    auto words = std::make_unique<SharedPullWords>();
    std::atomic<int> copied[shm::kSharedChunksMost] = {};
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) {
            SharedPullSender sender(*words);
            SharedPull found;
            if (!sender.find(&found)) continue;
            while (const ChunkRange chunk = sender.claim()) {
                copied[chunk.first].fetch_add(1, std::memory_order_relaxed);
                sender.finish(true);
            }
        }
    });
    SharedPullReceiver receiver;
    for (int i = 0; i < kTransfers; ++i) {
        for (auto& count : copied) count.store(0, std::memory_order_relaxed);
        receiver.open(*words, transfer(4 << 20));
        while (const ChunkRange mine = receiver.claim(false)) {
            for (uint32_t c = mine.first; c < mine.end; ++c) copied[c].fetch_add(1, std::memory_order_relaxed);
        }
        bool failed;
        while (receiver.senders() && !receiver.is_finished(&failed)) sched_yield();
        for (const auto& count : copied) EXPECT_EQ(count.load(std::memory_order_relaxed), 1);
    }
    done = true;
    other.join();
}

TEST(ShmSharedPull, WhateverTheClaimsSayTheReceiverTakesItsOwnOnce) {
    std::mt19937_64 random(1);
    SharedPullWords words{};
    SharedPullReceiver receiver;
    for (int i = 0; i < 2000; ++i) {
        receiver.open(words, transfer(4 << 20));
        uint32_t taken = 0;
        for (int turn = 0;; ++turn) {
            const uint64_t word = random();
            words.claims.store(turn % 2 ? word : word & 0xffff'ffff'000f'000f, std::memory_order_relaxed);
            const ChunkRange mine = receiver.claim(random() % 4 == 0);
            if (!mine) break;
            ASSERT_EQ(mine.first, taken);
            ASSERT_LE(mine.end, 8u);
            taken = mine.end;
        }
        EXPECT_LE(receiver.senders().end, 8u);
        EXPECT_GE(receiver.senders().first, taken);
    }
}

TEST(ShmSharedPull, WhatCannotBeIsNotFound) {
    constexpr uint64_t kEnd = UINT64_MAX;
    struct Said {
        shm::SharedRange second;
        uint32_t count, chunks;
    };
    const shm::SharedRange good{.source = 4096, .destination = 4096, .length = 65536};
    const Said bad[] = {{good, 0, 2},
                        {good, shm::kSharedRangesMost + 1, 2},
                        {good, UINT32_MAX, 2},
                        {good, 2, 0},
                        {good, 2, shm::kSharedChunksMost + 1},
                        {{.source = 0, .destination = 0, .length = 0}, 2, 2},
                        {{.source = 0, .destination = 0, .length = 16383}, 2, 2},
                        {{.source = 0, .destination = 0, .length = kEnd}, 2, 2},
                        {{.source = 0, .destination = 0, .length = kEnd / 2}, 2, 2},
                        {{.source = kEnd - 65535, .destination = 0, .length = 65536}, 2, 2},
                        {{.source = 0, .destination = kEnd - 65535, .length = 65536}, 2, 2}};
    const auto finds = [&](const Said& said) {
        SharedPullWords words{};
        for (auto& range : words.ranges) {
            range.source = good.source;
            range.destination = good.destination;
            range.length = good.length;
        }
        words.ranges[1].source = said.second.source;
        words.ranges[1].destination = said.second.destination;
        words.ranges[1].length = said.second.length;
        words.count = said.count;
        words.chunks = said.chunks;
        words.claims = Claims{.generation = 1, .first = 0, .end = 2}.word();
        SharedPull found;
        return SharedPullSender(words).find(&found);
    };
    EXPECT_TRUE(finds({good, 2, 2}));
    for (const Said& said : bad) EXPECT_FALSE(finds(said)) << said.second.length << " " << said.count;
}

// The receiver may change the word after the sender has looked.
TEST(ShmSharedPull, WhatTheClaimsBecomeAfterTheyWereFoundIsNoChunkBeyondTheTransfer) {
    for (const SharedPull& pull : {transfer(65536), transfer(4 << 20), transfer(size_t{1} << 48)}) {
        for (const uint16_t end : std::initializer_list<uint16_t>{5, 9, 4096, UINT16_MAX}) {
            SharedPullWords words{};
            SharedPullReceiver().open(words, pull);
            SharedPullSender sender(words);
            SharedPull found;
            ASSERT_TRUE(sender.find(&found));
            const uint32_t generation = Claims::of(words.claims.load()).generation;
            words.claims = Claims{.generation = generation, .first = 0, .end = end}.word();
            const ChunkRange chunk = sender.claim();
            EXPECT_LE(chunk.end, found.chunks) << end;
        }
    }
}

TEST(ShmSharedPull, BytesAreContainedInARange) {
    const LocalRange range{.address = 4096, .length = 1000};
    EXPECT_TRUE(contains(range, 4096, 1000));
    EXPECT_TRUE(contains(range, 5095, 1));
    EXPECT_FALSE(contains(range, 4095, 10));
    EXPECT_FALSE(contains(range, 5095, 2));
    EXPECT_FALSE(contains(range, 4096, UINT64_MAX));
    EXPECT_FALSE(contains(range, UINT64_MAX, 2));
    EXPECT_FALSE(contains({}, 0, 1));
}

// Two transports of this process that have introduced themselves to each other: `sender_` offers, `receiver_` pulls.
class ShmSharingInOneProcess : public testing::Test {
protected:
    static constexpr size_t kLength = 300'001;

    void SetUp() override {
        ASSERT_EQ(sender_.open_at(sender_name_.text, {}), 0);
        ASSERT_EQ(receiver_.open_at(receiver_name_.text, {}), 0);
        ASSERT_EQ(sender_.find_peer_at(receiver_name_.text, &to_), 0);
        ASSERT_EQ(receiver_.find_peer_at(sender_name_.text, &from_), 0);
        ASSERT_EQ(send_text(sender_, *to_, "here"), SendResult::Done);
        ASSERT_EQ(send_text(receiver_, *from_, "here"), SendResult::Done);
        sender_.offers(*to_, kLength);
        receiver_.offers(*from_, kLength);
        ASSERT_TRUE(progress_until(receiver_, others_, [&] { return receiver_.can_pull(*from_); }));
        ASSERT_TRUE(progress_until(sender_, own_, [&] { return sender_.can_pull(*to_); }));
        own_.offered = {.address = reinterpret_cast<uintptr_t>(source_.data()), .length = source_.size()};
        ASSERT_TRUE(sender_.offers(*to_, kLength));
    }

    // The receiver's, seen by the sender.
    SharedPullWords& words() { return to_->out.slot().shared; }
    // Opens what the receiver would, and lets the sender look.
    Claims claims_after(const SharedPull& pull) {
        receiving_.open(words(), pull);
        sender_.progress(own_);
        return Claims::of(words().claims.load());
    }
    int pull() {
        const iovec remote{.iov_base = source_.data(), .iov_len = kLength};
        const iovec local{.iov_base = destination_.data(), .iov_len = kLength};
        return receiver_.pull(*from_, &remote, 1, &local, 1);
    }

    Name sender_name_{"sender"}, receiver_name_{"receiver"};
    ShmTransport sender_, receiver_;
    OfferingSink own_;
    FakeSink others_;
    ShmPeer* to_ = nullptr;
    ShmPeer* from_ = nullptr;
    SharedPullReceiver receiving_;
    std::string source_ = pattern(kLength, 5);
    std::string destination_ = std::string(kLength, '\0');
};

TEST_F(ShmSharingInOneProcess, ProgressOfTheSenderCopiesWhatIsLeft) {
    EXPECT_FALSE(claims_after(transfer(kLength, source_.data(), destination_.data())).is_left());
    EXPECT_EQ(destination_, source_);
    EXPECT_FALSE(receiving_.claim(false));
    bool failed;
    EXPECT_TRUE(receiving_.is_finished(&failed));
    EXPECT_FALSE(failed);
}

TEST_F(ShmSharingInOneProcess, WhatWasNotOfferedIsNotCopied) {
    const std::string other = pattern(kLength, 9);
    EXPECT_TRUE(claims_after(transfer(kLength, other.data(), destination_.data())).is_left());
    EXPECT_TRUE(claims_after(transfer(kLength + 1, source_.data(), destination_.data())).is_left());
    EXPECT_TRUE(claims_after(transfer(kLength, source_.data() - 1, destination_.data())).is_left());
    own_.offered = {};
    EXPECT_TRUE(claims_after(transfer(kLength, source_.data(), destination_.data())).is_left());
    EXPECT_EQ(destination_, std::string(kLength, '\0'));
}

TEST_F(ShmSharingInOneProcess, SeveralTransfersAreCopiedTogetherIfAllAreOffered) {
    SharedPull pull = transfer(kLength / 4, source_.data(), destination_.data());
    pull.count = 3;
    for (size_t i = 1; i < 3; ++i) {
        const size_t at = i * (kLength / 4);
        pull.ranges[i] = transfer(kLength / 4, source_.data() + at, destination_.data() + at).ranges[0];
    }
    const std::string other = pattern(kLength, 9);
    SharedPull worse = pull;
    worse.ranges[2].source = reinterpret_cast<uintptr_t>(other.data());
    EXPECT_TRUE(claims_after(worse).is_left());
    EXPECT_EQ(destination_, std::string(kLength, '\0'));
    EXPECT_FALSE(claims_after(pull).is_left());
    EXPECT_EQ(destination_.substr(0, kLength / 4 * 3), source_.substr(0, kLength / 4 * 3));
    EXPECT_EQ(destination_.substr(kLength / 4 * 3), std::string(kLength - kLength / 4 * 3, '\0'));
}

TEST_F(ShmSharingInOneProcess, ASenderWithNothingOfferedLooksNoMore) {
    own_.offered = {};
    for (int i = 0; i < 200; ++i) sender_.progress(own_);
    EXPECT_FALSE(to_->shared.watched);
}

TEST_F(ShmSharingInOneProcess, ADestinationThatIsNoneFailsTheChunk) {
    EXPECT_FALSE(claims_after(transfer(kLength, source_.data(), reinterpret_cast<void*>(4096))).is_left());
    EXPECT_FALSE(receiving_.claim(false));
    bool failed;
    EXPECT_TRUE(receiving_.is_finished(&failed));
    EXPECT_TRUE(failed);
}

TEST_F(ShmSharingInOneProcess, TheReceiverWaitsForAClaimedChunk) {
    for (const bool copied : {true, false}) {
        destination_.assign(kLength, '\0');
        std::atomic<bool> finished{false};
        std::atomic<bool> waits{false};
        std::thread other([&] {
            // In the receiver's mapping: the thread sanitizer tells memory by its address.
            SharedPullSender sender(from_->in.slot().shared);
            SharedPull found;
            while (!sender.find(&found)) continue;
            const ChunkRange chunk = sender.claim();
            waits = static_cast<bool>(chunk);
            usleep(50'000);
            if (chunk && copied) {
                const Pieces pieces(found, chunk);
                memcpy(pieces.destinations[0].iov_base, pieces.sources[0].iov_base, pieces.sources[0].iov_len);
            }
            finished = true;
            if (chunk) sender.finish(copied);
        });
        // The other thread may come too late for a chunk.
        while (!waits && !finished) {
            from_->shared.alone = 0;
            destination_.assign(kLength, '\0');
            ASSERT_EQ(pull(), 0);
        }
        EXPECT_TRUE(finished || !waits) << "pull() has returned, and a chunk is not finished";
        other.join();
        EXPECT_EQ(destination_, source_);
    }
}

TEST_F(ShmSharingInOneProcess, ASenderThatNeverComesIsAskedLessAndLessOften) {
    int opened = 0;
    for (int i = 0; i < 1000; ++i) {
        const uint64_t before = words().claims;
        ASSERT_EQ(pull(), 0);
        opened += before != words().claims;
    }
    EXPECT_LT(opened, 30);
    EXPECT_EQ(destination_, source_);
}

}  // namespace
}  // namespace selvage::impl::test
