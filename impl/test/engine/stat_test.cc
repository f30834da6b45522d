// What happens is counted, for the endpoint and for the peer, where another process reads it; and told when the
// endpoint is closed.
#include "impl/config/log.h"
#include "impl/test/engine/pair.h"
#include "impl/test/engine/stat_view.h"

namespace selvage::impl::test {
namespace {

constexpr char kA[] = "fi_shm://a";
constexpr char kB[] = "fi_shm://b";

uint64_t of_b(Stat stat) { return endpoint_stat(kB).at(stat); }
uint64_t of_peer_a(Stat stat) { return peer_stat(kB, kA).at(stat); }
// The endpoint and its only peer count alike.
void expect_at_b(Stat stat, uint64_t expected) {
    EXPECT_EQ(of_b(stat), expected);
    EXPECT_EQ(of_peer_a(stat), expected);
}

void send(Pair& pair, size_t size, uint64_t tag = 1) {
    static const Bytes bytes = pattern(100'000);
    ASSERT_EQ(fi_tsend(pair.a.ep, bytes.data(), size, nullptr, pair.to_b, tag, nullptr), 0);
}
void receive(Pair& pair, size_t size, uint64_t tag = 1) {
    static Bytes bytes(100'000);
    ASSERT_EQ(fi_trecv(pair.b.ep, bytes.data(), size, nullptr, FI_ADDR_UNSPEC, tag, 0, nullptr), 0);
}
FakeTransport<false>::Peer& peer_b(Pair& pair) {
    return *pair.a.transport<false>().peer_called(pair.b.endpoint.shm_address);
}

TEST(EngineStat, AnEndpointHasARecordFromEnablingToClosing) {
    {
        Pair pair;
        EXPECT_EQ(endpoint_stat(kA).name, kA);
        EXPECT_NE(endpoint_stat(kA).endpoint, endpoint_stat(kB).endpoint);
        EXPECT_EQ(peer_stat(kA, kB).type, StatType::Free) << "nothing happened yet";
    }
    EXPECT_EQ(stat_path(), "") << "the file goes with the last endpoint";
}

TEST(EngineStat, UnexpectedBytesAreCountedWhileTheyAreKept) {
    Pair pair;
    send(pair, 1000);
    send(pair, 24);
    pair.progress();
    expect_at_b(Stat::KeptMessages, 2);
    expect_at_b(Stat::KeptBytes, 1024);
    receive(pair, 1000);
    expect_at_b(Stat::KeptMessages, 1);
    expect_at_b(Stat::KeptBytes, 24);
    receive(pair, 1000);
    expect_at_b(Stat::KeptMessages, 0);
    expect_at_b(Stat::KeptBytes, 0);
    expect_at_b(Stat::KeptBytesMost, 1024);
    expect_at_b(Stat::Unexpected, 2);
}

TEST(EngineStat, AMessageThatIsExpectedIsNotCounted) {
    Pair pair;
    for (int i = 0; i < 10; ++i) {
        receive(pair, 1000);
        send(pair, 1000);
        pair.progress();
    }
    for (const Stat stat : {Stat::Unexpected, Stat::KeptBytesMost}) expect_at_b(stat, 0);
}

TEST(EngineStat, AnnouncementsAreCountedWhileTheyAreKept) {
    Pair pair;
    send(pair, 50'000);
    pair.progress();
    expect_at_b(Stat::Announcements, 1);
    expect_at_b(Stat::KeptBytes, 0);
    receive(pair, 50'000);
    pair.progress();
    expect_at_b(Stat::Announcements, 0);
    expect_at_b(Stat::Unexpected, 1);
}

TEST(EngineStat, WhatIsDiscardedIsGivenBack) {
    Pair pair;
    send(pair, 700);
    pair.progress();
    expect_at_b(Stat::KeptBytes, 700);
    fi_context context{};
    const fi_msg_tagged message{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 1, 0, &context, 0};
    ASSERT_EQ(fi_trecvmsg(pair.b.ep, &message, FI_PEEK | FI_DISCARD), 0);
    expect_at_b(Stat::KeptBytes, 0);
}

TEST(EngineStat, AShortMessageThatIsAnnouncedForWantOfWindowIsCountedAtItsSender) {
    Setting setting;
    setting.transmit_size = 2 * kWindowFirst;
    Pair pair(setting);
    char byte = 0;
    for (int i = 0; i < kWindowFirst + 5; ++i) {
        ASSERT_EQ(fi_tsend(pair.a.ep, &byte, 1, nullptr, pair.to_b, 1, nullptr), 0);
        if (i % 100 == 0) pair.progress();
        fi_cq_tagged_entry entry;
        while (pair.a.read(&entry) == 1) continue;
    }
    EXPECT_EQ(endpoint_stat(kA).at(Stat::AnnouncedShort), 5U);
    EXPECT_EQ(peer_stat(kA, kB).at(Stat::AnnouncedShort), 5U);
    EXPECT_EQ(of_b(Stat::AnnouncedShort), 0U);
}

TEST(EngineStat, APeerThatSendsMoreThanItMayIsCountedAsOverBudget) {
    Pair pair;
    send(pair, 1);
    pair.progress();
    auto& to = peer_b(pair);
    const Header message{.size = 0, .op = static_cast<uint8_t>(FrameOp::Tagged), .flags = 0, .aux = 0, .word = {}};
    for (int i = 0; i < 2 * kWindowFirst && !to.closing; ++i) {
        pair.a.transport<false>().forge(to, message);
        pair.b.endpoint.path->progress();
    }
    ASSERT_TRUE(to.closing);
    pair.progress();
    expect_at_b(Stat::OverBudget, 1);
    expect_at_b(Stat::BadFrames, 0);
    expect_at_b(Stat::NoMemory, 0);
    expect_at_b(Stat::Lost, 1);
    EXPECT_EQ(peer_stat(kB, kA).life, PeerLife::Down);
    EXPECT_EQ(of_b(Stat::KeptMessages), static_cast<uint64_t>(kWindowFirst)) << "what it sent before is still here";
    EXPECT_EQ(of_peer_a(Stat::KeptMessages), 0U);
    receive(pair, 1);
    EXPECT_EQ(of_b(Stat::KeptMessages), static_cast<uint64_t>(kWindowFirst - 1));
}

// What waits for it fails, too, until the next progress takes it down.
TEST(EngineStat, ADropIsCountedOnceThoughMoreFailsBeforeThePeerIsDown) {
    Pair pair;
    char memory = 0;
    const uint64_t key = pair.b.exposes(&memory, 1);
    send(pair, 50'000);
    send(pair, 50'000);
    pair.progress();
    expect_at_b(Stat::Announcements, 2);
    pair.net.capacity = 1;
    const Target target{.address = 0, .length = 0, .key = key};
    std::vector<std::byte> bytes(sizeof target);
    memcpy(bytes.data(), &target, sizeof target);
    const Header read{
        .size = sizeof target, .op = static_cast<uint8_t>(FrameOp::Read), .flags = 0, .aux = 1, .word = {1, 0, 0}};
    // The first answer is under way, the others wait: as many as may.
    for (uint32_t i = 0; i <= kAnswersMost; ++i) {
        pair.a.transport<false>().forge(peer_b(pair), read, bytes);
        pair.b.endpoint.path->progress();
    }
    expect_at_b(Stat::Answers, kAnswersMost);
    expect_at_b(Stat::OverBudget, 0);
    receive(pair, 50'000);
    receive(pair, 50'000);
    expect_at_b(Stat::OverBudget, 1);
    pair.progress();
    expect_at_b(Stat::OverBudget, 1);
    expect_at_b(Stat::Answers, 0);
}

TEST(EngineStat, APeerThatBreaksTheProtocolIsCountedAndSaysWhy) {
    Pair pair;
    send(pair, 1);
    pair.progress();
    pair.a.transport<false>().forge(peer_b(pair), {.size = 0, .op = 200, .flags = 0, .aux = 0, .word = {}});
    pair.progress();
    expect_at_b(Stat::BadFrames, 1);
    expect_at_b(Stat::OverBudget, 0);
    EXPECT_EQ(peer_stat(kB, kA).last_error, FI_ECONNABORTED);
}

TEST(EngineStat, APeerThatComesAgainIsCountedUnderItsRecord) {
    Pair pair;
    for (uint64_t round = 0; round < 3; ++round) {
        send(pair, 10);
        pair.progress();
        expect_at_b(Stat::Lost, round);
        expect_at_b(Stat::Reconnects, round);
        EXPECT_EQ(peer_stat(kB, kA).life, PeerLife::Active);
        pair.a.transport<false>().cut(peer_b(pair));
        pair.progress();
        EXPECT_EQ(peer_stat(kB, kA).life, PeerLife::Down);
        EXPECT_EQ(peer_stat(kB, kA).last_error, FI_ECONNRESET);
    }
    expect_at_b(Stat::Unexpected, 3);
    EXPECT_EQ(of_b(Stat::KeptMessages), 3U);
}

// Also one of which nothing was kept.
TEST(EngineStat, APeerThatIsLostIsCountedThoughNothingElseHappened) {
    Pair pair;
    receive(pair, 10);
    send(pair, 10);
    pair.progress();
    EXPECT_EQ(peer_stat(kB, kA).type, StatType::Free);
    pair.a.transport<false>().cut(peer_b(pair));
    pair.progress();
    expect_at_b(Stat::Lost, 1);
    EXPECT_EQ(peer_stat(kA, kB).at(Stat::Lost), 1U);
    send(pair, 10);
    EXPECT_EQ(peer_stat(kA, kB).at(Stat::Reconnects), 1U);
}

TEST(EngineStat, OfManyLostPeersTheLastAreRemembered) {
    constexpr size_t kPeers = 100;
    constexpr size_t kRemembered = 64;
    FakeNet net;
    Node b("b");
    const Bytes bytes = pattern(10);
    for (size_t i = 0; i < kPeers; ++i) {
        Node peer(("p" + std::to_string(i)).c_str());
        ASSERT_EQ(fi_tsend(peer.ep, bytes.data(), 10, nullptr, peer.knows(b), 1, nullptr), 0);
        b.progress();
        peer.close();
        b.progress();
    }
    EXPECT_EQ(of_b(Stat::Lost), kPeers);
    size_t records = 0;
    for (const StatView& view : read_stat()) records += view.type == StatType::Peer;
    EXPECT_EQ(records, kRemembered);
    EXPECT_EQ(peer_stat(kB, "fi_shm://p99").life, PeerLife::Down);
}

TEST(EngineStat, ATransferThatCannotBePulledIsCountedWhereItShouldHaveBeen) {
    Setting setting;
    setting.pulls = true;
    Pair pair(setting);
    send(pair, 50'000);
    receive(pair, 50'000);
    pair.progress();
    expect_at_b(Stat::InFrames, 0);
    pair.net.pull_error = -FI_EPERM;
    receive(pair, 50'000);
    send(pair, 50'000);
    pair.progress();
    expect_at_b(Stat::InFrames, 1);
    Bytes memory(50'000);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    ASSERT_EQ(fi_read(pair.a.ep, memory.data(), memory.size(), nullptr, pair.to_b, 0, key, nullptr), 0);
    pair.progress();
    EXPECT_EQ(endpoint_stat(kA).at(Stat::InFrames), 1U) << "who reads pulls";
    ASSERT_EQ(fi_write(pair.a.ep, memory.data(), memory.size(), nullptr, pair.to_b, 0, key, nullptr), 0);
    pair.progress();
    expect_at_b(Stat::InFrames, 2);
    EXPECT_EQ(endpoint_stat(kA).at(Stat::InFrames), 2U) << "who writes sends again";
}

TEST(EngineStat, AnswersThatWaitAreCountedWhileTheyWait) {
    Pair pair;
    Bytes memory = pattern(400), local(400);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    send(pair, 1);
    pair.progress();
    pair.net.capacity = 1;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(fi_read(pair.a.ep, local.data(), 400, nullptr, pair.to_b, 0, key, nullptr), 0);
        pair.b.endpoint.path->progress();
    }
    EXPECT_GT(of_b(Stat::Answers), 0U);
    EXPECT_EQ(of_b(Stat::AnswerBytes), 400 * of_b(Stat::Answers));
    EXPECT_EQ(of_peer_a(Stat::AnswerBytes), of_b(Stat::AnswerBytes));
    for (int i = 0; i < 10; ++i) pair.progress();
    expect_at_b(Stat::Answers, 0);
    expect_at_b(Stat::AnswerBytes, 0);
}

TEST(EngineStat, AnswersToAPeerThatIsLostWaitNoMore) {
    Pair pair;
    Bytes memory = pattern(400), local(400);
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    send(pair, 1);
    pair.progress();
    pair.net.capacity = 1;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(fi_read(pair.a.ep, local.data(), 400, nullptr, pair.to_b, 0, key, nullptr), 0);
        pair.b.endpoint.path->progress();
    }
    ASSERT_GT(of_b(Stat::Answers), 0U);
    pair.a.transport<false>().cut(peer_b(pair));
    pair.progress();
    expect_at_b(Stat::Answers, 0);
    expect_at_b(Stat::AnswerBytes, 0);
}

// What is logged at level info while `act` runs.
template <typename Act>
std::string logged(Act act) {
    setenv("FI_LOG_LEVEL", "info", 1);
    reload_log_settings();
    testing::internal::CaptureStderr();
    act();
    const std::string text = testing::internal::GetCapturedStderr();
    unsetenv("FI_LOG_LEVEL");
    reload_log_settings();
    return text;
}
size_t lines_with(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST(EngineStat, ClosingAnEndpointLogsItsTotalsAndThePeersWithAnythingUnusual) {
    Pair pair;
    Node quiet("quiet");
    receive(pair, 10, 5);
    const Bytes bytes = pattern(10);
    const fi_addr_t to_b = quiet.knows(pair.b);
    ASSERT_EQ(fi_tsend(quiet.ep, bytes.data(), 10, nullptr, to_b, 5, nullptr), 0);
    // One that has a record, and nothing in it.
    const Bytes large = pattern(20'000);
    receive(pair, large.size(), 6);
    ASSERT_EQ(fi_tsend(quiet.ep, large.data(), large.size(), nullptr, to_b, 6, nullptr), 0);
    send(pair, 300);
    for (int i = 0; i < 50; ++i) pair.progress(), quiet.progress();
    EXPECT_EQ(peer_stat(kB, "fi_shm://quiet").type, StatType::Peer);
    const std::string text = logged([&] { pair.b.close(); });
    EXPECT_EQ(lines_with(text, "\n"), 2U) << text;
    EXPECT_EQ(lines_with(text, "fi_shm://b is closed: unexpected=1 kept_bytes_most=300 bad_frames=0"), 1U) << text;
    EXPECT_EQ(lines_with(text, "peer fi_shm://a of endpoint"), 1U) << text;
    EXPECT_EQ(lines_with(text, ": unexpected=1 kept_bytes_most=300\n"), 1U) << text;
    EXPECT_EQ(lines_with(text, "quiet"), 0U) << text;
}

TEST(EngineStat, ALostPeerIsInTheLogAtClosing) {
    Pair pair;
    receive(pair, 10);
    send(pair, 10);
    pair.progress();
    pair.a.transport<false>().cut(peer_b(pair));
    pair.progress();
    const std::string text = logged([&] { pair.b.close(); });
    EXPECT_EQ(lines_with(text, "peer fi_shm://a of endpoint"), 1U) << text;
    EXPECT_EQ(lines_with(text, ": lost=1\n"), 1U) << text;
}

}  // namespace
}  // namespace selvage::impl::test
