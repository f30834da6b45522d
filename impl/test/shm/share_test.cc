// Long transfers that both sides copy: who takes an offer, where what is pushed may lie, and what closing waits for.
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLength = 300'000;
constexpr size_t kShared = 1 << 20;  // long enough to be shared

// Spins, as there is no race with who sleeps; gives up after some seconds.
template <typename F>
void spin_until(const F& done) {
    for (unsigned i = 1; i && !done(); ++i) {
        if (i % 65536 == 0) sched_yield();
    }
}

template <typename F>
int64_t milliseconds_of(const F& act) {
    const auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

uint64_t address_of(const void* place) { return reinterpret_cast<uintptr_t>(place); }

int push_to(ShmTransport& from, ShmPeer& peer, const std::string& bytes, uint64_t address) {
    const iovec local{const_cast<char*>(bytes.data()), bytes.size()};
    const iovec remote{reinterpret_cast<void*>(address), bytes.size()};
    return from.push(peer, &local, 1, &remote, 1);
}

// Sends from a to b, b receives: so b offers. Each has had a frame of the other, but knows nothing of its process.
class ShmShareStrangers : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(a.open_at(a_name.text, {}), 0);
        ASSERT_EQ(b.open_at(b_name.text, {}), 0);
        ASSERT_EQ(a.find_peer_at(b_name.text, &to_b), 0);
        ASSERT_EQ(b.find_peer_at(a_name.text, &to_a), 0);
        ASSERT_EQ(send_text(a, *to_b, "from a"), SendResult::kDone);
        ASSERT_EQ(send_text(b, *to_a, "from b"), SendResult::kDone);
        ASSERT_TRUE(progress_until(a, at_a, [&] { return !at_a.arrivals.empty(); }));
        ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.arrivals.empty(); }));
    }

    Name a_name{"a"}, b_name{"b"};
    ShmTransport a, b;
    FakeSink at_a, at_b;
    ShmPeer *to_a = nullptr, *to_b = nullptr;
};

// Each knows the other's process.
class ShmShare : public ShmShareStrangers {
protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(ShmShareStrangers::SetUp());
        a.offers(*to_b, kShared);
        b.shares(*to_a, kShared);
        ASSERT_TRUE(progress_until(a, at_a, [&] { return a.can_pull(*to_b); }));
        ASSERT_TRUE(progress_until(b, at_b, [&] { return b.can_pull(*to_a); }));
    }
    // In which nobody took any.
    void withdraw_offers(int count) {
        for (int i = 0; i < count; ++i) {
            ASSERT_TRUE(b.shares(*to_a, kShared)) << i;
            ASSERT_TRUE(b.withdraw(*to_a, b.offer(*to_a)));
        }
    }
    unsigned shared_of(unsigned calls) {
        unsigned shared = 0;
        for (unsigned i = 0; i < calls; ++i) shared += b.shares(*to_a, kShared);
        return shared;
    }
    std::atomic<uint32_t>& writes() const { return to_b->out.slot().writes; }
    // In order, for every frame that comes.
    std::vector<bool> answers_of_another_waits(size_t frames) {
        std::vector<bool> answers;
        at_b.on_deliver = [&](ShmPeer& peer, const Header&, const std::byte*) {
            answers.push_back(ShmTransport::another_waits(peer));
        };
        progress_until(b, at_b, [&] { return answers.size() == frames; });
        return answers;
    }
};

TEST_F(ShmShare, ExactlyOneOfBothTakesAnOffer) {
    constexpr uint64_t kRounds = 20'000;
    std::atomic<uint64_t> round{0}, answered{0};
    uint64_t ticket = 0;
    bool accepted = false;
    std::thread sender([&] {
        for (uint64_t i = 1; i <= kRounds; ++i) {
            spin_until([&] { return round.load(std::memory_order_acquire) >= i; });
            accepted = a.accept_offer(*to_b, ticket);
            answered.store(i, std::memory_order_release);
        }
    });
    uint64_t wrong = 0, by_owner = 0, by_sender = 0, pause = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);  // on a busy machine
    for (uint64_t i = 1; i <= kRounds && std::chrono::steady_clock::now() < end; ++i) {
        const auto is_answered = [&] { return answered.load(std::memory_order_acquire) == i; };
        ticket = b.offer(*to_a);
        round.store(i, std::memory_order_release);
        if (i % 256 == 1) spin_until(is_answered);
        for (uint64_t left = pause; left; --left) asm volatile("" : : : "memory");
        const bool withdrawn = b.withdraw(*to_a, ticket);
        spin_until(is_answered);
        wrong += withdrawn == accepted;
        ++(accepted ? by_sender : by_owner);
        pause = accepted ? pause - std::min<uint64_t>(pause, 8) : pause + 8;  // till both come at the same time
    }
    round.store(kRounds, std::memory_order_release);
    sender.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(by_sender, 0u);
    EXPECT_GT(by_owner, 0u);
}

TEST_F(ShmShare, AnOfferThatWasTakenIsNotTakenAgain) {
    const uint64_t ticket = b.offer(*to_a);
    EXPECT_FALSE(b.taken(*to_a, ticket));
    EXPECT_FALSE(a.accept_offer(*to_b, ticket + 1));
    EXPECT_FALSE(b.taken(*to_a, ticket)) << "a wrong ticket takes nothing";
    EXPECT_TRUE(a.accept_offer(*to_b, ticket));
    EXPECT_TRUE(b.taken(*to_a, ticket));
    EXPECT_FALSE(a.accept_offer(*to_b, ticket));
    EXPECT_FALSE(b.withdraw(*to_a, ticket));
}

TEST_F(ShmShare, AnOfferThatWasWithdrawnOrReplacedIsNotTaken) {
    const uint64_t withdrawn = b.offer(*to_a);
    EXPECT_TRUE(b.withdraw(*to_a, withdrawn));
    EXPECT_FALSE(b.withdraw(*to_a, withdrawn));
    EXPECT_FALSE(a.accept_offer(*to_b, withdrawn));
    const uint64_t replaced = b.offer(*to_a);
    const uint64_t last = b.offer(*to_a);
    EXPECT_NE(replaced, withdrawn);
    EXPECT_FALSE(a.accept_offer(*to_b, withdrawn));
    EXPECT_FALSE(a.accept_offer(*to_b, replaced));
    EXPECT_FALSE(b.taken(*to_a, last));
    EXPECT_TRUE(a.accept_offer(*to_b, last));
}

// It could not see that it is the right process.
TEST_F(ShmShareStrangers, WhoDoesNotKnowTheProcessTakesNoOffer) {
    const uint64_t ticket = b.offer(*to_a);
    EXPECT_FALSE(a.accept_offer(*to_b, ticket));
    EXPECT_TRUE(b.withdraw(*to_a, ticket));
}

TEST_F(ShmShare, WhatIsPushedLiesInTheOthersMemory) {
    constexpr size_t kFirst = 100'001;
    const std::string one = pattern(kFirst, 1), two = pattern(kLength - kFirst, 2), bytes = one + two;
    const iovec local[] = {{const_cast<char*>(one.data()), one.size()}, {const_cast<char*>(two.data()), two.size()}};
    // Three places, and what lies around them.
    constexpr size_t kSizes[] = {65'537, 13, 234'450}, kGap = 5'000;
    static_assert(kSizes[0] + kSizes[1] + kSizes[2] == kLength);
    std::string expected(kGap, '\xee'), memory(kLength + 4 * kGap, '\xee');
    iovec remote[3];
    size_t done = 0;
    for (size_t i = 0; i < 3; ++i) {
        remote[i] = {memory.data() + expected.size(), kSizes[i]};
        expected += bytes.substr(done, kSizes[i]) + std::string(kGap, '\xee');
        done += kSizes[i];
    }
    EXPECT_EQ(a.push(*to_b, local, 2, remote, 3), 0);
    EXPECT_TRUE(memory == expected);
    EXPECT_EQ(writes().load(), 0u);
}

TEST_F(ShmShare, AnAddressThatLeadsNowhereIsAnError) {
    const std::string bytes = pattern(kLength, 1);
    for (const uint64_t address : {uint64_t{0}, uint64_t{4096}, uint64_t{1} << 63, UINT64_MAX - kLength}) {
        EXPECT_LT(push_to(a, *to_b, bytes, address), 0) << address;
        EXPECT_EQ(writes().load(), 0u);
    }
}

// Its buffers may be anything by now.
TEST_F(ShmShare, AnEndpointThatWasClosedIsNotWrittenInto) {
    const std::string untouched(kLength, '\0');
    std::string memory = untouched;
    b.close();
    EXPECT_EQ(push_to(a, *to_b, pattern(kLength, 1), address_of(memory.data())), -FI_ECONNRESET);
    EXPECT_TRUE(memory == untouched);
    EXPECT_EQ(writes().load(), 0u);
}

TEST_F(ShmShare, NothingIsWrittenOnceAnEndpointIsClosed) {
    constexpr size_t kLong = 16 << 20;  // takes longer than closing
    const std::string bytes(kLong, 'x');
    std::string memory(kLong, '\0');
    b.offer(*to_a);
    std::atomic<bool> failed{false};
    std::thread sender([&] {
        for (int i = 0; i < 200 && !failed; ++i) {
            writes() = 1;  // as who takes an offer does
            failed = push_to(a, *to_b, bytes, address_of(memory.data())) != 0;
        }
    });
    const std::atomic_ref<char> first(memory.front());
    spin_until([&] { return first.load() || failed; });
    b.close();
    memory.back() = 'y';  // what is written last
    sender.join();
    EXPECT_TRUE(failed);
    EXPECT_EQ(memory.back(), 'y');
}

TEST_F(ShmShare, ClosingWaitsForWhoWrites) {
    b.offer(*to_a);
    writes() = 1;
    std::thread writer;
    const auto later = [&] {
        usleep(100'000);
        writes() = 0;
    };
    EXPECT_GE(milliseconds_of([&] { (writer = std::thread(later)), b.close(); }), 90);
    writer.join();
}

TEST_F(ShmShare, ClosingDoesNotWaitForEver) {
    b.offer(*to_a);
    writes() = 1;
    const int64_t took = milliseconds_of([&] { b.close(); });
    EXPECT_TRUE(900 <= took && took <= 5000) << took;
}

TEST_F(ShmShare, WhoIsDroppedWhileItWritesIsWaitedFor) {
    const uint64_t ticket = b.offer(*to_a);
    ASSERT_TRUE(a.accept_offer(*to_b, ticket));
    b.drop(*to_a, FI_ECONNABORTED);
    std::thread writer([&] {
        usleep(100'000);
        writes() = 0;
    });
    EXPECT_GE(milliseconds_of([&] { b.progress(at_b); }), 90);
    EXPECT_EQ(at_b.downs.size(), 1u);
    writer.join();
}

TEST_F(ShmShare, WhoIsDroppedTakesNoOffer) {
    const uint64_t ticket = b.offer(*to_a);
    b.drop(*to_a, FI_ECONNABORTED);
    b.progress(at_b);
    EXPECT_FALSE(a.accept_offer(*to_b, ticket));
    EXPECT_EQ(writes().load(), 0u);
}

TEST_F(ShmShare, OfAHaltedPeerNothingIsDeliveredUntilItGoesOn) {
    at_b.arrivals.clear();
    b.halt(*to_a);
    send_text(a, *to_b, "later");
    EXPECT_FALSE(progress_until(
        b, at_b, [&] { return !at_b.arrivals.empty(); }, 50));
    b.go_on(*to_a);
    EXPECT_TRUE(progress_until(b, at_b, [&] { return !at_b.arrivals.empty(); }));
}

TEST_F(ShmShare, TheEndOfAWriteIsToldWithItsTicket) {
    bool failed = false;
    EXPECT_FALSE(b.share_ended(*to_a, 7, &failed));
    a.end_share(*to_b, 7, -FI_EPERM);
    EXPECT_FALSE(b.share_ended(*to_a, 8, &failed));
    EXPECT_TRUE(b.share_ended(*to_a, 7, &failed));
    EXPECT_TRUE(failed);
    a.end_share(*to_b, 8, 0);
    EXPECT_TRUE(b.share_ended(*to_a, 8, &failed));
    EXPECT_FALSE(failed);
}

TEST_F(ShmShareStrangers, ASenderThatHasNotSeenUsIsOfferedNothing) {
    EXPECT_FALSE(b.shares(*to_a, kShared));
    ASSERT_TRUE(progress_until(a, at_a, [&] { return a.can_pull(*to_b); })) << "it is told at the first question";
    EXPECT_TRUE(b.shares(*to_a, kShared));
}

TEST_F(ShmShare, ShortTransfersAreNotShared) {
    EXPECT_FALSE(b.shares(*to_a, (64 << 10) - 1));
    EXPECT_TRUE(b.shares(*to_a, 64 << 10));
}

TEST_F(ShmShare, ASleeperIsOfferedNothing) {
    ASSERT_TRUE(a.arm());
    EXPECT_FALSE(b.shares(*to_a, kShared));
    a.progress(at_a);
    EXPECT_TRUE(b.shares(*to_a, kShared));
}

TEST_F(ShmShare, WhoFailedToWriteIsOfferedNothing) {
    ASSERT_TRUE(b.shares(*to_a, kShared));
    b.share_failed(*to_a);
    EXPECT_FALSE(b.shares(*to_a, kShared));
}

TEST_F(ShmShare, WhoTakesNoOffersGetsFew) {
    withdraw_offers(8);
    EXPECT_EQ(shared_of(64), 1u);
    EXPECT_EQ(shared_of(640), 10u);
}

TEST_F(ShmShare, WhoTakesOneGetsThemAllAgain) {
    withdraw_offers(8);
    uint64_t ticket = b.offer(*to_a);
    EXPECT_TRUE(a.accept_offer(*to_b, ticket));
    EXPECT_FALSE(b.withdraw(*to_a, ticket));
    EXPECT_EQ(shared_of(100), 100u);
    withdraw_offers(8);
    ticket = b.offer(*to_a);
    EXPECT_FALSE(b.taken(*to_a, ticket));
    EXPECT_LT(shared_of(100), 3u) << "an offer that nobody has taken yet changes nothing";
    EXPECT_TRUE(a.accept_offer(*to_b, ticket));
    EXPECT_TRUE(b.taken(*to_a, ticket));
    EXPECT_EQ(shared_of(100), 100u);
}

TEST_F(ShmShare, AFrameBehindTheOneThatIsDeliveredWaits) {
    // So often that frames begin everywhere in the ring, and behind them lies what was there a lap before.
    for (int round = 0; round < 50; ++round) {
        for (const size_t size : {0, 32, 33, 96, 97, 1000, 1023, 1024, 1025, 5000, 16 * 1024}) {
            const std::string payload = pattern(size, static_cast<unsigned>(round));
            send_text(a, *to_b, payload);
            ASSERT_EQ(answers_of_another_waits(1), std::vector<bool>{false}) << size;
            send_text(a, *to_b, payload);
            send_text(a, *to_b, "another");
            ASSERT_EQ(answers_of_another_waits(2), (std::vector<bool>{true, false})) << size;
        }
    }
}

// Where the program that runs in a process now has something of its own.
uint64_t writable_in(pid_t process) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(" rw-p ") != std::string::npos) return std::stoull(line, nullptr, 16);
    }
    return 0;
}

// A transport, and a peer of it in another process that tells where some of its memory is.
class ShmShareProcess : public testing::Test {
protected:
    static constexpr char kRunsAnotherProgram = 'x';

    void SetUp() override {
        ASSERT_EQ(pipe(stop_), 0);
        ASSERT_EQ(transport_.open_at(own_.text, {}), 0);
        child_ = fork();
        if (child_ == 0) _exit(live());
        close(stop_[0]);
        meet();
    }
    void TearDown() override {
        close(stop_[1]);
        int status;
        waitpid(child_, &status, 0);
        EXPECT_TRUE(killed_ || status == 0) << status;
    }

    // The child.
    int live() {
        close(stop_[1]);
        std::string memory(kLength, '\0');
        ShmTransport transport;
        if (transport.open_at(other_.text, {})) return 1;
        ShmPeer* peer = nullptr;
        int error;
        while ((error = transport.find_peer_at(own_.text, &peer)) == -FI_EAGAIN) usleep(100);
        if (error) return 2;
        transport.shares(*peer, kShared);
        if (send_text(transport, *peer, "memory", 1, address_of(memory.data())) != SendResult::kDone) return 3;
        char byte = 0;
        while (read(stop_[0], &byte, 1) == 1) {
            if (byte == kRunsAnotherProgram) execlp("sleep", "sleep", "60", nullptr);
        }
        return 0;
    }
    void meet() {
        ASSERT_TRUE(progress_until(transport_, sink_, [&] { return !sink_.arrivals.empty(); }));
        place_ = sink_.arrivals[0].header.word[0];
        ASSERT_EQ(transport_.find_peer_at(other_.text, &peer_), 0);
        ASSERT_EQ(peer_, sink_.arrivals[0].peer);
        ASSERT_TRUE(progress_until(transport_, sink_, [&] { return transport_.can_pull(*peer_); }));
    }
    int push(uint64_t address, size_t size = kLength) { return push_to(transport_, *peer_, pattern(size, 5), address); }
    void kill_child() {
        killed_ = true;
        kill(child_, SIGKILL);
        siginfo_t info;
        ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT), 0);
    }

    Name own_{"one"}, other_{"other"};
    ShmTransport transport_;
    FakeSink sink_;
    int stop_[2];
    pid_t child_ = 0;
    bool killed_ = false;
    uint64_t place_ = 0;
    ShmPeer* peer_ = nullptr;
};

TEST_F(ShmShareProcess, WhatIsPushedLiesInAnotherProcess) {
    ASSERT_EQ(push(place_), 0);
    std::string got(kLength, '\0');
    const iovec local{got.data(), kLength}, remote{reinterpret_cast<void*>(place_), kLength};
    ASSERT_EQ(transport_.pull(*peer_, &remote, 1, &local, 1), 0);
    EXPECT_TRUE(got == pattern(kLength, 5));
}

TEST_F(ShmShareProcess, AnotherProgramInTheProcessIsNotWrittenInto) {
    ASSERT_EQ(push(place_), 0);
    ASSERT_EQ(write(stop_[1], &kRunsAnotherProgram, 1), 1);
    int result = 0;
    for (int i = 0; i < 5000 && !(result = push(place_)); ++i) usleep(1000);
    EXPECT_LT(result, 0);
    usleep(20'000);  // till it runs
    const uint64_t of_program = writable_in(child_);
    EXPECT_NE(of_program, 0u);
    EXPECT_LT(push(of_program, 64), 0);
    kill_child();
}

TEST_F(ShmShareProcess, ADeadPeerIsNotWrittenInto) {
    ASSERT_EQ(push(place_), 0);
    kill_child();
    EXPECT_LT(push(place_), 0);
    EXPECT_EQ(peer_->out.slot().writes.load(), 0u);
}

TEST_F(ShmShareProcess, WhoWasKilledWhileItWroteIsNotWaitedFor) {
    transport_.offer(*peer_);
    peer_->in.slot().writes = 1;  // as it would itself
    kill_child();
    EXPECT_LT(milliseconds_of([&] { transport_.close(); }), 500);
}

}  // namespace
}  // namespace selvage::impl::test
