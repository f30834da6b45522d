// Endpoints that come, exchange messages with one that stays, and go: nothing of them is kept.
#include <gtest/gtest.h>

#include "impl/test/crowd/station.h"
#include "impl/test/library/allocation.h"

namespace selvage::impl::test {
namespace {

class Visitors : public testing::TestWithParam<const char*> {
protected:
    StationChoice choice() const { return {.provider = GetParam(), .caps = FI_TAGGED, .service = {}}; }
    Station host{choice()};

    // A message each way, one of which is long.
    void visit() {
        Station visitor{choice()};
        const fi_addr_t to_host = visitor.insert(host.name());
        const fi_addr_t to_visitor = host.insert(visitor.name());
        exchange(visitor, to_host, host, 8);
        exchange(host, to_visitor, visitor, 100'000);
        host.remove(to_visitor);
    }

private:
    static void exchange(Station& from, fi_addr_t to, Station& at, size_t size) {
        std::vector<char> out(size, 'x'), in(size);
        SELVAGE_MUST(fi_trecv(at.ep, in.data(), size, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr));
        while (const ssize_t result = fi_tsend(from.ep, out.data(), size, nullptr, to, 1, nullptr)) {
            if (result != -FI_EAGAIN) SELVAGE_MUST(result);
            (void)fi_cq_read(from.cq, nullptr, 0);
            (void)fi_cq_read(at.cq, nullptr, 0);
        }
        for (int ends = 0; ends < 2;) ends += took(from) + took(at);
        ASSERT_EQ(in, out);
    }
    // Errors are the departure of the visitor before.
    static int took(Station& station) {
        fi_cq_tagged_entry entry;
        const ssize_t count = fi_cq_read(station.cq, &entry, 1);
        if (count == -FI_EAGAIN) return 0;
        SELVAGE_MUST(count);
        return 1;
    }
};
INSTANTIATE_TEST_SUITE_P(Providers, Visitors, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(Visitors, LeaveNothingBehind) {
    if (!selvage::test::allocation_control()) GTEST_SKIP() << "a sanitizer has the allocator";
    constexpr int kFirst = 200, kVisits = 1000;
    for (int i = 0; i < kFirst; ++i) visit();
    const size_t before = selvage::test::bytes_in_use();
    for (int i = 0; i < kVisits; ++i) visit();
    const size_t after = selvage::test::bytes_in_use();
    EXPECT_LT(after, before + (size_t{64} << 10)) << (after - before) / kVisits << " bytes for each visitor";
}

}  // namespace
}  // namespace selvage::impl::test
