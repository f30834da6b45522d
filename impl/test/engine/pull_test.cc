// Long transfers that one side copies: what becomes of those that cannot be copied, and of memory that is taken back.
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLong = 100'000;

class EnginePull : public testing::Test {
protected:
    static Setting pulling(uint64_t order = kMessageOrder) {
        Setting setting;
        setting.pulls = true;
        setting.order = order;
        return setting;
    }
    explicit EnginePull(const Setting& setting = pulling()) : pair(setting) {
        pair.net.inspect = [this](Packet& packet) {
            ++frames[packet.header.op];
            return !on_frame || on_frame(packet);
        };
    }
    int count(FrameOp op) const { return frames[static_cast<int>(op)]; }
    // The error of the next completion at side a, 0 for a success, -1 when none comes.
    int next() {
        pair.progress();
        fi_cq_tagged_entry entry;
        const ssize_t result = pair.a.read(&entry);
        if (result < 0) return pair.a.read_error().err;
        return result == 1 ? 0 : -1;
    }
    void expose() { key = pair.b.exposes(memory.data(), memory.size()); }
    void close_region() {
        EXPECT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
        pair.b.regions.pop_back();
    }
    void read() { ASSERT_EQ(fi_read(pair.a.ep, local.data(), kLong, nullptr, pair.to_b, 0, key, nullptr), 0); }
    void write(const Bytes& bytes, uint64_t at = 0) {
        ASSERT_EQ(fi_write(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, at, key, nullptr), 0);
    }
    void on(FrameOp op, const std::function<void()>& act) {
        on_frame = [op, act](const Packet& packet) {
            if (packet.header.op == static_cast<uint8_t>(op)) act();
            return true;
        };
    }

    static bool offered(Node& by, Node& to, const void* bytes, size_t length) {
        auto& transport = by.transport<true>();
        return transport.is_offered(*transport.peer_called(to.endpoint.shm_address), reinterpret_cast<uintptr_t>(bytes),
                                    length);
    }

    Pair pair;
    int frames[256] = {};
    std::function<bool(Packet&)> on_frame;
    Bytes memory = pattern(kLong, 1);
    Bytes local = Bytes(kLong);
    uint64_t key = 0;
};

TEST_F(EnginePull, AReadThatCannotBePulledComesInFrames) {
    expose();
    read();
    pair.net.pull_error = -FI_EPERM;
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(local, memory);
    EXPECT_EQ(count(FrameOp::Read), 2);
    EXPECT_GT(count(FrameOp::ReadReply), 0);
}

TEST_F(EnginePull, ARegionThatIsClosedBeforeItIsPulledFailsTheReadWithItsKey) {
    expose();
    read();
    on(FrameOp::ReadGrant, [&] {
        if (pair.b.regions.empty()) return;
        close_region();
        std::fill(memory.begin(), memory.end(), 0xee);  // it is somebody else's by now
    });
    EXPECT_EQ(next(), FI_ENOKEY);
    EXPECT_EQ(next(), -1);
}

TEST_F(EnginePull, AReadOfOneRegionSurvivesTheCloseOfAnother) {
    expose();
    Bytes other(64);
    pair.b.exposes(other.data(), other.size(), FI_REMOTE_READ, 8);
    read();
    bool closed = false;
    on(FrameOp::ReadGrant, [&] {
        if (!closed) close_region();
        closed = true;
    });
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(local, memory);
}

TEST_F(EnginePull, AWriteThatCannotBePulledIsSentInSegments) {
    expose();
    const Bytes bytes = pattern(kLong, 2);
    write(bytes);
    pair.net.pull_error = -FI_EPERM;
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(memory, bytes);
    EXPECT_GT(count(FrameOp::WriteSegment), 0);
    // What comes after finds its way, too.
    const Bytes more = pattern(kLong, 3);
    write(more);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(memory, more);
}

TEST_F(EnginePull, AWriteIsNotSentAgainBehindWhatFollowsItInOrder) {
    expose();
    const Bytes bytes = pattern(kLong, 2), later = pattern(100, 3);
    write(bytes);
    write(later);
    pair.net.pull_error = -FI_EPERM;
    int failed = 0, good = 0;
    for (int i = 0; i < 2; ++i) {
        const int error = next();
        failed += error == FI_EIO;
        good += error == 0;
    }
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(good, 1);
    EXPECT_TRUE(std::equal(later.begin(), later.end(), memory.begin()));
}

class EnginePullUnordered : public EnginePull {
protected:
    EnginePullUnordered() : EnginePull(pulling(0)) {}
};

TEST_F(EnginePullUnordered, WithoutOrderEveryWriteIsSentAgain) {
    expose();
    const Bytes bytes = pattern(kLong / 2, 2), later = pattern(100, 3);
    write(bytes);
    write(later, kLong / 2);
    pair.net.pull_error = -FI_EPERM;
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), memory.begin()));
    EXPECT_TRUE(std::equal(later.begin(), later.end(), memory.begin() + kLong / 2));
}

TEST_F(EnginePull, AWriteIntoARegionThatIsClosedMeanwhileIsNotPulled) {
    expose();
    const Bytes bytes = pattern(kLong, 2), before = memory;
    write(bytes);
    close_region();
    EXPECT_EQ(next(), FI_ENOKEY);
    EXPECT_EQ(memory, before);
}

TEST_F(EnginePull, AMessageThatCannotBePulledComesInSegments) {
    const Bytes bytes = pattern(kLong, 2);
    ASSERT_EQ(fi_recv(pair.b.ep, local.data(), local.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
    pair.net.pull_error = -FI_EPERM;
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(local, bytes);
}

TEST_F(EnginePull, OnlyWhatTheReceiveHasRoomForIsPulled) {
    const Bytes bytes = pattern(kLong, 2);
    const size_t room = kLong / 3;
    ASSERT_EQ(fi_recv(pair.b.ep, local.data(), room, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_TRUE(std::equal(local.begin(), local.begin() + room, bytes.begin()));
    EXPECT_EQ(local[room], 0);
}

// A transport lets the peer have a part of it copied by this side (KnowsOffers).
TEST_F(EnginePull, AMessageIsOfferedUntilItIsAnswered) {
    const Bytes bytes = pattern(kLong, 2);
    const Bytes other(kLong);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
    pair.progress();
    EXPECT_TRUE(offered(pair.a, pair.b, bytes.data(), kLong));
    EXPECT_TRUE(offered(pair.a, pair.b, bytes.data() + 1, kLong - 1));
    EXPECT_FALSE(offered(pair.a, pair.b, bytes.data() + 1, kLong));
    EXPECT_FALSE(offered(pair.a, pair.b, bytes.data() - 1, 2));
    EXPECT_FALSE(offered(pair.a, pair.b, other.data(), kLong));
    EXPECT_FALSE(offered(pair.b, pair.a, bytes.data(), kLong));
    ASSERT_EQ(fi_recv(pair.b.ep, local.data(), local.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_FALSE(offered(pair.a, pair.b, bytes.data(), kLong));
}

TEST_F(EnginePull, WhatAReadWasGrantedIsOfferedUntilItsRegionIsClosed) {
    expose();
    read();
    bool before = false, after = true;
    on(FrameOp::ReadGrant, [&] {
        if (pair.b.regions.empty()) return;
        before = offered(pair.b, pair.a, memory.data(), kLong) && !offered(pair.b, pair.a, memory.data() + 1, kLong) &&
                 !offered(pair.a, pair.b, local.data(), kLong);
        close_region();
        after = offered(pair.b, pair.a, memory.data(), kLong);
    });
    EXPECT_EQ(next(), FI_ENOKEY);
    EXPECT_TRUE(before);
    EXPECT_FALSE(after);
}

TEST_F(EnginePull, RangesAtBothEndsMeet) {
    const Bytes bytes = pattern(kLong, 2);
    const auto part = [](const Bytes& of, size_t from, size_t to) {
        return iovec{const_cast<unsigned char*>(of.data()) + from, to - from};
    };
    const iovec from[] = {part(bytes, 0, 1), part(bytes, 1, 50'000), part(bytes, 50'000, kLong)};
    const iovec to[] = {part(local, 0, 30'000), part(local, 30'000, 99'999), part(local, 99'999, kLong)};
    ASSERT_EQ(fi_recvv(pair.b.ep, to, nullptr, 3, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_sendv(pair.a.ep, from, nullptr, 3, pair.to_b, nullptr), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(local, bytes);
}

TEST_F(EnginePull, APeerThatGrantsWhatWasToComeInFramesIsDropped) {
    expose();
    read();
    pair.net.pull_error = -FI_EPERM;
    Header first{};
    std::vector<std::byte> ranges;
    on_frame = [&](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::ReadGrant)) first = packet.header, ranges = packet.bytes;
        if (packet.header.op == static_cast<uint8_t>(FrameOp::ReadReply) && first.op) {
            packet.header = first;
            packet.bytes = ranges;
        }
        return true;
    };
    EXPECT_EQ(next(), FI_ECONNABORTED);
}

// What fits into a frame is offered from T::kPullMin on, and never what is injected: that is free again at once.
TEST_F(EnginePull, TransfersOfOneFrameArePulledWhereTheyAreOfferedAndNotInjected) {
    constexpr size_t kLeast = FakeTransport<true>::kPullMin;
    expose();
    const auto pulled = [this](size_t size, uint64_t flags, bool message) {
        const uint64_t before = pair.net.pulled;
        const Bytes bytes = pattern(size, 3);
        const iovec range = {const_cast<unsigned char*>(bytes.data()), bytes.size()};
        const fi_rma_iov target = {.addr = 0, .len = size, .key = key};
        const fi_msg send = {
            .msg_iov = &range, .desc = nullptr, .iov_count = 1, .addr = pair.to_b, .context = nullptr, .data = 0};
        const fi_msg_rma write = {.msg_iov = &range,
                                  .desc = nullptr,
                                  .iov_count = 1,
                                  .addr = pair.to_b,
                                  .rma_iov = &target,
                                  .rma_iov_count = 1,
                                  .context = nullptr,
                                  .data = 0};
        if (message) {
            EXPECT_EQ(fi_recv(pair.b.ep, local.data(), local.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
            EXPECT_EQ(fi_sendmsg(pair.a.ep, &send, flags | FI_COMPLETION), 0);
        } else {
            EXPECT_EQ(fi_writemsg(pair.a.ep, &write, flags | FI_COMPLETION), 0);
        }
        EXPECT_EQ(next(), 0);
        EXPECT_EQ(memcmp(message ? local.data() : memory.data(), bytes.data(), size), 0);
        fi_cq_tagged_entry entry;
        EXPECT_EQ(pair.b.read(&entry), message ? 1 : 0);
        return pair.net.pulled - before;
    };
    for (const bool message : {true, false}) {
        EXPECT_EQ(pulled(kLeast, 0, message), 1u);
        EXPECT_EQ(pulled(kLeast - 1, 0, message), 0u);
        EXPECT_EQ(pulled(kLeast, FI_INJECT, message), 0u);
    }
    EXPECT_EQ(count(FrameOp::ReadGrant), 0);
    ASSERT_EQ(fi_read(pair.a.ep, local.data(), kLeast, nullptr, pair.to_b, 0, key, nullptr), 0);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(count(FrameOp::ReadGrant), 1);
    EXPECT_EQ(memcmp(local.data(), memory.data(), kLeast), 0);
}

// Messages that may travel whole, of more than a frame.
class EnginePullUnexpected : public EnginePull {
protected:
    static constexpr size_t kSize = 8000;  // 16 units
    static constexpr int kWindowful = kWindowFirst / units_of(kSize);

    EnginePullUnexpected() {
        pair.net.frame_most = 4096;
        on_frame = [this](const Packet& packet) {
            if (packet.header.op == static_cast<uint8_t>(FrameOp::MessageRts))
                charged += (packet.header.flags & kFrameCharged) != 0;
            return true;
        };
    }
    void send(const Bytes& sent, uint64_t flags = 0) {
        const iovec range = {const_cast<unsigned char*>(sent.data()), sent.size()};
        const fi_msg message = {.msg_iov = &range,
                                .desc = nullptr,
                                .iov_count = 1,
                                .addr = pair.to_b,
                                .context = const_cast<unsigned char*>(sent.data()),
                                .data = 0};
        ASSERT_EQ(fi_sendmsg(pair.a.ep, &message, flags | FI_COMPLETION), 0);
    }
    void receive() {
        local.assign(kSize, 0);
        ASSERT_EQ(fi_recv(pair.b.ep, local.data(), local.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    }
    // What a receive gets that is posted now.
    const Bytes& received() {
        receive();
        pair.progress();
        fi_cq_tagged_entry entry;
        EXPECT_EQ(pair.b.read(&entry), 1);
        EXPECT_EQ(entry.len, kSize);
        return local;
    }

    int charged = 0;  // announcements that had their units
    Bytes bytes = pattern(kSize, 2);
};

TEST_F(EnginePullUnexpected, OneIsCopiedBeforeItsReceiveAndItsSenderCompletes) {
    const Bytes before = bytes;
    send(bytes);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(pair.net.pulled, 1u);
    std::fill(bytes.begin(), bytes.end(), 0xee);
    EXPECT_EQ(received(), before);
    EXPECT_EQ(count(FrameOp::Cts), 0);
}

TEST_F(EnginePullUnexpected, OneWithAReceiveIsCopiedOnce) {
    receive();
    send(bytes);
    EXPECT_EQ(next(), 0);
    EXPECT_EQ(pair.net.pulled, 1u);
    EXPECT_EQ(charged, 1);
    EXPECT_EQ(local, bytes);
}

TEST_F(EnginePullUnexpected, WhoAsksForTheMatchWaitsForIt) {
    send(bytes, FI_MATCH_COMPLETE);
    EXPECT_EQ(next(), -1);
    EXPECT_EQ(pair.net.pulled, 1u);
    EXPECT_EQ(received(), bytes);
    EXPECT_EQ(next(), 0);
}

TEST_F(EnginePullUnexpected, OneThatCannotBePulledWaitsForItsReceive) {
    pair.net.pull_error = -FI_EPERM;
    send(bytes);
    EXPECT_EQ(next(), -1);
    EXPECT_EQ(received(), bytes);
    EXPECT_EQ(next(), 0);
}

TEST_F(EnginePullUnexpected, TheyTakeUnitsAndGiveThemBack) {
    std::vector<Bytes> sent;
    for (size_t i = 0; i < kWindowful + 5; ++i) sent.push_back(pattern(kSize, i));
    for (const int pull_error : {0, -FI_EPERM, 0}) {
        pair.net.pull_error = pull_error;
        charged = 0;
        for (const Bytes& each : sent) send(each);
        int completed = 0;
        while (next() == 0) ++completed;
        EXPECT_EQ(completed, pull_error ? 0 : kWindowful);
        EXPECT_EQ(charged, kWindowful);
        for (const Bytes& each : sent) ASSERT_EQ(received(), each);
        while (next() == 0) ++completed;
        EXPECT_EQ(completed, kWindowful + 5);
        pair.a.transport<true>().peer_called(pair.b.endpoint.shm_address)->ahead = kWindowFirst;  // as it was
    }
}

// It is announced. Who can read it does not wait for its sender, which may be away for long.
TEST_F(EnginePullUnexpected, AShortOneWithoutUnitsIsReadWhileItsSenderIsAway) {
    const Bytes sent = pattern(kUnchargedMost + 1, 7);
    for (const uint64_t flags : {uint64_t{0}, uint64_t{FI_INJECT}}) {
        int whole = 0;
        for (send(sent, flags); next() == 0; send(sent, flags)) ASSERT_LE(++whole, kWindowUsual);
        EXPECT_EQ(pair.net.pulled, 0u);
        for (int i = 0; i <= whole; ++i) {
            local.assign(sent.size(), 0);
            ASSERT_EQ(fi_recv(pair.b.ep, local.data(), local.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
            fi_cq_tagged_entry entry;
            ASSERT_EQ(pair.b.read(&entry), 1) << i << " of " << whole;
            ASSERT_EQ(local, sent);
        }
        EXPECT_EQ(pair.net.pulled, 1u);
        EXPECT_EQ(next(), 0);
        pair.net.pulled = 0;
    }
    EXPECT_EQ(count(FrameOp::Cts), 0);
}

TEST_F(EnginePullUnexpected, OneThatIsCancelledGivesItsUnitsBack) {
    send(bytes);
    EXPECT_EQ(received(), bytes);
    PeerBase* peer = pair.a.transport<true>().peer_called(pair.b.endpoint.shm_address);
    const int left = peer->units_left();
    pair.net.capacity = 0;
    send(bytes);
    EXPECT_EQ(peer->units_left(), left - units_of(kSize));
    EXPECT_EQ(fi_cancel(&pair.a.ep->fid, bytes.data()), 0);
    EXPECT_EQ(peer->units_left(), left);
}

TEST_F(EnginePullUnexpected, ChargedAnnouncementsThatMakeNoSenseDropTheirSender) {
    constexpr uint64_t kTooLong = FakeTransport<true>::kEagerMax + 1;
    for (const uint64_t length : {uint64_t{0}, kTooLong}) {  // 0: no sources
        on_frame = [length](Packet& packet) {
            if (packet.header.op != static_cast<uint8_t>(FrameOp::MessageRts)) return true;
            packet.bytes.resize(sizeof length);
            if (length) {
                memcpy(packet.bytes.data(), &length, sizeof length);
                packet.bytes.resize(3 * sizeof length);
                memcpy(packet.bytes.data() + 2 * sizeof length, &length, sizeof length);
            }
            packet.header.aux = length ? 1 : 0;
            packet.header.size = static_cast<uint32_t>(packet.bytes.size());
            return true;
        };
        send(bytes);
        EXPECT_EQ(next(), FI_ECONNRESET);
    }
    EXPECT_EQ(pair.net.pulled, 0u);
}

}  // namespace
}  // namespace selvage::impl::test
