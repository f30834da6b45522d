// Long transfers that both sides copy: who copies what, what the words may say, and that nothing is written late.
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "impl/engine/protocol.h"
#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

using shm::ChunkRange;
using shm::Claims;
using shm::SharedPull;
using shm::SharedPullReceiver;
using shm::SharedPullSender;
using shm::SharedPullWords;

SharedPull transfer(size_t length, const void* source = nullptr, void* destination = nullptr) {
    return {.source = reinterpret_cast<uintptr_t>(source),
            .destination = reinterpret_cast<uintptr_t>(destination),
            .length = length,
            .chunk = shm::shared_chunk(length)};
}

TEST(ShmSharedPull, ChunksMakeUpTheTransfer) {
    for (const size_t length :
         std::initializer_list<size_t>{65536, 65537, 131071, 1'000'003, 1 << 20, (1 << 20) + 1, 4 << 20, 123'456'789}) {
        const SharedPull pull = transfer(length);
        ASSERT_TRUE(pull.is_valid()) << length;
        ASSERT_GE(pull.chunks(), 2u);
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < pull.chunks(); ++i) {
            EXPECT_EQ(pull.offset({i, i + 1}), bytes);
            EXPECT_GT(pull.bytes({i, i + 1}), 0u);
            bytes += pull.bytes({i, i + 1});
        }
        EXPECT_EQ(bytes, length);
        EXPECT_EQ(pull.bytes({0, pull.chunks()}), length);
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
    EXPECT_EQ(found.length, 1u << 20);
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
    const SharedPull bad[] = {{0, 0, 0, 4096},
                              {0, 0, 65535, 32768},
                              {0, 0, 65536, 0},
                              {0, 0, 65536, 4095},
                              {0, 0, 65536, 4096},
                              {0, 0, kEnd, 1 << 20},
                              {kEnd - 65535, 0, 65536, 32768},
                              {0, kEnd - 65535, 65536, 32768},
                              {0, 0, 65536, 65536}};
    for (const SharedPull& pull : bad) {
        SharedPullWords words{};
        words.source = pull.source;
        words.destination = pull.destination;
        words.length = pull.length;
        words.chunk = pull.chunk;
        words.claims = Claims{.generation = 1, .first = 0, .end = 2}.word();
        SharedPull found;
        EXPECT_FALSE(SharedPullSender(words).find(&found)) << pull.length << " " << pull.chunk;
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

// A sink that has offered one range. Satisfies KnowsOffers.
struct OfferingSink : FakeSink {
    LocalRange offered{};

    bool is_offered(ShmPeer&, uint64_t address, uint64_t length) const { return contains(offered, address, length); }
    bool has_offers(ShmPeer&) const { return offered.length; }
};
static_assert(KnowsOffers<OfferingSink, ShmPeer>);

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
            if (chunk && copied)
                memcpy(&destination_[found.offset(chunk)], &source_[found.offset(chunk)], found.bytes(chunk));
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

// The number of a receiver that was killed is another process's by now: this one's.
TEST(ShmSharedPullOfTheDead, IsNotWrittenToWhoHasItsNumber) {
    constexpr size_t kLength = 100'000;
    Name dead("dead"), living("living");
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        ShmTransport receiver;
        if (receiver.open_at(dead.text, {}) == 0) static_cast<void>(!write(ready[1], "x", 1));
        for (;;) pause();
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ShmTransport sender;
    OfferingSink sink;
    ShmPeer* peer = nullptr;
    ASSERT_EQ(sender.open_at(living.text, {}), 0);
    ASSERT_EQ(sender.find_peer_at(dead.text, &peer), 0);
    const std::string source = pattern(kLength, 5);
    std::string destination(kLength, 'x');
    sink.offered = {.address = reinterpret_cast<uintptr_t>(source.data()), .length = kLength};
    peer->process = getpid();
    peer->out.slot().pulls.store(~0u);
    SharedPullReceiver receiving;
    for (const bool lives : {true, false}) {
        if (!lives) {
            kill(child, SIGKILL);
            ASSERT_EQ(waitpid(child, nullptr, 0), child);
        }
        ASSERT_TRUE(sender.offers(*peer, kLength));
        receiving.open(peer->out.slot().shared, transfer(kLength, source.data(), destination.data()));
        sender.progress(sink);
        EXPECT_FALSE(receiving.claim(true));
        bool failed = false;
        EXPECT_TRUE(receiving.is_finished(&failed));
        EXPECT_EQ(failed, !lives);
        EXPECT_EQ(destination, lives ? source : std::string(kLength, 'x'));
        destination.assign(kLength, 'x');
    }
}

// A sender in another process that offers a range and makes progress until it is told to stop, or is killed.
class ShmSharing : public testing::Test {
protected:
    static constexpr size_t kMost = (4 << 20) + 4096;

    void SetUp() override {
        ASSERT_EQ(transport_.open_at(own_.text, {}), 0);
        source_ = pattern(kMost, 3);  // lies at the same address in the child
        child_ = fork();
        if (child_ == 0) _exit(offer());
        ASSERT_TRUE(progress_until(transport_, sink_, [&] { return !sink_.arrivals.empty(); }));
        peer_ = sink_.arrivals[0].peer;
        transport_.offers(*peer_, kMost);  // so it introduces itself
        ASSERT_TRUE(progress_until(transport_, sink_, [&] { return transport_.can_pull(*peer_); }));
    }
    void TearDown() override {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }

    // The child.
    int offer() {
        ShmTransport transport;
        OfferingSink sink;
        if (transport.open_at(other_.text, {})) return 1;
        ShmPeer* peer = nullptr;
        while (transport.find_peer_at(own_.text, &peer) == -FI_EAGAIN) usleep(100);
        if (!peer || send_text(transport, *peer, "here") != SendResult::Done) return 2;
        sink.offered = {.address = reinterpret_cast<uintptr_t>(source_.data()), .length = source_.size()};
        const pid_t parent = getppid();
        if (dies_with_chunk()) {
            transport.offers(*peer, kMost);  // so it introduces itself
            SharedPullSender claims(peer->out.slot().shared);
            SharedPull found;
            while (!claims.find(&found) || !claims.claim()) {
                if (getppid() != parent) return 3;
            }
            raise(SIGKILL);
        }
        while (getppid() == parent && sink.downs.empty()) {
            transport.offers(*peer, kMost);
            for (int i = 0; i < 1000; ++i) transport.progress(sink);
            sched_yield();
        }
        return 0;
    }

    // Does it again until it is true, at most for so long. It gives its processor up nowhere: where both processes have
    // the same one, the child's turns then begin while a transfer is open, too.
    static bool repeat_until(const std::function<bool()>& done, int milliseconds = 20'000) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
        while (!done()) {
            if (std::chrono::steady_clock::now() > end) return false;
        }
        return true;
    }
    virtual bool dies_with_chunk() const { return false; }

    int pull(size_t offset, size_t length, char* to) {
        const iovec remote{.iov_base = source_.data() + offset, .iov_len = length};
        const iovec local{.iov_base = to, .iov_len = length};
        peer_->shared.alone = 0;
        return transport_.pull(*peer_, &remote, 1, &local, 1);
    }

    Name own_{"reader"}, other_{"helper"};
    ShmTransport transport_;
    FakeSink sink_;
    std::string source_;
    pid_t child_ = 0;
    ShmPeer* peer_ = nullptr;
};

TEST_F(ShmSharing, BothCopyWhatIsPulled) {
    std::string got(kMost + 8, '\0');
    int helped = 0;
    // It helps once it has been introduced, and when it looks in time.
    for (const size_t length : std::initializer_list<size_t>{65536, 65537, 100'003, 300'000, (1 << 20) + 1, 4 << 20}) {
        const int before = helped;
        const auto pulls_it = [&] {
            const size_t at = length % 7;
            got.assign(got.size(), '\0');
            EXPECT_EQ(pull(at, length, got.data() + 3), 0);
            EXPECT_EQ(memcmp(got.data() + 3, source_.data() + at, length), 0) << length;
            EXPECT_EQ(got[2], '\0');
            EXPECT_EQ(got[3 + length], '\0');
            helped += static_cast<bool>(peer_->shared.receiver.senders());
            return helped > before || HasFailure();
        };
        EXPECT_TRUE(repeat_until(pulls_it)) << length;
    }
}

TEST_F(ShmSharing, ASenderThatIsKilledEndsTheWaiting) {
    std::string got(kMost, '\0');
    std::thread killer([&] {
        usleep(30'000 + static_cast<useconds_t>(child_ % 16) * 1000);
        kill(child_, SIGKILL);
    });
    int error = 0;
    ASSERT_TRUE(repeat_until([&] { return (error = pull(0, kMost, got.data())) != 0; }));
    killer.join();
    EXPECT_LT(error, 0);
    // Nothing comes late.
    got.assign(kMost, 'x');
    usleep(20'000);
    EXPECT_EQ(got, std::string(kMost, 'x'));
}

class ShmSharingWithOneThatDies : public ShmSharing {
    bool dies_with_chunk() const override { return true; }
};

TEST_F(ShmSharingWithOneThatDies, AClaimedChunkOfTheDeadIsNotWaitedFor) {
    std::string got(kMost, '\0');
    int error = 0;
    ASSERT_TRUE(repeat_until([&] { return (error = pull(0, kMost, got.data())) != 0; }));
    EXPECT_LT(error, 0);
}

}  // namespace
}  // namespace selvage::impl::test
