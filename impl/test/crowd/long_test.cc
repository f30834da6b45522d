// Long transfers between two processes over shm: whichever way they come, and when that changes, what arrives is what
// was sent. The first of each size come through the ring, the next are read by the kernel, then what was faster.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMost = size_t{4} << 20;
constexpr size_t kSizes[] = {64 << 10, (256 << 10) + 7, 1 << 20, kMost};
constexpr int kRounds = 40;
constexpr uint64_t kDone = 1 << 20;  // a tag

void fill(std::byte* to, size_t size, uint64_t seed) {
    for (size_t i = 0; i + sizeof seed <= size; i += sizeof seed) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        memcpy(to + i, &seed, sizeof seed);
    }
}
bool is_filled(const std::byte* bytes, size_t size, uint64_t seed) {
    std::vector<std::byte> expected(size);
    fill(expected.data(), size, seed);
    return memcmp(bytes, expected.data(), size / sizeof seed * sizeof seed) == 0;
}

// Either process: its endpoint, and the address of the other.
class Side {
public:
    Side(int in, int out) {
        const StationInfo own = station.info();
        if (write(out, &own, sizeof own) != sizeof own) give_up("write", "the other is gone");
        if (read(in, &other, sizeof other) != sizeof other) give_up("read", "the other is gone");
        to = station.insert(other);
        fill(station.memory.data(), kMost, 0);
    }
    void completions(unsigned count) {
        fi_cq_tagged_entry entry;
        while (count) {
            const ssize_t read = fi_cq_read(station.cq, &entry, 1);
            if (read == -FI_EAGAIN) continue;
            SELVAGE_MUST(read);
            --count;
        }
    }
    template <typename Call>
    void post(Call call) {
        ssize_t result;
        while ((result = call()) == -FI_EAGAIN) fi_cq_read(station.cq, nullptr, 0);
        SELVAGE_MUST(result);
    }
    void send(const void* bytes, size_t size, uint64_t tag) {
        post([&] { return fi_tsend(station.ep, bytes, size, nullptr, to, tag, nullptr); });
        completions(1);
    }
    void receive(void* bytes, size_t size, uint64_t tag) {
        post([&] { return fi_trecv(station.ep, bytes, size, nullptr, FI_ADDR_UNSPEC, tag, 0, nullptr); });
        completions(1);
    }

    Station station{{.provider = "shm", .caps = FI_TAGGED | FI_RMA, .service = {}, .memory = kMost}};
    StationInfo other{};
    fi_addr_t to = FI_ADDR_UNSPEC;
};

class LongTransfers : public testing::Test {
protected:
    void SetUp() override {
        int there[2], back[2];
        ASSERT_EQ(pipe(there), 0);
        ASSERT_EQ(pipe(back), 0);
        child = fork();
        if (child == 0) {
            mirror(there[0], back[1]);
            _exit(0);
        }
        side = std::make_unique<Side>(back[0], there[1]);
    }
    void TearDown() override {
        side->send(&kDone, sizeof kDone, kDone);
        int status;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    // Sends back what comes; its memory is read and written meanwhile.
    static void mirror(int in, int out) {
        Side side(in, out);
        std::vector<std::byte> bytes(kMost);
        for (;;) {
            fi_cq_tagged_entry entry;
            side.post([&] {
                return fi_trecv(side.station.ep, bytes.data(), kMost, nullptr, FI_ADDR_UNSPEC, 0, ~uint64_t{0},
                                nullptr);
            });
            while (fi_cq_read(side.station.cq, &entry, 1) != 1) {
            }
            if (entry.tag == kDone) return;
            side.send(bytes.data(), entry.len, entry.tag);
        }
    }

    pid_t child = 0;
    std::unique_ptr<Side> side;
};

TEST_F(LongTransfers, MessagesArriveWhole) {
    std::vector<std::byte> out(kMost), in(kMost);
    for (const size_t size : kSizes) {
        for (int i = 0; i < kRounds; ++i) {
            const auto tag = static_cast<uint64_t>(i);
            fill(out.data(), size, size + tag);
            std::fill_n(in.data(), size, std::byte{0});
            side->send(out.data(), size, tag);
            side->receive(in.data(), size, tag);
            ASSERT_TRUE(is_filled(in.data(), size, size + tag)) << size << ", round " << i;
        }
    }
}

TEST_F(LongTransfers, WritesAndReadsTouchWhatTheyName) {
    std::vector<std::byte> out(kMost), in(kMost);
    Side& s = *side;
    for (const size_t size : kSizes) {
        const uint64_t offset = (kMost - size) / 2;
        for (int i = 0; i < kRounds; ++i) {
            fill(out.data(), size, size + static_cast<uint64_t>(i));
            s.post([&] {
                return fi_write(s.station.ep, out.data(), size, nullptr, s.to, s.other.base + offset, s.other.key,
                                nullptr);
            });
            s.completions(1);
            std::fill_n(in.data(), size, std::byte{0});
            s.post([&] {
                return fi_read(s.station.ep, in.data(), size, nullptr, s.to, s.other.base + offset, s.other.key,
                               nullptr);
            });
            s.completions(1);
            ASSERT_TRUE(is_filled(in.data(), size, size + static_cast<uint64_t>(i))) << size << ", round " << i;
        }
    }
}

// Both sides send and receive many at a time, so that each copies parts of what it sends and of what it receives.
void exchange_many(Side& side, uint64_t own, uint64_t others) {
    constexpr size_t kMessages = 16;
    constexpr size_t kEach = 300 << 10;
    std::vector<std::byte> out(kMessages * kEach), in(kMessages * kEach);
    const auto size_of = [](uint64_t tag) { return size_t{64 << 10} + tag % 7 * (32 << 10); };
    for (uint64_t round = 0; round < kRounds; ++round) {
        for (uint64_t tag = round * kMessages, at = 0; tag < (round + 1) * kMessages; ++tag, at += kEach) {
            fill(out.data() + at, size_of(tag), own + tag);
            std::fill_n(in.data() + at, kEach, std::byte{0});
            side.post([&] {
                return fi_trecv(side.station.ep, in.data() + at, kEach, nullptr, FI_ADDR_UNSPEC, tag, 0, nullptr);
            });
        }
        for (uint64_t tag = round * kMessages, at = 0; tag < (round + 1) * kMessages; ++tag, at += kEach) {
            side.post([&] {
                return fi_tsend(side.station.ep, out.data() + at, size_of(tag), nullptr, side.to, tag, nullptr);
            });
        }
        side.completions(2 * kMessages);
        for (uint64_t tag = round * kMessages, at = 0; tag < (round + 1) * kMessages; ++tag, at += kEach) {
            if (!is_filled(in.data() + at, size_of(tag), others + tag) || in[at + size_of(tag)] != std::byte{0}) {
                give_up("contents", std::to_string(tag));
            }
        }
    }
}

TEST(LongTransfersBothWays, ManyAtATimeArriveWhole) {
    int there[2], back[2];
    ASSERT_EQ(pipe(there), 0);
    ASSERT_EQ(pipe(back), 0);
    const pid_t child = fork();
    if (child == 0) {
        Side side(there[0], back[1]);
        exchange_many(side, 1 << 20, 2 << 20);
        _exit(0);
    }
    Side side(back[0], there[1]);
    exchange_many(side, 2 << 20, 1 << 20);
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace selvage::impl::test
