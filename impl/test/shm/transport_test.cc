// Two shm transports in one process: frames, room, keys, ends.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <optional>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

struct Pair : testing::Test {
    Name a_name{"a"}, b_name{"b"};
    ShmTransport a, b;
    FakeSink at_a, at_b;
    ShmPeer* to_b = nullptr;

    void SetUp() override {
        ASSERT_EQ(a.open_at(a_name.text, {}), 0);
        ASSERT_EQ(b.open_at(b_name.text, {}), 0);
        ASSERT_EQ(a.find_peer_at(b_name.text, &to_b), 0);
    }
    bool arrives(size_t count) {
        return progress_until(b, at_b, [&] { return at_b.arrivals.size() >= count; });
    }
};

using ShmPair = Pair;

TEST_F(ShmPair, AFrameArrivesWithItsHeaderAndItsSender) {
    Header header{.size = 5, .op = 0xab, .flags = 0xcd, .aux = 0x1234, .word = {1, ~uint64_t{0}, 3}};
    const iovec part = {const_cast<char*>("hello"), 5};
    ASSERT_EQ(a.send(*to_b, {header, &part, 1, nullptr, false}), SendResult::Done);
    ASSERT_TRUE(arrives(1));
    const Arrival& got = at_b.arrivals[0];
    EXPECT_EQ(memcmp(&got.header, &header, sizeof header), 0);
    EXPECT_EQ(got.payload, "hello");
    EXPECT_STREQ(got.peer->text, a_name.text);
}

TEST_F(ShmPair, BehindAFrameThatIsDeliveredTheNextOneIsSeen) {
    std::vector<int> seen;
    at_b.on_deliver = [&](ShmPeer& peer, const Header& header, const std::byte*) {
        Header next{};
        seen.push_back(b.has_next(peer, header.size, &next) ? next.op : 0);
    };
    const auto sees = [&](const std::vector<int>& ops) {
        const size_t all = seen.size() + ops.size();
        const bool came = progress_until(b, at_b, [&] { return seen.size() >= all; });
        return came && std::equal(ops.begin(), ops.end(), seen.end() - static_cast<ptrdiff_t>(ops.size()));
    };
    ASSERT_EQ(send_text(a, *to_b, "first", 7), SendResult::Done);
    EXPECT_TRUE(sees({0}));
    // All around the ring, whose lines had other frames before.
    for (int lap = 0; lap < 200; ++lap) {
        ASSERT_EQ(send_text(a, *to_b, pattern(1000, 1), 8), SendResult::Done);
        ASSERT_EQ(send_text(a, *to_b, "short", 9), SendResult::Done);
        ASSERT_EQ(send_text(a, *to_b, pattern(ShmTransport::kFrameMax, 2), 10), SendResult::Done);
        ASSERT_TRUE(sees({9, 10, 0})) << lap;
    }
}

TEST_F(ShmPair, EverySizeArrivesUnchangedAndInOrder) {
    size_t sent = 0;
    std::vector<size_t> sizes;
    for (size_t size = 0; size <= 700; ++size) sizes.push_back(size);
    for (size_t size = 701; size <= ShmTransport::kFrameMax; size += 257) sizes.push_back(size);
    sizes.push_back(ShmTransport::kFrameMax);
    for (const size_t size : sizes) {
        const std::string payload = pattern(size, static_cast<unsigned>(size));
        while (send_text(a, *to_b, payload, 1, size) == SendResult::Again) b.progress(at_b);
        ++sent;
    }
    ASSERT_TRUE(arrives(sent));
    for (size_t i = 0; i < sizes.size(); ++i) {
        ASSERT_EQ(at_b.arrivals[i].header.word[0], sizes[i]);
        ASSERT_EQ(at_b.arrivals[i].payload, pattern(sizes[i], static_cast<unsigned>(sizes[i]))) << sizes[i];
    }
}

TEST_F(ShmPair, PartsOfAPayloadAreJoined) {
    const std::string one = pattern(3, 1), two = pattern(300, 2), four = pattern(1, 4);
    const iovec parts[] = {{const_cast<char*>(one.data()), 3},
                           {const_cast<char*>(two.data()), 300},
                           {nullptr, 0},
                           {const_cast<char*>(four.data()), 1}};
    Header header{};
    header.size = 304;
    ASSERT_EQ(a.send(*to_b, {header, parts, 4, nullptr, false}), SendResult::Done);
    header.size = 4;
    const iovec small[] = {parts[0], parts[3]};
    ASSERT_EQ(a.send(*to_b, {header, small, 2, nullptr, false}), SendResult::Done);
    ASSERT_TRUE(arrives(2));
    EXPECT_EQ(at_b.arrivals[0].payload, one + two + four);
    EXPECT_EQ(at_b.arrivals[1].payload, one + four);
}

// Payload of an earlier lap must never be taken for a frame, whatever its bytes are.
TEST_F(ShmPair, WhatIsLeftOfTheLapBeforeIsNoFrame) {
    uint64_t random = 12345;
    const auto next = [&random] { return random = random * 6364136223846793005ULL + 1442695040888963407ULL; };
    uint64_t sent = 0, received = 0;
    at_b.on_deliver = [&](ShmPeer&, const Header& header, const std::byte* payload) {
        ASSERT_EQ(header.word[0], received++);
        const auto fill = static_cast<std::byte>(header.aux);
        for (size_t i = 0; i < header.size; ++i) ASSERT_EQ(payload[i], fill);
    };
    for (int i = 0; i < 200000; ++i) {
        Header header{};
        const uint64_t draw = next() >> 33;
        header.size = static_cast<uint32_t>(draw % 4 ? draw % 33 : draw % 1500);
        header.word[0] = sent;
        header.aux = draw % 3 == 0 ? 0 : draw % 3 == 1 ? 0xff : 0x80;
        const std::string payload(header.size, static_cast<char>(header.aux));
        const iovec part = {const_cast<char*>(payload.data()), payload.size()};
        if (a.send(*to_b, {header, &part, 1, nullptr, false}) == SendResult::Done) ++sent;
        if (draw % 7 == 0) b.progress(at_b);
    }
    ASSERT_TRUE(progress_until(b, at_b, [&] { return received == sent; }));
    EXPECT_GT(sent, 100000u);
}

TEST_F(ShmPair, AFullRingSaysSoAndRoomFollows) {
    const std::string payload = pattern(1000, 1);
    size_t sent = 0;
    while (send_text(a, *to_b, payload) == SendResult::Done) ++sent;
    EXPECT_EQ(send_text(a, *to_b, payload), SendResult::Again);
    EXPECT_GE(sent * 1000, shm::kRingBytes * 3 / 4);
    a.progress(at_a);
    EXPECT_TRUE(at_a.rooms.empty());
    ASSERT_TRUE(arrives(sent));
    ASSERT_TRUE(progress_until(a, at_a, [&] { return !at_a.rooms.empty(); }));
    EXPECT_EQ(at_a.rooms[0], to_b);
    EXPECT_EQ(send_text(a, *to_b, payload), SendResult::Done);
}

// Or else sender and receiver take turns, where both could copy.
TEST_F(ShmPair, ARingHasRoomAgainWhileWhatFilledItIsTaken) {
    const std::string payload = pattern(4096, 1);
    size_t sent = 0, taken = 0;
    while (send_text(a, *to_b, payload) == SendResult::Done) ++sent;
    std::vector<SendResult> sends;
    at_b.on_deliver = [&](ShmPeer&, const Header&, const std::byte*) {
        if (++taken == sent / 2) sends.push_back(send_text(a, *to_b, payload));
    };
    ASSERT_TRUE(progress_until(b, at_b, [&] { return taken == sent + 1; })) << taken << " of " << sent;
    EXPECT_EQ(sends, std::vector{SendResult::Done});
}

TEST_F(ShmPair, AFullRingHasRoomForSomeAnswers) {
    for (const size_t size : {0, 8, 1000, 4096}) {
        at_b.arrivals.clear();
        size_t sent = 0;
        while (send_text(a, *to_b, pattern(size, 1)) == SendResult::Done) ++sent;
        size_t answers = 0;
        while (send_answer(a, *to_b, answers) == SendResult::Done) ++answers;
        EXPECT_GE(answers, shm::kAnswerRoom) << size;
        EXPECT_EQ(send_text(a, *to_b, "x"), SendResult::Again);
        ASSERT_TRUE(arrives(sent + answers));
        for (size_t i = 0; i < answers; ++i) EXPECT_EQ(at_b.arrivals[sent + i].header.word[0], i);
        ASSERT_TRUE(progress_until(a, at_a, [&] { return send_text(a, *to_b, "x") == SendResult::Done; }));
        ASSERT_TRUE(arrives(sent + answers + 1));
    }
}

TEST_F(ShmPair, AnAnswerGoesToThePeerThatMadeItselfKnown) {
    at_b.on_deliver = [&](ShmPeer& peer, const Header&, const std::byte*) { send_text(b, peer, "answer"); };
    send_text(a, *to_b, "question");
    ASSERT_TRUE(progress_until(b, at_b, [&] {
        a.progress(at_a);
        return !at_a.arrivals.empty();
    }));
    EXPECT_EQ(at_a.arrivals[0].payload, "answer");
    EXPECT_EQ(at_a.arrivals[0].peer, to_b);
}

TEST_F(ShmPair, AnEndpointCanSendToItself) {
    ShmPeer* self = nullptr;
    ASSERT_EQ(a.find_peer_at(a_name.text, &self), 0);
    for (unsigned i = 0; i < 3000; ++i) {
        ASSERT_EQ(send_text(a, *self, "me", 1, i), SendResult::Done);
        a.progress(at_a);
    }
    ASSERT_TRUE(progress_until(a, at_a, [&] { return at_a.arrivals.size() == 3000; }));
    EXPECT_EQ(at_a.arrivals[0].peer, self);
    EXPECT_EQ(at_a.arrivals[2999].header.word[0], 2999u);
}

TEST_F(ShmPair, AClosedPeerGoesDownAfterWhatItSent) {
    send_text(a, *to_b, "last words");
    a.close();
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
    ASSERT_EQ(at_b.arrivals.size(), 1u);
    EXPECT_EQ(at_b.downs[0].first, at_b.arrivals[0].peer);
    EXPECT_EQ(at_b.downs[0].second, FI_ECONNRESET);
    EXPECT_EQ(send_text(b, *at_b.downs[0].first, "too late"), SendResult::Down);
    EXPECT_FALSE(file_exists(a_name));
}

TEST_F(ShmPair, ASenderNoticesThatTheReceiverClosed) {
    send_text(a, *to_b, "x");
    b.close();
    ASSERT_TRUE(progress_until(a, at_a, [&] { return !at_a.downs.empty(); }));
    EXPECT_EQ(at_a.downs[0].first, to_b);
    EXPECT_EQ(send_text(a, *to_b, "y"), SendResult::Down);
}

TEST_F(ShmPair, ASuccessorUnderTheSameAddressIsANewPeer) {
    send_text(a, *to_b, "x");
    b.close();
    ASSERT_EQ(b.open_at(b_name.text, {}), 0);
    ASSERT_TRUE(progress_until(a, at_a, [&] { return !at_a.downs.empty(); }));
    ShmPeer* again = nullptr;
    ASSERT_EQ(a.find_peer_at(b_name.text, &again), 0);
    EXPECT_NE(again, to_b);
    send_text(a, *again, "new");
    ASSERT_TRUE(arrives(1));
    EXPECT_EQ(at_b.arrivals[0].payload, "new");
}

TEST_F(ShmPair, TheMemoryOfAPeerIsGivenBackWithIt) {
    struct stat before {
    }, with{}, after{};
    Name c_name("c");
    ASSERT_TRUE(progress_until(b, at_b, [&] { return true; }));
    ASSERT_EQ(stat(file_of(b_name).c_str(), &before), 0);
    {
        ShmTransport c;
        ASSERT_EQ(c.open_at(c_name.text, {}), 0);
        ShmPeer* peer;
        ASSERT_EQ(c.find_peer_at(b_name.text, &peer), 0);
        send_text(c, *peer, "x");
        ASSERT_TRUE(arrives(1));
        ASSERT_EQ(stat(file_of(b_name).c_str(), &with), 0);
        EXPECT_LE((with.st_blocks - before.st_blocks) * 512, 96 * 1024);
    }
    EXPECT_TRUE(progress_until(
        b, at_b, [&] { return stat(file_of(b_name).c_str(), &after) == 0 && after.st_blocks == before.st_blocks; }));
    EXPECT_EQ(at_b.downs.size(), 1u);
}

TEST_F(ShmPair, ManyPeersAreServedThoughMostAreIdle) {
    constexpr size_t kMany = 40;
    std::vector<std::unique_ptr<ShmTransport>> others;
    std::vector<ShmPeer*> peers;
    for (size_t i = 0; i < kMany; ++i) {
        others.push_back(std::make_unique<ShmTransport>());
        ASSERT_EQ(others.back()->open_at(Name("many").text, {}), 0);
        ShmPeer* peer = nullptr;
        ASSERT_EQ(others.back()->find_peer_at(b_name.text, &peer), 0);
        peers.push_back(peer);
    }
    // Idle until most of the rings are polled no more, then from each one.
    for (int i = 0; i < 5000; ++i) b.progress(at_b);
    for (unsigned round = 0; round < 3; ++round) {
        for (size_t i = 0; i < kMany; ++i) ASSERT_EQ(send_text(*others[i], *peers[i], "hi", 1, i), SendResult::Done);
        ASSERT_TRUE(arrives((round + 1) * kMany));
        for (int i = 0; i < 5000; ++i) b.progress(at_b);
    }
    EXPECT_EQ(at_b.arrivals.size(), 3 * kMany);
}

TEST(ShmTransport, AnAddressInUseIsRefused) {
    Name name("taken");
    ShmTransport one, two;
    ASSERT_EQ(one.open_at(name.text, {}), 0);
    EXPECT_EQ(two.open_at(name.text, {}), -FI_EADDRINUSE);
    EXPECT_TRUE(file_exists(name));
    one.close();
    EXPECT_FALSE(file_exists(name));
    EXPECT_EQ(two.open_at(name.text, {}), 0);
}

TEST(ShmTransport, ARegionIsOfItsUserAlone) {
    Name name("mode");
    ShmTransport one;
    ASSERT_EQ(one.open_at(name.text, {}), 0);
    struct stat status {};
    ASSERT_EQ(stat(file_of(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(ShmTransport, APeerThatIsNotThereIsWaitedForAWhile) {
    Name name("early"), late("late");
    ShmTransport one, two;
    ASSERT_EQ(one.open_at(name.text, {}), 0);
    ShmPeer* peer = nullptr;
    EXPECT_EQ(one.find_peer_at(late.text, &peer), -FI_EAGAIN);
    ASSERT_EQ(two.open_at(late.text, {}), 0);
    EXPECT_EQ(one.find_peer_at(late.text, &peer), 0);
    Name never("never");
    EXPECT_EQ(one.find_peer_at(never.text, &peer), -FI_EAGAIN);
    usleep(1100 * 1000);
    EXPECT_EQ(one.find_peer_at(never.text, &peer), -FI_EHOSTUNREACH);
}

TEST(ShmTransport, APeerThatManyWantToEnterIsNotTakenForMissing) {
    Name name("guest"), wanted("wanted");
    ShmTransport one, two;
    ASSERT_EQ(one.open_at(name.text, {}), 0);
    ASSERT_EQ(two.open_at(wanted.text, {}), 0);
    // The first senders find their slots in the file.
    std::optional<Name> names[shm::kWindowSlots];
    ShmTransport senders[shm::kWindowSlots];
    ShmPeer* peer = nullptr;
    for (size_t i = 0; i < shm::kWindowSlots; ++i) {
        names[i].emplace("sender" + std::to_string(i));
        ASSERT_EQ(senders[i].open_at(names[i]->text, {}), 0);
        ASSERT_EQ(senders[i].find_peer_at(wanted.text, &peer), 0);
    }
    // Somebody is making the file longer, and has lost the processor.
    const int file = open(file_of(wanted).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = shm::kSetupLock;
    lock.l_len = 1;
    ASSERT_EQ(fcntl(file, F_OFD_SETLK, &lock), 0);
    EXPECT_EQ(one.find_peer_at(wanted.text, &peer), -FI_EAGAIN);
    usleep(1100 * 1000);
    EXPECT_EQ(one.find_peer_at(wanted.text, &peer), -FI_EAGAIN);
    close(file);
    EXPECT_EQ(one.find_peer_at(wanted.text, &peer), 0);
}

TEST(ShmTransport, OnlyHoldersOfTheKeyAreAdmitted) {
    const uint8_t key[] = {1, 2, 3}, other[] = {1, 2, 4};
    Name locked("locked"), guest("guest"), none("none"), right("right");
    ShmTransport owner, with_other, without, with_key;
    ASSERT_EQ(owner.open_at(locked.text, key), 0);
    ASSERT_EQ(with_other.open_at(guest.text, other), 0);
    ASSERT_EQ(without.open_at(none.text, {}), 0);
    ASSERT_EQ(with_key.open_at(right.text, key), 0);
    ShmPeer* peer = nullptr;
    EXPECT_EQ(with_other.find_peer_at(locked.text, &peer), -FI_EACCES);
    EXPECT_EQ(without.find_peer_at(locked.text, &peer), -FI_EACCES);
    EXPECT_EQ(owner.find_peer_at(none.text, &peer), -FI_EACCES);
    EXPECT_EQ(with_key.find_peer_at(locked.text, &peer), 0);
}

TEST_F(ShmPair, AHelloWithoutProofIsRefused) {
    to_b->remote.slot->proof[0] ^= 1;
    send_text(a, *to_b, "let me in");
    ASSERT_TRUE(progress_until(a, at_a, [&] {
        b.progress(at_b);
        return !at_a.downs.empty();
    }));
    EXPECT_EQ(at_a.downs[0].second, FI_EACCES);
    EXPECT_TRUE(at_b.arrivals.empty());
}

TEST_F(ShmPair, AFrameThatCannotBeDropsItsSender) {
    send_text(a, *to_b, "good");
    ASSERT_TRUE(arrives(1));
    Header header{};
    header.size = ShmTransport::kFrameMax + 1;
    std::byte* line = to_b->out.lines + shm::offset_at(to_b->out.position);
    const uint64_t first = uint64_t{header.size} | shm::parity_at(to_b->out.position);
    shm::first_word(line).store(first, std::memory_order_release);
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
    EXPECT_EQ(at_b.downs[0].second, FI_ECONNABORTED);
    EXPECT_EQ(at_b.arrivals.size(), 1u);
    ASSERT_TRUE(progress_until(a, at_a, [&] { return !at_a.downs.empty(); }));
}

TEST(ShmTransport, AFileOfAnotherUserOrModeIsNotTouched) {
    Name name("foreign"), own("own");
    const int file = open(file_of(name).c_str(), O_CREAT | O_RDWR | O_EXCL, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(fchmod(file, 0666), 0);
    ShmTransport one, two;
    EXPECT_EQ(one.open_at(name.text, {}), -FI_EADDRINUSE);
    ASSERT_EQ(two.open_at(own.text, {}), 0);
    ShmPeer* peer = nullptr;
    EXPECT_EQ(two.find_peer_at(name.text, &peer), -FI_EACCES);
    EXPECT_TRUE(file_exists(name));
    close(file);
    unlink(file_of(name).c_str());
}

TEST(ShmTransport, AnAddressThatIsNoneIsRefused) {
    ShmTransport one;
    for (const char* bad : {"", "fi_shm://", "fi_shm://a/b", "fi_sockaddr://1.2.3.4:5", "x"}) {
        char text[kShmTextMax] = {};
        memcpy(text, bad, strlen(bad));
        EXPECT_EQ(one.open_at(text, {}), -FI_EINVAL) << bad;
    }
}

struct ShmSleep : Pair {
    bool readable(int milliseconds) {
        pollfd entry = {b.wait_descriptor(), POLLIN, 0};
        return poll(&entry, 1, milliseconds) == 1;
    }
};

TEST_F(ShmSleep, AnArmedEndpointIsWokenByAFrame) {
    send_text(a, *to_b, "hello");
    ASSERT_TRUE(arrives(1));
    for (unsigned i = 2; i < 20; ++i) {
        ASSERT_TRUE(b.arm());
        EXPECT_FALSE(readable(0));
        send_text(a, *to_b, "wake up");
        EXPECT_TRUE(readable(50));
        ASSERT_TRUE(arrives(i));
    }
}

TEST_F(ShmSleep, AnEndpointWithFramesDoesNotSleep) {
    send_text(a, *to_b, "hello");
    EXPECT_FALSE(b.arm());
    ASSERT_TRUE(arrives(1));
    EXPECT_TRUE(b.arm());
}

TEST_F(ShmSleep, ASleeperIsWokenWhenItsPeerGoes) {
    send_text(a, *to_b, "hello");
    ASSERT_TRUE(arrives(1));
    ASSERT_TRUE(b.arm());
    a.close();
    ASSERT_TRUE(readable(1000));
    ASSERT_TRUE(progress_until(b, at_b, [&] { return !at_b.downs.empty(); }));
}

TEST_F(ShmSleep, ASleeperThatWaitsForRoomGetsIt) {
    const std::string payload = pattern(1000, 1);
    size_t sent = 0;
    while (send_text(a, *to_b, payload) == SendResult::Done) ++sent;
    ASSERT_TRUE(a.arm());
    ASSERT_TRUE(arrives(sent));
    pollfd entry = {a.wait_descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 1000), 1);
    a.progress(at_a);
    EXPECT_EQ(at_a.rooms.size(), 1u);
}

}  // namespace
}  // namespace selvage::impl::test
