// What a small message costs: system calls and allocations.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "impl/test/crowd/calls.h"
#include "impl/test/crowd/pair.h"
#include "impl/test/library/allocation.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMessages = 1000;
constexpr size_t kEndpoints = 2;  // each with one peer
constexpr size_t kUntilSeveralLooks = 200'000;

std::string listed(const Calls& calls) {
    std::string text;
    for (const auto& [number, count] : calls.by_number) {
        text += "call " + std::to_string(number) + ": " + std::to_string(count) + "\n";
    }
    return text;
}

// Whether its peer lives is looked at by the clock, every kLookMs of shm_transport.cc, however few messages there are.
size_t looks_at_peers(const Calls& calls) { return (static_cast<size_t>(calls.seconds / 0.005) + 1) * kEndpoints; }

TEST(SmallMessages, CostNoSystemCallOverSharedMemory) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer's run-time makes calls of its own";
#endif
    const Calls calls = count_calls([] {
        Pair pair("shm");
        for (size_t i = 0; i < kMessages; ++i) pair.exchange();
        begin_counting();
        for (size_t i = 0; i < kMessages; ++i) pair.exchange();
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    EXPECT_EQ(calls.all() - calls.of({SYS_fcntl}), 0u) << listed(calls);
    EXPECT_LE(calls.of({SYS_fcntl}), looks_at_peers(calls)) << listed(calls);
}

// The lock that the peer holds on a slot of the endpoint's own region is one of as many as there are senders: with a
// thousand of them, to look for each took more of the processor than to connect.
TEST(SmallMessages, BothWaysOverSharedMemoryCostOneLookAtThePeerNotTwo) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer's run-time makes calls of its own";
#endif
    const Calls calls = count_calls([] {
        Pair pair("shm");
        const fi_addr_t back = pair.receiver.insert(pair.sender.name());
        uint64_t answer = 0;
        const auto exchange = [&] {
            pair.exchange();
            SELVAGE_MUST(fi_trecv(pair.sender.ep, &answer, sizeof answer, nullptr, FI_ADDR_UNSPEC, 1, 0, &answer));
            SELVAGE_MUST(fi_tsend(pair.receiver.ep, &answer, sizeof answer, nullptr, back, 1, &answer));
            Pair::await(pair.receiver, 1);
            Pair::await(pair.sender, 1);
        };
        for (size_t i = 0; i < kMessages; ++i) exchange();
        begin_counting();
        for (size_t i = 0; i < kUntilSeveralLooks; ++i) exchange();
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    ASSERT_GT(calls.of({SYS_fcntl}), kEndpoints) << listed(calls);
    EXPECT_LE(calls.of({SYS_fcntl}), looks_at_peers(calls)) << listed(calls);
}

// Then the receiver's window has grown, and it gives credit for 2,048 messages at a time, the next for the 6,016th.
constexpr size_t kUntilGrown = 4000;

constexpr std::initializer_list<long> kSends = {SYS_sendto, SYS_sendmsg, SYS_writev, SYS_write};
constexpr std::initializer_list<long> kReceives = {SYS_recvfrom, SYS_recvmsg, SYS_readv, SYS_read};

// A look at an empty queue, as an application that waits for an answer has many.
void look(Station& station) {
    fi_cq_tagged_entry entry;
    while (fi_cq_read(station.cq, &entry, 1) != -FI_EAGAIN) {
    }
}

TEST(SmallMessages, CostOneSystemCallAtEachEndOverTcp) {
    const Calls calls = count_calls([] {
        Pair pair("tcp");
        const auto exchange_all = [&](size_t count) {
            for (size_t i = 0; i < count; ++i) {
                pair.exchange();
                look(pair.sender);
            }
        };
        exchange_all(kUntilGrown);
        begin_counting();
        exchange_all(kMessages);
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    EXPECT_EQ(calls.of(kSends), kMessages) << listed(calls);
    // Others find nothing: a look at an idle connection, or a message that is a little late.
    EXPECT_EQ(calls.fruitful_of(kReceives), kMessages) << listed(calls);
}

TEST(SmallMessages, ShareSystemCallsOverTcpWhenManyArePosted) {
    constexpr size_t kWindow = 50;
    const Calls calls = count_calls([] {
        Pair pair("tcp");
        begin_counting();
        for (size_t i = 0; i < kMessages; i += kWindow) {
            for (size_t k = 0; k < kWindow; ++k) pair.post();
            for (size_t k = 0; k < kWindow; ++k) pair.send();
            Pair::await(pair.sender, kWindow);
            look(pair.sender);  // sends what still waits
            Pair::await(pair.receiver, kWindow);
        }
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    EXPECT_LE(calls.of(kSends), kMessages / 5) << listed(calls);
}

class Allocations : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Providers, Allocations, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(Allocations, NoneForASmallMessage) {
    if (!selvage::test::allocation_control()) GTEST_SKIP() << "a sanitizer has the allocator";
    Pair pair(GetParam());
    const auto exchange = [&] {
        pair.exchange();
        look(pair.sender);
    };
    for (size_t i = 0; i < kMessages; ++i) exchange();
    const unsigned long before = selvage::test::allocations();
    for (size_t i = 0; i < kMessages; ++i) exchange();
    EXPECT_EQ(selvage::test::allocations(), before);
}

}  // namespace
}  // namespace selvage::impl::test
