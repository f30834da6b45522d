// How an owner learns of frames in rings that it does not poll, and when it sleeps (impl/transport/shm/bell.h).
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <memory>

#include "impl/test/shm/deny_call.h"
#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

// One owner and so many senders that most of their rings go cold.
struct ShmCrowd : testing::Test {
    static constexpr size_t kSenders = 20;

    Name name{"owner"};
    ShmTransport owner;
    FakeSink sink;
    std::vector<std::unique_ptr<ShmTransport>> senders;
    std::vector<ShmPeer*> to_owner;

    void SetUp() override {
        ASSERT_EQ(owner.open_at(name.text, {}), 0);
        for (size_t i = 0; i < kSenders; ++i) add_sender();
        ASSERT_TRUE(arrives(kSenders));
    }
    void add_sender() {
        senders.push_back(std::make_unique<ShmTransport>());
        ASSERT_EQ(senders.back()->open_at(Name("sender").text, {}), 0);
        ShmPeer* peer = nullptr;
        ASSERT_EQ(senders.back()->find_peer_at(name.text, &peer), 0);
        to_owner.push_back(peer);
        ASSERT_EQ(send_text(*senders.back(), *peer, "hello"), SendResult::Done);
    }
    bool arrives(size_t count) {
        return progress_until(owner, sink, [&] { return sink.arrivals.size() >= count; });
    }
    void idle() {
        for (int i = 0; i < 5000; ++i) owner.progress(sink);
    }
    // How the owner knows the sender with this index.
    ShmPeer& seen(size_t index) { return *sink.arrivals[index].peer; }
    size_t cold_rings() {
        size_t count = 0;
        for (size_t i = 0; i < kSenders; ++i) count += !seen(i).in.hot;
        return count;
    }
    size_t a_cold_one() {
        size_t i = 0;
        while (seen(i).in.hot) ++i;
        return i;
    }
    // The index of the sender that fills the ring of this peer.
    size_t sender_of(const ShmPeer& peer) {
        size_t i = 0;
        while (to_owner[i]->remote.index != peer.in.index) ++i;
        return i;
    }
    static bool readable(ShmTransport& transport, int milliseconds) {
        pollfd entry = {transport.wait_descriptor(), POLLIN, 0};
        return poll(&entry, 1, milliseconds) == 1;
    }
};

TEST_F(ShmCrowd, IdleRingsGoColdTogetherButForAFew) {
    idle();
    EXPECT_EQ(cold_rings(), kSenders - ShmTransport::kAlwaysHot);
    for (size_t i = 0; i < kSenders; ++i) send_text(*senders[i], *to_owner[i], "again");
    ASSERT_TRUE(arrives(2 * kSenders));
    EXPECT_EQ(cold_rings(), 0u);
}

// As a sender leaves it that was killed between its frame and its look at the word.
TEST_F(ShmCrowd, AFrameInAColdRingThatNobodyRaisedIsFoundBeforeTheOwnerSleeps) {
    idle();
    ShmPeer& cold = seen(a_cold_one());
    Header header{};
    to_owner[sender_of(cold)]->out.publish(header, nullptr, 0);
    EXPECT_FALSE(owner.arm());
    EXPECT_TRUE(progress_until(
        owner, sink, [&] { return sink.arrivals.size() > kSenders; }, 200));
    EXPECT_TRUE(owner.arm());
}

TEST_F(ShmCrowd, ABellThatOneSenderCannotRingIsRungByTheNext) {
    idle();
    ASSERT_TRUE(owner.arm());
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    send_text(*senders[0], *to_owner[0], "no descriptor for the bell");
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    send_text(*senders[1], *to_owner[1], "one");
    EXPECT_EQ(to_owner[1]->out.region->armed.load(), 0u);
    EXPECT_TRUE(readable(owner, 0));
    ASSERT_TRUE(arrives(kSenders + 2));
}

TEST(ShmWake, AnOwnerThatKnowsNobodyIsWokenWithoutABell) {
    Name own("lonely"), other("silent");
    ShmTransport owner, sender;
    FakeSink sink;
    ASSERT_EQ(owner.open_at(own.text, {}), 0);
    ASSERT_EQ(sender.open_at(other.text, {}), 0);
    ASSERT_TRUE(owner.arm());
    ShmPeer* peer = nullptr;
    ASSERT_EQ(sender.find_peer_at(own.text, &peer), 0);
    Header header{};
    peer->out.publish(header, nullptr, 0);
    EXPECT_TRUE(ShmCrowd::readable(owner, 3000));
    EXPECT_TRUE(progress_until(owner, sink, [&] { return sink.arrivals.size() == 1; }));
}

struct WithoutMembarrier : ShmCrowd {
    void TestBody() override {}
    // The number of the first failed step, or 0; 77: not possible here.
    int run() {
        SetUp();
        if (sink.arrivals.size() != kSenders) return 1;
        if (!deny_call(__NR_membarrier, EPERM)) return 77;
        idle();
        if (cold_rings() != 0) return 2;
        if (!owner.arm()) return 3;
        // Wakes by itself, many times sooner than one that can be sure of the bell.
        return readable(owner, 50) ? 0 : 4;
    }
};

TEST(ShmWake, AnOwnerThatMayNoLongerFenceItsSendersKeepsLooking) {
    const pid_t child = fork();
    if (child == 0) {
        int failed;
        {
            WithoutMembarrier test;
            failed = test.run();
        }
        _exit(failed);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "seccomp is not available";
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace selvage::impl::test
