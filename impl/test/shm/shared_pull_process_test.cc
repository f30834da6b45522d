// Long transfers that both sides copy, with the sender in a process of its own: it helps, is stopped, is killed, or may
// not write into other processes.
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>

#include "impl/test/shm/deny_call.h"
#include "impl/test/shm/offering_sink.h"
#include "impl/test/shm/other_process.h"
#include "impl/transport/shm/other_memory.h"

namespace selvage::impl::test {
namespace {

using shm::ChunkRange;
using shm::SharedPull;
using shm::SharedPullReceiver;
using shm::SharedPullSender;

// The number of a receiver that was killed is another process's by now: this one's.
TEST(ShmSharedPullOfTheDead, IsNotWrittenToWhoHasItsNumber) {
    constexpr size_t kLength = 100'000;
    Name dead("dead"), living("living");
    IdleOwner receiver(dead);
    ASSERT_TRUE(receiver.is_ready());
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
            ASSERT_TRUE(receiver.kill());
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

// A sender in another process that offers a range and makes progress until its parent is gone, or it is killed.
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
        transport.offers(*peer, kMost);  // so it introduces itself
        return act(transport, sink, *peer);
    }
    // What the child then does. Returns its exit status.
    virtual int act(ShmTransport& transport, OfferingSink& sink, ShmPeer& peer) {
        while (getppid() == parent_ && sink.downs.empty()) {
            transport.offers(peer, kMost);
            for (int i = 0; i < 1000; ++i) transport.progress(sink);
            sched_yield();
        }
        return 0;
    }
    // Waits for a transfer and claims a chunk of it; none if the parent is gone.
    ChunkRange claim_one(SharedPullSender& claims, SharedPull* found) const {
        while (getppid() == parent_) {
            if (!claims.find(found)) continue;
            if (const ChunkRange chunk = claims.claim()) return chunk;
        }
        return {};
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

    int pull(size_t offset, size_t length, char* to) {
        const iovec remote{.iov_base = source_.data() + offset, .iov_len = length};
        const iovec local{.iov_base = to, .iov_len = length};
        peer_->shared.alone = 0;
        return transport_.pull(*peer_, &remote, 1, &local, 1);
    }

    Name own_{"reader"}, other_{"sender"};
    ShmTransport transport_;
    FakeSink sink_;
    std::string source_;
    pid_t parent_ = getpid();
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

TEST_F(ShmSharing, BothCopySeveralThatArePulledTogether) {
    constexpr size_t kEach = 50'001, kCount = 5;
    std::string got(kEach * kCount, '\0');
    iovec remote[kCount], local[kCount];
    for (size_t i = 0; i < kCount; ++i) {
        remote[i] = {.iov_base = source_.data() + i * 2 * kEach, .iov_len = kEach};
        local[i] = {.iov_base = got.data() + i * kEach, .iov_len = kEach};
    }
    const auto pulls_them = [&] {
        got.assign(got.size(), '\0');
        peer_->shared.alone = 0;
        EXPECT_EQ(transport_.pull(*peer_, remote, kCount, local, kCount), 0);
        for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(memcmp(local[i].iov_base, remote[i].iov_base, kEach), 0) << i;
        return peer_->shared.receiver.senders() || HasFailure();
    };
    EXPECT_TRUE(repeat_until(pulls_them));
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
    int act(ShmTransport&, OfferingSink&, ShmPeer& peer) override {
        SharedPullSender claims(peer.out.slot().shared);
        SharedPull found;
        return claim_one(claims, &found) ? raise(SIGKILL) : 3;
    }
};

TEST_F(ShmSharingWithOneThatDies, AClaimedChunkOfTheDeadIsNotWaitedFor) {
    std::string got(kMost, '\0');
    int error = 0;
    ASSERT_TRUE(repeat_until([&] { return (error = pull(0, kMost, got.data())) != 0; }));
    EXPECT_LT(error, 0);
}

// It is stopped between its claim and its write, as by a debugger, and writes once it goes on.
class ShmSharingWithOneThatIsStopped : public ShmSharing {
    int act(ShmTransport&, OfferingSink&, ShmPeer& peer) override {
        SharedPullSender claims(peer.out.slot().shared);
        SharedPull found;
        const ChunkRange chunk = claim_one(claims, &found);
        if (!chunk || raise(SIGSTOP)) return 3;
        iovec from[Resolved::kPieces], to[Resolved::kPieces];
        const size_t count = found.slice(chunk, from, to);
        shm::Rest here(from, count), there(to, count);
        claims.finish(!shm::write_to(parent_, here, there));
        while (getppid() == parent_) pause();
        return 0;
    }
};

TEST_F(ShmSharingWithOneThatIsStopped, IsWaitedForUntilItGoesOn) {
    std::string got(kMost, '\0');
    Resumer resumer(child_);
    // Transfers pass until the child has claimed a chunk of one.
    EXPECT_TRUE(repeat_until([&] { return pull(0, kMost, got.data()) || peer_->shared.receiver.senders(); }));
    EXPECT_TRUE(resumer.was_waited_for()) << "pull() has returned, and the sender may still write";
    EXPECT_EQ(got, source_);
    EXPECT_GT(peer_->shared.unhelped + peer_->shared.pause, 0u) << "what comes so late counts as help";
}

// As in a container whose rules allow the calls that read and not those that write.
class ShmSharingWithOneThatMayNotWrite : public ShmSharing {
    int act(ShmTransport& transport, OfferingSink& sink, ShmPeer& peer) override {
        return deny_call(SYS_process_vm_writev, EPERM) ? ShmSharing::act(transport, sink, peer) : 3;
    }
};

TEST_F(ShmSharingWithOneThatMayNotWrite, TheReceiverCopiesAllAndIsNotHelped) {
    std::string got(kMost, '\0');
    // Until it has claimed a chunk, and failed.
    const auto pulls_it = [&] {
        got.assign(got.size(), '\0');
        EXPECT_EQ(pull(0, kMost, got.data()), 0);
        EXPECT_EQ(got, source_);
        return peer_->shared.receiver.senders() || HasFailure();
    };
    ASSERT_TRUE(repeat_until(pulls_it));
    EXPECT_GT(peer_->shared.unhelped + peer_->shared.pause, 0u) << "a chunk that was not copied counts as help";
}

}  // namespace
}  // namespace selvage::impl::test
