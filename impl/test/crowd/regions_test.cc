// fi_close(mr) means that the memory is the application's alone: no peer's access that is under way touches it any
// more, and no peer is told what was stored there afterwards. On every provider, whoever makes progress.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kSize = size_t{8} << 20;
constexpr auto kBefore = std::byte{0x11};
constexpr auto kWritten = std::byte{0x22};
constexpr auto kAfter = std::byte{0xee};

bool all(const std::vector<std::byte>& bytes, std::byte value) {
    return std::all_of(bytes.begin(), bytes.end(), [=](std::byte b) { return b == value; });
}

StationChoice target_on(const char* provider, fi_progress progress, fi_threading threading) {
    return {.provider = provider,
            .threading = threading,
            .progress = progress,
            .caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC,
            .service = {},
            .memory = kSize};
}
StationChoice initiator_on(const char* provider) {
    return {.provider = provider, .caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC, .service = {}};
}

class RegionsInUse : public testing::TestWithParam<const char*> {
protected:
    explicit RegionsInUse(fi_progress progress = FI_PROGRESS_MANUAL, fi_threading threading = FI_THREAD_SAFE)
        : target(target_on(GetParam(), progress, threading)), initiator(initiator_on(GetParam())) {
        to = initiator.insert(target.name());
        exchange();  // both know each other
    }
    void exchange() {
        uint64_t value = 0;
        post(
            [&] { return fi_read(initiator.ep, &value, sizeof value, nullptr, to, target.base, target.key, nullptr); });
        EXPECT_EQ(await(), 0);
    }
    template <typename Call>
    void post(Call call) {
        ssize_t result;
        while ((result = call()) == -FI_EAGAIN) progress(target), poll();
        SELVAGE_MUST(result);
    }
    void write() {
        post(
            [&] { return fi_write(initiator.ep, local.data(), kSize, nullptr, to, target.base, target.key, nullptr); });
    }
    void read() {
        post([&] { return fi_read(initiator.ep, local.data(), kSize, nullptr, to, target.base, target.key, nullptr); });
    }
    static void progress(Station& station) { fi_cq_read(station.cq, nullptr, 0); }
    // True when the initiator's operation has completed, with `error`.
    bool poll() {
        fi_cq_tagged_entry entry;
        const ssize_t result = fi_cq_read(initiator.cq, &entry, 1);
        if (result == -FI_EAGAIN) return false;
        error = 0;
        if (result == -FI_EAVAIL) {
            fi_cq_err_entry failure{};
            EXPECT_EQ(fi_cq_readerr(initiator.cq, &failure, 0), 1);
            error = failure.err;
        }
        return true;
    }
    int await() {
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); !poll();) {
            progress(target);
            if (std::chrono::steady_clock::now() > end) return -1;
        }
        return error;
    }
    // Lets what is still under way do its worst.
    void linger() {
        for (int i = 0; i < 20; ++i) {
            progress(target);
            progress(initiator);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
    void renew() {
        std::fill(target.memory.begin(), target.memory.end(), kBefore);
        target.expose();
    }

    Station target;
    Station initiator;
    fi_addr_t to = FI_ADDR_UNSPEC;
    std::vector<std::byte> local = std::vector<std::byte>(kSize);
    int error = 0;
};

TEST_P(RegionsInUse, AWriteThatStallsAcrossTheCloseChangesNothingAfterIt) {
    std::fill(local.begin(), local.end(), kWritten);
    size_t cut_short = 0;
    for (int rounds = 0; rounds < 40; ++rounds) {
        SCOPED_TRACE(rounds);
        target.close_region();
        renew();
        write();
        for (int i = 0; i < rounds % 20; ++i) {
            progress(target);
            if (i % 3 == 2) progress(initiator);
        }
        target.close_region();
        std::fill(target.memory.begin(), target.memory.end(), kAfter);
        const int result = await();
        linger();
        ASSERT_TRUE(all(target.memory, kAfter)) << "written after the close";
        ASSERT_TRUE(result == 0 || result == FI_ENOKEY) << result;
        cut_short += result == FI_ENOKEY;
    }
    EXPECT_GT(cut_short, 0u) << "no close came while a write was under way";
}

TEST_P(RegionsInUse, AReadTellsNothingThatWasStoredAfterTheClose) {
    size_t cut_short = 0;
    for (int rounds = 0; rounds < 40; ++rounds) {
        SCOPED_TRACE(rounds);
        target.close_region();
        renew();
        std::fill(local.begin(), local.end(), std::byte{});
        read();
        for (int i = 0; i < rounds % 20; ++i) {
            progress(target);
            if (i % 3 == 2 && poll()) break;
        }
        const bool early = local.back() == kBefore;
        target.close_region();
        std::fill(target.memory.begin(), target.memory.end(), kAfter);
        const int result = early ? 0 : await();
        // What was thrown away may have been stored there first; where nothing is pulled, it never comes.
        if (result == 0) {
            ASSERT_TRUE(all(local, kBefore)) << "what was stored after the close came as a success";
        } else {
            ASSERT_EQ(result, FI_ENOKEY);
            ++cut_short;
            if (std::string_view(GetParam()) != "shm") {
                ASSERT_EQ(std::count(local.begin(), local.end(), kAfter), 0);
            }
        }
        while (poll()) continue;
    }
    EXPECT_GT(cut_short, 0u) << "no close came while a read was under way";
}

class RegionsInUseByThreads : public RegionsInUse {
protected:
    explicit RegionsInUseByThreads(fi_progress progress = FI_PROGRESS_AUTO, fi_threading threading = FI_THREAD_SAFE)
        : RegionsInUse(progress, threading) {}

    // Another thread is the initiator, this one closes.
    void write_while_it_closes() {
        std::fill(local.begin(), local.end(), kWritten);
        // Enough that the transport knows all its ways.
        for (int i = 0; i < 20; ++i) {
            write();
            ASSERT_EQ(await(), 0);
        }
        for (int i = 0; i < 60; ++i) {
            SCOPED_TRACE(i);
            target.close_region();
            renew();
            std::atomic<bool> posted{false};
            std::atomic<bool> done{false};
            std::thread other([&] {
                write();
                posted = true;
                while (!poll()) continue;
                done = true;
            });
            std::jthread reader = read_its_queue();
            while (!posted) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(i * 40));
            target.close_region();
            std::fill(target.memory.begin(), target.memory.end(), kAfter);
            for (int k = 0; k < 3 || !done; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            other.join();
            ASSERT_TRUE(all(target.memory, kAfter)) << "written after the close";
        }
    }
    virtual std::jthread read_its_queue() { return {}; }
};

TEST_P(RegionsInUseByThreads, AClosedRegionIsLeftAloneByTheThreadThatMakesProgress) { write_while_it_closes(); }

// A region is none of the objects that FI_THREAD_COMPLETION has the application serialise.
class RegionsBesideACompletionQueue : public RegionsInUseByThreads {
protected:
    RegionsBesideACompletionQueue() : RegionsInUseByThreads(FI_PROGRESS_MANUAL, FI_THREAD_COMPLETION) {}

    std::jthread read_its_queue() override {
        return std::jthread([this](const std::stop_token& stop) {
            while (!stop.stop_requested()) progress(target);
        });
    }
};

TEST_P(RegionsBesideACompletionQueue, AClosedRegionIsLeftAloneByWhoReadsTheQueue) { write_while_it_closes(); }

// The initiator reads while the target's endpoint closes in another thread, and its region in this one.
class RegionsOfAnEndThatCloses : public RegionsInUse {
protected:
    void SetUp() override {
        target.close_region();
        renew();
        read();
        for (int i = 0; i < 10; ++i) progress(target);  // so that the answer is begun, of which nobody takes anything
    }
    void TearDown() override {
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); !poll();) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
        }
        closes_.join();
        EXPECT_EQ(std::count(local.begin(), local.end(), kAfter), 0);
        EXPECT_TRUE(error || all(local, kBefore)) << "the read ended well without all of it";
    }
    void close_endpoint() {
        closes_ = std::jthread([this] { target.close_endpoint(); });
    }
    void close_region() {
        target.close_region();
        std::fill(target.memory.begin(), target.memory.end(), kAfter);
    }

private:
    std::jthread closes_;
};

// Its frames are sent to their end: what is sent of a region is what was there before its close, here, too.
TEST_P(RegionsOfAnEndThatCloses, AnEndpointThatClosesSendsNothingThatWasStoredAfterTheClose) {
    close_endpoint();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    close_region();
}

// By sockets all that was begun arrives then.
TEST_P(RegionsOfAnEndThatCloses, ARegionThatClosesFirstIsReadAsItWas) {
    close_region();
    close_endpoint();
}

const auto kProviders = testing::Values("shm", "tcp", "tcp;ofi_rxm");
std::string name_of(const testing::TestParamInfo<const char*>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), ';', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(On, RegionsInUse, kProviders, name_of);
INSTANTIATE_TEST_SUITE_P(On, RegionsInUseByThreads, kProviders, name_of);
INSTANTIATE_TEST_SUITE_P(On, RegionsBesideACompletionQueue, kProviders, name_of);
INSTANTIATE_TEST_SUITE_P(On, RegionsOfAnEndThatCloses, kProviders, name_of);

}  // namespace
}  // namespace selvage::impl::test
