// How far a peer may send ahead of the receives for its messages.
#include "impl/engine/protocol.h"
#include "impl/test/engine/pair.h"
#include "impl/test/engine/stat_view.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kTransmits = 64;
constexpr size_t kLookEvery = 100;
constexpr uint64_t kLastTag = uint64_t{1} << 60;

struct Flood : Pair {
    uint64_t value = 0;
    size_t sent = 0;       // taken by fi_tsend
    size_t completed = 0;  // at the sender

    void reap() {
        fi_cq_tagged_entry entry;
        while (a.read(&entry) == 1) ++completed;
    }
    // Short messages, tags from 0 on, until no more are taken.
    void pour() {
        for (const size_t end = sent + 4 * kWindowUsual; sent < end;) {
            const ssize_t result = fi_tsend(a.ep, &value, sizeof value, nullptr, to_b, sent, nullptr);
            if (result && result != -FI_EAGAIN) {
                ADD_FAILURE() << result;
                return;
            }
            if (!result) ++sent;
            if (result || sent % kLookEvery == 0) {
                progress();
                reap();
            }
            if (result && fi_tsend(a.ep, &value, sizeof value, nullptr, to_b, sent, nullptr)) return;
            if (result) ++sent;
        }
    }
    // As many as the first window has room for.
    void fill() {
        for (; sent < kWindowFirst; ++sent) {
            ASSERT_EQ(fi_tsend(a.ep, &value, sizeof value, nullptr, to_b, sent, nullptr), 0);
            progress();
            reap();
        }
        ASSERT_EQ(completed, sent);
    }
    // How far b lets a peer send ahead.
    size_t window_of(const Node& node) {
        auto* peer = b.transport<false>().peer_called(node.endpoint.shm_address);
        return peer ? peer->window() : 0;
    }
    size_t window() { return window_of(a); }
    // So many messages from a node, each received at once: b's window for it grows as far as it may.
    void exchange(Node& from, size_t count) {
        const fi_addr_t to = from.knows(b);
        fi_cq_tagged_entry entry;
        constexpr uint64_t kTag = uint64_t{1} << 61;
        for (size_t i = 0; i < count; ++i) {
            ASSERT_EQ(fi_trecv(b.ep, nullptr, 0, nullptr, FI_ADDR_UNSPEC, kTag, 0, nullptr), 0);
            ASSERT_EQ(fi_tsend(from.ep, nullptr, 0, nullptr, to, kTag, nullptr), 0);
            ssize_t got = 0;
            for (int k = 0; k < 20 && !(got = b.read(&entry)); ++k) from.progress();
            ASSERT_EQ(got, 1);
            ASSERT_EQ(from.read(&entry), 1);
        }
    }
    void grow() { exchange(a, kWindowUsual); }
    // The messages with these tags, each for a receive of its own, in this order.
    void take(size_t from, size_t to) {
        for (size_t tag = from; tag < to; ++tag) {
            uint64_t got = 0;
            fi_cq_tagged_entry entry;
            ASSERT_EQ(fi_trecv(b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, 0, ~uint64_t{0}, &got), 0);
            ssize_t result = 0;
            for (int i = 0; i < 20 && !(result = b.read(&entry)); ++i) a.progress();
            ASSERT_EQ(result, 1) << tag;
            ASSERT_EQ(entry.tag, tag);
            reap();
        }
    }
};

// Of both sides each knows the other.
bool have_met(Pair& pair) {
    char byte = 1;
    const bool sent = fi_tsend(pair.a.ep, &byte, 1, nullptr, pair.to_b, 1, nullptr) == 0;
    pair.progress();
    return sent;
}

TEST(EngineWindow, WhatIsSentTooFarAheadWaitsAtTheSenderAndArrivesInOrder) {
    Flood flood;
    flood.pour();
    EXPECT_EQ(flood.sent, kWindowFirst + kTransmits);
    EXPECT_EQ(flood.completed, static_cast<size_t>(kWindowFirst));
    flood.take(0, flood.sent);
    flood.progress();
    flood.reap();
    EXPECT_EQ(flood.completed, flood.sent);
    // The receives have given the window back, but for less than a quarter.
    const size_t before = flood.sent;
    const size_t window = flood.window();
    flood.pour();
    EXPECT_GT(flood.sent - before, window * 3 / 4);
    EXPECT_LE(flood.sent - before, window + kTransmits);
    flood.take(before, flood.sent);
}

TEST(EngineWindow, AShortMessageBeyondItNeedsNothingOfItsSenderToBeReceived) {
    for (const size_t size : {size_t{0}, size_t{1}, kUnchargedMost, kUnchargedMost + 1}) {
        Flood flood;
        flood.fill();
        const Bytes bytes = pattern(size);
        Bytes got(size);
        ASSERT_EQ(fi_tsend(flood.a.ep, bytes.data(), size, nullptr, flood.to_b, kLastTag, nullptr), 0);
        const auto receive = [&] {
            ASSERT_EQ(fi_trecv(flood.b.ep, got.data(), size, nullptr, FI_ADDR_UNSPEC, kLastTag, 0, nullptr), 0);
        };
        const bool posted = size == 1;  // before it comes, or behind it
        if (posted) receive();
        flood.b.progress();
        if (!posted) receive();
        fi_cq_tagged_entry entry;
        EXPECT_EQ(flood.b.read(&entry), size <= kUnchargedMost ? 1 : 0) << size;
        EXPECT_EQ(flood.a.read(&entry), size <= kUnchargedMost ? 1 : 0) << size;
        flood.progress();
        EXPECT_EQ(got, bytes);
    }
}

TEST(EngineWindow, ShortMessagesBeyondItAreForgottenWhenTheyHaveBeenReceived) {
    Flood flood;
    for (int round = 0; round < 8; ++round) {
        const size_t before = flood.sent;
        flood.pour();
        ASSERT_GE(flood.sent - before, kTransmits) << round;
        flood.take(before, flood.sent);
        flood.progress();
        flood.reap();
        ASSERT_EQ(flood.completed, flood.sent) << round;
    }
}

TEST(EngineWindow, ShortMessagesBeyondItStayWhenTheirSenderIsLost) {
    Flood flood;
    flood.pour();
    flood.progress();
    flood.a.close();
    flood.b.progress();
    for (size_t tag = 0; tag < flood.sent; ++tag) {
        uint64_t got = 1;
        fi_cq_tagged_entry entry;
        ASSERT_EQ(fi_trecv(flood.b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, tag, 0, nullptr), 0);
        ASSERT_EQ(flood.b.read(&entry), 1) << tag;
        ASSERT_EQ(got, flood.value);
    }
}

TEST(EngineWindow, AWindowGrowsWithItsUseUpToItsMost) {
    Flood flood;
    flood.grow();
    EXPECT_EQ(flood.window(), window_most());
    const size_t before = flood.sent;
    flood.pour();
    EXPECT_GT(flood.sent - before, size_t{window_most()} * 3 / 4);
    EXPECT_LE(flood.sent - before, window_most() + kTransmits);
    flood.take(before, flood.sent);
}

TEST(EngineWindow, AllPeersOfAnEndpointShareWhatTheirWindowsGrowBy) {
    constexpr size_t kPeers = kSharedUnits / (kWindowUsual - kWindowFirst) + 3;
    Flood flood;
    flood.grow();
    std::vector<std::unique_ptr<Node>> others;
    size_t shared = flood.window() - kWindowFirst;
    for (size_t i = 1; i < kPeers; ++i) {
        others.push_back(std::make_unique<Node>(("other" + std::to_string(i)).c_str()));
        flood.exchange(*others.back(), kWindowUsual);
        shared += flood.window_of(*others.back()) - kWindowFirst;
    }
    EXPECT_EQ(shared, kSharedUnits);
    EXPECT_EQ(flood.window_of(*others.back()), kWindowFirst) << "nothing was left for it";
    // What one had is there for another once it is gone.
    others.front()->close();
    flood.progress();
    flood.exchange(*others.back(), kWindowUsual);
    EXPECT_EQ(flood.window_of(*others.back()), window_most());
}

TEST(EngineWindow, MessagesOfLostPeersCountUntilTheyAreReceived) {
    constexpr size_t kFit = kOrphanUnits / kWindowFirst;
    FakeNet net;
    Node target("target");
    const auto flood_and_go = [&](size_t i) {
        Node sender(("sender" + std::to_string(i)).c_str());
        const fi_addr_t to = sender.knows(target);
        fi_cq_tagged_entry entry;
        for (size_t k = 0; k < kWindowFirst; ++k) {
            ASSERT_EQ(fi_tsend(sender.ep, nullptr, 0, nullptr, to, i, nullptr), 0);
            target.progress();
            ASSERT_EQ(sender.read(&entry), 1);
        }
        sender.close();
        target.progress();
    };
    const auto received = [&](size_t i) {
        size_t count = 0;
        fi_cq_tagged_entry entry;
        for (; count < kWindowFirst; ++count) {
            EXPECT_EQ(fi_trecv(target.ep, nullptr, 0, nullptr, FI_ADDR_UNSPEC, i, 0, &count), 0);
            if (target.read(&entry) != 1) break;
        }
        if (count < kWindowFirst) {
            EXPECT_EQ(fi_cancel(&target.ep->fid, &count), 0);
            EXPECT_EQ(target.read_error().err, FI_ECANCELED);
        }
        return count;
    };
    for (size_t i = 0; i <= kFit; ++i) flood_and_go(i);
    EXPECT_EQ(received(kFit), 0U) << "discarded";
    EXPECT_EQ(received(0), static_cast<size_t>(kWindowFirst));
    flood_and_go(kFit + 1);
    for (size_t i = 1; i < kFit; ++i) ASSERT_EQ(received(i), static_cast<size_t>(kWindowFirst));
    EXPECT_EQ(received(kFit + 1), static_cast<size_t>(kWindowFirst));
}

TEST(EngineWindow, LongMessagesUseMoreOfIt) {
    Pair pair;
    std::vector<char> bytes(8000);
    size_t at_once = 0;
    fi_cq_tagged_entry entry;
    for (int i = 0; i < 2000 && !fi_tsend(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, 1, nullptr); ++i) {
        pair.progress();
        if (pair.a.read(&entry) == 1) ++at_once;
    }
    EXPECT_EQ(at_once, static_cast<size_t>(kWindowFirst / units_of(bytes.size())));
}

TEST(EngineWindow, AnswersPassAPeerThatIsFarAhead) {
    Flood flood;
    flood.pour();
    // The flooded side sends and waits for it before it takes anything.
    std::vector<char> large(100'000, 'x'), got(large.size());
    ASSERT_EQ(fi_tsend(flood.b.ep, large.data(), large.size(), nullptr, flood.to_a, 1, nullptr), 0);
    ASSERT_EQ(fi_trecv(flood.a.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    flood.progress();
    fi_cq_tagged_entry entry;
    EXPECT_EQ(flood.b.read(&entry), 1);
    EXPECT_EQ(got, large);
}

TEST(EngineWindow, AMessageThatIsWantedIsNotBehindOthersThatAreNot) {
    Flood flood;
    flood.pour();
    uint64_t got = 0;
    const uint64_t last = flood.sent - 1;
    ASSERT_EQ(fi_trecv(flood.b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, last, 0, &got), 0);
    flood.progress();
    fi_cq_tagged_entry entry;
    ASSERT_EQ(flood.b.read(&entry), 1);
    EXPECT_EQ(entry.tag, last);
}

TEST(EngineWindow, OthersAreNotHeldUp) {
    Flood flood;
    Node c("c");
    flood.pour();
    const fi_addr_t to_b = c.knows(flood.b);
    char byte = 1, got = 0;
    constexpr uint64_t kOther = uint64_t{1} << 60;
    ASSERT_EQ(fi_trecv(flood.b.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, kOther, 0, &got), 0);
    ASSERT_EQ(fi_tsend(c.ep, &byte, 1, nullptr, to_b, kOther, nullptr), 0);
    flood.progress();
    fi_cq_tagged_entry entry;
    EXPECT_EQ(flood.b.read(&entry), 1);
    EXPECT_EQ(got, 1);
}

TEST(EngineWindow, WhatIsThrownAwayUnreadIsGivenBack) {
    Flood flood;
    flood.pour();
    for (size_t i = 0; i < flood.sent; ++i) {
        fi_context context{};
        const fi_msg_tagged message{nullptr, nullptr, 0, FI_ADDR_UNSPEC, i, 0, &context, 0};
        ASSERT_EQ(fi_trecvmsg(flood.b.ep, &message, FI_PEEK | FI_DISCARD), 0);
        fi_cq_tagged_entry entry;
        ASSERT_EQ(flood.b.read(&entry), 1);
    }
    flood.progress();
    flood.reap();
    const size_t before = flood.sent;
    flood.pour();
    EXPECT_GT(flood.sent - before, flood.window() * 3 / 4);
}

TEST(EngineWindow, WhoComesAgainBeginsAnew) {
    Flood flood;
    flood.pour();
    auto& transport = flood.a.transport<false>();
    transport.cut(*transport.peer_called(flood.b.endpoint.shm_address), FI_ECONNRESET);
    fi_cq_tagged_entry entry;
    size_t failed = 0;
    for (int i = 0; i < 1000; ++i) {
        if (flood.a.read(&entry) >= 0) continue;
        flood.a.read_error();
        ++failed;
    }
    EXPECT_EQ(failed, kTransmits);
    flood.b.progress();
    flood.sent = flood.completed = 0;
    flood.pour();
    EXPECT_EQ(flood.completed, static_cast<size_t>(kWindowFirst));
}

TEST(EngineWindow, WhatWasCancelledIsGivenBack) {
    Pair pair;
    pair.net.capacity = 1;
    char byte = 1;
    ASSERT_EQ(fi_tsend(pair.a.ep, &byte, 1, nullptr, pair.to_b, 1, &byte), 0);
    auto* peer = pair.a.transport<false>().peer_called(pair.b.endpoint.shm_address);
    ASSERT_NE(peer, nullptr);
    const int left = peer->units_left();
    std::vector<char> bytes(5000);
    ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, 1, bytes.data()), 0);
    EXPECT_EQ(peer->units_left(), left - units_of(bytes.size()));
    EXPECT_FALSE(peer->may_send(1));
    ASSERT_EQ(fi_cancel(&pair.a.ep->fid, bytes.data()), 0);
    EXPECT_EQ(peer->units_left(), left);
}

// It has its units while it waits, and the peer gives them, too.
TEST(EngineWindow, UnitsThatAPeerGaveTwiceCountOnce) {
    Pair pair;
    ASSERT_TRUE(have_met(pair));
    auto& transport = pair.b.transport<false>();
    auto& back = *transport.peer_called(pair.a.endpoint.shm_address);
    auto& peer = *pair.a.transport<false>().peer_called(pair.b.endpoint.shm_address);
    pair.net.capacity = 0;
    std::vector<char> bytes(5000);
    ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, 1, bytes.data()), 0);
    const auto gives = [&](int units) {
        transport.forge(back, {.size = 0,
                               .op = static_cast<uint8_t>(FrameOp::Credit),
                               .flags = 0,
                               .aux = 0,
                               .word = {static_cast<uint64_t>(units), 0, 0}});
        pair.a.progress();
    };
    gives(kWindowLimit - peer.units_left());
    EXPECT_EQ(peer.units_left(), kWindowLimit);
    EXPECT_FALSE(peer.may_send(1)) << "one waits";
    ASSERT_EQ(fi_cancel(&pair.a.ep->fid, bytes.data()), 0);
    EXPECT_EQ(peer.units_left(), kWindowLimit);
    EXPECT_TRUE(peer.may_send(1));
    EXPECT_FALSE(peer.closing);
    gives(1);
    EXPECT_TRUE(peer.closing);
    pair.net.capacity = 1000;
    pair.progress();
}

// A peer that sends on all the same, and one that gives away what nobody owes.
TEST(EngineWindow, WhoSendsMoreThanHeMayIsDropped) {
    for (const bool credits : {false, true}) {
        Pair pair;
        ASSERT_TRUE(have_met(pair));
        auto& transport = pair.a.transport<false>();
        auto& peer = *transport.peer_called(pair.b.endpoint.shm_address);
        const Header message{.size = 0, .op = static_cast<uint8_t>(FrameOp::Tagged), .flags = 0, .aux = 0, .word = {}};
        const Header gift{
            .size = 0, .op = static_cast<uint8_t>(FrameOp::Credit), .flags = 0, .aux = 0, .word = {kWindowLimit, 0, 0}};
        int forged = 0;
        while (forged < 2 * kWindowFirst && !peer.down && !peer.closing) {
            transport.forge(peer, credits ? gift : message);
            ++forged;
            pair.b.progress();
        }
        EXPECT_EQ(forged, credits ? 1 : kWindowFirst) << "the first message was honest";
        pair.progress();
    }
}

// Each is an announcement to its receiver, and waits for its match.
TEST(EngineWindow, WhoSendsMoreBeyondItThanHeMayIsDropped) {
    struct Case {
        uint8_t flags;
        uint64_t reply_id;
        uint32_t size;
        size_t taken;
    };
    constexpr uint8_t kWhole = kFrameUncharged | kFrameOnMatch;
    for (const Case& each : {Case{kWhole, 1, 0, kAnnouncementsMost}, Case{kWhole, 0, 0, 0},
                             Case{kFrameUncharged, 1, 0, 0}, Case{kWhole, 1, kUnchargedMost + 1, 0}}) {
        Pair pair;
        ASSERT_TRUE(have_met(pair));
        auto& transport = pair.a.transport<false>();
        auto& peer = *transport.peer_called(pair.b.endpoint.shm_address);
        const Header header{.size = each.size,
                            .op = static_cast<uint8_t>(FrameOp::Tagged),
                            .flags = each.flags,
                            .aux = 0,
                            .word = {0, 0, each.reply_id}};
        const std::vector<std::byte> payload(each.size);
        size_t forged = 0;
        for (; forged < 2 * kAnnouncementsMost && !peer.closing; ++forged) {
            transport.forge(peer, header, payload);
            pair.b.endpoint.path->progress();
        }
        EXPECT_EQ(forged, each.taken + 1);
        EXPECT_EQ(endpoint_stat("fi_shm://b").at(Stat::OverBudget), each.taken ? 1U : 0U);
        EXPECT_EQ(endpoint_stat("fi_shm://b").at(Stat::BadFrames), each.taken ? 0U : 1U);
        pair.progress();
    }
}

}  // namespace
}  // namespace selvage::impl::test
