// How groups end over the engine: members that leave, that come late or come again, and operations that were called
// before the one that failed.
#include <algorithm>
#include <vector>

#include "impl/engine/peer_state.h"
#include "impl/engine/window.h"
#include "impl/test/engine/trio.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kShort = 1, kMiddle = 100, kLong = 20000;  // values: in a queue of its member, whole, announced

void progress(Trio& trio, int turns = 50) {
    for (int i = 0; i < turns; ++i) trio.progress();
}
// 1, the negative of an error, or 0 for neither.
int outcome(MemberNode& node) {
    fi_cq_tagged_entry entry;
    const ssize_t read = node.read(&entry);
    return read < 0 ? -node.read_error().err : static_cast<int>(read);
}
// What became of a join: 1, the negative of an error, or 0 for neither.
int join_outcome(MemberNode& node) {
    fi_eq_entry entry;
    fi_eq_err_entry error{};
    uint32_t event;
    const ssize_t read = fi_eq_read(node.eq, &event, &entry, sizeof entry, 0);
    if (read == -FI_EAVAIL && fi_eq_readerr(node.eq, &error, 0) > 0) return -error.err;
    return read > 0 ? 1 : 0;
}
void leave(MemberNode& node) {
    ASSERT_EQ(fi_close(&node.mc->fid), 0);
    ASSERT_EQ(fi_close(&node.set->fid), 0);
    node.mc = nullptr;
    node.set = nullptr;
}
// Members join, and leave where that fails, until all are in a group. Returns how often somebody tried again.
size_t join_until_all_have(const std::vector<MemberNode*>& members, size_t most) {
    std::vector<bool> joined(members.size());
    size_t again = 0, missing = members.size();
    for (MemberNode* member : members) member->join();
    for (int turn = 0; turn < 100 * static_cast<int>(most) && missing; ++turn) {
        for (size_t n = 0; n < members.size(); ++n) {
            members[n]->progress();
            const int outcome = join_outcome(*members[n]);
            if (outcome > 0) joined[n] = true, --missing;
            if (outcome >= 0) continue;
            EXPECT_LT(again++, most);
            leave(*members[n]);
            members[n]->join();
        }
    }
    EXPECT_EQ(missing, 0u);
    return again;
}
ssize_t broadcast(Trio& trio, size_t member, std::vector<uint64_t>& values) {
    return fi_broadcast(trio[member].ep, values.data(), values.size(), nullptr, trio[member].group(),
                        trio[member].members[0], FI_UINT64, 0, nullptr);
}
ssize_t gather_at_last(Trio& trio, size_t member, uint64_t& value, uint64_t (&all)[3]) {
    return fi_gather(trio[member].ep, &value, 1, nullptr, all, nullptr, trio[member].group(), trio[member].members[2],
                     FI_UINT64, 0, nullptr);
}

// The second member calls the gather late: when the first has done its part, has failed in the next operation, and all
// know that. The root waits for it.
TEST(CollectiveEnd, WhatIsBeforeAFailureCanStillBeCalled) {
    Trio trio;
    trio.join_all();
    uint64_t values[3] = {1, 2, 3}, all[3][3] = {};
    for (const size_t n : {0, 2}) ASSERT_EQ(gather_at_last(trio, n, values[n], all[n]), 0);
    progress(trio);
    ASSERT_EQ(outcome(trio[0]), 1);
    ASSERT_EQ(fi_barrier(trio[0].ep, trio[0].group(), nullptr), 0);
    auto& transport = trio[0].transport<false>();
    transport.cut(*transport.peer_called(trio[1].endpoint.shm_address), FI_ECONNRESET);
    progress(trio);
    ASSERT_EQ(outcome(trio[0]), -FI_ECONNRESET);
    ASSERT_EQ(gather_at_last(trio, 1, values[1], all[1]), 0);
    progress(trio);
    EXPECT_EQ(outcome(trio[1]), 1);
    EXPECT_EQ(outcome(trio[2]), 1);
    for (size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(all[2][n], n + 1);
        EXPECT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), -FI_ECONNRESET);
    }
}

// Before: the sender waited until the endpoint of the member was closed, and could not leave either.
TEST(CollectiveEnd, WhatIsAnnouncedToAMemberThatLeavesFails) {
    for (const bool before : {true, false}) {
        Trio trio;
        trio.join_all();
        std::vector<uint64_t> values(kLong), received(kLong);
        if (!before) leave(trio[1]);
        ASSERT_EQ(broadcast(trio, 0, values), 0);
        ASSERT_EQ(broadcast(trio, 2, received), 0);
        progress(trio);
        if (before) leave(trio[1]);
        progress(trio);
        EXPECT_EQ(outcome(trio[0]), -FI_ECANCELED) << before;
        leave(trio[0]);
    }
}

// The units of what nobody receives come back, and who sent it learns that.
TEST(CollectiveEnd, WhatComesForAGroupThatWasLeftIsRefused) {
    for (const size_t count : {kShort, kMiddle}) {
        for (const bool before : {true, false}) {
            Trio trio;
            trio.join_all();
            std::vector<uint64_t> values(count);
            if (!before) leave(trio[1]);
            ASSERT_EQ(broadcast(trio, 0, values), 0);
            progress(trio);
            ASSERT_EQ(outcome(trio[0]), 1);
            if (before) leave(trio[1]);
            progress(trio);
            EXPECT_EQ(broadcast(trio, 0, values), -FI_ECANCELED) << count << before;
            auto* peer = trio[1].transport<false>().peer_called(trio[0].endpoint.shm_address);
            EXPECT_EQ(static_cast<PeerState*>(peer->state)->collective.kept, 0u) << count << before;
        }
    }
}

// The others have tried without it, so for them the next group of these members is another one than for it.
TEST(CollectiveEnd, AMemberThatIsOpenedLateFindsTheOthers) {
    FakeNet net;
    Setting closed = collective();
    closed.enable = false;
    MemberNode a("a", collective()), b("b", collective()), c("c", closed);
    const std::vector<MemberNode*> members = {&a, &b, &c};
    for (MemberNode* member : members) {
        for (MemberNode* other : members) member->members.push_back(member->knows(*other));
    }
    for (int attempt = 0; attempt < 100; ++attempt) {
        for (MemberNode* member : {&a, &b}) member->join();
        int outcomes[2] = {};
        for (int turn = 0; turn < 20; ++turn) {
            for (size_t n = 0; n < 2; ++n) outcomes[n] |= join_outcome(*members[n]), members[n]->progress();
        }
        ASSERT_LT(outcomes[0], 0) << attempt;
        ASSERT_LT(outcomes[1], 0) << attempt;
        for (MemberNode* member : {&a, &b}) leave(*member);
    }
    ASSERT_EQ(fi_enable(c.ep), 0);
    EXPECT_GE(join_until_all_have(members, 1000), 100u);
}

// A process that was started again counts from the beginning.
TEST(CollectiveEnd, AMemberThatComesAgainFindsTheOthers) {
    Trio trio;
    for (int turn = 0; turn < 3; ++turn) {
        trio.join_all();
        for (auto& node : trio.nodes) leave(*node);
    }
    progress(trio);
    trio.nodes[2].reset();
    for (int i = 0; i < 20; ++i) trio[0].progress(), trio[1].progress();
    trio.nodes[2] = std::make_unique<MemberNode>("c", collective());
    for (auto& other : trio.nodes) trio[2].members.push_back(trio[2].knows(*other));
    std::vector<MemberNode*> members;
    for (auto& node : trio.nodes) members.push_back(node.get());
    EXPECT_GE(join_until_all_have(members, 20), 3u);
    for (size_t n = 0; n < 3; ++n) ASSERT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), 0);
    EXPECT_EQ(trio.outcomes(), kAllComplete);
}

// Each group is counted by its own members: one that the others do not know changes no number of theirs.
TEST(CollectiveEnd, GroupsThatDifferInTheLastMemberAreCountedApart) {
    Trio trio;
    trio[0].members.pop_back();
    trio[1].members.pop_back();
    trio[0].join();
    trio[1].join();
    progress(trio);
    ASSERT_EQ(join_outcome(trio[0]), 1);
    ASSERT_EQ(join_outcome(trio[1]), 1);
    leave(trio[0]);
    trio[0].members.back() = trio[0].knows(trio[2]);
    trio[2].members.erase(trio[2].members.begin() + 1);
    trio[0].join();
    trio[2].join();
    progress(trio);
    EXPECT_EQ(join_outcome(trio[0]), 1);
    EXPECT_EQ(join_outcome(trio[2]), 1);
}

// It joins and leaves in one go: what it was to do is not done for a group that is gone.
TEST(CollectiveEnd, NothingIsLeftToDoForAGroupThatWasLeft) {
    Trio trio;
    trio[0].join();
    leave(trio[0]);
    EXPECT_FALSE(trio[0].endpoint.path->collectives()->has_work());
}

// What a member has sent before it is lost stays for the others, within a budget that they get back.
TEST(CollectiveEnd, MessagesOfLostMembersCountUntilTheirGroupIsLeft) {
    constexpr size_t kValues = 64, kEach = 2;  // 512 bytes
    constexpr size_t kUnits = kCollectiveUnits - kCollectiveCredit - 4;
    Trio trio;
    for (size_t turn = 0; turn <= kOrphanUnits / kUnits + 1; ++turn) {
        trio.join_all();
        std::vector<uint64_t> values(kValues, turn), received(kValues);
        for (size_t i = 0; i < kUnits / kEach; ++i) {
            ASSERT_EQ(broadcast(trio, 0, values), 0);
            trio.progress();
            ASSERT_EQ(outcome(trio[0]), 1);
        }
        auto& transport = trio[1].transport<false>();
        auto* peer = transport.peer_called(trio[0].endpoint.shm_address);
        ASSERT_EQ(static_cast<PeerState*>(peer->state)->collective.kept, kUnits);
        transport.cut(*peer);
        progress(trio);
        ASSERT_EQ(broadcast(trio, 1, received), 0);
        progress(trio);
        ASSERT_EQ(outcome(trio[1]), 1) << turn;
        EXPECT_EQ(received, values);
        for (auto& node : trio.nodes) leave(*node);
        progress(trio);
    }
}

// They take no room from what is remembered of groups that are not joined yet.
TEST(CollectiveEnd, AbortsOfAGroupThatWasLeftPushNothingOut) {
    Trio trio;
    uint64_t left = UINT64_MAX;  // the number of the first group: the least of its tags
    trio.net.inspect = [&](Packet& packet) {
        if (packet.header.op == static_cast<uint8_t>(FrameOp::Collective)) left = std::min(left, packet.header.word[0]);
        return true;
    };
    trio.join_all();
    trio.net.inspect = nullptr;
    for (size_t n = 0; n < 2; ++n) leave(trio[n]);
    // Of another group the first member gives up its join before the second joins.
    trio[0].join();
    progress(trio);
    leave(trio[0]);
    progress(trio);
    auto& transport = trio[0].transport<false>();
    auto* peer = transport.peer_called(trio[1].endpoint.shm_address);
    const Header abort{.size = 0,
                       .op = static_cast<uint8_t>(FrameOp::CollectiveAbort),
                       .flags = 0,
                       .aux = 0,
                       .word = {left, 0, FI_EIO}};
    for (int i = 0; i < 70; ++i) transport.forge(*peer, abort), trio.progress();
    // From here on nothing but what is remembered can end the join.
    trio.net.inspect = [](Packet& packet) {
        return packet.header.op != static_cast<uint8_t>(FrameOp::CollectiveAbort);
    };
    trio[1].join();
    progress(trio);
    EXPECT_EQ(join_outcome(trio[1]), -FI_ECANCELED);
}

// A collective that does not reduce looks at no reduction.
TEST(CollectiveEnd, TheReductionOfABroadcastMeansNothing) {
    Trio trio;
    trio.join_all();
    uint64_t values[3] = {7, 0, 0};
    for (size_t n = 0; n < 3; ++n) {
        const fi_ioc range{.addr = &values[n], .count = 1};
        fi_msg_collective message{};
        message.msg_iov = &range;
        message.iov_count = 1;
        message.coll_addr = trio[n].group();
        message.root_addr = trio[n].members[0];
        message.coll = FI_BROADCAST;
        message.datatype = FI_UINT64;
        message.op = n ? FI_NOOP : FI_MIN;
        ASSERT_EQ(trio[n].ep->collective->msg(trio[n].ep, &message, nullptr, nullptr, 0, 0), 0);
    }
    EXPECT_EQ(trio.outcomes(), kAllComplete);
    EXPECT_EQ(values[1], 7u);
    EXPECT_EQ(values[2], 7u);
}

}  // namespace
}  // namespace selvage::impl::test
