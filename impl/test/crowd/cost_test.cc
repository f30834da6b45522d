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

std::string listed(const Calls& calls) {
    std::string text;
    for (const auto& [number, count] : calls.by_number) {
        text += "call " + std::to_string(number) + ": " + std::to_string(count) + "\n";
    }
    return text;
}

TEST(SmallMessages, CostNoSystemCallOverSharedMemory) {
    const Calls calls = count_calls([] {
        Pair pair("shm");
        for (size_t i = 0; i < kMessages; ++i) pair.exchange();
        begin_counting();
        for (size_t i = 0; i < kMessages; ++i) pair.exchange();
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    EXPECT_EQ(calls.all(), 0u) << listed(calls);
}

TEST(SmallMessages, CostOneSystemCallAtEachEndOverTcp) {
    const Calls calls = count_calls([] {
        Pair pair("tcp");
        begin_counting();
        for (size_t i = 0; i < kMessages; ++i) pair.exchange();
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    EXPECT_EQ(calls.of({SYS_sendto, SYS_sendmsg, SYS_writev, SYS_write}), kMessages) << listed(calls);
    // A message may be a little late, and then a read finds nothing.
    const size_t reads = calls.of({SYS_recvfrom, SYS_recvmsg, SYS_readv, SYS_read});
    EXPECT_GE(reads, kMessages) << listed(calls);
    EXPECT_LE(reads, kMessages + kMessages / 5) << listed(calls);
    RecordProperty("other_calls", static_cast<int>(calls.all() - kMessages - reads));
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
            // Entries are given without progress: a look at an empty queue sends what still waits.
            fi_cq_tagged_entry entry;
            while (fi_cq_read(pair.sender.cq, &entry, 1) != -FI_EAGAIN) {
            }
            Pair::await(pair.receiver, kWindow);
        }
        end_counting();
    });
    if (!calls.traced) GTEST_SKIP() << "tracing is not permitted here";
    ASSERT_TRUE(WIFEXITED(calls.status) && WEXITSTATUS(calls.status) == 0);
    EXPECT_LE(calls.of({SYS_sendto, SYS_sendmsg, SYS_writev, SYS_write}), kMessages / 5) << listed(calls);
}

class Allocations : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Providers, Allocations, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(Allocations, NoneForASmallMessage) {
    if (!selvage::test::allocation_control()) GTEST_SKIP() << "a sanitizer has the allocator";
    Pair pair(GetParam());
    for (size_t i = 0; i < kMessages; ++i) pair.exchange();
    const unsigned long before = selvage::test::allocations();
    for (size_t i = 0; i < kMessages; ++i) pair.exchange();
    EXPECT_EQ(selvage::test::allocations(), before);
}

}  // namespace
}  // namespace selvage::impl::test
