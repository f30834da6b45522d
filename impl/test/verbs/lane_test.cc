// Long messages over the fake device: on a second queue pair, from memory to memory, in the order in which they were
// asked for.
#include "impl/test/verbs/sides.h"

namespace selvage::impl::test {
namespace {

using Phase = VerbsPeer::Phase;

constexpr size_t kSize = verbs::kLongUnnamed;  // registered for one use

class Lanes : public ::testing::Test {
protected:
    Lanes() {
        setenv("FI_MR_CACHE_MONITOR", "disabled", 1);
        to_b = join(a, b);
        to_a = b.peer(a);
    }
    ~Lanes() override { unsetenv("FI_MR_CACHE_MONITOR"); }

    LongRange source_of(std::string& memory) {
        LongRange range{};
        EXPECT_TRUE(find_local(device.domain, {memory.data(), memory.size()}, nullptr, false, &range));
        return range;
    }
    bool place_directly(std::string& memory, void* token) {
        return b.transport.place_directly(*to_a, {memory.data(), memory.size()}, nullptr, token);
    }
    bool announce_and_hear() {
        a.transport.announce(*to_b);
        return run({&a, &b}, [&] { return to_a->call && to_a->call->lane && to_a->call->lane->is_connected(); });
    }
    // b has asked for one, and a knows.
    void open() {
        ASSERT_TRUE(announce_and_hear());
        ASSERT_TRUE(place_directly(place, &place));
        ASSERT_TRUE(run({&a, &b}, [&] { return to_b->call->lane->is_connected(); }));
    }

    FakeDevice device;
    VerbsSide a{device}, b{device};
    VerbsPeer* to_b = nullptr;
    VerbsPeer* to_a = nullptr;
    std::string text = std::string(kSize, 's'), place = std::string(kSize, '?');
};

TEST_F(Lanes, ALongMessageComesFromMemoryToMemory) {
    EXPECT_FALSE(place_directly(place, &place)) << "there is no lane yet";
    ASSERT_NO_FATAL_FAILURE(open());
    const LongRange source = source_of(text);
    ASSERT_TRUE(a.transport.send_long(*to_b, source, &text));
    EXPECT_FALSE(to_b->call->idle());
    ASSERT_TRUE(run({&a, &b}, [&] { return a.sink.sent_tokens.size() == 1 && b.sink.placed_tokens.size() == 1; }));
    EXPECT_EQ(a.sink.sent_tokens[0], &text);
    EXPECT_EQ(b.sink.placed_tokens[0], &place);
    EXPECT_TRUE(place == text);
    EXPECT_TRUE(to_b->call->lane->idle());
    VerbsTransport::release_mr(source.token);
    EXPECT_EQ(device.regions_open(), 2u) << "the buffers of two links";
    EXPECT_EQ(device.pairs_open(), 2u);
}

TEST_F(Lanes, BothEndsMayBeginAtOnceAndUseTheSamePairs) {
    a.transport.announce(*to_b);
    b.transport.announce(*to_a);
    ASSERT_TRUE(run({&a, &b}, [&] { return to_a->call->lane->is_connected() && to_b->call->lane->is_connected(); }));
    EXPECT_EQ(device.pairs_open(), 2u);
    std::string other(kSize, '?');
    ASSERT_TRUE(place_directly(place, &place));
    ASSERT_TRUE(a.transport.place_directly(*to_b, {other.data(), other.size()}, nullptr, &other));
    const LongRange there = source_of(text), back = source_of(text);
    ASSERT_TRUE(a.transport.send_long(*to_b, there, nullptr));
    ASSERT_TRUE(b.transport.send_long(*to_a, back, nullptr));
    ASSERT_TRUE(run({&a, &b}, [&] { return a.sink.placed_tokens.size() + b.sink.placed_tokens.size() == 2; }));
    EXPECT_TRUE(place == text && other == text);
    VerbsTransport::release_mr(there.token);
    VerbsTransport::release_mr(back.token);
}

TEST_F(Lanes, MessagesComeIntoThePlacesInTheOrderInWhichTheyWereAskedFor) {
    ASSERT_NO_FATAL_FAILURE(open());
    const LongRange source = source_of(text);
    std::string cut(1000, '?');
    EXPECT_FALSE(place_directly(cut, &cut)) << "not worth a registration of its own";
    std::string second(kSize, '?');
    ASSERT_TRUE(place_directly(second, &second));
    ASSERT_TRUE(a.transport.send_long(*to_b, source, nullptr));
    ASSERT_TRUE(a.transport.send_long(*to_b, source, nullptr));
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.placed_tokens.size() == 2; }));
    EXPECT_EQ(b.sink.placed_tokens[0], &place);
    EXPECT_EQ(b.sink.placed_tokens[1], &second);
    VerbsTransport::release_mr(source.token);
}

TEST_F(Lanes, ADeviceWithoutASecondPairLeavesMessagesToFrames) {
    device.pairs_max = 1;
    a.transport.announce(*to_b);
    EXPECT_EQ(a.send(*to_b, "behind it"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    EXPECT_FALSE(place_directly(place, &place));
    b.transport.announce(*to_a);
    EXPECT_TRUE(a.sink.downs.empty() && b.sink.downs.empty());
    EXPECT_EQ(device.pairs_open(), 1u);
    EXPECT_EQ(device.regions_open(), 2u);
}

TEST_F(Lanes, ADeviceThatDoesNotConnectPairsLeavesMessagesToFrames) {
    device.connects_pairs = false;
    a.transport.announce(*to_b);
    ASSERT_EQ(a.send(*to_b, "behind it"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    EXPECT_FALSE(place_directly(place, &place));
    EXPECT_EQ(device.pairs_open(), 1u);
    b.transport.announce(*to_a);
    EXPECT_EQ(device.pairs_open(), 1u) << "it is not tried again";
}

TEST_F(Lanes, BothEndsOfSuchADeviceMayBeginAtOnce) {
    device.connects_pairs = false;
    a.transport.announce(*to_b);
    b.transport.announce(*to_a);
    ASSERT_EQ(a.send(*to_b, "behind it"), SendResult::Done);
    ASSERT_EQ(b.send(*to_a, "behind it"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return a.sink.frames.size() == 1 && b.sink.frames.size() == 1; }));
    EXPECT_FALSE(place_directly(place, &place));
    EXPECT_TRUE(a.sink.downs.empty() && b.sink.downs.empty());
}

TEST_F(Lanes, AReceiverAsksForSoManyAndTheSenderKeepsWhatTheDeviceHasNoRoomFor) {
    ASSERT_NO_FATAL_FAILURE(open());
    const LongRange source = source_of(text);
    for (uint32_t i = 1; i < verbs::kLaneMessages; ++i) ASSERT_TRUE(place_directly(place, &place));
    EXPECT_FALSE(place_directly(place, &place));
    for (uint32_t i = 0; i < verbs::kLaneMessages; ++i) {
        ASSERT_TRUE(a.transport.send_long(*to_b, source, nullptr));
    }
    // They have come, and as many more are asked for, before the sender has looked.
    ASSERT_TRUE(run({&b}, [&] { return b.sink.placed_tokens.size() == verbs::kLaneMessages; }));
    for (uint32_t i = 0; i < verbs::kLaneMessages; ++i) ASSERT_TRUE(place_directly(place, &place));
    const size_t requests = device.requests;
    for (uint32_t i = 0; i < verbs::kLaneMessages; ++i) {
        ASSERT_TRUE(a.transport.send_long(*to_b, source, nullptr));
    }
    EXPECT_EQ(device.requests, requests);
    EXPECT_FALSE(a.transport.send_long(*to_b, source, nullptr)) << "nobody can have asked for it";
    constexpr size_t kBoth = 2 * verbs::kLaneMessages;
    ASSERT_TRUE(
        run({&a, &b}, [&] { return a.sink.sent_tokens.size() == kBoth && b.sink.placed_tokens.size() == kBoth; }));
    VerbsTransport::release_mr(source.token);
}

TEST_F(Lanes, AMessageThatIsNotAsLongAsItHadToBeEndsThePeer) {
    ASSERT_NO_FATAL_FAILURE(open());
    LongRange source = source_of(text);
    source.length -= 1;
    ASSERT_TRUE(a.transport.send_long(*to_b, source, nullptr));
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.downs.empty(); }));
    EXPECT_EQ(b.sink.downs[0].second, FI_ECONNABORTED);
    EXPECT_TRUE(b.sink.placed_tokens.empty());
    VerbsTransport::release_mr(source.token);
}

TEST_F(Lanes, WhoAsksWithoutALaneOrTellsOfTwoIsDropped) {
    const LongRange source = source_of(text);
    EXPECT_FALSE(a.transport.send_long(*to_b, source, nullptr));
    ASSERT_NO_FATAL_FAILURE(open());
    const verbs::LaneNumbers again{.pair = 1, .first_packet = 1};
    ASSERT_TRUE(to_b->call->link.send_note(&again, sizeof again, verbs::Word::Lane));
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.downs.empty(); }));
    EXPECT_EQ(b.sink.downs[0].second, FI_ECONNABORTED);
    VerbsTransport::release_mr(source.token);
}

TEST_F(Lanes, NumbersThatAreCutOffEndThePeer) {
    const verbs::LaneNumbers numbers{.pair = 1, .first_packet = 1};
    ASSERT_TRUE(to_b->call->link.send_note(&numbers, sizeof numbers - 1, verbs::Word::Lane));
    ASSERT_TRUE(run({&a, &b}, [&] { return !b.sink.downs.empty(); }));
    EXPECT_EQ(b.sink.downs[0].second, FI_ECONNABORTED);
    EXPECT_EQ(device.pairs_open(), 0u);
}

TEST_F(Lanes, TheCompletionQueueHasRoomForEveryLane) {
    VerbsSide c(device);
    VerbsPeer* to_c = join(a, c);
    EXPECT_EQ(device.longest_queue, 0) << "it was not made longer for two connections";
    a.transport.announce(*to_b);
    a.transport.announce(*to_c);
    EXPECT_GE(device.longest_queue, 2 * (verbs::Link::kMostCompletions + verbs::Lane::kMostCompletions));
}

// The application has the place back when the peer is down.
TEST_F(Lanes, NothingIsWrittenToAPlaceOnceItsPeerIsDown) {
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_EQ(device.pairs_open(), 2u);
    ASSERT_EQ(device.regions_open(), 3u);
    size_t pairs = 2;
    b.sink.on_down = [&] { pairs = device.pairs_open(); };
    device.fail_pair(IBV_WC_RETRY_EXC_ERR);
    ASSERT_EQ(b.send(*to_a, "lost"), SendResult::Done);
    ASSERT_TRUE(run({&b}, [&] { return !b.sink.downs.empty(); }));
    EXPECT_EQ(pairs, 1u) << "the pair is gone before";
    EXPECT_EQ(device.regions_open(), 1u) << "the other end's buffers";
    EXPECT_FALSE(place_directly(place, &place));
}

TEST_F(Lanes, ALaneThatFailsTakesItsConnectionAlong) {
    ASSERT_NO_FATAL_FAILURE(open());
    const LongRange source = source_of(text);
    device.fail_pair(IBV_WC_RETRY_EXC_ERR);
    ASSERT_TRUE(a.transport.send_long(*to_b, source, nullptr));
    ASSERT_TRUE(run({&a}, [&] { return !a.sink.downs.empty(); }));
    EXPECT_EQ(a.sink.downs[0].second, FI_ETIMEDOUT);
    EXPECT_TRUE(a.sink.sent_tokens.empty());
    VerbsTransport::release_mr(source.token);
}

TEST_F(Lanes, TheLongestMessagesAreExportedToTheirReceiversInstead) {
    std::string memory(verbs::kLongExported, 's');
    LongRange source{};
    EXPECT_FALSE(a.transport.find_source({memory.data(), verbs::kLongNamed}, nullptr, &source)) << "not registered";
    ASSERT_TRUE(a.transport.find_source({memory.data(), memory.size()}, nullptr, &source));
    EXPECT_TRUE(source.exported);
    VerbsTransport::release_mr(source.token);
}

}  // namespace
}  // namespace selvage::impl::test
