// What a peer can make an endpoint keep has a budget; who keeps to it waits at its limit and loses nothing.
#include "impl/test/engine/pair.h"
#include "impl/test/engine/stat_view.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kWindowEntries = kWindowFirst;

size_t unread(const Node& node) { return CompletionQueue::of(node.cq)->ring.size(); }
// Progress of a side whose application reads nothing.
void progress_only(Node& node) { node.endpoint.path->progress(); }

Setting with_room(size_t operations) {
    Setting setting;
    setting.transmit_size = operations;
    setting.receive_size = 30'000;
    setting.management = FI_RM_DISABLED;
    return setting;
}

TEST(EngineBudget, WritesWithDataWaitAtTheirInitiatorUntilTheTargetReadsItsQueue) {
    constexpr uint64_t kCount = 3 * kWindowEntries;
    Pair pair(with_room(1000));
    char memory = 0;
    const uint64_t key = pair.b.exposes(&memory, 1);
    uint64_t posted = 0, seen = 0;
    const auto post_all = [&] {
        while (posted < kCount) {
            const ssize_t result = fi_writedata(pair.a.ep, nullptr, 0, nullptr, posted, pair.to_b, 0, key, nullptr);
            if (result == -FI_EAGAIN) return;
            ASSERT_EQ(result, 0);
            ++posted;
        }
    };
    fi_cq_tagged_entry entry;
    for (int i = 0; i < 1000; ++i) {
        post_all();
        progress_only(pair.b);
        while (pair.a.read(&entry) == 1) continue;
    }
    EXPECT_EQ(unread(pair.b), kWindowEntries);
    EXPECT_LT(posted, kCount);
    // Nothing is lost, and nothing is overtaken.
    for (int idle = 0; seen < kCount && idle < 100; ++idle) {
        post_all();
        while (pair.a.read(&entry) == 1) continue;
        while (pair.b.read(&entry) == 1) {
            ASSERT_EQ(entry.data, seen++);
            idle = 0;
        }
    }
    EXPECT_EQ(seen, kCount);
}

TEST(EngineBudget, AWriteWithDataThatFailsCostsNothing) {
    Pair pair(with_room(1000));
    char memory = 0, byte = 1;
    pair.b.exposes(&memory, 1);
    fi_cq_tagged_entry entry;
    for (uint64_t i = 0; i < 2 * kWindowEntries; ++i) {
        ASSERT_EQ(fi_writedata(pair.a.ep, &byte, 1, nullptr, i, pair.to_b, 0, 4711, nullptr), 0);
        for (int k = 0; k < 10 && pair.a.read(&entry) == 0; ++k) pair.b.progress();
        ASSERT_EQ(pair.a.read_error().err, FI_ENOKEY) << i;
    }
}

TEST(EngineBudget, APeerThatCausesMoreEntriesThanItMayIsDropped) {
    Pair pair;
    char byte = 1;
    ASSERT_EQ(fi_send(pair.a.ep, &byte, 1, nullptr, pair.to_b, nullptr), 0);
    pair.progress();
    auto& transport = pair.a.transport<false>();
    auto* to = transport.peer_called(pair.b.endpoint.shm_address);
    Header header{.size = 8 + sizeof(Target),
                  .op = static_cast<uint8_t>(FrameOp::Write),
                  .flags = kFrameHasData,
                  .aux = 1,
                  .word = {0, 0, 0}};
    const std::vector<std::byte> bytes(header.size);  // a key that is none, and a length of zero
    for (size_t i = 0; i < 2 * kWindowEntries; ++i) {
        if (to->closing) break;
        transport.forge(*to, header, bytes);
        progress_only(pair.b);
    }
    EXPECT_LE(unread(pair.b), kWindowEntries);
    EXPECT_TRUE(to->closing);
    pair.progress();
}

TEST(EngineBudget, APeerThatDoesNotReadItsAnswersIsDroppedAtItsBudget) {
    Pair pair;
    std::vector<char> memory(500);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    char byte = 1;
    ASSERT_EQ(fi_send(pair.a.ep, &byte, 1, nullptr, pair.to_b, nullptr), 0);
    pair.progress();
    pair.net.capacity = 1;
    auto& transport = pair.a.transport<false>();
    auto* to = transport.peer_called(pair.b.endpoint.shm_address);
    const Target target{.address = 0, .length = memory.size(), .key = key};
    std::vector<std::byte> bytes(sizeof target);
    memcpy(bytes.data(), &target, sizeof target);
    const Header header{.size = sizeof target,
                        .op = static_cast<uint8_t>(FrameOp::Read),
                        .flags = 0,
                        .aux = 1,
                        .word = {1, memory.size(), 0}};
    size_t requested = 0;
    for (; requested < 100'000 && !to->closing; ++requested) {
        transport.forge(*to, header, bytes);
        progress_only(pair.b);
    }
    EXPECT_LE(requested * memory.size(), kAnswerBytesMost + 10 * memory.size());
    EXPECT_GT(requested * memory.size(), kAskedBytesMost);
    pair.progress();
}

TEST(EngineBudget, ReadsBeyondTheBudgetWaitAndAllComplete) {
    constexpr size_t kSize = 512, kCount = 3 * kAskedBytesMost / kSize;
    Pair pair(with_room(kCount));
    pair.net.capacity = 4;
    Bytes memory = pattern(kSize), local(kSize);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    for (size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(fi_read(pair.a.ep, local.data(), kSize, nullptr, pair.to_b, 0, key, nullptr), 0);
    }
    size_t done = 0;
    fi_cq_tagged_entry entry;
    for (size_t i = 0; i < 4 * kCount && done < kCount; ++i) {
        progress_only(pair.b);
        while (pair.a.read(&entry) == 1) ++done;
    }
    EXPECT_EQ(done, kCount);
    EXPECT_EQ(local, memory);
}

TEST(EngineBudget, AnnouncementsBeyondTheBudgetWaitAndAllArrive) {
    constexpr size_t kCount = kAnnouncementsMost + 2000;
    Pair pair(with_room(kCount + 1));
    const Bytes bytes = pattern(9000);
    Bytes got(bytes.size());
    for (size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, i, nullptr), 0);
    }
    for (int i = 0; i < 1000; ++i) progress_only(pair.b), progress_only(pair.a);
    fi_cq_tagged_entry entry;
    for (size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(fi_trecv(pair.b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, i, 0, nullptr), 0);
        ssize_t result = 0;
        for (int k = 0; k < 100 && !(result = pair.b.read(&entry)); ++k) pair.a.progress();
        ASSERT_EQ(result, 1) << i;
        ASSERT_EQ(entry.tag, i);
        while (pair.a.read(&entry) == 1) continue;
    }
    EXPECT_EQ(got, bytes);
}

TEST(EngineBudget, AnnouncementsOfAllPeersTogetherHaveALimit) {
    constexpr size_t kPeers = kSharedUnits / (kAnnouncementsMost - kAnnouncementsFirst) + 2;
    FakeNet net;
    Node target("target");
    const Bytes bytes = pattern(9000);
    std::vector<std::unique_ptr<Node>> peers;
    for (size_t i = 0; i < kPeers; ++i) {
        peers.push_back(
            std::make_unique<Node>(("peer" + std::to_string(i)).c_str(), with_room(kAnnouncementsMost + 1)));
        Node& peer = *peers.back();
        const fi_addr_t to = peer.knows(target);
        for (size_t k = 0; k <= kAnnouncementsMost; ++k) {
            ASSERT_EQ(fi_tsend(peer.ep, bytes.data(), bytes.size(), nullptr, to, k, nullptr), 0);
            if (k % 64 == 0) progress_only(target), progress_only(peer);
        }
        for (int k = 0; k < 1000; ++k) progress_only(target), progress_only(peer);
    }
    EXPECT_EQ(endpoint_stat("fi_shm://target").at(Stat::Announcements), kSharedUnits + kPeers * kAnnouncementsFirst);
}

TEST(EngineBudget, APeerThatAnnouncesMoreThanItMayIsDropped) {
    Pair pair;
    char byte = 1;
    ASSERT_EQ(fi_send(pair.a.ep, &byte, 1, nullptr, pair.to_b, nullptr), 0);
    pair.progress();
    auto& transport = pair.a.transport<false>();
    auto* to = transport.peer_called(pair.b.endpoint.shm_address);
    const uint64_t length = 9000;
    std::vector<std::byte> bytes(sizeof length);
    memcpy(bytes.data(), &length, sizeof length);
    size_t announced = 0;
    for (; announced < 2 * kAnnouncementsMost && !to->closing; ++announced) {
        const Header header{.size = sizeof length,
                            .op = static_cast<uint8_t>(FrameOp::MessageRts),
                            .flags = 0,
                            .aux = 0,
                            .word = {0, 0, announced + 1}};
        transport.forge(*to, header, bytes);
        progress_only(pair.b);
    }
    EXPECT_EQ(announced, kAnnouncementsMost + 1);
    pair.progress();
}

}  // namespace
}  // namespace selvage::impl::test
