// Any thread may ask, copy, open and close at any time; interfaces may change meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

TEST(Threads, AskOpenAndCloseAtOnce) {
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 300; ++i) {
                const char* provider = (t + i) % 2 ? "shm" : "tcp";
                const Answer answer = getinfo(make_hints(provider, FI_EP_RDM));
                failures += answer.result != 0;
                const InfoPtr copy(fi_dupinfo(answer.get()));
                failures += !copy;
                Network setup(provider);
                failures += setup.result != 0;
                Opened<fid_mr> region;
                failures += fi_mr_reg(setup.domain.get(), &failures, sizeof failures, FI_REMOTE_READ, 0, 1, 0,
                                      region.out(), nullptr) != 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace selvage::test
