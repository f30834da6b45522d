// FI_HMEM on endpoints of other kinds: connected ones, those with a shared receive context, and those that wait for
// counters.
#include "impl/test/hmem/fixture.h"

#include <rdma/fi_trigger.h>

namespace selvage::test {
namespace {

constexpr size_t kSize = 3000000;

class HmemEndpoints : public HmemTest {
protected:
    std::vector<std::byte> fill(Registered& memory, unsigned seed) {
        auto bytes = pattern(memory.buffer.size(), seed);
        memory.buffer.write(bytes.data(), bytes.size());
        return bytes;
    }
    int from_ = 0, to_ = 0;
};

TEST_P(HmemEndpoints, WithASharedReceiveContextReceive) {
    HmemSide side;
    ASSERT_EQ(side.open_domain(GetParam().provider, kind()), 0);
    side.info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    Opened<fid_ep> shared;
    ASSERT_EQ(fi_srx_context(side.domain.get(), nullptr, shared.out(), nullptr), 0);
    ASSERT_EQ(side.open_endpoint(shared.get()), 0);
    ASSERT_EQ(pair->a.meet(side), 0);
    for (const size_t size : {100, 20000, 3000000}) {
        SCOPED_TRACE(size);
        const auto from = memory(pair->a, size), to = memory(side, size);
        const auto bytes = fill(*from, static_cast<unsigned>(size));
        pair->post([&] { return fi_recv(shared.get(), to->buffer.at(), size, to->desc(), FI_ADDR_UNSPEC, &to_); });
        pair->post([&] {
            const ssize_t result =
                fi_send(pair->a.ep.get(), from->buffer.at(), size, from->desc(), pair->a.peer, &from_);
            fi_cq_read(side.cq.get(), nullptr, 0);
            return result;
        });
        pair->expect_entry(side, &to_);
        for (int i = 0; i < 100; ++i) fi_cq_read(side.cq.get(), nullptr, 0);
        pair->expect_entry(pair->a, &from_);
        EXPECT_TRUE(to->buffer.read(size) == bytes);
    }
    EXPECT_EQ(side.ep.close(), 0);
}

TEST_P(HmemEndpoints, SendWhatWaitedForACounter) {
    fi_cntr_attr attr{};
    Opened<fid_cntr> counter;
    ASSERT_EQ(fi_cntr_open(pair->a.domain.get(), &attr, counter.out(), nullptr), 0);
    const auto from = memory(pair->a, kSize), to = memory(pair->b, kSize);
    const auto bytes = fill(*from, 21);
    pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), kSize, to->desc(), FI_ADDR_UNSPEC, &to_); });
    const iovec range = from->range(0, kSize);
    void* desc = from->desc();
    fi_triggered_context context{};
    context.event_type = FI_TRIGGER_THRESHOLD;
    context.trigger.threshold.cntr = counter.get();
    context.trigger.threshold.threshold = 1;
    fi_msg message{};
    message.msg_iov = &range;
    message.desc = &desc;
    message.iov_count = 1;
    message.addr = pair->a.peer;
    message.context = &context;
    pair->post([&] { return fi_sendmsg(pair->a.ep.get(), &message, FI_TRIGGER | FI_COMPLETION); });
    for (int i = 0; i < 20; ++i) pair->progress();
    EXPECT_TRUE(to->buffer.read(kSize) == std::vector<std::byte>(kSize)) << "not yet";
    EXPECT_EQ(fi_cntr_add(counter.get(), 1), 0);
    pair->expect_entry(pair->b, &to_);
    pair->expect_entry(pair->a, &context);
    EXPECT_TRUE(to->buffer.read(kSize) == bytes);
    EXPECT_EQ(pair->a.ep.close(), 0);
}

// One end that listens and one that calls, of tcp.
TEST_P(HmemEndpoints, ThatAreConnectedSendAndWrite) {
    if (strcmp(GetParam().provider, "tcp") != 0) return;
    const InfoPtr hints = make_hints("tcp", FI_EP_MSG);
    hints->caps = kHmemCaps;
    hints->domain_attr->mr_mode = FI_MR_HMEM;
    const Answer here = getinfo(hints, "127.0.0.1", nullptr, FI_SOURCE);
    ASSERT_EQ(here.result, 0);
    fi_eq_attr eq_attr{};
    Opened<fid_fabric> fabric;
    Opened<fid_eq> passive_eq, eqs[2];
    Opened<fid_pep> passive;
    ASSERT_EQ(fi_fabric(here->fabric_attr, fabric.out(), nullptr), 0);
    ASSERT_EQ(fi_eq_open(fabric.get(), &eq_attr, passive_eq.out(), nullptr), 0);
    ASSERT_EQ(fi_passive_ep(fabric.get(), here.get(), passive.out(), nullptr), 0);
    ASSERT_EQ(fi_pep_bind(passive.get(), passive_eq.base(), 0), 0);
    ASSERT_EQ(fi_listen(passive.get()), 0);
    char name[128];
    size_t length = sizeof name;
    ASSERT_EQ(fi_getname(passive.base(), name, &length), 0);
    HmemSide sides[2];
    const auto open = [&](HmemSide& side, fi_info* info, Opened<fid_eq>& eq) {
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        EXPECT_TRUE(info->caps & FI_HMEM);
        ASSERT_EQ(fi_domain(fabric.get(), info, side.domain.out(), nullptr), 0);
        ASSERT_EQ(prepare_domain(side.domain.get(), kind()), 0);
        ASSERT_EQ(fi_eq_open(fabric.get(), &eq_attr, eq.out(), nullptr), 0);
        ASSERT_EQ(fi_cq_open(side.domain.get(), &cq_attr, side.cq.out(), nullptr), 0);
        ASSERT_EQ(fi_endpoint(side.domain.get(), info, side.ep.out(), nullptr), 0);
        ASSERT_EQ(fi_ep_bind(side.ep.get(), eq.base(), 0), 0);
        ASSERT_EQ(fi_ep_bind(side.ep.get(), side.cq.base(), FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_enable(side.ep.get()), 0);
    };
    const auto expect_event = [&](const Opened<fid_eq>& eq, uint32_t expected, fi_eq_cm_entry* entry) {
        uint32_t event = 0;
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 10000 && result == -FI_EAGAIN; ++i) {
            for (const HmemSide& side : sides) {
                if (side.cq.get()) fi_cq_read(side.cq.get(), nullptr, 0);
            }
            result = fi_eq_sread(eq.get(), &event, entry, sizeof *entry, 1, 0);
        }
        ASSERT_GT(result, 0);
        ASSERT_EQ(event, expected);
    };
    fi_eq_cm_entry entry{};
    open(sides[0], here.get(), eqs[0]);
    ASSERT_EQ(fi_connect(sides[0].ep.get(), name, nullptr, 0), 0);
    expect_event(passive_eq, FI_CONNREQ, &entry);
    ASSERT_FALSE(HasFatalFailure());
    const InfoPtr caller(entry.info);
    open(sides[1], caller.get(), eqs[1]);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(fi_accept(sides[1].ep.get(), nullptr, 0), 0);
    expect_event(eqs[0], FI_CONNECTED, &entry);
    expect_event(eqs[1], FI_CONNECTED, &entry);
    const auto from = memory(sides[0], kSize), to = memory(sides[1], kSize);
    auto bytes = fill(*from, 31);
    ASSERT_EQ(fi_recv(sides[1].ep.get(), to->buffer.at(), kSize, to->desc(), 0, &to_), 0);
    ASSERT_EQ(fi_send(sides[0].ep.get(), from->buffer.at(), kSize, from->desc(), 0, &from_), 0);
    const auto wait_both = [&](bool receives) {
        int missing = receives ? 2 : 1;
        for (uint64_t i = 0; missing && i < 50'000'000; ++i) {
            fi_cq_tagged_entry got;
            for (const HmemSide& side : sides) {
                const ssize_t count = fi_cq_read(side.cq.get(), &got, 1);
                ASSERT_TRUE(count == 1 || count == -FI_EAGAIN);
                if (count == 1) --missing;
            }
        }
        EXPECT_EQ(missing, 0);
    };
    wait_both(true);
    EXPECT_TRUE(to->buffer.read(kSize) == bytes);
    bytes = fill(*from, 32);
    ASSERT_EQ(fi_write(sides[0].ep.get(), from->buffer.at(), kSize, from->desc(), 0, 0, to->key(), &from_), 0);
    wait_both(false);
    EXPECT_TRUE(to->buffer.read(kSize) == bytes);
}

INSTANTIATE_TEST_SUITE_P(Providers, HmemEndpoints, ::testing::ValuesIn(kHmemCases), name_of);

}  // namespace
}  // namespace selvage::test
