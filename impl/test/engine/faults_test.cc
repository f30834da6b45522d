// Peers that die and peers that lie.
#include <random>

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

Setting with_pulls(bool pulls) {
    Setting setting;
    setting.pulls = pulls;
    return setting;
}

// Everything a queue holds: successes, and error codes.
struct Tally {
    int good = 0;
    std::vector<int> errors;
};
Tally drain(Node& node) {
    Tally tally;
    for (int i = 0; i < 1000; ++i) {
        fi_cq_tagged_entry entry;
        const ssize_t result = node.read(&entry);
        if (!result) return tally;
        if (result == 1) {
            ++tally.good;
        } else {
            tally.errors.push_back(node.read_error().err);
        }
    }
    return tally;
}

TEST(EngineFaults, EveryPendingOperationOfADeadPeerFailsAndOthersGoOn) {
    FakeNet net;
    Node a("a"), b("b"), c("c");
    const fi_addr_t to_b = a.knows(b), to_c = a.knows(c);
    c.knows(a);
    std::vector<char> large(100000), memory(100000);
    const uint64_t key = b.exposes(memory.data(), memory.size());
    net.capacity = 3;
    ASSERT_EQ(fi_send(a.ep, large.data(), large.size(), nullptr, to_b, nullptr), 0);
    ASSERT_EQ(fi_read(a.ep, large.data(), 90000, nullptr, to_b, 0, key, nullptr), 0);
    ASSERT_EQ(fi_write(a.ep, large.data(), 90000, nullptr, to_b, 0, key, nullptr), 0);
    uint64_t one = 1;
    ASSERT_EQ(fi_atomic(a.ep, &one, 1, nullptr, to_b, 0, key, FI_UINT64, FI_SUM, nullptr), 0);
    ASSERT_EQ(fi_inject(a.ep, large.data(), 100, to_b), 0);
    ASSERT_EQ(fi_send(a.ep, large.data(), large.size(), nullptr, to_c, nullptr), 0);
    auto& transport = a.transport<false>();
    transport.cut(*transport.peer_called(b.endpoint.shm_address), FI_ECONNRESET);
    const Tally tally = drain(a);
    EXPECT_EQ(tally.good, 0);
    EXPECT_EQ(tally.errors, std::vector<int>(5, FI_ECONNRESET));
    std::vector<char> got(large.size());
    ASSERT_EQ(fi_recv(c.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    for (int i = 0; i < 100; ++i) a.progress(), c.progress();
    EXPECT_EQ(drain(a).good, 1);
    EXPECT_EQ(drain(c).good, 1);
    EXPECT_EQ(a.endpoint.path->transmit_left(), 64u);
    // The address is good again when somebody is there.
    net.capacity = 10;
    char byte = 1;
    ASSERT_EQ(fi_send(a.ep, &byte, 1, nullptr, to_b, nullptr), 0);
    EXPECT_EQ(drain(a).good, 1);
}

TEST(EngineFaults, WhatADeadPeerHadSentStaysAndWhatItHadAnnouncedGoes) {
    Pair pair;
    std::vector<char> large(50000);
    char small[10] = "complete";
    ASSERT_EQ(fi_tsend(pair.a.ep, small, sizeof small, nullptr, pair.to_b, 1, nullptr), 0);
    ASSERT_EQ(fi_tsend(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, 2, nullptr), 0);
    ASSERT_EQ(fi_tsend(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, 3, nullptr), 0);
    pair.b.progress();
    fi_context context{};
    const fi_msg_tagged look{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 3, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &look, FI_PEEK | FI_CLAIM), 0);
    EXPECT_EQ(drain(pair.b).good, 1);
    pair.a.close();
    EXPECT_TRUE(drain(pair.b).errors.empty());
    char got[10] = {};
    ASSERT_EQ(fi_trecv(pair.b.ep, got, sizeof got, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    fi_cq_tagged_entry entry;
    fi_addr_t source;
    ASSERT_EQ(pair.b.read(&entry, &source), 1);
    EXPECT_STREQ(got, small);
    EXPECT_EQ(source, pair.to_a);
    ASSERT_EQ(fi_trecv(pair.b.ep, large.data(), large.size(), nullptr, FI_ADDR_UNSPEC, 2, 0, nullptr), 0);
    EXPECT_EQ(pair.b.read(&entry), 0);
    const iovec in{large.data(), large.size()};
    const fi_msg_tagged claim{&in, nullptr, 1, FI_ADDR_UNSPEC, 3, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &claim, FI_CLAIM), 0);
    EXPECT_EQ(drain(pair.b).errors.size(), 1u);
}

TEST(EngineFaults, AMessageThatIsCutOffHalfwayIsAnErrorAtTheReceiver) {
    for (const size_t pieces : {SIZE_MAX, size_t{0}}) {
        Pair pair;
        pair.net.pieces_above = pieces;
        pair.net.capacity = 1;
        std::vector<char> large(100000), got(100000);
        ASSERT_EQ(fi_recv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, &got), 0);
        ASSERT_EQ(fi_send(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, nullptr), 0);
        for (int i = 0; i < 3; ++i) pair.b.progress(), pair.a.progress();
        auto& transport = pair.b.transport<false>();
        transport.cut(*transport.peer_called(pair.a.endpoint.shm_address));
        EXPECT_EQ(drain(pair.b).errors, std::vector<int>{FI_ECONNRESET});
        EXPECT_EQ(drain(pair.a).errors, std::vector<int>{FI_ECONNRESET});
    }
}

// Whatever moment a peer dies at: as many answers as operations, and nothing leaks (the sanitizer says so).
TEST(EngineFaults, DeathAtAnyMoment) {
    for (unsigned seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Setting setting = with_pulls(seed % 2);
        if (seed % 3 == 0) setting.comp_order = FI_ORDER_STRICT;
        Pair pair(setting);
        pair.net.capacity = 1 + random() % 6;
        pair.net.holds = random() % 2;
        pair.net.pieces_above = random() % 2 ? 0 : SIZE_MAX;
        pair.net.per_progress = 1 + random() % 5;
        std::vector<char> memory(60000), local(60000);
        const uint64_t key = pair.b.exposes(memory.data(), memory.size());
        int sends = 0, receives = 0;
        Tally a, b;
        const int moment = static_cast<int>(random() % 60);
        const auto add = [](Tally& sum, const Tally& more) {
            sum.good += more.good;
            sum.errors.insert(sum.errors.end(), more.errors.begin(), more.errors.end());
        };
        for (int i = 0; i < moment; ++i) {
            const size_t size = random() % 3 ? random() % 700 : random() % 60000;
            ssize_t result = 0;
            switch (random() % 7) {
                case 0:
                case 1:
                    result = fi_tsend(pair.a.ep, local.data(), size, nullptr, pair.to_b, random() % 2, nullptr);
                    break;
                case 2:
                    result = fi_write(pair.a.ep, local.data(), size, nullptr, pair.to_b, 0, key, nullptr);
                    break;
                case 3:
                    result = fi_read(pair.a.ep, local.data(), size, nullptr, pair.to_b, 0, key, nullptr);
                    break;
                case 4:
                    result = fi_trecv(pair.b.ep, memory.data(), memory.size(), nullptr, FI_ADDR_UNSPEC, random() % 2, 0,
                                      nullptr);
                    receives += !result;
                    continue;
                case 5:
                    add(a, drain(pair.a));
                    continue;
                default:
                    add(b, drain(pair.b));
                    continue;
            }
            ASSERT_TRUE(!result || result == -FI_EAGAIN);
            sends += !result;
        }
        if (random() % 2) {
            pair.b.close();
        } else if (auto* peer =
                       setting.pulls ? nullptr : pair.a.transport<false>().peer_called(pair.b.endpoint.shm_address)) {
            pair.a.transport<false>().cut(*peer);
        } else {
            pair.b.close();
        }
        for (int i = 0; i < 100; ++i) {
            add(a, drain(pair.a));
            if (!pair.b.closed) add(b, drain(pair.b));
        }
        EXPECT_EQ(a.good + static_cast<int>(a.errors.size()), sends);
        EXPECT_LE(b.good + static_cast<int>(b.errors.size()), receives);
        EXPECT_EQ(pair.a.endpoint.path->transmit_left(), setting.transmit_size);
    }
}

TEST(EngineFaults, AFrameThatMakesNoSenseDropsItsPeerAlone) {
    for (const bool pulls : {false, true}) {
        for (uint32_t op = 0; op < 18; ++op) {
            for (uint32_t seed = 0; seed < 200; ++seed) {
                SCOPED_TRACE(std::to_string(op) + " " + std::to_string(seed));
                std::mt19937 random(seed);
                Pair pair(with_pulls(pulls));
                Node c("c", with_pulls(pulls));
                c.knows(pair.b);
                char small = 1;
                std::vector<char> large(30000), memory(30000);
                const uint64_t key = pair.b.exposes(memory.data(), memory.size());
                ASSERT_EQ(fi_recv(pair.a.ep, &small, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
                // Something under way in every way, so that there is something to be confused about.
                ASSERT_EQ(fi_tsend(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, 1, nullptr), 0);
                ASSERT_EQ(fi_write(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, 0, key, nullptr), 0);
                ASSERT_EQ(fi_read(pair.a.ep, large.data(), 10, nullptr, pair.to_b, 0, key, nullptr), 0);
                const auto pick = [&]() -> uint64_t {
                    switch (random() % 6) {
                        case 0:
                            return 0;
                        case 1:
                            return uint64_t{1} << 32;  // the first id of every pool
                        case 2:
                            return (uint64_t{1} << 32) + random() % 4;
                        case 3:
                            return random() % 64;
                        case 4:
                            return key;
                        default:
                            return (uint64_t{random()} << 32) | random();
                    }
                };
                Header header{.size = static_cast<uint32_t>(random() % 3 ? random() % 100 : 0),
                              .op = static_cast<uint8_t>(op),
                              .flags = static_cast<uint8_t>(random() % 3 ? 0 : random()),
                              .aux = static_cast<uint16_t>(random() % 3 ? random() % 3 : random()),
                              .word = {pick(), pick(), pick()}};
                std::vector<std::byte> bytes(header.size);
                for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
                    const uint64_t word = pick();
                    memcpy(bytes.data() + i, &word, 8);
                }
                if (seed % 2) pair.net.pieces_above = 0;
                if (pulls) {
                    // Ranges that a frame names are never followed here: the fake would.
                    pair.net.pull_error = -FI_EFAULT;
                    auto& transport = pair.b.transport<true>();
                    transport.forge(*transport.peer_called(pair.a.endpoint.shm_address), header, bytes);
                } else {
                    auto& transport = pair.b.transport<false>();
                    transport.forge(*transport.peer_called(pair.a.endpoint.shm_address), header, bytes);
                }
                pair.progress();
                drain(pair.a);
                drain(pair.b);
                // Others are not touched by it.
                const fi_addr_t to_c = pair.a.knows(c), from_a = c.knows(pair.a);
                int value = static_cast<int>(seed), got = 0;
                const fi_msg_tagged recv{nullptr, nullptr, 0, from_a, 0, 0, nullptr, 0};
                static_cast<void>(recv);
                ASSERT_EQ(fi_trecv(c.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, 77, 0, nullptr), 0);
                ASSERT_EQ(fi_tsend(pair.a.ep, &value, sizeof value, nullptr, to_c, 77, nullptr), 0);
                c.progress();
                EXPECT_EQ(drain(c).good, 1);
                EXPECT_EQ(got, value);
            }
        }
    }
}

TEST(EngineFaults, ASegmentThatIsLongerThanItsMessageIsRefused) {
    for (const size_t pieces : {SIZE_MAX, size_t{0}}) {
        Pair pair;
        pair.net.pieces_above = pieces;
        std::vector<char> large(30000), got(40000);
        pair.net.inspect = [](Packet& packet) {
            if (packet.header.op != static_cast<uint8_t>(FrameOp::Segment) || !packet.header.word[1]) return true;
            packet.bytes.resize(packet.bytes.size() + 1, std::byte{1});
            ++packet.header.size;
            return true;
        };
        ASSERT_EQ(fi_recv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, &got), 0);
        ASSERT_EQ(fi_send(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, nullptr), 0);
        pair.progress();
        EXPECT_EQ(drain(pair.b).errors, std::vector<int>{FI_ECONNABORTED});
        EXPECT_EQ(got[30000], 0);
    }
}

TEST(EngineFaults, AnAnswerByAnotherPeerIsRefused) {
    Pair pair;
    Node c("c");
    const fi_addr_t to_a = c.knows(pair.a);
    std::vector<char> large(30000);
    char byte = 0;
    uint64_t id = 0;
    pair.net.inspect = [&](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::MessageRts)) id = packet.header.word[2];
        return true;
    };
    ASSERT_EQ(fi_send(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, nullptr), 0);
    ASSERT_EQ(fi_send(c.ep, &byte, 1, nullptr, to_a, nullptr), 0);
    pair.progress();
    ASSERT_NE(id, 0u);
    auto& transport = c.transport<false>();
    const Header done{.size = 0, .op = static_cast<uint8_t>(FrameOp::Ack), .flags = 0, .aux = 0, .word = {id, 0, 0}};
    transport.forge(*transport.peer_called(pair.a.endpoint.shm_address), done);
    pair.progress();
    EXPECT_EQ(drain(pair.a).good, 0);
    std::vector<char> got(30000);
    ASSERT_EQ(fi_recv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    pair.progress();
    EXPECT_EQ(drain(pair.a).good, 1);
}

TEST(EngineFaults, SegmentsOfAWriteStopAtARegionThatIsClosed) {
    Pair pair;
    pair.net.capacity = 1;
    pair.net.per_progress = 1;
    std::vector<char> large(200000, 1), memory(200000);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    ASSERT_EQ(fi_write(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, 0, key, nullptr), 0);
    for (int i = 0; i < 4; ++i) pair.b.progress(), pair.a.progress();
    ASSERT_EQ(fi_close(&pair.b.regions.back()->fid), 0);
    pair.b.regions.pop_back();
    pair.progress();
    const Tally tally = drain(pair.a);
    EXPECT_EQ(tally.errors, std::vector<int>{FI_ENOKEY});
    EXPECT_EQ(memory.back(), 0);
    // The way is free for others.
    const uint64_t next = pair.b.exposes(memory.data(), memory.size(), FI_REMOTE_WRITE, 8);
    ASSERT_EQ(fi_write(pair.a.ep, large.data(), large.size(), nullptr, pair.to_b, 0, next, nullptr), 0);
    pair.progress();
    EXPECT_EQ(drain(pair.a).good, 1);
    EXPECT_EQ(memory, large);
}

}  // namespace
}  // namespace selvage::impl::test
