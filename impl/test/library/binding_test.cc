// What is bound when, as programs do it: counters of memory regions, and what is bound to endpoints that are enabled.
#include <string>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

Opened<fid_cntr>& open_counter(Network& network, Opened<fid_cntr>& counter) {
    fi_cntr_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    EXPECT_EQ(fi_cntr_open(network.domain.get(), &attr, counter.out(), nullptr), 0);
    return counter;
}

class Binding : public testing::TestWithParam<const char*> {
protected:
    Network network_{GetParam(), FI_EP_RDM, kVersion, FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT};
};
INSTANTIATE_TEST_SUITE_P(Providers, Binding, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

// After greet() it is taken at once, and the target has not looked yet.
void write_to(const Side& from, uint64_t key) {
    static const char bytes[64] = "written";
    ASSERT_EQ(fi_inject_write(from.ep.get(), bytes, sizeof bytes, from.peer, 0, key), 0);
}

// While the target waits, nobody else makes the initiator's progress.
int wait_for(fid_cntr* counter, uint64_t value, const Side& initiator) {
    int result = -FI_ETIMEDOUT;
    for (int i = 0; i < 250 && result == -FI_ETIMEDOUT; ++i) {
        fi_cq_entry entry;
        fi_cq_read(initiator.cq.get(), &entry, 1);
        result = fi_cntr_wait(counter, value, 20);
    }
    return result;
}

TEST_P(Binding, ACounterOfARegionAloneMakesTheProgressThatItWaitsFor) {
    ASSERT_EQ(network_.result, 0);
    Pair pair(network_);
    Opened<fid_cntr> counter;
    open_counter(network_, counter);
    char memory[64] = "";
    Opened<fid_mr> mr;
    ASSERT_EQ(
        fi_mr_reg(network_.domain.get(), memory, sizeof memory, FI_REMOTE_WRITE, 0, 5, FI_RMA_EVENT, mr.out(), nullptr),
        0);
    // Bound before the endpoints are enabled, and
    ASSERT_EQ(fi_mr_bind(mr.get(), counter.base(), FI_REMOTE_WRITE), 0);
    pair.enable();
    pair.greet();
    write_to(pair.b, fi_mr_key(mr.get()));
    EXPECT_EQ(wait_for(counter.get(), 1, pair.b), 0);
    EXPECT_STREQ(memory, "written");
    // after.
    Opened<fid_cntr> late;
    open_counter(network_, late);
    Opened<fid_mr> other;
    ASSERT_EQ(fi_mr_reg(network_.domain.get(), memory, sizeof memory, FI_REMOTE_WRITE, 0, 6, FI_RMA_EVENT, other.out(),
                        nullptr),
              0);
    ASSERT_EQ(fi_mr_bind(other.get(), late.base(), FI_REMOTE_WRITE), 0);
    write_to(pair.b, fi_mr_key(other.get()));
    EXPECT_EQ(wait_for(late.get(), 1, pair.b), 0);
    EXPECT_EQ(fi_cntr_read(counter.get()), 1u);
    // It lets go of the endpoints with the region, and of an endpoint with that.
    EXPECT_EQ(other.close(), 0);
    EXPECT_EQ(late.close(), 0);
    EXPECT_EQ(pair.a.ep.close(), 0);
    EXPECT_EQ(fi_cntr_read(counter.get()), 1u);
    EXPECT_EQ(mr.close(), 0);
    EXPECT_EQ(counter.close(), 0);
}

TEST_P(Binding, CountersBoundToAnEnabledEndpointCountFromThenOn) {
    ASSERT_EQ(network_.result, 0);
    Pair pair(network_);
    pair.enable();
    pair.greet();
    char memory[64] = "";
    Opened<fid_mr> mr;
    ASSERT_EQ(fi_mr_reg(network_.domain.get(), memory, sizeof memory, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 5, 0,
                        mr.out(), nullptr),
              0);
    Opened<fid_cntr> writes, reads;
    open_counter(network_, writes);
    open_counter(network_, reads);
    ASSERT_EQ(fi_ep_bind(pair.b.ep.get(), writes.base(), FI_WRITE), 0);
    ASSERT_EQ(fi_ep_bind(pair.b.ep.get(), reads.base(), FI_READ), 0);
    EXPECT_EQ(fi_ep_bind(pair.b.ep.get(), reads.base(), FI_READ), -FI_EINVAL) << "there is one";
    const uint64_t key = fi_mr_key(mr.get());
    char bytes[64] = "bytes";
    ASSERT_EQ(
        pair.until_taken([&] { return fi_write(pair.b.ep.get(), bytes, 64, nullptr, pair.b.peer, 0, key, nullptr); }),
        0);
    EXPECT_EQ(wait_for(writes.get(), 1, pair.a), 0);
    EXPECT_EQ(fi_cntr_read(reads.get()), 0u);
    char back[64] = "";
    ASSERT_EQ(
        pair.until_taken([&] { return fi_read(pair.b.ep.get(), back, 64, nullptr, pair.b.peer, 0, key, nullptr); }), 0);
    EXPECT_EQ(wait_for(reads.get(), 1, pair.a), 0);
    EXPECT_STREQ(back, "bytes");
    EXPECT_EQ(fi_close(writes.base()), -FI_EBUSY);
    EXPECT_EQ(pair.b.ep.close(), 0);
    EXPECT_EQ(writes.close(), 0);
    EXPECT_EQ(reads.close(), 0);
}

// As fi_ubertest does: one counter for all that a receiver may see, whether or not accesses make events there.
TEST_P(Binding, WithoutEventsOfAccessesACounterOfThemCountsNoneOfThem) {
    Network plain(GetParam(), FI_EP_RDM, kVersion, FI_MSG | FI_RMA);
    ASSERT_EQ(plain.result, 0);
    Pair pair(plain);
    Opened<fid_cntr> counter, alone;
    open_counter(plain, counter);
    open_counter(plain, alone);
    EXPECT_EQ(fi_ep_bind(pair.a.ep.get(), counter.base(), FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE), 0);
    EXPECT_EQ(fi_ep_bind(pair.b.ep.get(), alone.base(), FI_REMOTE_READ), 0);
    pair.enable();
    char memory[64] = "";
    Opened<fid_mr> mr;
    ASSERT_EQ(fi_mr_reg(plain.domain.get(), memory, sizeof memory, FI_REMOTE_WRITE, 0, 5, 0, mr.out(), nullptr), 0);
    pair.greet();
    ASSERT_EQ(pair.until_taken([&] {
        return fi_write(pair.b.ep.get(), "written", 8, nullptr, pair.b.peer, 0, fi_mr_key(mr.get()), nullptr);
    }),
              0);
    EXPECT_EQ(pair.wait_for_entry(pair.b), 1);
    pair.greet();
    EXPECT_STREQ(memory, "written");
    EXPECT_EQ(fi_cntr_read(counter.get()), 2u) << "the two messages alone";
    EXPECT_EQ(fi_cntr_read(alone.get()), 0u);
    EXPECT_EQ(alone.close(), 0);
}

TEST_P(Binding, SharedTransmitContextsMayComeLateAndLeaveEarly) {
    ASSERT_EQ(network_.result, 0);
    Opened<fid_stx> stx;
    ASSERT_EQ(fi_stx_context(network_.domain.get(), network_.info->tx_attr, stx.out(), nullptr), 0);
    Pair pair(network_);
    network_.info->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
    Pair sharing(network_);
    ASSERT_EQ(fi_ep_bind(pair.a.ep.get(), &stx->fid, 0), 0) << "not opened for one";
    pair.enable();
    sharing.enable();
    ASSERT_EQ(fi_ep_bind(pair.b.ep.get(), &stx->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(sharing.a.ep.get(), &stx->fid, 0), 0);
    EXPECT_EQ(stx.close(), 0);
    for (Pair* each : {&pair, &sharing}) {
        char byte = 0;
        ASSERT_EQ(fi_recv(each->b.ep.get(), &byte, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(each->until_taken([&] { return fi_inject(each->a.ep.get(), "x", 1, each->a.peer); }), 0);
        EXPECT_EQ(each->wait_for_entry(each->b), 1);
        EXPECT_EQ(byte, 'x');
    }
}

}  // namespace
}  // namespace selvage::test
