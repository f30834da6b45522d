// Threads on one endpoint, and messages longer than four gigabytes.
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

// An endpoint that sends to itself is all one lock, in the fake transport, too.
TEST(EngineThreads, ManyThreadsSendReceiveAndReadOnOneEndpoint) {
    Setting setting;
    setting.threading = FI_THREAD_SAFE;
    setting.counters = true;
    FakeNet net;
    Node node("a", setting);
    const fi_addr_t self = node.knows(node);
    uint64_t memory = 0;
    const uint64_t key = node.exposes(&memory, sizeof memory);
    constexpr int kThreads = 4;
    constexpr uint64_t kRounds = 300;
    std::atomic<uint64_t> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            const auto until = [&](auto post) {
                ssize_t result;
                fi_cq_tagged_entry entry;
                while ((result = post()) == -FI_EAGAIN) good += fi_cq_read(node.cq, &entry, 1) == 1;
                EXPECT_EQ(result, 0);
            };
            const auto tag = static_cast<uint64_t>(t);
            const uint64_t one = 1;
            std::vector<char> out(9000), in(9000);
            for (uint64_t i = 0; i < kRounds; ++i) {
                const size_t size = i % 2 ? 8 : 9000;
                until([&] { return fi_trecv(node.ep, in.data(), size, nullptr, FI_ADDR_UNSPEC, tag, 0, nullptr); });
                until([&] { return fi_tsend(node.ep, out.data(), size, nullptr, self, tag, nullptr); });
                until([&] { return fi_atomic(node.ep, &one, 1, nullptr, self, 0, key, FI_UINT64, FI_SUM, nullptr); });
                fi_cq_tagged_entry entry;
                good += fi_cq_read(node.cq, &entry, 1) == 1;
            }
            while (good < 3 * kThreads * kRounds) {
                fi_cq_tagged_entry entry;
                good += fi_cq_read(node.cq, &entry, 1) == 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(memory, kThreads * kRounds);
    EXPECT_EQ(fi_cntr_read(node.counters[kSlotSend]), kThreads * kRounds);
    EXPECT_EQ(fi_cntr_read(node.counters[kSlotRecv]), kThreads * kRounds);
}

// The receiver's memory is one block, mapped many times; the sender's is never written and so is no memory at all.
TEST(EngineLarge, MoreThanFourGigabytesInOneMessage) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "takes minutes with a sanitizer";
#endif
    constexpr size_t kBlock = size_t{64} << 20;
    constexpr size_t kSize = (size_t{1} << 32) + kBlock;
    const int file = memfd_create("block", 0);
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, kBlock), 0);
    void* source = mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    auto* target =
        static_cast<char*>(mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(source, MAP_FAILED);
    for (size_t at = 0; at < kSize; at += kBlock) {
        ASSERT_NE(mmap(target + at, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), MAP_FAILED);
    }
    close(file);
    memset(target, 1, kBlock);
    // The kernel maps sixteen pages for one that is read, and one for one that is written; zeros come as large pages.
    madvise(source, kSize, MADV_HUGEPAGE);
    for (size_t at = 0; at < kSize; at += 64u << 10) ASSERT_EQ(static_cast<volatile char*>(target)[at], 1);
    {
        Pair pair;
        pair.net.capacity = 64;
        ASSERT_EQ(fi_recv(pair.b.ep, target, kSize, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_send(pair.a.ep, source, kSize - 5, nullptr, pair.to_b, nullptr), 0);
        fi_cq_tagged_entry entry;
        while (pair.b.read(&entry) == 0) pair.a.progress();
        EXPECT_EQ(entry.len, kSize - 5);
        EXPECT_EQ(target[kBlock - 1], 0);
        pair.b.progress();
        EXPECT_EQ(pair.a.read(&entry), 1);
    }
    munmap(source, kSize);
    munmap(target, kSize);
}

}  // namespace
}  // namespace selvage::impl::test
