// How fast long messages go from memory to memory, for people to read: of devices, and of the host beside them.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "impl/test/hmem/fixture.h"

namespace selvage::test {
namespace {

class HmemBandwidth : public HmemTest {
protected:
    double gigabytes_per_second(MemoryKind of, size_t size, int count) {
        const auto from = memory(pair->a, of, size), to = memory(pair->b, of, size);
        const auto bytes = pattern(size, 1);
        from->buffer.write(bytes.data(), size);
        const auto exchange = [&] {
            int sent = 0, received = 0;
            pair->post([&] {
                return fi_recv(pair->b.ep.get(), to->buffer.at(), size, to->desc(), FI_ADDR_UNSPEC, &received);
            });
            pair->post(
                [&] { return fi_send(pair->a.ep.get(), from->buffer.at(), size, from->desc(), pair->a.peer, &sent); });
            pair->expect_entry(pair->b, &received);
            pair->expect_entry(pair->a, &sent);
        };
        for (int i = 0; i < 5; ++i) exchange();
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < count; ++i) exchange();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        EXPECT_TRUE(to->buffer.read(size) == bytes);
        return static_cast<double>(size) * count / taken.count() / 1e9;
    }
};

TEST_P(HmemBandwidth, IsPrinted) {
    if (!std::getenv("SELVAGE_BANDWIDTH")) GTEST_SKIP() << "SELVAGE_BANDWIDTH is not set";
    for (const size_t size : {8, 4096, 65536, 1 << 20, 16 << 20}) {
        const int count = size > 65536 ? 20 : 200;
        const double device = gigabytes_per_second(kind(), size, count);
        const double host = gigabytes_per_second(MemoryKind::Host, size, count);
        std::printf("%s %-8s %9zu B  to and from it %8.3f GB/s (%.1f us), host to host %8.3f GB/s (%.1f us)\n",
                    GetParam().provider, kind() == MemoryKind::Cuda ? "cuda" : "override", size, device,
                    static_cast<double>(size) / device / 1e3, host, static_cast<double>(size) / host / 1e3);
    }
}

INSTANTIATE_TEST_SUITE_P(Providers, HmemBandwidth, ::testing::ValuesIn(kHmemCases), name_of);

}  // namespace
}  // namespace selvage::test
