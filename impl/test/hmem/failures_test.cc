// Copies that fail: whoever asked for them is told, and what comes later works.
#include "impl/test/hmem/fixture.h"

namespace selvage::test {
namespace {

class HmemFailures : public HmemTest {
protected:
    void expect_all_well() {
        const size_t size = 100000;
        const auto from = memory(pair->a, size), to = memory(pair->b, size);
        const auto bytes = pattern(size, 77);
        from->buffer.write(bytes.data(), size);
        pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), size, to->desc(), FI_ADDR_UNSPEC, &to_); });
        pair->post(
            [&] { return fi_send(pair->a.ep.get(), from->buffer.at(), size, from->desc(), pair->a.peer, &from_); });
        pair->expect_entry(pair->b, &to_);
        pair->expect_entry(pair->a, &from_);
        EXPECT_TRUE(to->buffer.read(size) == bytes);
    }

    int from_ = 0, to_ = 0;
};

constexpr int kSizesThatTakeEachWay[] = {8, 10000, 100000, 3000000};

TEST_P(HmemFailures, OfASourceAreTheAnswerOfTheCall) {
    const auto from = memory(pair->a, 3000000), to = memory(pair->b, 3000000);
    const uint64_t key = to->key();
    for (const int size : kSizesThatTakeEachWay) {
        const auto length = static_cast<size_t>(size);
        override_calls.fail_from = FI_ENOMEM;
        EXPECT_EQ(fi_send(pair->a.ep.get(), from->buffer.at(), length, from->desc(), pair->a.peer, &from_), -FI_ENOMEM);
        EXPECT_EQ(fi_write(pair->a.ep.get(), from->buffer.at(), length, from->desc(), pair->a.peer, 0, key, &from_),
                  -FI_ENOMEM);
        override_calls.fail_from = 0;
    }
    expect_all_well();
}

TEST_P(HmemFailures, OfAReceiveAreItsErrorAndTheSenders) {
    for (const int size : kSizesThatTakeEachWay) {
        SCOPED_TRACE(size);
        const auto length = static_cast<size_t>(size);
        const auto from = memory(pair->a, MemoryKind::Host, length), to = memory(pair->b, length);
        const iovec range = from->range(0, length);
        fi_msg message{};
        message.msg_iov = &range;
        message.iov_count = 1;
        message.addr = pair->a.peer;
        message.context = &from_;
        override_calls.fail_to = FI_EPERM;
        pair->post(
            [&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), length, to->desc(), FI_ADDR_UNSPEC, &to_); });
        pair->post([&] { return fi_sendmsg(pair->a.ep.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE); });
        EXPECT_EQ(pair->wait(pair->b).error, FI_EPERM);
        EXPECT_EQ(pair->wait(pair->a).error, FI_EPERM);
        override_calls.fail_to = 0;
    }
    expect_all_well();
}

TEST_P(HmemFailures, OfATargetAreErrorsOfTheAccess) {
    for (const int size : kSizesThatTakeEachWay) {
        SCOPED_TRACE(size);
        const auto length = static_cast<size_t>(size);
        const auto local = memory(pair->a, MemoryKind::Host, length), remote = memory(pair->b, length);
        override_calls.fail_to = FI_EPERM;
        pair->post([&] {
            return fi_write(pair->a.ep.get(), local->buffer.at(), length, nullptr, pair->a.peer, 0, remote->key(),
                            &from_);
        });
        EXPECT_EQ(pair->wait(pair->a).error, FI_EPERM);
        override_calls.fail_to = 0;
        override_calls.fail_from = FI_EPERM;
        pair->post([&] {
            return fi_read(pair->a.ep.get(), local->buffer.at(), length, nullptr, pair->a.peer, 0, remote->key(),
                           &from_);
        });
        EXPECT_EQ(pair->wait(pair->a).error, FI_EPERM);
        override_calls.fail_from = 0;
    }
    const auto remote = memory(pair->b, 8);
    uint64_t one = 1;
    override_calls.fail_to = FI_EPERM;
    pair->post([&] {
        return fi_atomic(pair->a.ep.get(), &one, 1, nullptr, pair->a.peer, 0, remote->key(), FI_UINT64, FI_SUM, &from_);
    });
    EXPECT_EQ(pair->wait(pair->a).error, FI_EPERM);
    override_calls.fail_to = 0;
    expect_all_well();
}

TEST_P(HmemFailures, OfWhatAReadReturnsAreItsErrors) {
    for (const int size : kSizesThatTakeEachWay) {
        SCOPED_TRACE(size);
        const auto length = static_cast<size_t>(size);
        const auto local = memory(pair->a, length), remote = memory(pair->b, MemoryKind::Host, length);
        override_calls.fail_to = FI_EAGAIN;  // no reason to try again
        pair->post([&] {
            return fi_read(pair->a.ep.get(), local->buffer.at(), length, local->desc(), pair->a.peer, 0, remote->key(),
                           &from_);
        });
        EXPECT_EQ(pair->wait(pair->a).error, FI_EIO);
        override_calls.fail_to = 0;
    }
    expect_all_well();
}

INSTANTIATE_TEST_SUITE_P(Providers, HmemFailures, ::testing::Values(kHmemCases[0], kHmemCases[1]), name_of);

}  // namespace
}  // namespace selvage::test
