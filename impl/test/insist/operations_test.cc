// What is found of operations while duties are insisted on.
#include <rdma/fi_trigger.h>

#include "impl/test/insist/insisting.h"

namespace selvage::test {
namespace {

TEST(InsistedContext, OfAnOperationIsTheProvidersUntilItCompletes) {
    insisting("context", [] {
        InsistedPair both;
        fi_context receives{}, sends{};
        char in[8] = {};
        ASSERT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &receives), 0);
        EXPECT_NE(receives.internal[0], nullptr);
        ASSERT_EQ(fi_send(both.a.ep.get(), "hello", 6, nullptr, both.a.peer, &sends), 0);
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(next_entry(both, both.b, &entry), 1);
        EXPECT_EQ(entry.op_context, &receives);
        EXPECT_STREQ(in, "hello");
        EXPECT_EQ(reinterpret_cast<uintptr_t>(receives.internal[3]), 0xdbdbdbdbdbdbdbdb);
        ASSERT_EQ(next_entry(both, both.a, &entry), 1);
        EXPECT_EQ(entry.op_context, &sends);
    });
}

TEST(InsistedContext, ThatIsMissingOrInUseIsRefused) {
    const std::string log = insisting("context", [] {
        InsistedPair both;
        fi_context context{};
        char in[8];
        EXPECT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EINVAL);
        EXPECT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &context), 0);
        EXPECT_EQ(fi_tsend(both.b.ep.get(), in, sizeof in, nullptr, both.b.peer, 1, &context), -FI_EINVAL);
    });
    expect_line(log,
                "fi_recv: FI_CONTEXT is insisted on (fi_getinfo(3)), and the context (nil) is no struct fi_context");
    expect_line(log, "fi_tsend: FI_CONTEXT is insisted on");
    expect_line(log, "is that of an operation under way (fi_recv)");
}

TEST(InsistedContext, ThatIsWrittenToFailsItsOperation) {
    const std::string log = insisting("context2", [] {
        InsistedPair both;
        fi_context2 context{};
        char in[8];
        ASSERT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &context), 0);
        context.internal[7] = nullptr;
        ASSERT_EQ(fi_inject(both.a.ep.get(), "x", 1, both.a.peer), 0);
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(next_entry(both, both.b, &entry), -FI_EAVAIL);
        fi_cq_err_entry error{};
        ASSERT_EQ(fi_cq_readerr(both.b.cq.get(), &error, 0), 1);
        EXPECT_EQ(error.op_context, &context);
        EXPECT_EQ(error.err, FI_EINVAL);
        // It is the application's again.
        EXPECT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &context), 0);
    });
    expect_line(log, "fi_recv: FI_CONTEXT2 is insisted on");
    expect_line(log, "was written to before the operation completed");
}

TEST(InsistedContext, OfACancelledReceiveIsTheApplicationsAgain) {
    insisting("context", [] {
        InsistedPair both;
        fi_context context{};
        char in[8];
        for (int i = 0; i < 2; ++i) {
            ASSERT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &context), 0);
            ASSERT_EQ(fi_cancel(both.b.ep.base(), &context), 0);
            fi_cq_tagged_entry entry{};
            ASSERT_EQ(next_entry(both, both.b, &entry), -FI_EAVAIL);
            fi_cq_err_entry error{};
            ASSERT_EQ(fi_cq_readerr(both.b.cq.get(), &error, 0), 1);
            EXPECT_EQ(error.err, FI_ECANCELED);
        }
    });
}

TEST(InsistedPrefix, IsInFrontOfEveryMessage) {
    insisting("msg_prefix", [] {
        InsistedPair both;
        const size_t prefix = both.network.info->ep_attr->msg_prefix_size;
        ASSERT_EQ(prefix % 8, 0u);
        ASSERT_GE(prefix, 8u);
        char in[64] = {}, out[64] = {};
        strcpy(out + prefix, "hello");
        ASSERT_EQ(fi_trecv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
        ASSERT_EQ(fi_tsend(both.a.ep.get(), out, prefix + 6, nullptr, both.a.peer, 1, nullptr), 0);
        EXPECT_NE(out[0], 0);  // the provider has used it
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(next_entry(both, both.b, &entry), 1);
        EXPECT_STREQ(in + prefix, "hello");
        EXPECT_EQ(entry.len, 0u) << "a queue of contexts has no lengths";
        ASSERT_EQ(next_entry(both, both.a, &entry), 1);
        // A range of its own, and what injects.
        iovec apart[2] = {{in, prefix}, {in + prefix + 1, 8}};
        ASSERT_EQ(fi_recvv(both.b.ep.get(), apart, nullptr, 2, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_inject(both.a.ep.get(), out, prefix + 6, both.a.peer), 0);
        ASSERT_EQ(next_entry(both, both.b, &entry), 1);
        EXPECT_STREQ(in + prefix + 1, "hello");
    });
}

TEST(InsistedPrefix, CountsInTheLengthOfACompletion) {
    insisting("msg_prefix", [] {
        Mirror mirror(FI_CQ_FORMAT_MSG);
        const size_t prefix = mirror.network.info->ep_attr->msg_prefix_size;
        char buffer[64] = {};
        ASSERT_EQ(fi_recv(mirror.ep.get(), buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_inject(mirror.ep.get(), buffer, prefix + 5, mirror.self), 0);
        fi_cq_msg_entry entry{};
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_EQ(entry.len, prefix + 5);
    });
}

TEST(InsistedPrefix, ThatIsMissingIsRefused) {
    const std::string log = insisting("msg_prefix", [] {
        InsistedPair both;
        char in[8];
        EXPECT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EINVAL);
        EXPECT_EQ(fi_inject(both.b.ep.get(), in, sizeof in, both.b.peer), -FI_EINVAL);
    });
    expect_line(log, "fi_recv: FI_MSG_PREFIX is insisted on (fi_msg(3)), and the first buffer is shorter");
    expect_line(log, "fi_inject: FI_MSG_PREFIX is insisted on");
}

TEST(InsistedVector, ThatIsChangedFailsItsOperation) {
    const std::string log = insisting("async_iov", [] {
        InsistedPair both;
        char in[8];
        iovec halves[2] = {{in, 4}, {in + 4, 4}};
        int kept = 0, changed = 0;
        ASSERT_EQ(fi_recvv(both.b.ep.get(), halves, nullptr, 2, FI_ADDR_UNSPEC, &kept), 0);
        iovec others[2] = {{in, 4}, {in + 4, 4}};
        ASSERT_EQ(fi_recvv(both.b.ep.get(), others, nullptr, 2, FI_ADDR_UNSPEC, &changed), 0);
        others[1] = {};
        for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_inject(both.a.ep.get(), "x", 1, both.a.peer), 0);
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(next_entry(both, both.b, &entry), 1);
        EXPECT_EQ(entry.op_context, &kept);
        ASSERT_EQ(next_entry(both, both.b, &entry), -FI_EAVAIL);
        fi_cq_err_entry error{};
        ASSERT_EQ(fi_cq_readerr(both.b.cq.get(), &error, 0), 1);
        EXPECT_EQ(error.op_context, &changed);
    });
    expect_line(log, "fi_recvv: FI_ASYNC_IOV is insisted on (fi_getinfo(3)), and the vector or its descriptors were");
}

TEST(InsistedVector, OfWhatWaitsForACounterIsTheLibrarysAndSoIsItsContext) {
    const std::string log = insisting("context,async_iov,msg_prefix", [] {
        InsistedPair both(FI_MSG | FI_TRIGGER);
        const size_t prefix = both.network.info->ep_attr->msg_prefix_size;
        Opened<fid_cntr> counter;
        ASSERT_EQ(fi_cntr_open(both.network.domain.get(), nullptr, counter.out(), nullptr), 0);
        char in[64] = {}, out[64] = {};
        strcpy(out + prefix, "hello");
        fi_context receives{};
        ASSERT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &receives), 0);
        fi_triggered_context condition{};
        condition.event_type = FI_TRIGGER_THRESHOLD;
        condition.trigger.threshold = {.cntr = counter.get(), .threshold = 1};
        {
            iovec parts[2] = {{out, prefix}, {out + prefix, 6}};
            fi_msg message{};
            message.msg_iov = parts;
            message.iov_count = 2;
            message.addr = both.a.peer;
            message.context = &condition;
            ASSERT_EQ(fi_sendmsg(both.a.ep.get(), &message, FI_TRIGGER), 0);
            parts[0] = parts[1] = {};
        }
        fi_cq_tagged_entry entry{};
        for (int i = 0; i < 100; ++i) both.pair.progress();
        ASSERT_EQ(fi_cq_read(both.b.cq.get(), &entry, 1), -FI_EAGAIN);
        ASSERT_EQ(fi_cntr_add(counter.get(), 1), 0);
        ASSERT_EQ(next_entry(both, both.b, &entry), 1);
        EXPECT_STREQ(in + prefix, "hello");
        ASSERT_EQ(next_entry(both, both.a, &entry), 1);
        EXPECT_EQ(entry.op_context, &condition);
        EXPECT_EQ(condition.event_type, FI_TRIGGER_THRESHOLD);
        both.a.ep.close();
        both.b.ep.close();
    });
    EXPECT_EQ(log, "");
}

TEST(InsistedFlags, OfCompletionsAreThoseOfNotifications) {
    insisting("notify_flags_only", [] {
        Mirror mirror(FI_CQ_FORMAT_DATA);
        char in[8];
        ASSERT_EQ(fi_recv(mirror.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_injectdata(mirror.ep.get(), "x", 1, 7, mirror.self), 0);
        fi_cq_data_entry entry{};
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_EQ(entry.flags, FI_REMOTE_CQ_DATA);
        EXPECT_EQ(entry.data, 7u);
    });
}

TEST(InsistedData, OfAWriteTakesAReceive) {
    insisting("rx_cq_data", [] {
        Mirror mirror(FI_CQ_FORMAT_TAGGED, FI_MSG | FI_RMA);
        char target[8] = {}, in[8] = "kept";
        int receive = 0, next_receive = 0;
        ASSERT_EQ(fi_mr_reg(mirror.network.domain.get(), target, sizeof target, FI_REMOTE_WRITE, 0, 77, 0,
                            mirror.region.out(), nullptr),
                  0);
        ASSERT_EQ(fi_recv(mirror.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &receive), 0);
        ASSERT_EQ(fi_inject_writedata(mirror.ep.get(), "first", 6, 7, mirror.self, 0, 77), 0);
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_EQ(entry.op_context, &receive);
        EXPECT_EQ(entry.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
        EXPECT_EQ(entry.data, 7u);
        EXPECT_STREQ(target, "first");
        EXPECT_STREQ(in, "kept");
        // The next has to wait for one.
        ASSERT_EQ(fi_inject_writedata(mirror.ep.get(), "again", 6, 8, mirror.self, 0, 77), 0);
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(fi_cq_read(mirror.cq.get(), &entry, 1), -FI_EAGAIN);
        EXPECT_STREQ(target, "again");
        ASSERT_EQ(fi_recv(mirror.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, &next_receive), 0);
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_EQ(entry.op_context, &next_receive);
        EXPECT_EQ(entry.data, 8u);
    });
}

TEST(InsistedSharing, OfAQueueByEndpointsOfOtherCapabilitiesIsRefused) {
    const std::string log = insisting("restricted_comp", [] {
        Network network("shm", FI_EP_RDM, kVersion, FI_MSG | FI_RMA, kAllRegistration, kAllModes);
        ASSERT_EQ(network.result, 0);
        Opened<fid_cq> cq;
        fi_cq_attr attr{};
        ASSERT_EQ(fi_cq_open(network.domain.get(), &attr, cq.out(), nullptr), 0);
        Opened<fid_ep> first, alike, other;
        ASSERT_EQ(fi_endpoint(network.domain.get(), network.info.get(), first.out(), nullptr), 0);
        ASSERT_EQ(fi_endpoint(network.domain.get(), network.info.get(), alike.out(), nullptr), 0);
        network.info->caps = FI_MSG | FI_SEND | FI_RECV;
        network.info->tx_attr->caps = network.info->rx_attr->caps = 0;
        ASSERT_EQ(fi_endpoint(network.domain.get(), network.info.get(), other.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_bind(first.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(alike.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(other.get(), cq.base(), FI_TRANSMIT | FI_RECV), -FI_EINVAL);
    });
    expect_line(log,
                "fi_ep_bind: FI_RESTRICTED_COMP is insisted on (fi_getinfo(3)), and endpoints of other capabilities");
}

TEST(InsistedLimits, AreKept) {
    insisting("small", [] {
        InsistedPair both;
        char in[8];
        EXPECT_EQ(fi_inject(both.a.ep.get(), "x", 1, both.a.peer), -FI_EMSGSIZE);
        EXPECT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        EXPECT_EQ(fi_recv(both.b.ep.get(), in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EAGAIN);
        const iovec halves[2] = {{in, 4}, {in + 4, 4}};
        EXPECT_EQ(fi_sendv(both.a.ep.get(), halves, nullptr, 2, both.a.peer, nullptr), -FI_EINVAL);
    });
}

TEST(InsistingBufferedReceives, DeliverIntoTheLibrarysBuffersAndRefuseOtherReceives) {
    const std::string log = insisting("buffered_recv", [] {
        Mirror mirror(FI_CQ_FORMAT_TAGGED);
        ASSERT_EQ(mirror.network.info->mode, FI_BUFFERED_RECV);
        ASSERT_EQ(mirror.network.info->rx_attr->mode, FI_BUFFERED_RECV);
        char got[8] = {};
        EXPECT_EQ(fi_recv(mirror.ep.get(), got, sizeof got, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EINVAL);
        ASSERT_EQ(fi_inject(mirror.ep.get(), "message", 8, mirror.self), 0);
        fi_cq_tagged_entry entry;
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_STREQ(static_cast<const char*>(entry.buf), "message");
        const iovec range{got, sizeof got};
        fi_msg claim{&range, nullptr, 1, FI_ADDR_UNSPEC, &claim, 0};
        EXPECT_EQ(fi_recvmsg(mirror.ep.get(), &claim, FI_CLAIM), -FI_EINVAL) << "it is no notice";
        claim.context = entry.op_context;
        ASSERT_EQ(fi_recvmsg(mirror.ep.get(), &claim, FI_CLAIM), 0);
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_TRUE(entry.flags & FI_CLAIM);
        EXPECT_STREQ(got, "message");
    });
    expect_line(log,
                "fi_recv: FI_BUFFERED_RECV is insisted on (fi_msg(3)), and the receive claims or discards nothing");
    expect_line(log, "fi_recvmsg: FI_BUFFERED_RECV is insisted on (fi_msg(3)), and the context is of no message");
}

TEST(InsistingBufferedReceives, AreKeptBesideOtherDuties) {
    insisting("buffered_recv,context,mr_local,msg_prefix", [] {
        Mirror mirror(FI_CQ_FORMAT_TAGGED, FI_MSG | FI_TAGGED);
        fi_context context{};
        ASSERT_EQ(fi_trecv(mirror.ep.get(), nullptr, 0, nullptr, FI_ADDR_UNSPEC, 5, 0, &context), 0);
        char bytes[32] = {};
        memcpy(bytes + 24, "message", 8);
        ASSERT_EQ(fi_tinject(mirror.ep.get(), bytes, sizeof bytes, mirror.self, 5), 0);
        fi_cq_tagged_entry entry;
        ASSERT_EQ(mirror.next(&entry), 1);
        EXPECT_EQ(static_cast<fi_recv_context*>(entry.op_context)->context, &context);
        EXPECT_STREQ(static_cast<const char*>(entry.buf), "message");
        const fi_msg_tagged discard{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 0, 0, entry.op_context, 0};
        EXPECT_EQ(fi_trecvmsg(mirror.ep.get(), &discard, FI_DISCARD), 0);
    });
}

}  // namespace
}  // namespace selvage::test
