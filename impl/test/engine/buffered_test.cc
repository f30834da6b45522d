// Buffered receives (FI_BUFFERED_RECV, FI_VARIABLE_MSG) over the fake transport: notices, claims, discards, and what
// becomes of messages that are neither.
#include "impl/engine/buffered_receives.h"
#include "impl/engine/receiver.h"
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kLimit = 1000;  // of what is notified whole

Setting buffering(size_t least = 0, bool pulls = false) {
    Setting setting;
    setting.caps |= FI_VARIABLE_MSG;
    setting.buffered = {.limit = kLimit, .least = least};
    setting.pulls = pulls;
    return setting;
}

struct Buffered : Pair {
    using Pair::Pair;

    void send(const Bytes& bytes, uint64_t flags = 0) {
        const iovec range{const_cast<unsigned char*>(bytes.data()), bytes.size()};
        const fi_msg message{&range, nullptr, 1, to_b, nullptr, 77};
        ASSERT_EQ(fi_sendmsg(a.ep, &message, flags | FI_COMPLETION), 0);
        progress();
    }
    void tsend(const Bytes& bytes, uint64_t tag) {
        ASSERT_EQ(fi_tsend(a.ep, bytes.data(), bytes.size(), nullptr, to_b, tag, nullptr), 0);
        progress();
    }
    // The next entry of the receiver; its context is that of a notice.
    fi_recv_context* next() {
        progress();
        EXPECT_EQ(b.read(&entry, &source), 1);
        return static_cast<fi_recv_context*>(entry.op_context);
    }
    bool is_silent(Node& node) {
        fi_cq_tagged_entry other;
        progress();
        return node.read(&other) == 0;
    }
    ssize_t claim(void* notice, Bytes* into, uint64_t flags = FI_CLAIM) {
        const iovec range{into ? into->data() : nullptr, into ? into->size() : 0};
        const fi_msg message{&range, nullptr, into ? 1u : 0u, FI_ADDR_UNSPEC, notice, 0};
        return fi_recvmsg(b.srx ? b.srx : b.ep, &message, flags);
    }
    ssize_t tclaim(void* notice, Bytes* into, uint64_t flags = FI_CLAIM) {
        const iovec range{into ? into->data() : nullptr, into ? into->size() : 0};
        const fi_msg_tagged message{&range, nullptr, into ? 1u : 0u, FI_ADDR_UNSPEC, 0, 0, notice, 0};
        return fi_trecvmsg(b.srx ? b.srx : b.ep, &message, flags);
    }
    bool shows(const Bytes& bytes, size_t count) const { return !count || memcmp(entry.buf, bytes.data(), count) == 0; }

    fi_cq_tagged_entry entry{};
    fi_addr_t source = FI_ADDR_NOTAVAIL;
};

TEST(EngineBuffered, AMessageWithoutAReceiveIsNotifiedWhereItLies) {
    Buffered pair(buffering());
    const Bytes bytes = pattern(300);
    pair.send(bytes, FI_REMOTE_CQ_DATA);
    fi_recv_context* notice = pair.next();
    EXPECT_EQ(notice->ep, pair.b.ep);
    EXPECT_EQ(notice->context, nullptr);
    EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
    EXPECT_EQ(pair.entry.len, bytes.size());
    EXPECT_EQ(pair.entry.data, 77u);
    EXPECT_EQ(pair.source, pair.to_a);
    EXPECT_TRUE(pair.shows(bytes, bytes.size()));
}

TEST(EngineBuffered, TheModeAloneIsEnough) {
    Setting setting;
    setting.mode = FI_BUFFERED_RECV;
    Buffered pair(setting);
    pair.send(pattern(10));
    EXPECT_EQ(pair.next()->ep, pair.b.ep);
}

TEST(EngineBuffered, AClaimMovesTheBytesAndCompletesWithTheContextOfTheNotice) {
    Buffered pair(buffering());
    const Bytes bytes = pattern(300);
    pair.send(bytes);
    fi_recv_context* notice = pair.next();
    notice->context = &pair;
    Bytes got(300);
    ASSERT_EQ(pair.claim(notice, &got), 0);
    EXPECT_EQ(static_cast<void*>(pair.next()), &pair);
    EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_CLAIM);
    EXPECT_EQ(pair.entry.len, 300u);
    EXPECT_EQ(pair.entry.buf, got.data());
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(pair.claim(notice, &got), -FI_EINVAL) << "it has been claimed";
}

TEST(EngineBuffered, AClaimThatIsTooShortIsTruncated) {
    Buffered pair(buffering());
    pair.send(pattern(300));
    Bytes got(100);
    ASSERT_EQ(pair.claim(pair.next(), &got), 0);
    pair.progress();
    EXPECT_EQ(pair.b.read(&pair.entry), -FI_EAVAIL);
    EXPECT_EQ(pair.b.read_error().err, FI_ETRUNC);
}

TEST(EngineBuffered, ADiscardIgnoresItsBuffersAndHasNoEntry) {
    Buffered pair(buffering());
    for (const uint64_t flags : {FI_DISCARD, FI_CLAIM | FI_DISCARD}) {
        pair.send(pattern(300));
        fi_recv_context* notice = pair.next();
        const fi_msg message{nullptr, nullptr, 5, FI_ADDR_UNSPEC, notice, 0};
        ASSERT_EQ(fi_recvmsg(pair.b.ep, &message, flags), 0);
        EXPECT_TRUE(pair.is_silent(pair.b));
        EXPECT_EQ(pair.claim(notice, nullptr, flags), -FI_EINVAL) << "it is gone";
    }
}

TEST(EngineBuffered, ALongMessageIsNotifiedBeforeItsBytesAndClaimed) {
    for (const bool pulls : {false, true}) {
        Buffered pair(buffering(0, pulls));
        const Bytes bytes = pattern(50000);
        pair.send(bytes);
        fi_recv_context* notice = pair.next();
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_MORE);
        EXPECT_EQ(pair.entry.len, bytes.size());
        EXPECT_NE(pair.entry.buf, nullptr);
        EXPECT_TRUE(pair.is_silent(pair.a)) << "the sender waits for the claim";
        Bytes got(bytes.size());
        ASSERT_EQ(pair.claim(notice, &got), 0);
        pair.next();
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_CLAIM);
        EXPECT_EQ(got, bytes);
        EXPECT_EQ(pair.a.read(&pair.entry), 1);
    }
}

TEST(EngineBuffered, ALongMessageIsDiscardedWithoutItsBytes) {
    Buffered pair(buffering());
    pair.send(pattern(50000));
    ASSERT_EQ(pair.claim(pair.next(), nullptr, FI_DISCARD), 0);
    pair.progress();
    EXPECT_EQ(pair.a.read(&pair.entry), 1) << "the sender is done";
    EXPECT_TRUE(pair.is_silent(pair.b));
}

TEST(EngineBuffered, TheFirstBytesOfALongMessageAreThereIfTheyAreAskedFor) {
    for (const bool pulls : {false, true}) {
        for (const size_t pieces : {SIZE_MAX, size_t{0}}) {
            Buffered pair(buffering(500, pulls));
            pair.net.pieces_above = pieces;
            const Bytes bytes = pattern(50000);
            pair.send(bytes);
            fi_recv_context* notice = pair.next();
            EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_MORE);
            EXPECT_EQ(pair.entry.len, bytes.size());
            EXPECT_TRUE(pair.shows(bytes, 500));
            EXPECT_TRUE(pair.is_silent(pair.a));
            Bytes got(bytes.size());
            ASSERT_EQ(pair.claim(notice, &got), 0);
            pair.next();
            EXPECT_EQ(got, bytes);
            EXPECT_EQ(pair.a.read(&pair.entry), 1);
        }
    }
}

TEST(EngineBuffered, AnAnnouncedMessageWithinTheLimitIsNotifiedWhole) {
    for (const bool pulls : {false, true}) {
        Setting setting = buffering(0, pulls);
        setting.buffered.limit = 100000;
        Buffered pair(setting);
        const Bytes bytes = pattern(50000);
        pair.send(bytes);
        fi_recv_context* notice = pair.next();
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG);
        EXPECT_TRUE(pair.shows(bytes, bytes.size()));
        EXPECT_EQ(pair.a.read(&pair.entry), 1) << "all of it is here";
        Bytes got(bytes.size());
        ASSERT_EQ(pair.claim(notice, &got), 0);
        pair.next();
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_CLAIM);
        EXPECT_EQ(got, bytes);
    }
}

TEST(EngineBuffered, MessagesAreNotifiedInTheOrderInWhichTheyCame) {
    Setting setting = buffering();
    setting.buffered.limit = 100000;
    Buffered pair(setting);
    constexpr size_t kSizes[] = {50000, 10, 60000, 0, 8000};
    std::vector<Bytes> sent;
    for (const size_t size : kSizes) {
        sent.push_back(pattern(size, sent.size()));
        ASSERT_EQ(fi_send(pair.a.ep, sent.back().data(), size, nullptr, pair.to_b, nullptr), 0);
    }
    for (const Bytes& bytes : sent) {
        pair.next();
        EXPECT_EQ(pair.entry.len, bytes.size());
        EXPECT_TRUE(pair.shows(bytes, bytes.size()));
    }
}

TEST(EngineBuffered, FetchedBytesAreLimitedAndGoOnAfterADiscard) {
    Setting setting = buffering();
    setting.buffered.limit = BufferedOptions::kMost;
    Buffered pair(setting);
    const Bytes bytes = pattern(BufferedOptions::kMost);
    constexpr size_t kFit = BufferedReceives::kBytesMost / BufferedOptions::kMost;
    std::vector<void*> notices;
    for (size_t i = 0; i < kFit + 2; ++i) {
        ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
    }
    for (size_t i = 0; i < kFit; ++i) {
        for (int turn = 0; turn < 10; ++turn) pair.progress();
        notices.push_back(pair.next());
    }
    EXPECT_TRUE(pair.is_silent(pair.b)) << "the budget is used up";
    ASSERT_EQ(pair.claim(notices[3], nullptr, FI_DISCARD), 0);
    for (int turn = 0; turn < 10; ++turn) pair.progress();
    pair.next();
    EXPECT_TRUE(pair.shows(bytes, bytes.size()));
    EXPECT_TRUE(pair.is_silent(pair.b));
}

TEST(EngineBuffered, ATaggedMessageIsNotifiedWhenItMeetsATag) {
    for (const bool early : {false, true}) {
        Buffered pair(buffering());
        const Bytes bytes = pattern(300);
        const auto post = [&] {
            ASSERT_EQ(fi_trecv(pair.b.ep, nullptr, 12345, nullptr, FI_ADDR_UNSPEC, 5, 0, &pair), 0)
                << "buffers count for nothing";
        };
        if (early) post();
        pair.tsend(bytes, 6);
        pair.tsend(bytes, 5);
        if (!early) {
            EXPECT_TRUE(pair.is_silent(pair.b)) << "nobody has asked for the tag";
            post();
        }
        fi_recv_context* notice = pair.next();
        EXPECT_EQ(notice->ep, nullptr);
        EXPECT_EQ(notice->context, &pair);
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_TAGGED);
        EXPECT_EQ(pair.entry.tag, 5u);
        EXPECT_EQ(pair.entry.len, 300u);
        EXPECT_TRUE(pair.shows(bytes, 300));
        EXPECT_TRUE(pair.is_silent(pair.b)) << "the tag is used up";
        Bytes got(300);
        EXPECT_EQ(pair.claim(notice, &got), -FI_EINVAL) << "it is a tagged one";
        ASSERT_EQ(pair.tclaim(notice, &got), 0);
        EXPECT_EQ(static_cast<void*>(pair.next()), &pair);
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_TAGGED | FI_CLAIM);
        EXPECT_EQ(pair.entry.tag, 5u);
        EXPECT_EQ(got, bytes);
    }
}

TEST(EngineBuffered, ALongTaggedMessageIsNotifiedAndDiscarded) {
    for (const bool early : {false, true}) {
        Buffered pair(buffering(100));
        const Bytes bytes = pattern(50000);
        if (!early) pair.tsend(bytes, 5);
        ASSERT_EQ(fi_trecv(pair.b.ep, nullptr, 0, nullptr, FI_ADDR_UNSPEC, 5, 0, &pair), 0);
        if (early) pair.tsend(bytes, 5);
        fi_recv_context* notice = pair.next();
        EXPECT_EQ(pair.entry.flags, FI_RECV | FI_TAGGED | FI_MORE);
        EXPECT_TRUE(pair.shows(bytes, 100));
        ASSERT_EQ(pair.tclaim(notice, nullptr, FI_DISCARD), 0);
        pair.progress();
        EXPECT_EQ(pair.a.read(&pair.entry), 1);
    }
}

TEST(EngineBuffered, APeekClaimsAMessageThatHasMetNoTag) {
    Buffered pair(buffering());
    const Bytes bytes = pattern(300);
    pair.tsend(bytes, 5);
    fi_context context{};
    const fi_msg_tagged look{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 5, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK | FI_CLAIM), 0);
    pair.next();
    Bytes got(300);
    ASSERT_EQ(pair.tclaim(&context, &got), 0);
    EXPECT_EQ(static_cast<void*>(pair.next()), &context);
    EXPECT_EQ(pair.entry.flags, FI_RECV | FI_TAGGED) << "FI_CLAIM is of buffered receives";
    EXPECT_EQ(got, bytes);
}

TEST(EngineBuffered, AReceiveThatIsPostedTakesTheNextMessage) {
    Buffered pair(buffering());
    const Bytes bytes = pattern(300);
    Bytes got(300);
    ASSERT_EQ(fi_recv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, &got), 0);
    pair.send(bytes);
    pair.send(bytes);
    EXPECT_EQ(static_cast<void*>(pair.next()), &got);
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(pair.next()->ep, pair.b.ep);
}

TEST(EngineBuffered, AMultiReceiveBufferTakesMessagesUntilItIsFull) {
    Buffered pair(buffering());
    Bytes buffer(700);
    const iovec range{buffer.data(), buffer.size()};
    const fi_msg message{&range, nullptr, 1, FI_ADDR_UNSPEC, &buffer, 0};
    ASSERT_EQ(fi_recvmsg(pair.b.ep, &message, FI_MULTI_RECV), 0);
    for (int i = 0; i < 3; ++i) pair.send(pattern(350));
    EXPECT_EQ(static_cast<void*>(pair.next()), &buffer);
    EXPECT_EQ(static_cast<void*>(pair.next()), &buffer);
    EXPECT_TRUE(pair.entry.flags & FI_MULTI_RECV);
    fi_recv_context* notice = pair.next();
    EXPECT_EQ(notice->ep, pair.b.ep);
    // A claim takes one message, whatever the default flags of the endpoint are.
    Bytes got(1000);
    ASSERT_EQ(pair.claim(notice, &got, FI_CLAIM | FI_MULTI_RECV), 0);
    pair.next();
    EXPECT_EQ(pair.entry.flags, FI_RECV | FI_MSG | FI_CLAIM);
}

TEST(EngineBuffered, WhatIsNoNoticeIsRefused) {
    Buffered pair(buffering());
    pair.send(pattern(10));
    fi_recv_context* notice = pair.next();
    fi_context other{};
    for (void* context : {static_cast<void*>(nullptr), static_cast<void*>(&other), static_cast<void*>(notice + 1),
                          static_cast<void*>(reinterpret_cast<char*>(notice) + 1)}) {
        EXPECT_EQ(pair.claim(context, nullptr, FI_DISCARD), -FI_EINVAL);
        if (context == &other || !context) {
            EXPECT_EQ(pair.claim(context, nullptr), -FI_EINVAL);
        }
    }
    EXPECT_EQ(pair.claim(notice, nullptr, FI_DISCARD), 0);
}

TEST(EngineBuffered, ANoticeStaysGoodWhenItsSenderIsGone) {
    Buffered pair(buffering());
    const Bytes bytes = pattern(300);
    pair.send(bytes);
    pair.send(pattern(50000));
    fi_recv_context* whole = pair.next();
    const void* buffer = pair.entry.buf;
    fi_recv_context* announced = pair.next();
    pair.a.close();
    EXPECT_TRUE(pair.is_silent(pair.b));
    EXPECT_EQ(memcmp(buffer, bytes.data(), bytes.size()), 0);
    Bytes got(300);
    ASSERT_EQ(pair.claim(whole, &got), 0);
    pair.next();
    EXPECT_EQ(pair.source, pair.to_a);
    EXPECT_EQ(got, bytes);
    Bytes more(50000);
    ASSERT_EQ(pair.claim(announced, &more), 0);
    EXPECT_EQ(pair.b.read(&pair.entry), -FI_EAVAIL);
    EXPECT_EQ(pair.b.read_error().err, FI_ECONNRESET) << "its bytes never came";
}

TEST(EngineBuffered, AMessageThatIsLostWhileItIsFetchedFailsTheTagThatItMet) {
    for (const bool tagged : {false, true}) {
        Setting setting = buffering();
        setting.buffered.limit = 100000;
        Buffered pair(setting);
        const Bytes bytes = pattern(50000);
        ASSERT_EQ(fi_trecv(pair.b.ep, nullptr, 0, nullptr, FI_ADDR_UNSPEC, 5, 0, &pair), 0);
        const auto send = [&] {
            return tagged ? fi_tsend(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, 5, nullptr)
                          : fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr);
        };
        ASSERT_EQ(send(), 0);
        ASSERT_EQ(fi_send(pair.a.ep, "x", 1, nullptr, pair.to_b, nullptr), 0);
        pair.b.progress();  // it is being fetched, and the one behind it waits
        EXPECT_EQ(pair.b.read(&pair.entry), 0);
        pair.a.close();
        pair.progress();
        if (tagged) {
            EXPECT_EQ(pair.b.read(&pair.entry), -FI_EAVAIL);
            const fi_cq_err_entry error = pair.b.read_error();
            EXPECT_EQ(error.err, FI_ECONNRESET);
            EXPECT_EQ(error.op_context, &pair);
        }
        pair.next();
        EXPECT_EQ(pair.entry.len, 1u) << "what came whole is notified";
    }
}

TEST(EngineBuffered, ClosingWithNoticesThatNobodyClaimedIsClean) {
    for (const bool shared : {false, true}) {
        Setting setting = buffering(200);
        setting.shared = shared;
        setting.mode = FI_BUFFERED_RECV;
        setting.buffered.limit = 20000;
        Buffered pair(setting);
        for (const size_t size : {10u, 300u, 15000u, 50000u}) {
            const Bytes bytes = pattern(size);
            pair.send(bytes);
        }
        pair.next();
        const Bytes bytes = pattern(15000);
        ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
        pair.b.progress();
        pair.b.close();
    }
}

TEST(EngineBuffered, ASharedContextNamesTheEndpointThatReceived) {
    Setting setting;
    setting.shared = true;
    setting.mode = FI_BUFFERED_RECV;
    Buffered pair(setting);
    const Bytes bytes = pattern(300);
    pair.send(bytes);
    fi_recv_context* notice = pair.next();
    EXPECT_EQ(notice->ep, pair.b.ep);
    Bytes got(300);
    ASSERT_EQ(pair.claim(notice, &got), 0);
    pair.next();
    EXPECT_EQ(got, bytes);
}

TEST(EngineBuffered, TagsCanBeCancelled) {
    Buffered pair(buffering());
    ASSERT_EQ(fi_trecv(pair.b.ep, nullptr, 0, nullptr, FI_ADDR_UNSPEC, 5, 0, &pair), 0);
    EXPECT_EQ(fi_cancel(&pair.b.ep->fid, &pair), 0);
    EXPECT_EQ(pair.b.read(&pair.entry), -FI_EAVAIL);
    EXPECT_EQ(pair.b.read_error().err, FI_ECANCELED);
    pair.tsend(pattern(10), 5);
    EXPECT_TRUE(pair.is_silent(pair.b));
}

TEST(EngineBuffered, CountersCountNoticesAndClaims) {
    Setting setting = buffering();
    setting.counters = true;
    Buffered pair(setting);
    pair.send(pattern(10));
    fi_recv_context* notice = pair.next();
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRecv]), 1u);
    Bytes got(10);
    ASSERT_EQ(pair.claim(notice, &got), 0);
    pair.next();
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRecv]), 2u);
}

TEST(EngineBuffered, UnclaimedMessagesHoldTheSenderBack) {
    Buffered pair(buffering());
    const Bytes bytes = pattern(8000);
    size_t sent = 0;
    std::vector<void*> notices;
    const auto flood = [&] {
        for (int idle = 0; idle < 3;) {
            const ssize_t result = fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr);
            sent += result == 0;
            idle = result ? idle + 1 : 0;
            pair.progress();
            while (pair.a.read(&pair.entry) == 1) continue;
            while (pair.b.read(&pair.entry) == 1) notices.push_back(pair.entry.op_context);
        }
    };
    flood();
    const size_t most = sent;
    EXPECT_LT(most, 20000u);
    for (void* notice : notices) ASSERT_EQ(pair.claim(notice, nullptr, FI_DISCARD), 0);
    flood();
    EXPECT_GT(sent, most);
}

}  // namespace
}  // namespace selvage::impl::test
