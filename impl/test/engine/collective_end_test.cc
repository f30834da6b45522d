// How groups end over the engine: operations that were called before the one that failed.
#include "impl/test/engine/trio.h"

namespace selvage::impl::test {
namespace {

void progress(Trio& trio, int turns = 50) {
    for (int i = 0; i < turns; ++i) trio.progress();
}
// 1, the negative of an error, or 0 for neither.
int outcome(MemberNode& node) {
    fi_cq_tagged_entry entry;
    const ssize_t read = node.read(&entry);
    return read < 0 ? -node.read_error().err : static_cast<int>(read);
}
ssize_t gather_at_last(Trio& trio, size_t member, uint64_t& value, uint64_t (&all)[3]) {
    return fi_gather(trio[member].ep, &value, 1, nullptr, all, nullptr, trio[member].group(), trio[member].members[2],
                     FI_UINT64, 0, nullptr);
}

// The second member calls the gather late: when the first has done its part, has failed in the next operation, and all
// know that. The root waits for it.
TEST(CollectiveEnd, WhatIsBeforeAFailureCanStillBeCalled) {
    Trio trio;
    trio.join_all();
    uint64_t values[3] = {1, 2, 3}, all[3][3] = {};
    for (const size_t n : {0, 2}) ASSERT_EQ(gather_at_last(trio, n, values[n], all[n]), 0);
    progress(trio);
    ASSERT_EQ(outcome(trio[0]), 1);
    ASSERT_EQ(fi_barrier(trio[0].ep, trio[0].group(), nullptr), 0);
    auto& transport = trio[0].transport<false>();
    transport.cut(*transport.peer_called(trio[1].endpoint.shm_address), FI_ECONNRESET);
    progress(trio);
    ASSERT_EQ(outcome(trio[0]), -FI_ECONNRESET);
    ASSERT_EQ(gather_at_last(trio, 1, values[1], all[1]), 0);
    progress(trio);
    EXPECT_EQ(outcome(trio[1]), 1);
    EXPECT_EQ(outcome(trio[2]), 1);
    for (size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(all[2][n], n + 1);
        EXPECT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), -FI_ECONNRESET);
    }
}

// A collective that does not reduce looks at no reduction.
TEST(CollectiveEnd, TheReductionOfABroadcastMeansNothing) {
    Trio trio;
    trio.join_all();
    uint64_t values[3] = {7, 0, 0};
    for (size_t n = 0; n < 3; ++n) {
        const fi_ioc range{.addr = &values[n], .count = 1};
        fi_msg_collective message{};
        message.msg_iov = &range;
        message.iov_count = 1;
        message.coll_addr = trio[n].group();
        message.root_addr = trio[n].members[0];
        message.coll = FI_BROADCAST;
        message.datatype = FI_UINT64;
        message.op = n ? FI_NOOP : FI_MIN;
        ASSERT_EQ(trio[n].ep->collective->msg(trio[n].ep, &message, nullptr, nullptr, 0, 0), 0);
    }
    EXPECT_EQ(trio.outcomes(), kAllComplete);
    EXPECT_EQ(values[1], 7u);
    EXPECT_EQ(values[2], 7u);
}

}  // namespace
}  // namespace selvage::impl::test
