// Reading a peer's memory: which process that is, when it is done, and what it must not do.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstring>

#include "impl/progress/wait.h"
#include "impl/test/shm/fake_sink.h"
#include "impl/transport/shm/socket_file.h"

namespace selvage::impl::test {
namespace {

using shm::Introduction;
using shm::Introductions;
using shm::kIdBytes;

constexpr uint8_t kSender[kIdBytes] = {7, 8, 9};

// The socket of an owner that no other test has.
class ShmIntroductions : public testing::Test {
protected:
    ShmIntroductions() {
        const pid_t self = getpid();
        memcpy(id, &self, sizeof self);
    }
    void SetUp() override { ASSERT_EQ(owner.open(id), 0); }
    void TearDown() override { owner.close(); }

    uint8_t id[kIdBytes] = {};
    Introductions owner;
    Introduction met{};
};

TEST_F(ShmIntroductions, TheKernelSaysWhichProcessItWas) {
    EXPECT_FALSE(owner.take(&met));
    const pid_t child = fork();
    if (child == 0) _exit(Introductions::introduce(id, 5, kSender) == Introductions::Introduced::Yes ? 0 : 1);
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(owner.take(&met));
    EXPECT_EQ(met.process, child);
    EXPECT_EQ(met.slot, 5u);
    EXPECT_EQ(memcmp(met.instance, kSender, sizeof kSender), 0);
    EXPECT_FALSE(owner.take(&met));
    owner.close();
    EXPECT_EQ(Introductions::introduce(id, 5, kSender), Introductions::Introduced::Never);
}

TEST_F(ShmIntroductions, AFullSocketIsToldLater) {
    auto introduced = Introductions::Introduced::Yes;
    int sent = 0;
    for (; introduced == Introductions::Introduced::Yes && sent < 10'000; ++sent)
        introduced = Introductions::introduce(id, 5, kSender);
    EXPECT_EQ(introduced, Introductions::Introduced::Later) << sent;
}

TEST_F(ShmIntroductions, WhatIsNoneIsThrownAway) {
    sockaddr_un name;
    const socklen_t length = shm::socket_file_name(shm::SocketKind::Introductions, id, &name);
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    for (const size_t size : {0, 1, 19, 21, 4096}) {
        const std::string bytes(size, 'x');
        ASSERT_EQ(sendto(socket, bytes.data(), size, 0, reinterpret_cast<sockaddr*>(&name), length),
                  static_cast<ssize_t>(size));
    }
    ::close(socket);
    ASSERT_EQ(Introductions::introduce(id, 2, kSender), Introductions::Introduced::Yes);
    ASSERT_TRUE(owner.take(&met));
    EXPECT_EQ(met.slot, 2u);
    EXPECT_FALSE(owner.take(&met));
}

// A transport that receives, and a peer of it in another process that sends one frame, offers its memory, and waits.
class ShmPull : public testing::Test {
protected:
    static constexpr size_t kLength = 300'000;

    struct Offer {
        uint64_t address;
        uint64_t length;
    };

    void SetUp() override {
        ASSERT_EQ(pipe(stop_), 0);
        ASSERT_EQ(transport_.open_at(own_.text, {}), 0);
        child_ = fork();
        if (child_ == 0) _exit(send());
        close(stop_[0]);
    }
    void TearDown() override {
        close(stop_[1]);
        int status;
        waitpid(child_, &status, 0);
        if (!killed_) {
            EXPECT_EQ(status, 0);
        }
    }

    // The child.
    int send() {
        close(stop_[1]);
        const std::string bytes = pattern(kLength, 3);
        if (undumpable()) prctl(PR_SET_DUMPABLE, 0);
        ShmTransport transport;
        FakeSink sink;
        if (transport.open_at(other_.text, {})) return 1;
        ShmPeer* peer = nullptr;
        int error;
        while ((error = transport.find_peer_at(own_.text, &peer)) == -FI_EAGAIN) usleep(100);
        if (error) return 2;
        transport.offers(*peer, kLength);
        const Offer offer{reinterpret_cast<uintptr_t>(bytes.data()), bytes.size()};
        if (send_text(transport, *peer, {reinterpret_cast<const char*>(&offer), sizeof offer}) != SendResult::Done)
            return 3;
        char byte = 0;
        while (read(stop_[0], &byte, 1) == 1) {
            if (byte == kCloses) transport.close();
            if (byte == kRunsAnotherProgram) execlp("sleep", "sleep", "60", nullptr);
        }
        return 0;
    }
    static constexpr char kCloses = 'c', kRunsAnotherProgram = 'x';
    // Tells the child, and reads until that fails.
    int pull_after(char command) {
        EXPECT_EQ(write(stop_[1], &command, 1), 1);
        std::string got(kLength, '\0');
        int result = 0;
        for (int i = 0; i < 5000 && !(result = pull(offer_.address, &got)); ++i) usleep(1000);
        return result;
    }
    virtual bool undumpable() const { return false; }

    int read_page() {
        std::string got(4096, '\0');
        const iovec remote{reinterpret_cast<void*>(offer_.address), got.size()}, local{got.data(), got.size()};
        return transport_.pull(*peer_, &remote, 1, &local, 1);
    }

    // Until the frame came, and what was said besides was looked at.
    void meet() {
        ASSERT_TRUE(progress_until(transport_, sink_, [&] { return !sink_.arrivals.empty(); }));
        memcpy(&offer_, sink_.arrivals[0].payload.data(), sizeof offer_);
        peer_ = sink_.arrivals[0].peer;
        progress_until(
            transport_, sink_, [&] { return transport_.can_pull(*peer_); }, patience_);
    }
    int pull(uint64_t address, std::string* into) {
        const iovec remote[] = {{reinterpret_cast<void*>(address), 1},
                                {reinterpret_cast<void*>(address + 1), kLength - 1}};
        const iovec local[] = {{into->data(), 4096}, {into->data() + 4096, kLength - 4096}};
        return transport_.pull(*peer_, remote, 2, local, 2);
    }

    Name own_{"reader"}, other_{"read"};
    ShmTransport transport_;
    FakeSink sink_;
    int stop_[2];
    pid_t child_ = 0;
    bool killed_ = false;
    int patience_ = 5000;
    Offer offer_{};
    ShmPeer* peer_ = nullptr;
};

TEST_F(ShmPull, TheMemoryOfAPeerThatIntroducedItselfIsRead) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    EXPECT_EQ(peer_->process, child_);
    std::string got(kLength, '\0');
    EXPECT_EQ(pull(offer_.address, &got), 0);
    EXPECT_EQ(got, pattern(kLength, 3));
}

// Behind it, that would take a call of its own.
TEST_F(ShmPull, APeerThatIsReadSeldomIsSeenByTheReadItself) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    for (int i = 0; i < 3; ++i) {
        peer_->pulled_at = monotonic_nanoseconds() - ShmPeer::kSeenFor;
        ASSERT_EQ(read_page(), 0);
        EXPECT_TRUE(peer_->sees_next);
    }
}

TEST_F(ShmPull, APeerThatIsReadOftenIsSeenNowAndThen) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    int went_without = 0;
    for (int i = 0; i < 1000; ++i) {
        went_without += !peer_->sees_next;
        ASSERT_EQ(read_page(), 0);
        ASSERT_GT(peer_->seen_at, peer_->pulled_at - ShmPeer::kSeenFor) << "the moment was over";
    }
    EXPECT_GT(went_without, 0);
}

TEST_F(ShmPull, APeerThatWasSeenTooLongAgoByTheEndIsSeenBehindIt) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    const int64_t before = peer_->seen_at = monotonic_nanoseconds() - ShmPeer::kSeenFor;
    peer_->sees_next = false;
    ASSERT_EQ(read_page(), 0);
    EXPECT_GT(peer_->seen_at, before);
    peer_->instance[0] ^= 1;  // as if its number were another process's now
    peer_->seen_at = monotonic_nanoseconds() - ShmPeer::kSeenFor;
    peer_->sees_next = false;
    EXPECT_LT(read_page(), 0);
}

TEST_F(ShmPull, AnAddressThatLeadsNowhereIsAnError) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    std::string got(kLength, '\0');
    for (const uint64_t address : {uint64_t{0}, uint64_t{4096}, UINT64_MAX - kLength, uint64_t{1} << 63})
        EXPECT_LT(pull(address, &got), 0) << address;
    EXPECT_EQ(got, std::string(kLength, '\0'));
}

TEST_F(ShmPull, ADeadPeerIsNotRead) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    killed_ = true;
    kill(child_, SIGKILL);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT), 0);
    std::string got(kLength, '\0');
    EXPECT_LT(pull(offer_.address, &got), 0);
}

// Its buffers may be anything by now.
TEST_F(ShmPull, AnEndpointThatWasClosedIsNotRead) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    EXPECT_EQ(pull_after(kCloses), -FI_ECONNRESET);
}

TEST_F(ShmPull, AnotherProgramInTheProcessIsNotRead) {
    meet();
    ASSERT_TRUE(transport_.can_pull(*peer_));
    EXPECT_LT(pull_after(kRunsAnotherProgram), 0);
    killed_ = true;
    kill(child_, SIGKILL);
}

// The sender forbids that others read it, and the reader is not one that may all the same.
class ShmNoPull : public ShmPull {
protected:
    ShmNoPull() {
        patience_ = 200;
        capget(&header_, data_);
        const uint32_t before = data_[0].effective;
        data_[0].effective &= ~(1U << CAP_SYS_PTRACE);
        lowered_ = capset(&header_, data_) == 0;
        data_[0].effective = before;
    }
    ~ShmNoPull() override { capset(&header_, data_); }
    bool undumpable() const override { return true; }

    static int capget(__user_cap_header_struct* header, __user_cap_data_struct* data) {
        return static_cast<int>(syscall(SYS_capget, header, data));
    }
    static int capset(__user_cap_header_struct* header, const __user_cap_data_struct* data) {
        return static_cast<int>(syscall(SYS_capset, header, data));
    }
    __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data_[2] = {};
    bool lowered_ = false;
};

TEST_F(ShmNoPull, AProcessThatMayNotBeReadIsNot) {
    ASSERT_TRUE(lowered_);
    meet();
    EXPECT_FALSE(transport_.can_pull(*peer_));
}

class ShmWords : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(a_.open_at(a_name_.text, {}), 0);
        ASSERT_EQ(b_.open_at(b_name_.text, {}), 0);
        ASSERT_EQ(a_.find_peer_at(b_name_.text, &b_seen_), 0);
        ASSERT_EQ(send_text(a_, *b_seen_, "here"), SendResult::Done);
        ASSERT_TRUE(progress_until(b_, sink_, [&] { return !sink_.arrivals.empty(); }));
        a_seen_ = sink_.arrivals[0].peer;
    }
    void end_first_lap() {
        const std::string text(shm::kPage, 'x');
        while (a_seen_->in.position < shm::kRingLines) {
            const size_t before = sink_.arrivals.size();
            ASSERT_EQ(send_text(a_, *b_seen_, text), SendResult::Done);
            ASSERT_TRUE(progress_until(b_, sink_, [&] { return sink_.arrivals.size() > before; }));
        }
    }
    // The first ones come through the ring, as what that costs must be known.
    void come_in_parts(size_t length) {
        for (int i = 0; i < 20; ++i) {
            a_seen_->in.measured -= length / shm::kLine;  // as if so many lines had come
            b_.came_in_parts(*a_seen_, length);
        }
    }

    Name a_name_{"a"}, b_name_{"b"};
    ShmTransport a_, b_;
    FakeSink sink_;
    ShmPeer* b_seen_ = nullptr;
    ShmPeer* a_seen_ = nullptr;
};

TEST_F(ShmWords, ASenderOffersWhatTheOwnerWouldRead) {
    EXPECT_FALSE(a_.offers(*b_seen_, 1 << 20));
    ASSERT_TRUE(progress_until(b_, sink_, [&] { return b_.can_pull(*a_seen_); }));
    EXPECT_TRUE(a_.offers(*b_seen_, 1 << 20)) << "it is longer than the ring";
    EXPECT_FALSE(a_.offers(*b_seen_, 8 << 10)) << "what the ring costs is not known";
    end_first_lap();
    come_in_parts(8 << 10);
    EXPECT_TRUE(a_.offers(*b_seen_, 8 << 10));
    EXPECT_FALSE(a_.offers(*b_seen_, 16 << 10));
    EXPECT_FALSE(a_.offers(*b_seen_, 100));
}

TEST_F(ShmWords, AnOwnerSaysHowPayloadIsToGetIntoItsRing) {
    const std::string text(shm::kPage, 'x');
    const auto known = [&] { return shm::says_chosen(b_seen_->out.slot().copies, shm::kPage); };
    EXPECT_FALSE(known());
    for (int i = 0; i < 200 && !known(); ++i) {
        const size_t before = sink_.arrivals.size();
        ASSERT_EQ(send_text(a_, *b_seen_, text), SendResult::Done);
        ASSERT_TRUE(progress_until(b_, sink_, [&] { return sink_.arrivals.size() > before; }));
    }
    EXPECT_TRUE(known());
}

// What it was answered lies in the slot of its question.
TEST_F(ShmWords, AnOwnerThatOnlyAnsweredIntroducesItself) {
    ASSERT_EQ(send_text(b_, *a_seen_, "answer"), SendResult::Done);
    ASSERT_FALSE(a_seen_->out.lines);
    EXPECT_TRUE(b_.may_be_read(*a_seen_));
    EXPECT_TRUE(a_seen_->out.lines);
}

// Or it could not see that a grant is revoked, would pull in vain, and ask a second time.
TEST_F(ShmWords, WhoOnlyAnsweredSeesRevocationsOfWhatItReads) {
    ASSERT_EQ(send_text(b_, *a_seen_, "answer"), SendResult::Done);
    const uint64_t epoch = a_.grant_epoch();
    ASSERT_FALSE(ShmTransport::still_granted(*a_seen_, epoch));
    b_.expect_grant(*a_seen_);
    EXPECT_TRUE(ShmTransport::still_granted(*a_seen_, epoch));
    a_.revoke_grants();
    EXPECT_FALSE(ShmTransport::still_granted(*a_seen_, epoch));
}

// Its frames came as answers, in the slot of what it was asked.
TEST_F(ShmWords, APeerWithoutASlotWritesNothingAtOnceAndIsNotWaitedFor) {
    a_.grants_writes(*b_seen_);
    a_.revoke_grants();
    ASSERT_EQ(send_text(b_, *a_seen_, "answer"), SendResult::Done);
    ASSERT_FALSE(a_seen_->out.lines);
    ShmTransport::came_written(*a_seen_, 1 << 20, false);
    a_seen_->process = getpid();
    a_seen_->writes.allow();
    EXPECT_FALSE(b_.writes_at_once(*a_seen_, 64 << 10)) << "it has no slot";
    ASSERT_TRUE(b_.may_be_read(*a_seen_));
    EXPECT_FALSE(b_.writes_at_once(*a_seen_, 64 << 10)) << "its slot is not known";
    ASSERT_EQ(send_text(b_, *a_seen_, "by the ring"), SendResult::Done);
    EXPECT_TRUE(b_.writes_at_once(*a_seen_, 64 << 10));
}

TEST_F(ShmWords, AnAnswerIsCountedAsAFrame) {
    const uint64_t before = ShmTransport::frames_sent(*a_seen_);
    ASSERT_EQ(send_text(b_, *a_seen_, "answer"), SendResult::Done);
    ASSERT_FALSE(a_seen_->out.lines);
    EXPECT_NE(ShmTransport::frames_sent(*a_seen_), before);
}

class ShmReads : public ShmWords {
protected:
    // That take so many microseconds, by asking and at once.
    void reads(int count, int64_t asked, int64_t at_once) {
        for (int i = 0; i < count; ++i) {
            const bool now = b_.reads_at_once(*a_seen_, kRead);
            const int64_t end = monotonic_nanoseconds() + 1'000 * (now ? at_once : asked);
            while (monotonic_nanoseconds() < end) {
            }
            b_.came_read(*a_seen_, kRead, now);
        }
    }
    static constexpr size_t kRead = 16 << 10;
};

TEST_F(ShmReads, AreMadeAtOnceWhereThatIsFaster) {
    end_first_lap();
    reads(200, 10, 1);
    EXPECT_FALSE(b_.reads_at_once(*a_seen_, kRead)) << "nothing can be pulled yet";
    a_.offers(*b_seen_, kRead);
    ASSERT_TRUE(progress_until(b_, sink_, [&] { return b_.can_pull(*a_seen_); }));
    reads(200, 10, 1);
    EXPECT_FALSE(b_.reads_at_once(*a_seen_, kRead)) << "what is asked for may yet come another way";
    for (int trial = 0; trial < 2; ++trial) {
        come_in_parts(kRead);
        for (int i = 0; i < 20; ++i) b_.came_pulled(*a_seen_, kRead, 1);
    }
    ASSERT_TRUE(a_seen_->choice.is_chosen(kRead));
    reads(200, 10, 1);
    EXPECT_TRUE(b_.reads_at_once(*a_seen_, kRead));
    reads(1'200, 1, 10);
    EXPECT_FALSE(b_.reads_at_once(*a_seen_, kRead));
    reads(1'200, 10, 1);
    EXPECT_TRUE(b_.reads_at_once(*a_seen_, kRead));
    EXPECT_FALSE(b_.reads_at_once(*a_seen_, shm::kPullMin - 1));
    EXPECT_FALSE(b_.reads_at_once(*a_seen_, ShmTransport::kAtOnceMost + 1));
}

// Its memory is touched for the first time: that took two to three times as long as it does later.
TEST_F(ShmReads, InTheFirstLapOfTheRingSayNothing) {
    a_.offers(*b_seen_, kRead);
    ASSERT_TRUE(progress_until(b_, sink_, [&] { return b_.can_pull(*a_seen_); }));
    come_in_parts(kRead);
    EXPECT_FALSE(a_.offers(*b_seen_, kRead)) << "the ring is tried";
    end_first_lap();
    for (int trial = 0; trial < 2; ++trial) come_in_parts(kRead);  // one is broken off by the next
    EXPECT_TRUE(a_.offers(*b_seen_, kRead)) << "the kernel is tried";
}

TEST_F(ShmWords, AnIntroductionForAnothersSlotIsNotBelieved) {
    const uint8_t stranger[kIdBytes] = {42};
    ASSERT_EQ(Introductions::introduce(b_seen_->instance, a_seen_->in.index, stranger), Introductions::Introduced::Yes);
    ASSERT_EQ(Introductions::introduce(b_seen_->instance, 1000, a_seen_->instance), Introductions::Introduced::Yes);
    ASSERT_EQ(Introductions::introduce(b_seen_->instance, 1 << 30, a_seen_->instance), Introductions::Introduced::Yes);
    b_seen_->remote.raise_attention();
    EXPECT_FALSE(progress_until(
        b_, sink_, [&] { return b_.can_pull(*a_seen_); }, 100));
}

TEST_F(ShmWords, AProcessWhoseMemoryHoldsSomethingElseIsNotRead) {
    a_seen_->instance_at = reinterpret_cast<uintptr_t>(&kSender);
    a_.offers(*b_seen_, 1 << 20);
    EXPECT_FALSE(progress_until(
        b_, sink_, [&] { return b_.can_pull(*a_seen_); }, 100));
}

}  // namespace
}  // namespace selvage::impl::test
