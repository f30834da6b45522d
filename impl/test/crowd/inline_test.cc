// Messages that take the shortest way over shared memory, and their neighbours that just do not.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMost = 4096;

StationChoice choice(size_t queue_size = 0) {
    return {.provider = "shm", .caps = FI_MSG | FI_TAGGED, .service = {}, .queue_size = queue_size};
}

struct Both {
    Station sender{choice()};
    Station receiver{choice()};
    fi_addr_t to = sender.insert(receiver.name());
    std::byte out[kMost] = {};
    std::byte in[kMost] = {};

    static bool read(Station& station, fi_cq_tagged_entry* entry) {
        const ssize_t count = fi_cq_read(station.cq, entry, 1);
        if (count == -FI_EAGAIN) return false;
        SELVAGE_MUST(count);
        return true;
    }
    ssize_t try_send(size_t size, uint64_t tag, bool tagged) {
        return tagged ? fi_tsend(sender.ep, out, size, nullptr, to, tag, out)
                      : fi_send(sender.ep, out, size, nullptr, to, out);
    }
    // One message there, and what is told of it at both ends.
    void exchange(size_t size, uint64_t tag, bool tagged) {
        fi_cq_tagged_entry entry{};
        write_pattern(out, size, tag * 77 + size);
        memset(in, 0, size + 1);
        SELVAGE_MUST(tagged ? fi_trecv(receiver.ep, in, kMost, nullptr, FI_ADDR_UNSPEC, tag, 0, in)
                            : fi_recv(receiver.ep, in, kMost, nullptr, FI_ADDR_UNSPEC, in));
        ssize_t result;
        while ((result = try_send(size, tag, tagged)) == -FI_EAGAIN) read(receiver, &entry);
        SELVAGE_MUST(result);
        while (!read(sender, &entry)) continue;
        EXPECT_EQ(entry.op_context, out);
        EXPECT_EQ(entry.flags, FI_SEND | (tagged ? FI_TAGGED : FI_MSG));
        while (!read(receiver, &entry)) continue;
        EXPECT_EQ(entry.op_context, in);
        EXPECT_EQ(entry.len, size);
        EXPECT_EQ(tagged ? entry.tag : tag, tag);
        EXPECT_EQ(memcmp(in, out, size), 0) << size;
        EXPECT_EQ(in[size], std::byte{0}) << "more than was sent";
    }
};

TEST(Inline, EverySizeArrivesIntactInEveryPlaceOfTheRing) {
    Both both;
    Random random(3);
    // Longer messages leave bytes behind where short ones begin a lap later.
    for (int i = 0; i < 20'000; ++i) {
        const size_t size = random.below(10) ? random.below(70) : random.below(kMost - 1);
        both.exchange(size, random.next(), random.below(2));
        if (testing::Test::HasFailure()) FAIL() << "message " << i << " of " << size << " bytes";
    }
}

TEST(Inline, AQueueThatIsFullTakesNoMore) {
    constexpr size_t kEntries = 8;
    Station sender(choice(kEntries)), receiver(choice());
    const fi_addr_t to = sender.insert(receiver.name());
    fi_cq_tagged_entry entry{};
    const uint64_t word = 1;
    size_t sent = 0;
    for (int i = 0; i < 1000 && sent < kEntries; ++i) sent += !fi_send(sender.ep, &word, 8, nullptr, to, nullptr);
    ASSERT_EQ(sent, kEntries);
    EXPECT_EQ(fi_send(sender.ep, &word, 8, nullptr, to, nullptr), -FI_EAGAIN);
    ASSERT_EQ(fi_cq_read(sender.cq, &entry, 1), 1);
    EXPECT_EQ(fi_send(sender.ep, &word, 8, nullptr, to, nullptr), 0);
    EXPECT_EQ(fi_send(sender.ep, &word, 8, nullptr, to, nullptr), -FI_EAGAIN);
}

TEST(Inline, ASleepingReceiverIsWoken) {
    using Clock = std::chrono::steady_clock;
    constexpr int kRounds = 20;
    // By itself a sleeper looks around ten times a second.
    constexpr std::chrono::milliseconds kSoon{50};
    Both both;
    both.exchange(8, 1, true);
    std::atomic<int> posted{0}, received{0};
    std::thread sleeper([&] {
        for (int i = 1; i <= kRounds; ++i) {
            SELVAGE_MUST(fi_recv(both.receiver.ep, both.in, kMost, nullptr, FI_ADDR_UNSPEC, both.in));
            posted = i;
            fi_cq_tagged_entry entry{};
            while (fi_cq_sread(both.receiver.cq, &entry, 1, nullptr, 1000) != 1) continue;
            received = i;
        }
    });
    int soon = 0;
    for (int i = 1; i <= kRounds; ++i) {
        while (posted < i) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const auto start = Clock::now();
        while (both.try_send(8, 0, false) == -FI_EAGAIN) continue;
        while (received < i) std::this_thread::yield();
        soon += Clock::now() - start < kSoon;
        fi_cq_tagged_entry entry{};
        while (!Both::read(both.sender, &entry)) continue;
    }
    sleeper.join();
    // Without a bell none is; on a busy machine many are late all the same.
    EXPECT_GE(soon, kRounds / 10);
}

}  // namespace
}  // namespace selvage::impl::test
