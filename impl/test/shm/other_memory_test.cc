// Copies out of and into a process's memory, wherever source and destination lie to each other.
#include "impl/transport/shm/other_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "impl/base/copy.h"

namespace selvage::impl::test {
namespace {

class ShmOtherMemory : public testing::TestWithParam<bool> {
protected:
    static constexpr size_t kPage = 4096;
    static constexpr size_t kMost = 40'000;

    ShmOtherMemory() : from_(kMost + 3 * kPage), to_(kMost + 3 * kPage) {
        for (size_t i = 0; i < from_.size(); ++i) from_[i] = static_cast<char>(i * 131 + (i >> 8));
    }
    char* source(size_t offset) { return at_page(from_) + offset; }
    char* place(size_t offset) { return at_page(to_) + offset; }
    // Nothing but these bytes is written.
    void check(size_t from, size_t to, size_t size) {
        ASSERT_EQ(memcmp(place(to), source(from), size), 0) << from << " to " << to << ", " << size;
        ASSERT_EQ(*(place(to) - 1), 'x');
        ASSERT_EQ(*(place(to) + size), 'x');
    }
    void clear() { std::fill(to_.begin(), to_.end(), 'x'); }

private:
    static char* at_page(std::vector<char>& bytes) {
        const auto address = reinterpret_cast<uintptr_t>(bytes.data());
        return bytes.data() + (kPage - address % kPage) % kPage + kPage / 2;
    }
    std::vector<char> from_, to_;
};

TEST_P(ShmOtherMemory, IsReadWhereverItLies) {
    for (const size_t ahead : {0, 1, 8, 16, 31, 32, 64, 100}) {
        for (const size_t size : {1u, 2047u, 2048u, 16'384u, 32'768u, 32'769u, 40'000u}) {
            clear();
            const iovec own{.iov_base = place(16 + ahead), .iov_len = size};
            const iovec its{.iov_base = source(16), .iov_len = size};
            shm::Rest here(&own, 1), there(&its, 1);
            ASSERT_EQ(shm::read_from(getpid(), there, here, GetParam()), 0);
            check(16, 16 + ahead, size);
        }
    }
}

TEST_P(ShmOtherMemory, IsWrittenWhereverItLies) {
    for (const size_t ahead : {0, 1, 8, 16, 31, 32, 64, 100}) {
        for (const size_t size : {1u, 2047u, 2048u, 16'384u, 32'768u, 32'769u, 40'000u}) {
            clear();
            const iovec own{.iov_base = source(16), .iov_len = size};
            const iovec its{.iov_base = place(16 + ahead), .iov_len = size};
            shm::Rest here(&own, 1), there(&its, 1);
            ASSERT_EQ(shm::write_to(getpid(), here, there, GetParam()), 0);
            check(16, 16 + ahead, size);
        }
    }
}

// The ends of the ranges of both sides are at other places.
TEST_P(ShmOtherMemory, ComesInItsOrderFromSeveralRanges) {
    clear();
    const iovec own[] = {{place(16), 5'000}, {place(5'016), 20'000}, {place(25'016), 1'000}};
    const iovec its[] = {{source(0), 12'000}, {source(12'000), 14'000}};
    shm::Rest here(own, 3), there(its, 2);
    ASSERT_EQ(shm::read_from(getpid(), there, here, GetParam()), 0);
    check(0, 16, 26'000);
    clear();
    shm::Rest from(its, 2), into(own, 3);
    ASSERT_EQ(shm::write_to(getpid(), from, into, GetParam()), 0);
    check(0, 16, 26'000);
}

TEST_P(ShmOtherMemory, WhereNothingIsIsAnError) {
    const iovec own{.iov_base = place(16), .iov_len = 4'096};
    for (const size_t offset : {size_t{0}, kPage / 2, kPage / 2 + 32}) {
        const iovec nothing{.iov_base = reinterpret_cast<void*>(kPage + offset), .iov_len = 4'096};
        shm::Rest here(&own, 1), there(&nothing, 1);
        EXPECT_EQ(shm::read_from(getpid(), there, here, GetParam()), -EFAULT) << offset;
        shm::Rest from(&own, 1), into(&nothing, 1);
        EXPECT_EQ(shm::write_to(getpid(), from, into, GetParam()), -EFAULT) << offset;
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, ShmOtherMemory, testing::Bool(),
                         [](const auto& way) { return way.param ? "Aside" : "Straight"; });

TEST(CopyBytes, CopiesWhereverBothLie) {
    std::vector<std::byte> from(9'000), to(20'000);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 131 + (i >> 8));
    for (const size_t size : {0u, 1u, 63u, 64u, 65u, 1'024u, 1'055u, 8'192u}) {
        for (size_t ahead = 0; ahead < 70; ++ahead) {
            const size_t distance = reinterpret_cast<uintptr_t>(to.data()) - reinterpret_cast<uintptr_t>(from.data());
            std::byte* at = to.data() + 4'096 + (ahead - distance) % 4'096;
            ASSERT_EQ(is_just_ahead(at, from.data()), ahead > 0 && ahead < 32) << ahead;
            at[-1] = at[size] = std::byte{0xee};
            copy_bytes(at, from.data(), size);
            ASSERT_EQ(memcmp(at, from.data(), size), 0) << size << ", " << ahead;
            ASSERT_EQ(at[-1], std::byte{0xee});
            ASSERT_EQ(at[size], std::byte{0xee});
        }
    }
}

}  // namespace
}  // namespace selvage::impl::test
