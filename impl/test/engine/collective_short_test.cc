// Short messages of collectives (engine/receiver_short.cc): their order among longer ones, what becomes of them when
// their group fails or their sender is lost, and receives that wait for one.
#include <vector>

#include "impl/engine/peer_state.h"
#include "impl/engine/window.h"
#include "impl/test/engine/trio.h"

namespace selvage::impl::test {
namespace {

// A broadcast of the first member, as one member calls it.
ssize_t broadcast(Trio& trio, size_t member, std::vector<uint64_t>& values) {
    return fi_broadcast(trio[member].ep, values.data(), values.size(), nullptr, trio[member].group(),
                        trio[member].members[0], FI_UINT64, 0, nullptr);
}
// The next outcome of one member, or 0.
int outcome(MemberNode& node) {
    fi_cq_tagged_entry entry;
    for (int i = 0; i < 50; ++i) {
        const ssize_t read = node.read(&entry);
        if (read) return read < 0 ? -node.read_error().err : static_cast<int>(read);
    }
    return 0;
}
PeerState::Collective& collective_of(MemberNode& node, MemberNode& other) {
    auto* peer = node.transport<false>().peer_called(other.endpoint.shm_address);
    return static_cast<PeerState*>(peer->state)->collective;
}

TEST(ShortCollectives, MessagesOfAllLengthsStayInTheirOrder) {
    Trio trio;
    trio.join_all();
    const std::vector<size_t> counts = {1, 4, 5, 1, 32, 33, 2, 3000, 1, 1, 100, 32};
    std::vector<std::vector<uint64_t>> sent;
    for (const size_t count : counts) sent.emplace_back(count, sent.size());
    for (auto& values : sent) {
        ASSERT_EQ(broadcast(trio, 0, values), 0);
        for (int i = 0; i < 5; ++i) trio.progress();
    }
    for (size_t i = 0; i < counts.size(); ++i) {
        for (size_t n = 1; n < 3; ++n) {
            std::vector<uint64_t> received(counts[i], counts.size());
            ASSERT_EQ(broadcast(trio, n, received), 0);
            for (int turn = 0; turn < 20; ++turn) trio.progress();
            ASSERT_EQ(outcome(trio[n]), 1) << i;
            EXPECT_EQ(received, sent[i]) << i;
        }
        EXPECT_EQ(outcome(trio[0]), 1) << i;
    }
}

// More than may be on their way: the rest is announced, and waits.
TEST(ShortCollectives, WhoIsFarAheadIsHeardInOrder) {
    Trio trio;
    trio.join_all();
    const uint64_t count = kCollectiveUnits + 20;
    std::vector<std::vector<uint64_t>> sent;
    for (uint64_t i = 0; i < count; ++i) sent.push_back({i});
    for (auto& values : sent) {
        ASSERT_EQ(broadcast(trio, 0, values), 0);
        trio.progress();
    }
    EXPECT_GT(collective_of(trio[1], trio[0]).announced, 0u);
    for (uint64_t i = 0; i < count; ++i) {
        std::vector<uint64_t> received[3] = {{}, {count}, {count}};
        for (size_t n = 1; n < 3; ++n) ASSERT_EQ(broadcast(trio, n, received[n]), 0);
        for (int turn = 0; turn < 10; ++turn) trio.progress();
        for (size_t n = 1; n < 3; ++n) {
            ASSERT_EQ(outcome(trio[n]), 1) << i;
            ASSERT_EQ(received[n][0], i);
        }
    }
    for (size_t n = 1; n < 3; ++n) EXPECT_EQ(collective_of(trio[n], trio[0]).kept, 0u);
}

TEST(ShortCollectives, AWaitingReceiveEndsWithAnErrorWhereSomethingLongerComes) {
    for (const size_t count : {2, 32, 100, 20000}) {
        Trio trio;
        trio.join_all();
        std::vector<uint64_t> one(1), more(count);
        for (size_t n = 1; n < 3; ++n) ASSERT_EQ(broadcast(trio, n, one), 0);
        trio.progress();
        ASSERT_EQ(broadcast(trio, 0, more), 0);
        const auto outcomes = trio.outcomes(200);
        EXPECT_EQ(outcomes[1], -FI_EINVAL) << count;
        EXPECT_EQ(outcomes[2], -FI_EINVAL) << count;
    }
}

TEST(ShortCollectives, AMessageOfAnotherLengthThatCameBeforeIsAnError) {
    Trio trio;
    trio.join_all();
    std::vector<uint64_t> one(1), two(2);
    ASSERT_EQ(broadcast(trio, 0, two), 0);
    for (int i = 0; i < 5; ++i) trio.progress();
    for (size_t n = 1; n < 3; ++n) ASSERT_EQ(broadcast(trio, n, one), 0);
    const auto outcomes = trio.outcomes(200);
    EXPECT_EQ(outcomes[1], -FI_EINVAL);
    EXPECT_EQ(outcomes[2], -FI_EINVAL);
}

TEST(ShortCollectives, MessagesOfUpTo256BytesAreInTheQueueOfTheirMember) {
    for (const size_t count : {32, 33}) {
        Trio trio;
        trio.join_all();
        std::vector<uint64_t> values(count);
        ASSERT_EQ(broadcast(trio, 0, values), 0);
        for (int i = 0; i < 5; ++i) trio.progress();
        int queued = 0;
        trio[1].endpoint.path->collectives()->for_each_member(
            [&](const Group&, const MemberAddress& member) { queued += member.queue.first != nullptr; });
        EXPECT_EQ(queued, count == 32 ? 1 : 0);
    }
}

// Those of operations before the failure stay for their receives.
TEST(ShortCollectives, MessagesOfAFailedGroupGiveTheirUnitsBack) {
    Trio trio;
    trio.join_all();
    std::vector<uint64_t> values = {7}, received = {0};
    for (int i = 0; i < 3; ++i) ASSERT_EQ(broadcast(trio, 0, values), 0);
    for (int i = 0; i < 5; ++i) trio.progress();
    ASSERT_EQ(collective_of(trio[1], trio[0]).kept, 3u);
    const uint64_t group = trio.last_tag;  // of the root, which is the group's first
    trio[1].endpoint.path->lock();
    trio[1].endpoint.path->collectives()->aborted(group, trio[1].members[0], 2, FI_EIO);
    trio[1].endpoint.path->unlock();
    trio.progress();
    EXPECT_EQ(collective_of(trio[1], trio[0]).kept, 1u);
}

// Its record is used again by another operation.
TEST(ShortCollectives, NothingWaitsForAnOperationThatFailed) {
    Trio trio;
    trio.join_all();
    std::vector<uint64_t> received(1);
    ASSERT_EQ(broadcast(trio, 1, received), 0);
    auto& collectives = *trio[1].endpoint.path->collectives();
    uint64_t number = 0;  // of the group
    const auto waiting = [&] {
        int steps = 0;
        collectives.for_each_member([&](const Group& group, const MemberAddress& member) {
            number = group.id;
            steps += member.queue.waiting != nullptr;
        });
        return steps;
    };
    ASSERT_EQ(waiting(), 1);
    trio[1].endpoint.path->lock();
    collectives.aborted(number, trio[1].members[0], 1, FI_EIO);
    trio[1].endpoint.path->unlock();
    EXPECT_EQ(outcome(trio[1]), -FI_EIO);
    EXPECT_EQ(waiting(), 0);
}

// Their rounds have no steps.
TEST(ShortCollectives, RepeatedOperationsOnNothingAreComplete) {
    Trio trio;
    trio.join_all();
    std::vector<uint64_t> nothing;
    for (int turn = 0; turn < 3; ++turn) {
        for (size_t n = 0; n < 3; ++n) ASSERT_EQ(broadcast(trio, n, nothing), 0);
        EXPECT_EQ(trio.outcomes(), kAllComplete);
    }
}

}  // namespace
}  // namespace selvage::impl::test
