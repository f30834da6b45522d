// The engine's messages over the fake transport: each form of the calls, each flag.
#include <numeric>

#include "impl/engine/receiver.h"
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

// The next entry of a side, while both make progress.
ssize_t await(Pair& pair, Node& node, fi_cq_tagged_entry* entry) {
    for (int i = 0; i < 100; ++i) {
        const ssize_t result = node.read(entry);
        if (result) return result;
        pair.a.progress();
        pair.b.progress();
    }
    return 0;
}

TEST(EngineMessages, AShortMessageArrivesWithItsTagDataAndSource) {
    Pair pair;
    char text[8] = "seven..";
    char got[8] = {};
    ASSERT_EQ(fi_trecv(pair.b.ep, got, sizeof got, nullptr, FI_ADDR_UNSPEC, 42, 0, got), 0);
    ASSERT_EQ(fi_tsenddata(pair.a.ep, text, sizeof text, nullptr, 99, pair.to_b, 42, text), 0);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.a.read(&entry), 1);
    EXPECT_EQ(entry.op_context, text);
    EXPECT_EQ(entry.flags, FI_SEND | FI_TAGGED);
    fi_addr_t source;
    ASSERT_EQ(pair.b.read(&entry, &source), 1);
    EXPECT_EQ(entry.op_context, got);
    EXPECT_EQ(entry.flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
    EXPECT_EQ(entry.len, sizeof text);
    EXPECT_EQ(entry.data, 99u);
    EXPECT_EQ(entry.tag, 42u);
    EXPECT_EQ(source, pair.to_a);
    EXPECT_STREQ(got, text);
}

TEST(EngineMessages, EveryFormOfSendingAndReceivingMovesTheBytes) {
    Pair pair;
    auto bytes = pattern(300);
    const iovec out[2] = {{bytes.data(), 100}, {bytes.data() + 100, 200}};
    std::vector<unsigned char> got(300);
    iovec in[3] = {{got.data(), 1}, {got.data() + 1, 250}, {got.data() + 251, 49}};
    fi_msg send{.msg_iov = out, .desc = nullptr, .iov_count = 2, .addr = pair.to_b, .context = &send, .data = 5};
    fi_msg recv{.msg_iov = in, .desc = nullptr, .iov_count = 3, .addr = FI_ADDR_UNSPEC, .context = &recv, .data = 0};
    fi_msg_tagged tsend{out, nullptr, 2, pair.to_b, 3, 0, &tsend, 6};
    fi_msg_tagged trecv{in, nullptr, 3, FI_ADDR_UNSPEC, 3, 0, &trecv, 0};
    const auto check = [&](uint64_t data, bool entry_at_sender) {
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair, pair.b, &entry), 1);
        EXPECT_EQ(entry.len, 300u);
        EXPECT_EQ((entry.flags & FI_REMOTE_CQ_DATA) != 0, data != 0);
        EXPECT_EQ(entry.data, data);
        EXPECT_EQ(got, bytes);
        got.assign(300, 0);
        ASSERT_EQ(await(pair, pair.a, &entry), entry_at_sender);
    };
    fid_ep *a = pair.a.ep, *b = pair.b.ep;
    const fi_addr_t to = pair.to_b, any = FI_ADDR_UNSPEC;
    ASSERT_EQ(fi_sendv(a, out, nullptr, 2, to, nullptr), 0);
    ASSERT_EQ(fi_recvv(b, in, nullptr, 3, any, nullptr), 0);
    check(0, true);
    ASSERT_EQ(fi_recvmsg(b, &recv, 0), 0);
    ASSERT_EQ(fi_sendmsg(a, &send, FI_REMOTE_CQ_DATA), 0);
    check(5, true);
    ASSERT_EQ(fi_recv(b, got.data(), 300, nullptr, any, nullptr), 0);
    ASSERT_EQ(fi_inject(a, bytes.data(), 300, to), 0);
    check(0, false);
    ASSERT_EQ(fi_recv(b, got.data(), 300, nullptr, any, nullptr), 0);
    ASSERT_EQ(fi_injectdata(a, bytes.data(), 300, 7, to), 0);
    check(7, false);
    ASSERT_EQ(fi_recv(b, got.data(), 300, nullptr, any, nullptr), 0);
    ASSERT_EQ(fi_senddata(a, bytes.data(), 300, nullptr, 8, to, nullptr), 0);
    check(8, true);
    ASSERT_EQ(fi_tsendv(a, out, nullptr, 2, to, 3, nullptr), 0);
    ASSERT_EQ(fi_trecvv(b, in, nullptr, 3, any, 3, 0, nullptr), 0);
    check(0, true);
    ASSERT_EQ(fi_trecvmsg(b, &trecv, 0), 0);
    ASSERT_EQ(fi_tsendmsg(a, &tsend, FI_REMOTE_CQ_DATA), 0);
    check(6, true);
    ASSERT_EQ(fi_trecv(b, got.data(), 300, nullptr, any, 3, 0, nullptr), 0);
    ASSERT_EQ(fi_tinject(a, bytes.data(), 300, to, 3), 0);
    check(0, false);
    ASSERT_EQ(fi_trecv(b, got.data(), 300, nullptr, any, 3, 0, nullptr), 0);
    ASSERT_EQ(fi_tinjectdata(a, bytes.data(), 300, 9, to, 3), 0);
    check(9, false);
}

TEST(EngineMessages, InjectedDataMayBeOverwrittenAtOnce) {
    for (const bool holds : {false, true}) {
        Pair pair;
        pair.net.holds = holds;
        pair.net.capacity = 1;
        auto bytes = pattern(4096);
        const auto original = bytes;
        std::vector<unsigned char> got(4096);
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(fi_inject(pair.a.ep, bytes.data(), bytes.size(), pair.to_b), 0);
            bytes.assign(bytes.size(), 0);
            bytes = original;
        }
        bytes.assign(bytes.size(), 0);
        for (int i = 0; i < 3; ++i) {
            fi_cq_tagged_entry entry;
            got.assign(4096, 0);
            ASSERT_EQ(fi_recv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
            ASSERT_EQ(await(pair, pair.b, &entry), 1);
            EXPECT_EQ(got, original);
        }
        EXPECT_EQ(fi_inject(pair.a.ep, bytes.data(), 4097, pair.to_b), -FI_EMSGSIZE);
        fi_cq_tagged_entry entry;
        EXPECT_EQ(await(pair, pair.a, &entry), 0);
    }
}

TEST(EngineMessages, ALongMessageIsPulledOrStreamed) {
    for (const bool pulls : {true, false}) {
        for (const bool works : {true, false}) {
            Setting setting;
            setting.pulls = pulls;
            Pair pair(setting);
            pair.net.pull_error = works ? 0 : -FI_EACCES;
            const auto bytes = pattern(1000000);
            std::vector<unsigned char> got(bytes.size());
            ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
            fi_cq_tagged_entry entry;
            EXPECT_EQ(await(pair, pair.a, &entry), 0);  // nobody wants it yet
            ASSERT_EQ(fi_recv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
            ASSERT_EQ(await(pair, pair.b, &entry), 1);
            EXPECT_EQ(entry.len, bytes.size());
            EXPECT_EQ(got, bytes);
            ASSERT_EQ(await(pair, pair.a, &entry), 1);
            EXPECT_EQ(pair.net.pulled, pulls && works ? 1u : 0u);
        }
    }
}

// On a link with a long way, messages that end together would leave it empty until the next ones are announced and
// cleared.
TEST(EngineMessages, LongMessagesEndOneAfterAnother) {
    Pair pair;
    pair.net.pulls = false;
    const Bytes large = pattern(size_t{2} << 20);  // more than one look sends
    std::vector<Bytes> got(4, Bytes(large.size()));
    std::vector<uint64_t> order;
    pair.net.inspect = [&](Packet& packet) {
        if (packet.header.op != static_cast<uint8_t>(FrameOp::Segment)) return true;
        if (order.empty() || order.back() != packet.header.word[0]) order.push_back(packet.header.word[0]);
        return true;
    };
    for (Bytes& each : got) {
        ASSERT_EQ(fi_recv(pair.b.ep, each.data(), each.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_send(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, nullptr), 0);
    }
    pair.progress();
    EXPECT_EQ(order.size(), got.size());
    for (const Bytes& each : got) EXPECT_EQ(each, large);
}

TEST(EngineMessages, AMessageThatIsTooLongIsCutAndTold) {
    for (const size_t size : {size_t{100}, size_t{600000}}) {
        Pair pair;
        const auto bytes = pattern(size);
        std::vector<unsigned char> got(60);
        ASSERT_EQ(fi_recv(pair.b.ep, got.data(), 50, nullptr, FI_ADDR_UNSPEC, &got), 0);
        ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr), 0);
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair, pair.b, &entry), -FI_EAVAIL);
        const fi_cq_err_entry error = pair.b.read_error();
        EXPECT_EQ(error.err, FI_ETRUNC);
        EXPECT_EQ(error.op_context, &got);
        EXPECT_EQ(error.len, 50u);
        EXPECT_EQ(error.olen, size - 50);
        EXPECT_TRUE(std::equal(got.begin(), got.begin() + 50, bytes.begin()));
        EXPECT_EQ(got[50], 0);
        EXPECT_EQ(await(pair, pair.a, &entry), 1);
    }
}

TEST(EngineMessages, ABufferForManyMessagesIsFilledAndGivenBack) {
    Pair pair;
    std::vector<unsigned char> buffer(1000);
    const size_t least = 101;
    ASSERT_EQ(fi_setopt(&pair.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
    const iovec in{buffer.data(), buffer.size()};
    const fi_msg recv{&in, nullptr, 1, FI_ADDR_UNSPEC, &buffer, 0};
    const auto bytes = pattern(300);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), 300, nullptr, pair.to_b, nullptr), 0);  // before the buffer is there
    pair.progress();
    ASSERT_EQ(fi_recvmsg(pair.b.ep, &recv, FI_MULTI_RECV), 0);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), 300, nullptr, pair.to_b, nullptr), 0);
    for (size_t i = 0; i < 3; ++i) {
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair, pair.b, &entry), 1);
        EXPECT_EQ(entry.op_context, &buffer);
        EXPECT_EQ(entry.buf, buffer.data() + 300 * i);
        EXPECT_EQ(entry.flags, FI_RECV | FI_MSG | (i == 2 ? FI_MULTI_RECV : 0));
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.begin() + static_cast<ptrdiff_t>(300 * i)));
    }
}

TEST(EngineMessages, LongMessagesIntoOneBufferReleaseItWhenTheLastIsThere) {
    Pair pair;
    std::vector<unsigned char> buffer(50000);
    const iovec in{buffer.data(), buffer.size()};
    const fi_msg recv{&in, nullptr, 1, FI_ADDR_UNSPEC, &buffer, 0};
    ASSERT_EQ(fi_recvmsg(pair.b.ep, &recv, FI_MULTI_RECV), 0);
    const auto bytes = pattern(25000);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), 25000, nullptr, pair.to_b, nullptr), 0);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.flags, FI_RECV | FI_MSG);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.flags, FI_RECV | FI_MSG | FI_MULTI_RECV);
    EXPECT_EQ(entry.buf, buffer.data() + 25000);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.begin() + 25000));
}

TEST(EngineMessages, AShortMessageThatEndsABufferDoesNotReleaseItUnderALongOne) {
    Pair pair;
    std::vector<unsigned char> buffer(25030);
    const iovec in{buffer.data(), buffer.size()};
    const fi_msg recv{&in, nullptr, 1, FI_ADDR_UNSPEC, &buffer, 0};
    ASSERT_EQ(fi_recvmsg(pair.b.ep, &recv, FI_MULTI_RECV), 0);
    const auto bytes = pattern(25000);
    ASSERT_EQ(fi_cancel(&pair.b.ep->fid, &buffer), 0);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.b.read(&entry), -FI_EAVAIL);
    EXPECT_EQ(pair.b.read_error().err, FI_ECANCELED);
    const size_t least = 20;
    ASSERT_EQ(fi_setopt(&pair.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
    ASSERT_EQ(fi_recvmsg(pair.b.ep, &recv, FI_MULTI_RECV), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), 25000, nullptr, pair.to_b, nullptr), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), 15, nullptr, pair.to_b, nullptr), 0);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.len, 15u);
    EXPECT_EQ(entry.flags, FI_RECV | FI_MSG);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.len, 25000u);
    EXPECT_EQ(entry.flags, FI_RECV | FI_MSG | FI_MULTI_RECV);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.begin()));
}

// fi_endpoint(3), FI_FENCE: deferred until all previous operations to the peer have completed. A long message that the
// peer has claimed and not received is one of them, however much comes between.
TEST(EngineMessages, AFencedMessageWaitsForOneThatThePeerHasClaimedUntilItReceivesIt) {
    Pair pair;
    const Bytes large = pattern(60'000);
    Bytes got(large.size());
    char byte = 1, in = 0;
    fi_context2 context{};
    const auto send = [&](const void* bytes, size_t size, uint64_t flags) {
        const iovec range{const_cast<void*>(bytes), size};
        const fi_msg_tagged message{&range, nullptr, 1, pair.to_b, 5, 0, nullptr, 0};
        ASSERT_EQ(fi_tsendmsg(pair.a.ep, &message, flags), 0);
        pair.progress();
    };
    const auto completed = [](Node& node) {
        fi_cq_tagged_entry entry;
        int count = 0;
        while (node.read(&entry) == 1) ++count;
        return count;
    };
    send(large.data(), large.size(), 0);
    const fi_msg_tagged look{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 5, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK | FI_CLAIM), 0);
    ASSERT_EQ(completed(pair.b), 1);
    ASSERT_EQ(fi_trecv(pair.b.ep, &in, 1, nullptr, FI_ADDR_UNSPEC, 5, 0, nullptr), 0);
    send(&byte, 1, FI_FENCE);
    EXPECT_EQ(completed(pair.a), 0);
    EXPECT_EQ(completed(pair.b), 0);
    const iovec range{got.data(), got.size()};
    const fi_msg_tagged claim{&range, nullptr, 1, FI_ADDR_UNSPEC, 5, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &claim, FI_CLAIM), 0);
    pair.progress();
    EXPECT_EQ(completed(pair.a), 2);
    EXPECT_EQ(completed(pair.b), 2);
    EXPECT_EQ(got, large);
    EXPECT_EQ(in, 1);
}

TEST(EngineMessages, APeekTellsOfAMessageAndLeavesClaimsOrDropsIt) {
    Pair pair;
    fi_context context{};
    const fi_msg_tagged look{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 5, 0, &context, 0};
    fi_cq_tagged_entry entry;
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK), 0);
    ASSERT_EQ(pair.b.read(&entry), -FI_EAVAIL);
    EXPECT_EQ(pair.b.read_error().err, FI_ENOMSG);
    const auto bytes = pattern(20000);
    ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, 5, nullptr), 0);
    ASSERT_EQ(fi_tsenddata(pair.a.ep, bytes.data(), 10, nullptr, 77, pair.to_b, 5, nullptr), 0);
    for (const uint64_t flags : {FI_PEEK, FI_PEEK, FI_PEEK | FI_CLAIM}) {
        ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, flags), 0);
        ASSERT_EQ(pair.b.read(&entry), 1);
        EXPECT_EQ(entry.len, bytes.size());
        EXPECT_EQ(entry.tag, 5u);
        EXPECT_EQ(entry.buf, nullptr);
    }
    // The claimed one is no longer found; the next is dropped.
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK | FI_DISCARD), 0);
    ASSERT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(entry.len, 10u);
    EXPECT_EQ(entry.data, 77u);
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK), 0);
    ASSERT_EQ(pair.b.read(&entry), -FI_EAVAIL);
    EXPECT_EQ(pair.b.read_error().err, FI_ENOMSG);
    std::vector<unsigned char> got(bytes.size());
    const iovec in{got.data(), got.size()};
    const fi_msg_tagged claim{&in, nullptr, 1, FI_ADDR_UNSPEC, 5, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &claim, FI_CLAIM), 0);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(fi_trecvmsg(pair.b.ep, &claim, FI_CLAIM), -FI_EINVAL);
    EXPECT_EQ(await(pair, pair.a, &entry), 1);
    EXPECT_EQ(await(pair, pair.a, &entry), 1);
}

TEST(EngineMessages, APeekMayBringTheData) {
    Pair pair;
    const auto bytes = pattern(40);
    std::vector<unsigned char> got(40);
    const iovec in{got.data(), 20};
    ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), 40, nullptr, pair.to_b, 5, nullptr), 0);
    const fi_msg_tagged look{&in, nullptr, 1, FI_ADDR_UNSPEC, 5, 0, nullptr, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK), 0);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(entry.buf, got.data());
    EXPECT_EQ(entry.len, 40u);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + 20, bytes.begin()));
    EXPECT_EQ(got[20], 0);
}

TEST(EngineMessages, AReceiveForOneSenderIgnoresTheOthers) {
    FakeNet net;
    Node a("a"), b("b"), c("c");
    const fi_addr_t from_a = c.knows(a), from_b = c.knows(b);
    const fi_addr_t a_to = a.knows(c), b_to = b.knows(c);
    int first = 1, second = 2, got[2] = {};
    ASSERT_EQ(fi_recv(c.ep, &got[0], sizeof(int), nullptr, from_b, &got[0]), 0);
    ASSERT_EQ(fi_send(a.ep, &first, sizeof first, nullptr, a_to, nullptr), 0);
    c.progress();
    ASSERT_EQ(fi_send(b.ep, &second, sizeof second, nullptr, b_to, nullptr), 0);
    c.progress();
    fi_cq_tagged_entry entry;
    fi_addr_t source;
    ASSERT_EQ(c.read(&entry, &source), 1);
    EXPECT_EQ(source, from_b);
    EXPECT_EQ(got[0], 2);
    EXPECT_EQ(c.read(&entry), 0);
    ASSERT_EQ(fi_recv(c.ep, &got[1], sizeof(int), nullptr, from_a, &got[1]), 0);
    ASSERT_EQ(c.read(&entry, &source), 1);
    EXPECT_EQ(source, from_a);
    EXPECT_EQ(got[1], 1);
}

TEST(EngineMessages, AnEndpointReachesItself) {
    FakeNet net;
    Node node("a");
    const fi_addr_t self = node.knows(node);
    const auto bytes = pattern(30000);
    std::vector<unsigned char> got(bytes.size());
    ASSERT_EQ(fi_recv(node.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, &got), 0);
    ASSERT_EQ(fi_send(node.ep, bytes.data(), bytes.size(), nullptr, self, &net), 0);
    int seen = 0;
    for (int i = 0; i < 100; ++i) {
        fi_cq_tagged_entry entry;
        seen += node.read(&entry) == 1;
    }
    EXPECT_EQ(seen, 2);
    EXPECT_EQ(got, bytes);
}

TEST(EngineMessages, DeliveryAndMatchAreWaitedFor) {
    Pair pair;
    const auto bytes = pattern(8);
    char got[8];
    const iovec out{const_cast<unsigned char*>(bytes.data()), 8};
    fi_msg_tagged send{&out, nullptr, 1, pair.to_b, 1, 0, &send, 0};
    fi_cq_tagged_entry entry;
    ASSERT_EQ(fi_tsendmsg(pair.a.ep, &send, FI_DELIVERY_COMPLETE), 0);
    EXPECT_EQ(pair.a.read(&entry), 0);
    pair.b.progress();
    EXPECT_EQ(pair.a.read(&entry), 1);  // buffered at the target
    ASSERT_EQ(fi_tsendmsg(pair.a.ep, &send, FI_MATCH_COMPLETE), 0);
    pair.progress();
    EXPECT_EQ(pair.a.read(&entry), 0);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_trecv(pair.b.ep, got, 8, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    EXPECT_EQ(await(pair, pair.a, &entry), 1);
    ASSERT_EQ(fi_tsendmsg(pair.a.ep, &send, FI_TRANSMIT_COMPLETE), 0);  // this transport delivers later
    EXPECT_EQ(pair.a.read(&entry), 0);
    pair.progress();
    EXPECT_EQ(pair.a.read(&entry), 1);
}

TEST(EngineMessages, AFenceWaitsForAllBefore) {
    Pair pair;
    const auto bytes = pattern(40000);
    const iovec out{const_cast<unsigned char*>(bytes.data()), 8};
    fi_msg send{&out, nullptr, 1, pair.to_b, &send, 0};
    std::vector<unsigned char> got(40000);
    ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), 40000, nullptr, pair.to_b, 1, nullptr), 0);
    ASSERT_EQ(fi_sendmsg(pair.a.ep, &send, FI_FENCE), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes.data(), 9, nullptr, pair.to_b, nullptr), 0);
    char one[16];
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_recv(pair.b.ep, one, 16, nullptr, FI_ADDR_UNSPEC, one), 0);
    pair.progress();
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.b.read(&entry), 0);
    EXPECT_EQ(pair.a.read(&entry), 0);
    ASSERT_EQ(fi_trecv(pair.b.ep, got.data(), 40000, nullptr, FI_ADDR_UNSPEC, 1, 0, &got), 0);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.op_context, &got);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.len, 8u);
    ASSERT_EQ(await(pair, pair.b, &entry), 1);
    EXPECT_EQ(entry.len, 9u);
}

TEST(EngineMessages, OnlyWhatIsAskedForIsTold) {
    Setting setting;
    setting.bind_transmit |= FI_SELECTIVE_COMPLETION;
    setting.bind_receive |= FI_SELECTIVE_COMPLETION;
    setting.counters = true;
    Pair pair(setting);
    char bytes[8] = {}, got[8];
    const iovec out{bytes, 8}, in{got, 8};
    const fi_msg send{&out, nullptr, 1, pair.to_b, bytes, 0}, recv{&in, nullptr, 1, FI_ADDR_UNSPEC, got, 0};
    ASSERT_EQ(fi_recv(pair.b.ep, got, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_recvmsg(pair.b.ep, &recv, FI_COMPLETION), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, nullptr), 0);
    ASSERT_EQ(fi_sendmsg(pair.a.ep, &send, FI_COMPLETION), 0);
    pair.progress();
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.a.read(&entry), 1);
    EXPECT_EQ(entry.op_context, bytes);
    EXPECT_EQ(pair.a.read(&entry), 0);
    ASSERT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(entry.op_context, got);
    EXPECT_EQ(pair.b.read(&entry), 0);
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotSend]), 2u);
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRecv]), 2u);
    // An error is told all the same.
    ASSERT_EQ(fi_recv(pair.b.ep, got, 4, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, nullptr), 0);
    pair.progress();
    EXPECT_EQ(pair.b.read(&entry), -FI_EAVAIL);
    EXPECT_EQ(fi_cntr_readerr(pair.b.counters[kSlotRecv]), 1u);
}

TEST(EngineMessages, AnAliasHasItsOwnFlags) {
    Pair pair;
    fid_ep* alias = nullptr;
    ASSERT_EQ(fi_ep_alias(pair.a.ep, &alias, FI_TRANSMIT | FI_DELIVERY_COMPLETE), 0);
    char bytes[8] = {}, got[8];
    fi_cq_tagged_entry entry;
    ASSERT_EQ(fi_send(alias, bytes, 8, nullptr, pair.to_b, nullptr), 0);
    EXPECT_EQ(pair.a.read(&entry), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, &pair), 0);
    ASSERT_EQ(pair.a.read(&entry), 1);
    EXPECT_EQ(entry.op_context, &pair);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_recv(pair.b.ep, got, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(await(pair, pair.a, &entry), 1);
    EXPECT_EQ(fi_close(&alias->fid), 0);
}

TEST(EngineMessages, FullQueuesAnswerAgainAndLoseNothing) {
    Setting setting;
    setting.transmit_size = 4;
    setting.receive_size = 3;
    Pair pair(setting);
    pair.net.capacity = 1;
    int values[20], got[20] = {};
    std::iota(std::begin(values), std::end(values), 0);
    int sent = 0;
    while (sent < 20 && !fi_send(pair.a.ep, &values[sent], sizeof(int), nullptr, pair.to_b, nullptr)) ++sent;
    EXPECT_EQ(sent, 5);
    EXPECT_EQ(pair.a.ep->ops->tx_size_left(pair.a.ep), 0);
    int posted = 0;
    while (posted < 3 && !fi_recv(pair.b.ep, &got[posted], sizeof(int), nullptr, FI_ADDR_UNSPEC, nullptr)) ++posted;
    EXPECT_EQ(posted, 3);
    EXPECT_EQ(pair.b.ep->ops->rx_size_left(pair.b.ep), 0);
    for (int received = 0; received < 20;) {
        pair.a.progress();
        if (sent < 20 && !fi_send(pair.a.ep, &values[sent], sizeof(int), nullptr, pair.to_b, nullptr)) ++sent;
        fi_cq_tagged_entry entry;
        received += pair.b.read(&entry) == 1;
        if (posted < 20 && !fi_recv(pair.b.ep, &got[posted], 4, nullptr, FI_ADDR_UNSPEC, nullptr)) ++posted;
    }
    EXPECT_TRUE(std::equal(std::begin(values), std::end(values), std::begin(got)));
}

// Threads that post receives each for a tag of its own, on both sides, wait for ever where one can fill the context
// (MPICH's mt_issendirecv).
TEST(EngineMessages, MoreReceivesThanTheContextPromisesAreTaken) {
    Setting setting;
    setting.receive_size = 3;
    Pair pair(setting);
    int others[100], value = 42, got = 0;
    for (int& other : others) {
        ASSERT_EQ(fi_trecv(pair.b.ep, &other, sizeof other, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    }
    EXPECT_EQ(pair.b.ep->ops->rx_size_left(pair.b.ep), 0);
    ASSERT_EQ(fi_trecv(pair.b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, 2, 0, &got), 0);
    ASSERT_EQ(fi_tsend(pair.a.ep, &value, sizeof value, nullptr, pair.to_b, 2, nullptr), 0);
    pair.a.progress();
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(entry.op_context, &got);
    EXPECT_EQ(got, 42);
}

TEST(EngineMessages, TheReceivesThatAContextTakesHaveAnEnd) {
    Setting setting;
    setting.receive_size = 3;
    Pair pair(setting);
    char byte = 0;
    size_t posted = 0;
    while (!fi_recv(pair.b.ep, &byte, 1, nullptr, FI_ADDR_UNSPEC, nullptr)) ++posted;
    EXPECT_EQ(posted, kReceivesMax);
}

TEST(EngineMessages, AFullCompletionQueueHoldsSendersBack) {
    Setting setting;
    setting.cq_size = 4;
    Pair pair(setting);
    char bytes[8] = {};
    int sent = 0;
    while (sent < 100 && !fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, nullptr)) ++sent;
    EXPECT_EQ(sent, 4);
    EXPECT_EQ(fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, nullptr), -FI_EAGAIN);
    EXPECT_EQ(fi_inject(pair.a.ep, bytes, 8, pair.to_b), 0);  // it writes no entry
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.a.read(&entry), 1);
    EXPECT_EQ(fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, nullptr), 0);
}

TEST(EngineMessages, CancelledReceivesAndSendsAreTold) {
    Pair pair;
    pair.net.capacity = 0;
    char bytes[8] = {};
    ASSERT_EQ(fi_trecv(pair.a.ep, bytes, 8, nullptr, FI_ADDR_UNSPEC, 9, 0, &pair), 0);
    ASSERT_EQ(fi_send(pair.a.ep, bytes, 8, nullptr, pair.to_b, bytes), 0);
    EXPECT_EQ(fi_cancel(&pair.a.ep->fid, &pair), 0);
    EXPECT_EQ(fi_cancel(&pair.a.ep->fid, bytes), 0);
    EXPECT_EQ(fi_cancel(&pair.a.ep->fid, bytes), -FI_ENOENT);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.a.read(&entry), -FI_EAVAIL);
    fi_cq_err_entry error = pair.a.read_error();
    EXPECT_EQ(error.err, FI_ECANCELED);
    EXPECT_EQ(error.op_context, &pair);
    EXPECT_EQ(error.flags, FI_RECV | FI_TAGGED);
    ASSERT_EQ(pair.a.read(&entry), -FI_EAVAIL);
    error = pair.a.read_error();
    EXPECT_EQ(error.err, FI_ECANCELED);
    EXPECT_EQ(error.op_context, bytes);
    pair.net.capacity = 10;
    pair.progress();
    EXPECT_EQ(pair.b.read(&entry), 0);
}

TEST(EngineMessages, WhatDoesNotFitTheCallIsRefused) {
    Setting setting;
    setting.enable = false;
    FakeNet net;
    Node off("off", setting);
    char bytes[8] = {};
    EXPECT_EQ(fi_send(off.ep, bytes, 8, nullptr, 0, nullptr), -FI_EOPBADSTATE);
    EXPECT_EQ(fi_trecv(off.ep, bytes, 8, nullptr, 0, 0, 0, nullptr), -FI_EOPBADSTATE);
    setting.enable = true;
    setting.caps = FI_MSG | FI_SEND;
    Node sender("sender", setting);
    EXPECT_EQ(fi_recv(sender.ep, bytes, 8, nullptr, 0, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_tsend(sender.ep, bytes, 8, nullptr, 0, 0, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_send(sender.ep, bytes, 8, nullptr, 5, nullptr), -FI_EINVAL);  // no such address
    iovec many[9] = {};
    EXPECT_EQ(fi_sendv(sender.ep, many, nullptr, 9, 0, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_sendmsg(sender.ep, nullptr, 0), -FI_EINVAL);
    fi_msg message{many, nullptr, 1, 0, nullptr, 0};
    EXPECT_EQ(fi_sendmsg(sender.ep, &message, FI_PEEK), -FI_EBADFLAGS);
}

TEST(EngineMessages, EveryThreadMaySendThroughASharedContext) {
    Setting setting;
    setting.shared = true;
    setting.threading = FI_THREAD_SAFE;
    FakeNet net;
    Node a("a"), b("b", setting);
    const fi_addr_t to = a.knows(b);
    b.knows(a);
    int value = 3, got = 0;
    ASSERT_EQ(fi_send(a.ep, &value, sizeof value, nullptr, to, nullptr), 0);
    b.progress();
    ASSERT_EQ(fi_recv(b.srx, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, &got), 0);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(b.read(&entry), 1);
    EXPECT_EQ(entry.op_context, &got);
    EXPECT_EQ(got, 3);
    ASSERT_EQ(fi_recv(b.srx, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, &got), 0);  // outlives the endpoint
    b.close();
}

TEST(EngineMessages, InjectedMessagesCountThoughNoEntryTellsOfThem) {
    Pair pair({.counters = true});
    char got[8];
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_recv(pair.b.ep, got, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_trecv(pair.b.ep, got, 8, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fi_inject(pair.a.ep, "abc", 3, pair.to_b), 0);
    ASSERT_EQ(fi_tinject(pair.a.ep, "abc", 3, pair.to_b, 1), 0);
    pair.progress();
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotSend]), 3u);
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.a.read(&entry), 0);
}

}  // namespace
}  // namespace selvage::impl::test
