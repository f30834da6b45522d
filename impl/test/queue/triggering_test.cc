// Aliases whose default flags have FI_TRIGGER: each call without flags reaches its base as the call with them, with
// all that it named.
#include <gtest/gtest.h>

#include <vector>

#include "impl/endpoint/ep.h"
#include "impl/endpoint/triggering.h"
#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

constexpr fi_addr_t kPeer = 7;
constexpr uint64_t kTag = 11, kIgnore = 3, kAddress = 4096, kKey = 5, kData = 99;
constexpr uint64_t kNone = 0;

// What the base's call with flags was given handed_on.
struct SeenCall {
    fi_op_type type = FI_OP_CNTR_SET;
    std::vector<size_t> sizes;  // of its ranges, or counts of elements
    const void* first = nullptr;
    const void* region = nullptr;
    fi_addr_t peer = 0;
    const void* context = nullptr;
    uint64_t flags = 0, tag = 0, ignore = 0, data = 0;
    uint64_t address = 0, key = 0, target = 0;  // and as much there
    int type_and_op = 0;
    const void *result = nullptr, *compared = nullptr;
} handed_on;

template <typename Message>
SeenCall call_of(fi_op_type type, const Message& message, uint64_t flags) {
    SeenCall call;
    call.type = type;
    call.flags = flags;
    call.peer = message.addr;
    call.context = message.context;
    call.data = message.data;
    call.region = message.desc ? message.desc[0] : nullptr;
    return call;
}
template <typename Message>
void take(fi_op_type type, const Message& message, uint64_t flags) {
    handed_on = call_of(type, message, flags);
    handed_on.first = message.msg_iov[0].iov_base;
    for (size_t i = 0; i < message.iov_count; ++i) handed_on.sizes.push_back(message.msg_iov[i].iov_len);
}
template <fi_op_type Type>
ssize_t message_call(fid_ep*, const fi_msg* message, uint64_t flags) {
    take(Type, *message, flags);
    return 1;
}
template <fi_op_type Type>
ssize_t tagged_call(fid_ep*, const fi_msg_tagged* message, uint64_t flags) {
    take(Type, *message, flags);
    handed_on.tag = message->tag;
    handed_on.ignore = message->ignore;
    return 1;
}
template <fi_op_type Type>
ssize_t access_call(fid_ep*, const fi_msg_rma* message, uint64_t flags) {
    take(Type, *message, flags);
    handed_on.address = message->rma_iov[0].addr;
    handed_on.key = message->rma_iov[0].key;
    handed_on.target = message->rma_iov[0].len * message->rma_iov_count;
    return 1;
}
void take_atomic(fi_op_type type, const fi_msg_atomic& message, uint64_t flags) {
    handed_on = call_of(type, message, flags);
    handed_on.first = message.msg_iov[0].addr;
    for (size_t i = 0; i < message.iov_count; ++i) handed_on.sizes.push_back(message.msg_iov[i].count);
    handed_on.address = message.rma_iov[0].addr;
    handed_on.key = message.rma_iov[0].key;
    handed_on.target = message.rma_iov[0].count * message.rma_iov_count;
    handed_on.type_and_op = static_cast<int>(message.datatype) * 100 + static_cast<int>(message.op);
}
ssize_t atomic_call(fid_ep*, const fi_msg_atomic* message, uint64_t flags) {
    take_atomic(FI_OP_ATOMIC, *message, flags);
    return 1;
}
ssize_t fetch_call(fid_ep*, const fi_msg_atomic* message, fi_ioc* results, void**, size_t, uint64_t flags) {
    take_atomic(FI_OP_FETCH_ATOMIC, *message, flags);
    handed_on.result = results[0].addr;
    return 1;
}
ssize_t compare_call(fid_ep*, const fi_msg_atomic* message, const fi_ioc* compared, void**, size_t, fi_ioc* results,
                     void**, size_t, uint64_t flags) {
    take_atomic(FI_OP_COMPARE_ATOMIC, *message, flags);
    handed_on.result = results[0].addr;
    handed_on.compared = compared[0].addr;
    return 1;
}

// A base with tables of the test's, and an alias of it.
class Triggering : public testing::Test {
protected:
    Triggering() {
        base.domain = &place.domain;
        base.caps = FI_TRIGGER;
        init_endpoint_descriptor(&base, nullptr);
        messages.sendmsg = message_call<FI_OP_SEND>;
        messages.recvmsg = message_call<FI_OP_RECV>;
        tagged.sendmsg = tagged_call<FI_OP_TSEND>;
        tagged.recvmsg = tagged_call<FI_OP_TRECV>;
        accesses.readmsg = access_call<FI_OP_READ>;
        accesses.writemsg = access_call<FI_OP_WRITE>;
        atomics.writemsg = atomic_call;
        atomics.readwritemsg = fetch_call;
        atomics.compwritemsg = compare_call;
        base.descriptor.msg = &messages;
        base.descriptor.tagged = &tagged;
        base.descriptor.rma = &accesses;
        base.descriptor.atomic = &atomics;
        base.path = &path;
    }
    ~Triggering() override { EXPECT_TRUE(!ep || fi_close(&ep->fid) == 0); }
    int open(uint64_t flags) { return fi_ep_alias(&base.descriptor, &ep, flags); }
    void expect(fi_op_type type, uint64_t flags, const std::vector<size_t>& sizes = {sizeof bytes}) const {
        EXPECT_EQ(handed_on.type, type);
        EXPECT_EQ(handed_on.flags, flags);
        EXPECT_EQ(handed_on.sizes, sizes);
        EXPECT_EQ(handed_on.first, bytes);
        EXPECT_EQ(handed_on.region, &region);
        EXPECT_EQ(handed_on.peer, kPeer);
        EXPECT_EQ(handed_on.context, &context);
        EXPECT_EQ(handed_on.data, flags & FI_REMOTE_CQ_DATA ? kData : kNone);
    }
    void expect_target(uint64_t size) const {
        EXPECT_EQ(handed_on.address, kAddress);
        EXPECT_EQ(handed_on.key, kKey);
        EXPECT_EQ(handed_on.target, size);
    }

    Place place;
    IdlePath path;
    Endpoint base;
    fi_ops_msg messages{};
    fi_ops_tagged tagged{};
    fi_ops_rma accesses{};
    fi_ops_atomic atomics{};
    fid_ep* ep = nullptr;
    uint64_t bytes[8] = {}, second[2] = {}, third[2] = {};
    int region = 0;
    void* regions[2] = {&region, nullptr};
    iovec ranges[2] = {{bytes, sizeof bytes}, {second, sizeof second}};
    fi_ioc elements[2] = {{bytes, 8}, {second, 2}};
    fi_triggered_context context{};
};

constexpr uint64_t kTransmit = FI_TRIGGER | FI_DELIVERY_COMPLETE;

TEST_F(Triggering, EachFormOfAMessageIsOneWithFlags) {
    ASSERT_EQ(open(FI_TRANSMIT | kTransmit), 0);
    EXPECT_EQ(fi_send(ep, bytes, sizeof bytes, &region, kPeer, &context), 1);
    expect(FI_OP_SEND, kTransmit);
    EXPECT_EQ(fi_sendv(ep, ranges, regions, 2, kPeer, &context), 1);
    expect(FI_OP_SEND, kTransmit, {sizeof bytes, sizeof second});
    EXPECT_EQ(fi_senddata(ep, bytes, sizeof bytes, &region, kData, kPeer, &context), 1);
    expect(FI_OP_SEND, kTransmit | FI_REMOTE_CQ_DATA);
    EXPECT_EQ(fi_tsend(ep, bytes, sizeof bytes, &region, kPeer, kTag, &context), 1);
    expect(FI_OP_TSEND, kTransmit);
    EXPECT_EQ(handed_on.tag, kTag);
    EXPECT_EQ(fi_tsendv(ep, ranges, regions, 2, kPeer, kTag, &context), 1);
    expect(FI_OP_TSEND, kTransmit, {sizeof bytes, sizeof second});
    EXPECT_EQ(fi_tsenddata(ep, bytes, sizeof bytes, &region, kData, kPeer, kTag, &context), 1);
    expect(FI_OP_TSEND, kTransmit | FI_REMOTE_CQ_DATA);
    EXPECT_EQ(handed_on.tag, kTag);
    // Receives have the flags of the other side: none.
    EXPECT_EQ(fi_recv(ep, bytes, sizeof bytes, &region, kPeer, &context), 1);
    expect(FI_OP_RECV, 0);
}

TEST_F(Triggering, EachFormOfAReceiveIsOneWithFlags) {
    ASSERT_EQ(open(FI_RECV | FI_TRIGGER), 0);
    EXPECT_EQ(fi_recv(ep, bytes, sizeof bytes, &region, kPeer, &context), 1);
    expect(FI_OP_RECV, FI_TRIGGER);
    EXPECT_EQ(fi_recvv(ep, ranges, regions, 2, kPeer, &context), 1);
    expect(FI_OP_RECV, FI_TRIGGER, {sizeof bytes, sizeof second});
    EXPECT_EQ(fi_trecv(ep, bytes, sizeof bytes, &region, kPeer, kTag, kIgnore, &context), 1);
    expect(FI_OP_TRECV, FI_TRIGGER);
    EXPECT_EQ(fi_trecvv(ep, ranges, regions, 2, kPeer, kTag, kIgnore, &context), 1);
    expect(FI_OP_TRECV, FI_TRIGGER, {sizeof bytes, sizeof second});
    EXPECT_EQ(handed_on.tag, kTag);
    EXPECT_EQ(handed_on.ignore, kIgnore);
    messages.inject = [](fid_ep*, const void*, size_t, fi_addr_t) -> ssize_t { return 2; };
    EXPECT_EQ(fi_inject(ep, bytes, 8, kPeer), 2) << "of the other side, whose flags have none";
}

TEST_F(Triggering, EachFormOfAnAccessIsOneWithFlags) {
    ASSERT_EQ(open(FI_TRANSMIT | kTransmit), 0);
    EXPECT_EQ(fi_read(ep, bytes, sizeof bytes, &region, kPeer, kAddress, kKey, &context), 1);
    expect(FI_OP_READ, kTransmit);
    expect_target(sizeof bytes);
    EXPECT_EQ(fi_readv(ep, ranges, regions, 2, kPeer, kAddress, kKey, &context), 1);
    expect(FI_OP_READ, kTransmit, {sizeof bytes, sizeof second});
    expect_target(sizeof bytes + sizeof second);
    EXPECT_EQ(fi_write(ep, bytes, sizeof bytes, &region, kPeer, kAddress, kKey, &context), 1);
    expect(FI_OP_WRITE, kTransmit);
    expect_target(sizeof bytes);
    EXPECT_EQ(fi_writev(ep, ranges, regions, 2, kPeer, kAddress, kKey, &context), 1);
    expect(FI_OP_WRITE, kTransmit, {sizeof bytes, sizeof second});
    expect_target(sizeof bytes + sizeof second);
    EXPECT_EQ(fi_writedata(ep, bytes, sizeof bytes, &region, kData, kPeer, kAddress, kKey, &context), 1);
    expect(FI_OP_WRITE, kTransmit | FI_REMOTE_CQ_DATA);
    expect_target(sizeof bytes);
}

TEST_F(Triggering, EachFormOfAnAtomicIsOneWithFlags) {
    ASSERT_EQ(open(FI_TRANSMIT | kTransmit), 0);
    constexpr int kSum = static_cast<int>(FI_UINT64) * 100 + static_cast<int>(FI_SUM);
    EXPECT_EQ(fi_atomic(ep, bytes, 8, &region, kPeer, kAddress, kKey, FI_UINT64, FI_SUM, &context), 1);
    expect(FI_OP_ATOMIC, kTransmit, {8});
    expect_target(8);
    EXPECT_EQ(handed_on.type_and_op, kSum);
    EXPECT_EQ(fi_atomicv(ep, elements, regions, 2, kPeer, kAddress, kKey, FI_UINT64, FI_SUM, &context), 1);
    expect(FI_OP_ATOMIC, kTransmit, {8, 2});
    expect_target(10);
    EXPECT_EQ(
        fi_fetch_atomic(ep, bytes, 8, &region, third, nullptr, kPeer, kAddress, kKey, FI_UINT64, FI_SUM, &context), 1);
    expect(FI_OP_FETCH_ATOMIC, kTransmit, {8});
    expect_target(8);
    EXPECT_EQ(handed_on.result, third);
    EXPECT_EQ(fi_compare_atomic(ep, bytes, 8, &region, second, nullptr, third, nullptr, kPeer, kAddress, kKey,
                                FI_UINT64, FI_CSWAP, &context),
              1);
    expect(FI_OP_COMPARE_ATOMIC, kTransmit, {8});
    expect_target(8);
    EXPECT_EQ(handed_on.result, third);
    EXPECT_EQ(handed_on.compared, second);
}

// It has no operand, so its results say how much is read.
TEST_F(Triggering, AnAtomicReadIsAsLongAsItsResults) {
    ASSERT_EQ(open(FI_TRANSMIT | kTransmit), 0);
    fi_ioc results[2] = {{second, 2}, {third, 1}};
    EXPECT_EQ(fi_fetch_atomicv(ep, elements, regions, 0, results, nullptr, 2, kPeer, kAddress, kKey, FI_UINT64,
                               FI_ATOMIC_READ, &context),
              1);
    expect_target(3);
}

// It has no context that could say when.
TEST_F(Triggering, WhatInjectsIsRefused) {
    ASSERT_EQ(open(FI_TRANSMIT | FI_TRIGGER), 0);
    EXPECT_EQ(fi_inject(ep, bytes, 8, kPeer), -FI_EINVAL);
    EXPECT_EQ(fi_injectdata(ep, bytes, 8, kData, kPeer), -FI_EINVAL);
    EXPECT_EQ(fi_tinject(ep, bytes, 8, kPeer, kTag), -FI_EINVAL);
    EXPECT_EQ(fi_inject_write(ep, bytes, 8, kPeer, kAddress, kKey), -FI_EINVAL);
    EXPECT_EQ(fi_inject_atomic(ep, bytes, 8, kPeer, kAddress, kKey, FI_UINT64, FI_SUM), -FI_EINVAL);
}

TEST_F(Triggering, FlagsOfACallAreThoseOfTheCall) {
    ASSERT_EQ(open(FI_TRANSMIT | FI_TRIGGER), 0);
    const fi_msg message = {ranges, regions, 1, kPeer, &context, kNone};
    EXPECT_EQ(fi_sendmsg(ep, &message, FI_DELIVERY_COMPLETE), 1);
    expect(FI_OP_SEND, FI_DELIVERY_COMPLETE);
}

TEST_F(Triggering, OtherFlagsGiveTheTablesOfTheBaseBack) {
    ASSERT_EQ(open(FI_TRANSMIT | FI_TRIGGER), 0);
    EXPECT_NE(ep->msg, base.descriptor.msg);
    uint64_t flags = FI_TRANSMIT;
    EXPECT_EQ(fi_control(&ep->fid, FI_SETOPSFLAG, &flags), 0);
    EXPECT_EQ(ep->msg, base.descriptor.msg);
    EXPECT_EQ(ep->atomic, base.descriptor.atomic);
    flags = FI_TRANSMIT | FI_TRIGGER;
    EXPECT_EQ(fi_control(&ep->fid, FI_SETOPSFLAG, &flags), 0);
    EXPECT_NE(ep->msg, base.descriptor.msg);
    flags = FI_TRANSMIT;
    EXPECT_EQ(fi_control(&ep->fid, FI_GETOPSFLAG, &flags), 0);
    EXPECT_EQ(flags, FI_TRIGGER);
}

TEST_F(Triggering, NobodyElseMayHaveTheFlag) {
    uint64_t flags = FI_TRANSMIT | FI_TRIGGER;
    EXPECT_EQ(fi_control(&base.descriptor.fid, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
    base.caps = 0;
    EXPECT_EQ(open(FI_TRANSMIT | FI_TRIGGER), -FI_EBADFLAGS);
}

}  // namespace
}  // namespace selvage::impl::test
