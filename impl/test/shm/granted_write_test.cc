// Writes under a grant, with the writer in a process of its own: it writes on and on, is stopped, is killed, or may not
// write into other processes; and the owner takes its memory back meanwhile.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>

#include "impl/test/shm/deny_call.h"
#include "impl/test/shm/other_process.h"

namespace selvage::impl::test {
namespace {

// What both processes see.
struct Shared {
    std::atomic<uint64_t> epoch;    // of the grant
    std::atomic<uint64_t> written;  // under it
    std::atomic<uint64_t> refused;
};

// The parent owns the memory; the child writes into it until its parent is gone, or it is killed.
class ShmGrantedWrite : public testing::Test {
protected:
    static constexpr size_t kBytes = 16 * 1024;

    void SetUp() override {
        void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(page, MAP_FAILED);
        shared_ = new (page) Shared{};
        ASSERT_EQ(owner_.open_at(own_.text, {}), 0);
        memory_ = std::string(kBytes, 'x');  // lies at the same address in the child
        child_ = fork();
        if (child_ == 0) _exit(run_writer());
        ASSERT_TRUE(progress_until(owner_, sink_, [&] { return !sink_.arrivals.empty(); }));
        peer_ = sink_.arrivals[0].peer;
        ShmPeer* peer = nullptr;
        ASSERT_EQ(owner_.find_peer_at(other_.text, &peer), 0);
        ASSERT_EQ(peer, peer_);
        ASSERT_EQ(send_text(owner_, *peer_, "here"), SendResult::Done);
        owner_.grants_writes(*peer_);
        shared_->epoch = owner_.grant_epoch() + kGranted;
    }
    void TearDown() override {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        munmap(shared_, sizeof *shared_);
    }

    // The child.
    int run_writer() {
        ShmTransport transport;
        FakeSink sink;
        if (transport.open_at(other_.text, {})) return 1;
        ShmPeer* peer = nullptr;
        while (transport.find_peer_at(own_.text, &peer) == -FI_EAGAIN) usleep(100);
        if (!peer || send_text(transport, *peer, "here") != SendResult::Done) return 2;
        const auto met = [&] { return transport.keeps_grants(*peer, kBytes) && shared_->epoch; };
        if (!progress_until(transport, sink, met)) return 3;
        return act(*peer);
    }
    // What the child then does. Returns its exit status.
    virtual int act(ShmPeer& peer) {
        for (unsigned seed = 0; getppid() == parent_; ++seed) write_once(peer, pattern(kBytes, seed));
        return 0;
    }
    void write_once(ShmPeer& peer, const std::string& bytes) const {
        const iovec range{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
        const auto to = reinterpret_cast<uintptr_t>(memory_.data());
        const bool done = ShmTransport::write_granted(peer, shared_->epoch - kGranted, &range, 1, to);
        ++(done ? shared_->written : shared_->refused);
    }

    bool wait_until(const std::function<bool()>& done) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done() && std::chrono::steady_clock::now() < end) sched_yield();
        return done();
    }
    bool counts_on(const std::atomic<uint64_t>& count) const {
        const uint64_t before = count;
        return wait_until([&] { return count > before + 1; });
    }
    // The writer stops itself, as if by a debugger, while it writes. Revoking waits for it until it goes on or dies.
    void revoke_from_stopped(int signal) {
        Resumer resumer(child_, signal);
        ASSERT_TRUE(wait_until([&] { return peer_->in.slot().writing.load() != 0; }));
        owner_.revoke_grants();
        EXPECT_TRUE(resumer.was_waited_for()) << "revoke_grants() has returned, and the writer may still write";
    }

    static constexpr uint64_t kGranted = 1;  // 0 is none yet

    Name own_{"owner"}, other_{"writer"};
    ShmTransport owner_;
    FakeSink sink_;
    std::string memory_;
    Shared* shared_ = nullptr;
    pid_t parent_ = getpid();
    pid_t child_ = 0;
    ShmPeer* peer_ = nullptr;
};

TEST_F(ShmGrantedWrite, ChangesNothingOnceItsGrantIsRevoked) {
    const std::string mine(kBytes, '\xee');
    for (int turn = 0; turn < 300; ++turn) {
        ASSERT_TRUE(counts_on(shared_->written)) << turn;
        owner_.revoke_grants();
        memcpy(memory_.data(), mine.data(), kBytes);
        ASSERT_TRUE(counts_on(shared_->refused)) << turn;
        ASSERT_EQ(memory_, mine) << turn;
        shared_->epoch = owner_.grant_epoch() + kGranted;
    }
}

TEST_F(ShmGrantedWrite, ChangesNothingOnceItsOwnerIsClosed) {
    ASSERT_TRUE(counts_on(shared_->written));
    owner_.close();
    const std::string mine(kBytes, '\xee');
    memcpy(memory_.data(), mine.data(), kBytes);
    ASSERT_TRUE(counts_on(shared_->refused));
    EXPECT_EQ(memory_, mine);
}

TEST_F(ShmGrantedWrite, ChangesNothingOnceItsPeerIsDropped) {
    ASSERT_TRUE(counts_on(shared_->written));
    owner_.drop(*peer_, FI_ECONNABORTED);
    ASSERT_TRUE(progress_until(owner_, sink_, [&] { return !sink_.downs.empty(); }));
    const std::string mine(kBytes, '\xee');
    memcpy(memory_.data(), mine.data(), kBytes);
    ASSERT_TRUE(counts_on(shared_->refused));
    EXPECT_EQ(memory_, mine);
}

class ShmGrantedWriteOfTheStopped : public ShmGrantedWrite {
    int act(ShmPeer& peer) override {
        std::atomic<uint32_t>& writing = peer.out.slot().writing;
        writing = 1;
        if (raise(SIGSTOP)) return 4;
        writing = 0;
        while (getppid() == parent_) pause();
        return 0;
    }
};

TEST_F(ShmGrantedWriteOfTheStopped, IsWaitedForUntilItGoesOn) { revoke_from_stopped(SIGCONT); }
TEST_F(ShmGrantedWriteOfTheStopped, IsWaitedForUntilItIsKilled) { revoke_from_stopped(SIGKILL); }

// As in a container whose rules allow the calls that read and not those that write.
class ShmGrantedWriteThatIsForbidden : public ShmGrantedWrite {
    int act(ShmPeer& peer) override {
        if (!deny_call(SYS_process_vm_writev, EPERM)) return 4;
        peer.writes.allow();
        write_once(peer, pattern(kBytes, 1));
        if (peer.writes.word() || peer.out.slot().writing) return 5;
        shared_->epoch = 0;
        while (getppid() == parent_) pause();
        return 0;
    }
};

TEST_F(ShmGrantedWriteThatIsForbidden, IsRefusedAndNotTriedAgain) {
    EXPECT_TRUE(wait_until([&] { return !shared_->epoch.load(); }));
    EXPECT_EQ(shared_->refused, 1u);
    EXPECT_EQ(memory_, std::string(kBytes, 'x'));
}

// The number of an owner that was killed is another process's by now: this one's.
TEST(ShmGrantedWriteToTheDead, IsNotMadeToWhoHasItsNumber) {
    Name dead("dead"), living("living");
    IdleOwner owner(dead);
    ASSERT_TRUE(owner.is_ready());
    ShmTransport writer;
    ShmPeer* peer = nullptr;
    ASSERT_EQ(writer.open_at(living.text, {}), 0);
    ASSERT_EQ(writer.find_peer_at(dead.text, &peer), 0);
    peer->process = getpid();
    std::string source = pattern(5'000, 5), place(5'000, 'x');
    const iovec range{.iov_base = source.data(), .iov_len = source.size()};
    const uint64_t epoch = peer->out.region->revocations;
    const auto to = reinterpret_cast<uintptr_t>(place.data());
    EXPECT_TRUE(ShmTransport::write_granted(*peer, epoch, &range, 1, to));
    EXPECT_EQ(place, source);
    ASSERT_TRUE(owner.kill());
    usleep(ShmPeer::kSeenFor / 1000);  // no number is given again sooner
    place.assign(place.size(), 'x');
    EXPECT_FALSE(ShmTransport::write_granted(*peer, epoch, &range, 1, to));
    EXPECT_EQ(place, std::string(place.size(), 'x'));
}

}  // namespace
}  // namespace selvage::impl::test
