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

TEST_P(SilentPeer, HasAnsweredWhatItReceived) {
    Network network(GetParam(), FI_EP_RDM, kVersion, FI_MSG);
    ASSERT_EQ(network.result, 0);
    Pair pair(network);
    pair.enable();
    pair.greet();
    std::vector<char> taken(8);
    ASSERT_EQ(fi_recv(pair.a.ep.get(), taken.data(), taken.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    std::vector<char> bytes(kLength);
    const size_t posted = fill(pair.a, bytes);
    ASSERT_GT(posted, 0U);
    // B's message is answered once A has it, and A then has nothing more to do but what waits for B.
    const iovec range{bytes.data(), 8};
    const fi_msg message{&range, nullptr, 1, pair.b.peer, nullptr, 0};
    ASSERT_EQ(fi_sendmsg(pair.b.ep.get(), &message, FI_DELIVERY_COMPLETE | FI_COMPLETION), 0);
    fi_cq_entry entry;
    ssize_t received = -FI_EAGAIN;
    for (int i = 0; i < 1'000'000 && received == -FI_EAGAIN; ++i) received = fi_cq_read(pair.a.cq.get(), &entry, 1);
    ASSERT_EQ(received, 1);
    ssize_t sent = -FI_EAGAIN;
    for (int i = 0; i < 1'000'000 && sent == -FI_EAGAIN; ++i) sent = fi_cq_read(pair.b.cq.get(), &entry, 1);
    EXPECT_EQ(sent, 1) << "with " << posted << " messages on the way";
}

INSTANTIATE_TEST_SUITE_P(Providers, SilentPeer, testing::Values("shm", "tcp"));

}  // namespace
}  // namespace selvage::test
