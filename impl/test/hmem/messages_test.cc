// Messages from and to memory that the library must not touch.
#include "impl/test/hmem/fixture.h"

namespace selvage::test {
namespace {

class HmemMessages : public HmemTest {
protected:
    // One message of the bytes at `from`, to `to`; before its receive is posted, or after.
    void exchange(const Registered& from, const Registered& to, size_t size, bool expected) {
        const auto receive = [&] {
            return fi_recv(pair->b.ep.get(), to.buffer.at(), size, to.desc(), FI_ADDR_UNSPEC, &to_);
        };
        if (expected) pair->post(receive);
        pair->post(
            [&] { return fi_send(pair->a.ep.get(), from.buffer.at(), size, from.desc(), pair->a.peer, &from_); });
        if (!expected) {
            for (int i = 0; i < 20; ++i) pair->progress();
            pair->post(receive);
        }
        pair->expect_entry(pair->b, &to_);
        pair->expect_entry(pair->a, &from_);
    }
    void expect_all_sizes(MemoryKind from_kind, MemoryKind to_kind) {
        const bool longest = from_kind == to_kind;
        const size_t most = longest ? kLongest : kSizes[std::size(kSizes) - 1];
        const auto from = memory(pair->a, from_kind, most);
        const auto to = memory(pair->b, to_kind, most + 8);
        unsigned seed = 1;
        std::vector<size_t> sizes(std::begin(kSizes), std::end(kSizes));
        if (longest) sizes.push_back(kLongest);
        for (const size_t size : sizes) {
            for (const bool expected : {true, false}) {
                SCOPED_TRACE(::testing::Message() << size << (expected ? " expected" : " unexpected"));
                const auto bytes = pattern(size, ++seed);
                from->buffer.write(bytes.data(), size);
                exchange(*from, *to, size, expected);
                ASSERT_TRUE(to->buffer.read(size) == bytes);
                ASSERT_FALSE(HasFailure());
            }
        }
    }

    int from_ = 0, to_ = 0;
};

TEST_P(HmemMessages, OfAllSizesArriveFromDeviceToDevice) {
    expect_all_sizes(kind(), kind());
    if (kind() == MemoryKind::Override) {
        EXPECT_GE(override_calls.from, 2 * (size_t{16} << 20)) << "what was sent was read by the override";
        EXPECT_GE(override_calls.to, 2 * (size_t{16} << 20)) << "and written by it";
    }
}

TEST_P(HmemMessages, OfAllSizesArriveFromHostToDevice) { expect_all_sizes(MemoryKind::Host, kind()); }

TEST_P(HmemMessages, OfAllSizesArriveFromDeviceToHost) { expect_all_sizes(kind(), MemoryKind::Host); }

TEST_P(HmemMessages, TaggedWithDataArrive) {
    for (const size_t size : {8, 5000, 100000, 3000000}) {
        SCOPED_TRACE(size);
        const auto from = memory(pair->a, size);
        const auto to = memory(pair->b, size);
        const auto bytes = pattern(size, static_cast<unsigned>(size));
        from->buffer.write(bytes.data(), size);
        pair->post([&] {
            return fi_trecv(pair->b.ep.get(), to->buffer.at(), size, to->desc(), FI_ADDR_UNSPEC, 0x77, 0, &to_);
        });
        pair->post([&] {
            return fi_tsenddata(pair->a.ep.get(), from->buffer.at(), size, from->desc(), 4711, pair->a.peer, 0x77,
                                &from_);
        });
        const Entry got = pair->wait(pair->b);
        EXPECT_EQ(got.error, 0);
        EXPECT_EQ(got.entry.tag, 0x77U);
        EXPECT_EQ(got.entry.data, 4711U);
        EXPECT_EQ(got.entry.len, size);
        EXPECT_EQ(got.entry.flags & (FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA), FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA);
        pair->expect_entry(pair->a, &from_);
        EXPECT_TRUE(to->buffer.read(size) == bytes);
    }
}

// Three parts each, cut at other places on both sides, of which the middle one is the host's.
TEST_P(HmemMessages, OfVectorsWithHostAndDeviceEntriesArrive) {
    for (const size_t size : {30, 3000, 30000, 3000000}) {
        SCOPED_TRACE(size);
        const auto from = memory(pair->a, size + 100), to = memory(pair->b, size + 100);
        const auto from_host = memory(pair->a, MemoryKind::Host, size),
                   to_host = memory(pair->b, MemoryKind::Host, size);
        const auto bytes = pattern(size, static_cast<unsigned>(size));
        const size_t cut[] = {size / 3, size / 2}, other[] = {size / 5, size - 4};
        from->buffer.write(bytes.data(), cut[0], 3);
        from_host->buffer.write(bytes.data() + cut[0], cut[1] - cut[0]);
        from->buffer.write(bytes.data() + cut[1], size - cut[1], cut[0] + 10);
        const iovec sent[] = {from->range(3, cut[0]), from_host->range(0, cut[1] - cut[0]),
                              from->range(cut[0] + 10, size - cut[1])};
        const iovec received[] = {to->range(1, other[0]), to_host->range(0, other[1] - other[0]),
                                  to->range(other[0] + 20, size - other[1])};
        void* sent_desc[] = {from->desc(), nullptr, from->desc()};
        void* received_desc[] = {to->desc(), to_host->desc(), to->desc()};
        pair->post([&] { return fi_recvv(pair->b.ep.get(), received, received_desc, 3, FI_ADDR_UNSPEC, &to_); });
        pair->post([&] { return fi_sendv(pair->a.ep.get(), sent, sent_desc, 3, pair->a.peer, &from_); });
        pair->expect_entry(pair->b, &to_);
        pair->expect_entry(pair->a, &from_);
        auto got = to->buffer.read(other[0], 1);
        const auto middle = to_host->buffer.read(other[1] - other[0]),
                   last = to->buffer.read(size - other[1], other[0] + 20);
        got.insert(got.end(), middle.begin(), middle.end());
        got.insert(got.end(), last.begin(), last.end());
        EXPECT_TRUE(got == bytes);
    }
}

TEST_P(HmemMessages, ThatDoNotFitAreCutAndLeaveTheRestAlone) {
    for (const size_t size : {100, 20000, 2000000}) {
        SCOPED_TRACE(size);
        const auto from = memory(pair->a, size), to = memory(pair->b, size);
        const auto bytes = pattern(size, 5), rest = pattern(size, 6);
        from->buffer.write(bytes.data(), size);
        to->buffer.write(rest.data(), size);
        const size_t room = size - 13;
        pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), room, to->desc(), FI_ADDR_UNSPEC, &to_); });
        pair->post(
            [&] { return fi_send(pair->a.ep.get(), from->buffer.at(), size, from->desc(), pair->a.peer, &from_); });
        const Entry got = pair->wait(pair->b);
        EXPECT_EQ(got.error, FI_ETRUNC);
        EXPECT_EQ(got.overflow, 13U);
        pair->expect_entry(pair->a, &from_);
        EXPECT_TRUE(
            std::equal(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(room), to->buffer.read(room).begin()));
        EXPECT_TRUE(
            std::equal(rest.begin() + static_cast<ptrdiff_t>(room), rest.end(), to->buffer.read(13, room).begin()));
    }
}

TEST_P(HmemMessages, FillAMultiReceiveBuffer) {
    constexpr size_t kRoom = 4 << 20;
    const auto from = memory(pair->a, kRoom), to = memory(pair->b, kRoom);
    const auto bytes = pattern(kRoom, 9);
    from->buffer.write(bytes.data(), kRoom);
    const iovec range = to->range(0, kRoom);
    void* desc = to->desc();
    fi_msg message{};
    message.msg_iov = &range;
    message.desc = &desc;
    message.iov_count = 1;
    message.addr = FI_ADDR_UNSPEC;
    message.context = &to_;
    pair->post([&] { return fi_recvmsg(pair->b.ep.get(), &message, FI_MULTI_RECV); });
    size_t done = 0;
    for (const size_t size : {100, 3000, 40000, 1000000, 5}) {
        pair->post(
            [&] { return fi_send(pair->a.ep.get(), from->buffer.at(done), size, from->desc(), pair->a.peer, &from_); });
        const Entry got = pair->wait(pair->b);
        EXPECT_EQ(got.error, 0);
        EXPECT_EQ(got.entry.buf, to->buffer.at(done)) << "as the application knows it";
        pair->expect_entry(pair->a, &from_);
        done += size;
    }
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(done), to->buffer.read(done).begin()));
}

TEST_P(HmemMessages, AreCopiedAtTheCallWithInject) {
    const auto from = memory(pair->a, 4096), to = memory(pair->b, 4096);
    const auto bytes = pattern(4096, 3), others = pattern(4096, 4);
    from->buffer.write(bytes.data(), 4096);
    const iovec range = from->range(0, 4096);
    void* desc = from->desc();
    fi_msg message{};
    message.msg_iov = &range;
    message.desc = &desc;
    message.iov_count = 1;
    message.addr = pair->a.peer;
    message.context = &from_;
    pair->post([&] { return fi_sendmsg(pair->a.ep.get(), &message, FI_INJECT | FI_COMPLETION); });
    from->buffer.write(others.data(), 4096);
    pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), 4096, to->desc(), FI_ADDR_UNSPEC, &to_); });
    pair->expect_entry(pair->b, &to_);
    pair->expect_entry(pair->a, &from_);
    EXPECT_TRUE(to->buffer.read(4096) == bytes);
}

TEST_P(HmemMessages, WaitForRoomWhenTheirCopiesTakeTooMuch) {
    constexpr size_t kSize = 16 << 20, kCount = 6;
    const auto from = memory(pair->a, kSize), to = memory(pair->b, kSize);
    const auto bytes = pattern(kSize, 12);
    from->buffer.write(bytes.data(), kSize);
    size_t posted = 0;
    while (posted < kCount &&
           !fi_send(pair->a.ep.get(), from->buffer.at(), kSize, from->desc(), pair->a.peer, &from_)) {
        ++posted;
    }
    EXPECT_LT(posted, kCount) << "64 MiB at most";
    EXPECT_GE(posted, 1U);
    for (size_t i = 0; i < posted; ++i) {
        pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), kSize, to->desc(), FI_ADDR_UNSPEC, &to_); });
        pair->expect_entry(pair->b, &to_);
        pair->expect_entry(pair->a, &from_);
        EXPECT_TRUE(to->buffer.read(kSize) == bytes);
    }
    pair->post([&] { return fi_send(pair->a.ep.get(), from->buffer.at(), kSize, from->desc(), pair->a.peer, &from_); });
}

TEST_P(HmemMessages, CanBeCancelledAndLeftPending) {
    const auto from = memory(pair->a, 1 << 20), to = memory(pair->b, 1 << 20);
    pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), 100, to->desc(), FI_ADDR_UNSPEC, &to_); });
    EXPECT_EQ(fi_cancel(pair->b.ep.base(), &to_), 0);
    EXPECT_EQ(pair->wait(pair->b).error, FI_ECANCELED);
    // A posted receive, a message without one, and one that is being fetched: gone with their endpoints.
    pair->post(
        [&] { return fi_trecv(pair->b.ep.get(), to->buffer.at(), 100, to->desc(), FI_ADDR_UNSPEC, 5, 0, &to_); });
    pair->post([&] { return fi_recv(pair->b.ep.get(), to->buffer.at(), 1 << 20, to->desc(), FI_ADDR_UNSPEC, &to_); });
    for (int i = 0; i < 2; ++i) {
        pair->post(
            [&] { return fi_send(pair->a.ep.get(), from->buffer.at(), 1 << 20, from->desc(), pair->a.peer, &from_); });
    }
    fi_cq_read(pair->b.cq.get(), nullptr, 0);
    EXPECT_EQ(pair->a.ep.close(), 0);
    EXPECT_EQ(pair->b.ep.close(), 0);
}

INSTANTIATE_TEST_SUITE_P(Providers, HmemMessages, ::testing::ValuesIn(kHmemCases), name_of);

}  // namespace
}  // namespace selvage::test
