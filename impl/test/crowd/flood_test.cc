// A sender without end, and a receiver that makes progress and posts nothing: what the receiver keeps is bounded, and
// then all of it arrives, in order.
#include <gtest/gtest.h>

#include "impl/engine/window.h"
#include "impl/test/crowd/station.h"
#include "impl/test/library/allocation.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kSize = 4096;
constexpr int kQuiet = 20'000;  // calls in a row that change nothing: the flood has come to rest

class Flooding : public testing::TestWithParam<const char*> {
protected:
    StationChoice choice() const { return {.provider = GetParam(), .caps = FI_TAGGED, .service = {}}; }
    Station sender{choice()};
    Station receiver{choice()};
    fi_addr_t to = sender.insert(receiver.name());
    std::vector<uint64_t> out = std::vector<uint64_t>(kSize / sizeof(uint64_t));
    std::vector<uint64_t> in = out;
    size_t posted = 0;
    // A gigabyte; over tcp, where it takes longer, a quarter of that.
    const size_t messages = (size_t{1} << (std::string(GetParam()) == "tcp" ? 28 : 30)) / kSize;

    static unsigned read(Station& station, fi_cq_tagged_entry* entry) {
        const ssize_t count = fi_cq_read(station.cq, entry, 1);
        if (count == -FI_EAGAIN) return 0;
        SELVAGE_MUST(count);
        return 1;
    }
    // One more message, or some of the work that is to be done before. True if anything happened.
    bool step() {
        fi_cq_tagged_entry entry;
        bool moved = read(sender, &entry);
        if (posted == messages) return moved;
        const ssize_t result = fi_tsend(sender.ep, out.data(), kSize, nullptr, to, posted, nullptr);
        if (result == -FI_EAGAIN) return moved;
        SELVAGE_MUST(result);
        ++posted;
        return true;
    }
};
INSTANTIATE_TEST_SUITE_P(Providers, Flooding, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(Flooding, KeepsNoMoreThanTheWindowAndLosesNothing) {
    fi_cq_tagged_entry entry;
    while (!posted) step(), read(receiver, &entry);
    const size_t before = selvage::test::bytes_in_use();
    size_t most = 0;
    for (int quiet = 0; quiet < kQuiet;) {
        quiet = step() ? 0 : quiet + 1;
        read(receiver, &entry);
        if (posted % 64 == 0) most = std::max(most, selvage::test::bytes_in_use() - before);
    }
    EXPECT_LT(posted, messages) << "nobody was held up";
    // A kilobyte per unit, and what the sender keeps of operations that wait: a sixteenth of it at most.
    constexpr size_t kBound = size_t{kWindowUsual} * 1024 * 17 / 16;
    if (selvage::test::allocation_control()) {
        EXPECT_LT(most, kBound);
    }
    RecordProperty("most", std::to_string(most));
    RecordProperty("posted", std::to_string(posted));
    for (size_t i = 0; i < messages; ++i) {
        SELVAGE_MUST(fi_trecv(receiver.ep, in.data(), kSize, nullptr, FI_ADDR_UNSPEC, 0, ~uint64_t{0}, nullptr));
        while (!read(receiver, &entry)) step();
        step();
        ASSERT_EQ(entry.tag, i);
        ASSERT_EQ(entry.len, kSize);
    }
    EXPECT_EQ(posted, messages);
}

}  // namespace
}  // namespace selvage::impl::test
