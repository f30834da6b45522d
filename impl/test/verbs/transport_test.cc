// The verbs transport over a fake device.
#include <utility>

#include "impl/test/verbs/sides.h"

namespace selvage::impl::test {
namespace {

using Phase = VerbsPeer::Phase;

static_assert(Transport<VerbsTransport>);
static_assert(DeviceSink<VerbsSink, VerbsPeer>);

std::string pattern(size_t size, uint64_t seed) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(seed * 31 + i * 7 + (i >> 8));
    return text;
}

class VerbsTransportTest : public ::testing::Test {
protected:
    FakeDevice device;
};

TEST_F(VerbsTransportTest, AFrameArrivesAsItWasSentAndTheAnswerComesBackOnOneConnection) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    ASSERT_EQ(to_b->phase, Phase::Up);
    EXPECT_EQ(a.send(*to_b, "question", 7), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
    EXPECT_EQ(b.sink.frames[0].payload, "question");
    EXPECT_EQ(b.sink.frames[0].header.word[0], 7u);
    VerbsPeer* back = b.sink.frames[0].from;
    EXPECT_EQ(back, b.peer(a)) << "the caller is known by the address at which it listens";
    EXPECT_EQ(b.send(*back, "answer"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.frames.empty(); }));
    EXPECT_EQ(a.sink.frames[0].from, to_b);
    EXPECT_EQ(a.transport.calls() + b.transport.calls(), 2u);
}

TEST_F(VerbsTransportTest, EveryLengthGoesInlineOrThroughABufferAndStaysWhole) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{188}, size_t{189}, size_t{5000}, VerbsTransport::kFrameMax}) {
        device.inlined = 0;
        const std::string text = pattern(size, size);
        ASSERT_EQ(a.send(*to_b, text), SendResult::Done);
        ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
        EXPECT_EQ(b.sink.frames[0].payload, text) << size;
        EXPECT_EQ(device.inlined, size <= device.inline_max) << size;
        b.sink.frames.clear();
    }
}

TEST_F(VerbsTransportTest, OfAHeaderOnlyWhatIsNotZeroGoesToTheDevice) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    const std::string text = "payload";
    const iovec payload{const_cast<char*>(text.data()), text.size()};
    const auto size = static_cast<uint32_t>(text.size());
    const struct {
        Header header;
        size_t carried;
    } cases[] = {
        {{.size = size, .op = 7, .flags = 0, .aux = 0, .word = {0, 0, 0}}, text.size()},
        {{.size = size, .op = 255, .flags = 0, .aux = 0, .word = {9, 0, 0}}, text.size() + 8},
        {{.size = size, .op = 7, .flags = 0, .aux = 0, .word = {0, 1, 0}}, text.size() + sizeof(Header)},
        {{.size = size, .op = 7, .flags = 0, .aux = 0, .word = {9, 0, UINT64_MAX}}, text.size() + sizeof(Header)},
        {{.size = size, .op = 7, .flags = 128, .aux = 0, .word = {9, 0, 0}}, text.size() + sizeof(Header)},
        {{.size = size, .op = 7, .flags = 0, .aux = 256, .word = {0, 0, 0}}, text.size() + sizeof(Header)},
        {{.size = 0, .op = 3, .flags = 0, .aux = 0, .word = {0, 0, 0}}, 0},
        {{.size = 0, .op = 3, .flags = 0, .aux = 0, .word = {1, 0, 0}}, 8},
    };
    for (const auto& each : cases) {
        for (const bool more : {false, true}) {  // inline from where it is, and copied
            const size_t before = device.bytes_sent;
            ASSERT_EQ(a.transport.send(*to_b, {each.header, &payload, each.header.size ? 1u : 0u, nullptr, more}),
                      SendResult::Done);
            ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
            EXPECT_EQ(device.bytes_sent - before, each.carried);
            EXPECT_EQ(memcmp(&b.sink.frames[0].header, &each.header, sizeof(Header)), 0);
            EXPECT_EQ(b.sink.frames[0].payload, text.substr(0, each.header.size));
            b.sink.frames.clear();
        }
    }
}

TEST_F(VerbsTransportTest, ASenderWithoutCreditsWaitsAndIsToldOfRoom) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    size_t sent = 0;
    while (a.send(*to_b, "x", sent) == SendResult::Done) ++sent;
    EXPECT_LE(sent, verbs::kCredits);
    EXPECT_GT(sent, verbs::kCredits / 2);
    for (int i = 0; i < 100; ++i) a.progress();
    EXPECT_TRUE(a.sink.rooms.empty());
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.rooms.empty(); }));
    EXPECT_EQ(a.send(*to_b, "x", sent), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == sent + 1; }));
    for (size_t i = 0; i <= sent; ++i) EXPECT_EQ(b.sink.frames[i].header.word[0], i);
}

// Streams in both directions: no message without a receive, no queue overflows (the device watches), nothing is lost.
TEST_F(VerbsTransportTest, StreamsBothWaysKeepOrderAndNeverFindNoReceive) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    VerbsPeer* to_a = b.peer(a);
    uint64_t next[2] = {}, seen[2] = {};
    uint64_t dice = 1;
    const auto roll = [&](uint64_t most) {
        return (dice = dice * 6364136223846793005 + 1442695040888963407) >> 33 & (most - 1);
    };
    const auto check = [&](VerbsSink& sink, uint64_t& count) {
        for (; !sink.frames.empty(); sink.frames.pop_front()) {
            EXPECT_EQ(sink.frames[0].header.word[0], count);
            EXPECT_EQ(sink.frames[0].payload, pattern(sink.frames[0].header.size, count));
            ++count;
        }
    };
    for (int round = 0; round < 20'000 && !(seen[0] > 5000 && seen[1] > 5000); ++round) {
        for (uint64_t i = roll(16); i; --i) {
            if (a.send(*to_b, pattern(roll(2) ? roll(64) : roll(8192), next[0]), next[0], roll(2)) == SendResult::Done)
                ++next[0];
        }
        for (uint64_t i = roll(16); i; --i) {
            if (b.send(*to_a, pattern(roll(64), next[1]), next[1], false) == SendResult::Done) ++next[1];
        }
        if (roll(4)) a.progress();
        if (roll(4)) b.progress();
        check(b.sink, seen[0]);
        check(a.sink, seen[1]);
    }
    EXPECT_GT(seen[0], 5000u);
    EXPECT_GT(seen[1], 5000u);
    EXPECT_LT(device.posts, device.requests) << "requests with more to follow share a doorbell";
    EXPECT_LT(device.signalled, device.requests / 4);
    EXPECT_TRUE(a.sink.downs.empty() && b.sink.downs.empty());
}

TEST_F(VerbsTransportTest, RequestsWithMoreToFollowWaitForTheLastOrForProgress) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    for (int i = 0; i < 20; ++i) a.progress(), b.progress();
    device.posts = 0;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(a.send(*to_b, "x", 0, true), SendResult::Done);
    EXPECT_EQ(device.posts, 0u);
    ASSERT_EQ(a.send(*to_b, "x", 0, false), SendResult::Done);
    EXPECT_EQ(device.posts, 1u);
    ASSERT_EQ(a.send(*to_b, "x", 0, true), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 5; }));
}

TEST_F(VerbsTransportTest, TwoThatCallEachOtherAtOnceEndWithOneConnection) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = a.peer(b);
    VerbsPeer* to_a = b.peer(a);
    const auto together = [&] {
        return to_b->phase == Phase::Up && to_a->phase == Phase::Up && a.transport.calls() == 1 &&
               b.transport.calls() == 1;
    };
    ASSERT_TRUE(run({&a, &b}, together, 200'000));
    EXPECT_EQ(a.send(*to_b, "x"), SendResult::Done);
    EXPECT_EQ(b.send(*to_a, "y"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return a.sink.frames.size() == 1 && b.sink.frames.size() == 1; }));
    EXPECT_TRUE(a.sink.downs.empty() && b.sink.downs.empty());
}

// Called in the middle of the next progress, between its looks at completions and at events.
std::function<void()> meanwhile;
int (*get_event)(rdma_event_channel*, rdma_cm_event**);
int get_event_after(rdma_event_channel* channel, rdma_cm_event** event) {
    if (const auto call = std::exchange(meanwhile, nullptr)) call();
    return get_event(channel, event);
}

// One that calls a while before the other does, and looks late from then on. Which of the two calls counts is chance.
void cross_calls(FakeDevice& device, int lead) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = a.peer(b);
    for (int i = 0; i < lead; ++i) (i % 2 ? b : a).progress();
    VerbsPeer* to_a = b.peer(a);
    const auto together = [&] { return to_b->phase == Phase::Up && to_a->phase == Phase::Up; };
    for (int i = 0; i < 200'000 && !together(); ++i) {
        meanwhile = [&b] {
            for (int n = 0; n < 10; ++n) b.progress();
        };
        a.progress();
        meanwhile = nullptr;
        b.progress();
    }
    EXPECT_TRUE(together()) << lead;
    EXPECT_TRUE(a.sink.downs.empty() && b.sink.downs.empty()) << lead;
}
// The reason is a message, and the end an event: who looks late finds both at once, the end first.
TEST_F(VerbsTransportTest, ACallThatIsTurnedAwayForTheOthersEndsWithOneConnection) {
    get_event = std::exchange(device.library.get_cm_event, get_event_after);
    for (int lead = 0; lead < 12; ++lead) {
        for (int i = 0; i < 8; ++i) cross_calls(device, lead);
    }
}

TEST_F(VerbsTransportTest, AnEndpointReachesItselfThroughTheDevice) {
    VerbsSide a(device);
    VerbsPeer* self = join(a, a);
    ASSERT_EQ(self->phase, Phase::Up);
    EXPECT_EQ(a.send(*self, "me"), SendResult::Done);
    ASSERT_TRUE(run({&a}, [&] { return !a.sink.frames.empty(); }));
    VerbsPeer* from = a.sink.frames[0].from;
    EXPECT_EQ(from->remote.port(), a.transport.address().port());
    EXPECT_EQ(a.send(*from, "too"), SendResult::Done);
    ASSERT_TRUE(run({&a}, [&] { return a.sink.frames.size() == 2; }));
}

TEST_F(VerbsTransportTest, AnotherKeyIsRejectedAndNothingOfTheCallerIsDelivered) {
    VerbsSide a(device, "one key"), b(device, "another");
    VerbsPeer* to_b = a.peer(b);
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.downs.empty(); }));
    EXPECT_EQ(a.sink.downs[0], std::make_pair(to_b, FI_EKEYREJECTED));
    EXPECT_TRUE(b.sink.frames.empty());
    EXPECT_TRUE(b.sink.downs.empty());
    ASSERT_TRUE(run({&a, &b}, [&] { return a.transport.calls() + b.transport.calls() == 0; }));
}

TEST_F(VerbsTransportTest, TheReasonForTheEndIsReportedThoughTheEndIsSeenFirst) {
    get_event = std::exchange(device.library.get_cm_event, get_event_after);
    for (int lead = 0; lead < 6; ++lead) {
        VerbsSide a(device, "one key"), b(device, "another");
        VerbsPeer* to_b = a.peer(b);
        for (int i = 0; i < lead; ++i) (i % 2 ? b : a).progress();
        for (int i = 0; i < 2000 && a.sink.downs.empty(); ++i) {
            meanwhile = [&b] {
                for (int n = 0; n < 10; ++n) b.progress();
            };
            a.progress();
            meanwhile = nullptr;
        }
        ASSERT_FALSE(a.sink.downs.empty());
        EXPECT_EQ(a.sink.downs[0], std::make_pair(to_b, FI_EKEYREJECTED)) << lead;
    }
}

TEST_F(VerbsTransportTest, NobodyListeningTakesThePeerDown) {
    VerbsSide a(device);
    VerbsPeer* nobody = nullptr;
    ASSERT_EQ(a.transport.peer_at(fake_address(4242), &nobody), 0);
    ASSERT_TRUE(run({&a}, [&] { return !a.sink.downs.empty(); }));
    EXPECT_EQ(a.sink.downs[0], std::make_pair(nobody, FI_ECONNREFUSED));
}

TEST_F(VerbsTransportTest, WhatWasSentBeforeTheEndIsDeliveredBeforeThePeerIsDown) {
    VerbsSide a(device);
    {
        VerbsSide b(device);
        VerbsPeer* to_a = join(b, a);
        ASSERT_EQ(b.send(*to_a, "last words", 0, true), SendResult::Done);
    }
    ASSERT_TRUE(run({&a}, [&] { return !a.sink.downs.empty(); }));
    ASSERT_EQ(a.sink.frames.size(), 1u);
    EXPECT_EQ(a.sink.frames[0].payload, "last words");
    EXPECT_EQ(a.sink.downs[0].second, FI_ECONNRESET);
    EXPECT_EQ(a.send(*a.sink.downs[0].first, "x"), SendResult::Down);
}

TEST_F(VerbsTransportTest, APeerThatFailedIsCalledAgain) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    device.fail_pair(IBV_WC_RETRY_EXC_ERR);
    ASSERT_EQ(a.send(*to_b, "lost"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.downs.empty(); }));
    EXPECT_EQ(a.sink.downs[0].second, FI_ETIMEDOUT);
    ASSERT_EQ(a.peer(b), to_b);
    ASSERT_TRUE(run(
        {&a, &b}, [&] { return to_b->phase == Phase::Up; }, 200'000));
    ASSERT_EQ(a.send(*to_b, "again"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
}

TEST_F(VerbsTransportTest, ADeviceThatIsRemovedTakesEveryPeerDownAndAnswersNoMore) {
    VerbsSide a(device), b(device), c(device);
    VerbsPeer* to_b = join(a, b);
    VerbsPeer* to_c = join(a, c);
    device.remove();
    ASSERT_TRUE(run(
        {&a}, [&] { return a.sink.downs.size() == 2; }, 20'000'000));
    for (const auto& [peer, error] : a.sink.downs) EXPECT_EQ(error, FI_ENODEV);
    EXPECT_EQ(a.send(*to_b, "x"), SendResult::Down);
    VerbsPeer* found;
    EXPECT_EQ(a.transport.peer_at(c.transport.address(), &found), -FI_ENODEV);
    EXPECT_EQ(to_c->phase, Phase::Down);
}

DeviceAccess access_of(DeviceAccess::Kind kind, const iovec& local, uint64_t address, uint64_t key, void* token) {
    return {.kind = kind,
            .local = &local,
            .count = 1,
            .length = local.iov_len,
            .address = address,
            .key = key,
            .has_data = false,
            .data = 0,
            .operand = 0,
            .compare = 0,
            .regions = nullptr,
            .token = token};
}

TEST_F(VerbsTransportTest, AccessesOfEveryLengthMoveBytesAndReleaseWhatTheyRegistered) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    std::string remote(1 << 20, '\0');
    const auto base = reinterpret_cast<uintptr_t>(remote.data());
    ibv_mr* region = device.library.register_iova(
        nullptr, remote.data(), remote.size(), base,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
    const uint64_t key = verbs::kDeviceKey | region->rkey;
    EXPECT_TRUE(a.transport.reaches(*to_b, key, false));
    EXPECT_FALSE(a.transport.reaches(*to_b, key, true)) << "the peer did not say so";
    const size_t open = device.regions_open();
    for (const size_t size :
         {size_t{1}, size_t{220}, size_t{221}, verbs::kSlotBytes, verbs::kSlotBytes + 1, remote.size()}) {
        std::string out = pattern(size, size), in(size, '?');
        const iovec source{out.data(), size}, sink{in.data(), size};
        EXPECT_EQ(a.transport.access(*to_b, access_of(DeviceAccess::Kind::Write, source, base, key, &out)),
                  AccessResult::Posted);
        EXPECT_EQ(a.transport.access(*to_b, access_of(DeviceAccess::Kind::Read, sink, base, key, &in)),
                  AccessResult::Posted);
        ASSERT_TRUE(run({&a}, [&] { return a.sink.tokens.size() == 2; }));
        EXPECT_EQ(a.sink.tokens[0], std::make_pair(static_cast<void*>(&out), 0));
        EXPECT_EQ(a.sink.tokens[1], std::make_pair(static_cast<void*>(&in), 0));
        EXPECT_EQ(in, out) << size;
        EXPECT_EQ(device.regions_open(), open);
        a.sink.tokens.clear();
    }
    device.library.dereg_mr(region);
}

TEST_F(VerbsTransportTest, AnAccessThatCannotBeRegisteredIsLeftToTheEngine) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    std::string local(100'000, 'x');
    const iovec source{local.data(), local.size()};
    device.registers = false;
    EXPECT_EQ(a.transport.access(*to_b, access_of(DeviceAccess::Kind::Write, source, 1, 1, nullptr)),
              AccessResult::Impossible);
    EXPECT_EQ(device.accesses, 0u);
}

TEST_F(VerbsTransportTest, AccessesBeyondTheRoomWaitForIt) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    std::string remote(8, '\0');
    const auto base = reinterpret_cast<uintptr_t>(remote.data());
    ibv_mr* region =
        device.library.register_iova(nullptr, remote.data(), 8, base, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    uint64_t value = 9;
    const iovec source{&value, 8};
    const DeviceAccess access = access_of(DeviceAccess::Kind::Write, source, base, region->rkey, nullptr);
    size_t posted = 0;
    AccessResult result;
    while ((result = a.transport.access(*to_b, access)) == AccessResult::Posted) ++posted;
    EXPECT_EQ(result, AccessResult::Again);
    EXPECT_EQ(posted, verbs::kAccesses);
    ASSERT_TRUE(run({&a}, [&] { return !a.sink.rooms.empty(); }));
    EXPECT_EQ(a.transport.access(*to_b, access), AccessResult::Posted);
    run({&a}, [&] { return a.sink.tokens.size() == posted + 1; });
    device.library.dereg_mr(region);
}

TEST_F(VerbsTransportTest, AnAccessWithoutRightTellsItsOperationFirstAndThenThePeerIsDown) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    uint64_t value = 9;
    const iovec source{&value, 8};
    ASSERT_EQ(a.transport.access(*to_b, access_of(DeviceAccess::Kind::Write, source, 1, 1, &value)),
              AccessResult::Posted);
    ASSERT_TRUE(run({&a, &b}, [&] { return !a.sink.downs.empty() && !b.sink.downs.empty(); }));
    ASSERT_EQ(a.sink.tokens.size(), 1u);
    EXPECT_EQ(a.sink.tokens[0], std::make_pair(static_cast<void*>(&value), FI_EACCES));
}

TEST_F(VerbsTransportTest, WhatFollowsAReadWaitsUntilItHasComeBack) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    std::string remote(8, '\0');
    const auto base = reinterpret_cast<uintptr_t>(remote.data());
    ibv_mr* region = device.library.register_iova(nullptr, remote.data(), 8, base, IBV_ACCESS_REMOTE_READ);
    uint64_t value = 0;
    const iovec sink{&value, 8};
    device.fenced = 0;
    ASSERT_EQ(a.send(*to_b, "before"), SendResult::Done);
    ASSERT_EQ(a.transport.access(*to_b, access_of(DeviceAccess::Kind::Read, sink, base, region->rkey, nullptr)),
              AccessResult::Posted);
    EXPECT_EQ(device.fenced, 0u);
    ASSERT_EQ(a.send(*to_b, "behind"), SendResult::Done);
    EXPECT_EQ(device.fenced, 1u);
    ASSERT_TRUE(run({&a}, [&] { return !a.sink.tokens.empty(); }));
    ASSERT_EQ(a.send(*to_b, "later"), SendResult::Done);
    EXPECT_EQ(device.fenced, 1u);
    device.library.dereg_mr(region);
}

TEST_F(VerbsTransportTest, ReceivesArePostedAgainWhenProgressIsMadeTheNextTime) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    ASSERT_EQ(a.send(*to_b, "hello"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.frames.empty(); }));
    VerbsPeer* back = b.sink.frames[0].from;
    const auto posted = [&] {
        size_t count = 0;
        device.receives_of_last_caller([&](const ibv_recv_wr&, const ibv_sge&) { ++count; });
        return count;
    };
    size_t waited = 0;
    for (int i = 0; i < 40; ++i) {
        while (b.send(*back, "x") != SendResult::Done) b.progress();
        a.progress();
        if (posted() > verbs::kReceives - verbs::kRepost) continue;
        ++waited;
        a.progress();
        EXPECT_GT(posted(), verbs::kReceives - verbs::kRepost);
        b.progress();
    }
    EXPECT_GE(waited, 8u);
    EXPECT_EQ(a.sink.frames.size(), 40u);
}

TEST_F(VerbsTransportTest, AFrameThatLiesAboutItsLengthEndsThePeerAlone) {
    VerbsSide a(device), b(device), c(device);
    VerbsPeer* to_b = join(a, b);
    join(c, b);
    const iovec payload{const_cast<char*>("12345678"), 8};
    // The device carries 40 bytes of a frame that claims 35.
    verbs::Link& link = to_b->call->link;
    const Header honest{.size = 8, .op = 0, .flags = 1, .aux = 0, .word = {}};
    ASSERT_TRUE(link.send({honest, &payload, 1, nullptr, true}));
    Header lie = honest;
    lie.size = 3;
    memcpy(link.last_slot(), &lie, sizeof lie);
    ASSERT_TRUE(link.flush());
    ASSERT_TRUE(run({&a, &b, &c}, [&] { return !b.sink.downs.empty(); }));
    EXPECT_EQ(b.sink.downs.size(), 1u);
    EXPECT_EQ(b.sink.downs[0].second, FI_ECONNABORTED);
    EXPECT_TRUE(b.sink.frames.empty());
}

TEST(VerbsFrame, IsReadOnlyIfItsLengthFitsItsKind) {
    using verbs::Word;
    alignas(8) std::byte bytes[verbs::kSlotBytes] = {};
    Header header{};
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::Bare, .op = 7}, bytes, 0, &header), bytes);
    EXPECT_EQ(header.size, 0u);
    EXPECT_EQ(header.op, 7);
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::Bare, .op = 7}, bytes, verbs::kFramePayloadMax, &header),
              bytes);
    EXPECT_EQ(header.size, verbs::kFramePayloadMax);
    EXPECT_EQ(
        verbs::read_frame({.credits = 0, .kind = Word::Bare, .op = 7}, bytes, verbs::kFramePayloadMax + 1, &header),
        nullptr);
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::FirstWord, .op = 7}, bytes, 7, &header), nullptr);
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::FirstWord, .op = 7}, bytes, 8, &header), bytes + 8);
    EXPECT_EQ(header.size, 0u);
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::FirstWord, .op = 7}, bytes, verbs::kFramePayloadMax + 9,
                                &header),
              nullptr);
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::Frame, .op = 7}, bytes, sizeof(Header) - 1, &header),
              nullptr);
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::Frame, .op = 7}, bytes, sizeof(Header), &header),
              bytes + sizeof(Header));
    EXPECT_EQ(header.op, 0) << "the header that came counts";
    EXPECT_EQ(verbs::read_frame({.credits = 0, .kind = Word::Frame, .op = 7}, bytes, sizeof(Header) + 1, &header),
              nullptr);
}

TEST_F(VerbsTransportTest, ASleeperIsArmedOnceNothingIsLeft) {
    VerbsSide a(device), b(device);
    VerbsPeer* to_b = join(a, b);
    for (int i = 0; i < 50; ++i) a.progress(), b.progress();
    ASSERT_TRUE(b.transport.arm());
    pollfd waits{.fd = b.transport.wait_descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waits, 1, 0), 0);
    ASSERT_EQ(a.send(*to_b, "wake up"), SendResult::Done);
    EXPECT_EQ(poll(&waits, 1, 1000), 1);
    EXPECT_FALSE(b.transport.arm()) << "something has arrived";
    b.progress();
    ASSERT_EQ(b.sink.frames.size(), 1u);
    EXPECT_TRUE(b.transport.arm());
    EXPECT_EQ(poll(&waits, 1, 0), 0);
}

}  // namespace
}  // namespace selvage::impl::test
