// An application that has all of its completions need not come back: what its peer still waits for was sent.
#include <gtest/gtest.h>
#include <rdma/fi_tagged.h>

#include <string>
#include <vector>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

constexpr size_t kLength = 1000;

// Sends until nothing completes at once any more, and one more waits for room: what is posted to the other side's ring
// or socket fills it, as nobody takes it out.
size_t fill(Side& side, const std::vector<char>& bytes) {
    constexpr size_t kMost = 100'000;
    size_t completed = 0;
    for (size_t sent = 0; sent < kMost; ++sent) {
        if (fi_send(side.ep.get(), bytes.data(), bytes.size(), nullptr, side.peer, nullptr)) break;
        fi_cq_entry entry;
        if (fi_cq_read(side.cq.get(), &entry, 1) != 1) break;
        ++completed;
    }
    return completed;
}

class SilentPeer : public testing::TestWithParam<const char*> {};

// The next entries of a side, which alone makes progress.  @return how many came.
size_t read_entries(Side& side, size_t count) {
    fi_cq_entry entry;
    size_t came = 0;
    for (int i = 0; i < 1'000'000 && came < count; ++i) came += fi_cq_read(side.cq.get(), &entry, 1) == 1;
    return came;
}

void expect_answers(const char* provider, size_t count) {
    Network network(provider, FI_EP_RDM, kVersion, FI_MSG);
    ASSERT_EQ(network.result, 0);
    Pair pair(network);
    pair.enable();
    pair.greet();
    std::vector<char> taken(8);
    for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(fi_recv(pair.a.ep.get(), taken.data(), taken.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    std::vector<char> bytes(kLength);
    const size_t posted = fill(pair.a, bytes);
    ASSERT_GT(posted, 0U);
    // B's messages are answered once A has them, and A then has nothing more to do but what waits for B.
    const iovec range{bytes.data(), 8};
    const fi_msg message{&range, nullptr, 1, pair.b.peer, nullptr, 0};
    for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(fi_sendmsg(pair.b.ep.get(), &message, FI_DELIVERY_COMPLETE | FI_COMPLETION), 0);
    ASSERT_EQ(read_entries(pair.a, count), count);
    EXPECT_EQ(read_entries(pair.b, count), count) << "with " << posted << " messages on the way";
}

TEST_P(SilentPeer, HasAnsweredWhatItReceived) { expect_answers(GetParam(), 1); }

TEST_P(SilentPeer, HasAnsweredAWindow) { expect_answers(GetParam(), 64); }

INSTANTIATE_TEST_SUITE_P(Providers, SilentPeer, testing::Values("shm", "tcp"));

}  // namespace
}  // namespace selvage::test
