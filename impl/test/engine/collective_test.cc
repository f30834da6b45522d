// Collectives over the engine: what a transport may do to them, what a peer may cost, and who may end a group.
#include "impl/test/engine/trio.h"

namespace selvage::impl::test {
namespace {

void reduce_everywhere(Trio& trio, size_t count) {
    std::vector<uint64_t> from[3], to[3];
    for (size_t n = 0; n < 3; ++n) {
        from[n].assign(count, n + 1);
        to[n].assign(count, 0);
        ASSERT_EQ(fi_allreduce(trio[n].ep, from[n].data(), count, nullptr, to[n].data(), nullptr, trio[n].group(),
                               FI_UINT64, FI_SUM, 0, nullptr),
                  0);
    }
    ASSERT_EQ(trio.outcomes(), kAllComplete);
    for (const auto& result : to) EXPECT_EQ(result, std::vector<uint64_t>(count, 6));
}

// Eager, announced, and in parts.
void reduce_all_sizes(Trio& trio) {
    trio.join_all();
    for (const size_t count : {1, 60, 200, 3000, 20000}) reduce_everywhere(trio, count);
}

TEST(EngineCollective, RunsOverATransportThatHoldsPayloads) {
    Trio trio;
    trio.net.holds = true;
    reduce_all_sizes(trio);
}
TEST(EngineCollective, RunsOverATransportThatDeliversInPieces) {
    Trio trio;
    trio.net.pieces_above = 0;
    reduce_all_sizes(trio);
}
TEST(EngineCollective, RunsOverATransportWithRoomForOneFrame) {
    Trio trio;
    trio.net.capacity = 1;
    reduce_all_sizes(trio);
}
TEST(EngineCollective, RunsWherePeersPull) {
    Setting setting = collective();
    setting.pulls = true;
    Trio trio(setting);
    reduce_all_sizes(trio);
    EXPECT_GT(trio.net.pulled, 0u);
}
TEST(EngineCollective, RunsWhereCompletionsAreInStrictOrder) {
    Setting setting = collective();
    setting.comp_order = FI_ORDER_STRICT;
    Trio trio(setting);
    reduce_all_sizes(trio);
}

// Two values of four bytes, or one of eight, by an operation that makes 1 of the operands and one that makes something
// else; broadcasts from each member.
TEST(EngineCollective, RecordsAreUsedAgainForTheSameArgumentsAlone) {
    Trio trio;
    trio.join_all();
    constexpr struct {
        fi_datatype type;
        size_t count;
        fi_op op;
        uint64_t expected;
    } kReductions[] = {
        {FI_UINT64, 1, FI_SUM, 0x600000003}, {FI_UINT32, 2, FI_SUM, 0x600000003},  {FI_UINT64, 1, FI_MIN, 0x100000001},
        {FI_UINT32, 2, FI_MAX, 0x300000001}, {FI_UINT64, 1, FI_PROD, 0x600000006}, {FI_UINT32, 2, FI_PROD, 0x600000001},
        {FI_UINT64, 1, FI_BOR, 0x300000001},
    };
    for (int turn = 0; turn < 3; ++turn) {
        for (const auto& reduction : kReductions) {
            uint64_t from[3] = {0x100000001, 0x200000001, 0x300000001}, to[3] = {};
            if (reduction.op == FI_PROD && reduction.type == FI_UINT64) from[0] = 0x600000006, from[1] = from[2] = 1;
            for (size_t n = 0; n < 3; ++n) {
                ASSERT_EQ(fi_allreduce(trio[n].ep, &from[n], reduction.count, nullptr, &to[n], nullptr, trio[n].group(),
                                       reduction.type, reduction.op, 0, nullptr),
                          0);
            }
            ASSERT_EQ(trio.outcomes(), kAllComplete);
            for (const uint64_t result : to) EXPECT_EQ(result, reduction.expected) << reduction.op;
        }
        for (size_t root = 0; root < 3; ++root) {
            uint64_t bytes[3] = {1, 2, 3};
            for (size_t n = 0; n < 3; ++n) {
                ASSERT_EQ(fi_broadcast(trio[n].ep, &bytes[n], 1, nullptr, trio[n].group(), trio[n].members[root],
                                       FI_UINT64, 0, nullptr),
                          0);
            }
            ASSERT_EQ(trio.outcomes(), kAllComplete);
            for (const uint64_t result : bytes) EXPECT_EQ(result, root + 1);
        }
        reduce_everywhere(trio, turn ? 20 : 5000);
    }
}

// Their units come back.
TEST(EngineCollective, ShortMessagesAreNeverAnnounced) {
    Trio trio;
    trio.join_all();
    size_t announced = 0;
    trio.net.inspect = [&](Packet& packet) {
        announced += packet.header.op == static_cast<uint8_t>(FrameOp::CollectiveRts);
        return true;
    };
    for (uint32_t i = 0; i < 3 * kCollectiveUnits; ++i) reduce_everywhere(trio, 1);
    EXPECT_EQ(announced, 0u);
}

TEST(EngineCollective, GoesBeforeOperationsThatWait) {
    Trio trio(collective(4));
    trio.join_all();
    // Nobody receives these, so they fill the context of their sender.
    std::vector<char> large(100'000);
    for (size_t n = 0; n < 3; ++n) {
        ssize_t posted;
        while ((posted = fi_send(trio[n].ep, large.data(), large.size(), nullptr, trio[n].members[(n + 1) % 3],
                                 nullptr)) == 0) {
        }
        ASSERT_EQ(posted, -FI_EAGAIN);
    }
    for (size_t n = 0; n < 3; ++n) ASSERT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), 0);
    EXPECT_EQ(trio.outcomes(), kAllComplete);
    EXPECT_EQ(trio[0].endpoint.path->transmit_left(), 0u);
}

TEST(EngineCollective, ALostMemberFailsTheOperationOfAll) {
    Trio trio;
    trio.join_all();
    for (size_t n = 0; n < 2; ++n) ASSERT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), 0);
    auto& transport = trio[0].transport<false>();
    transport.cut(*transport.peer_called(trio[2].endpoint.shm_address), FI_ECONNRESET);
    const auto outcomes = trio.outcomes(200);
    EXPECT_EQ(outcomes[0], -FI_ECONNRESET);
    EXPECT_EQ(outcomes[1], -FI_ECONNRESET);  // which has lost nobody
    EXPECT_EQ(fi_barrier(trio[1].ep, trio[1].group(), nullptr), -FI_ECONNRESET);
    EXPECT_EQ(fi_barrier(trio[2].ep, trio[2].group(), nullptr), -FI_ECONNRESET);
}

// A member that is starting, or at whose door another one stands, is reached a moment later.
TEST(EngineCollective, WhoIsNotReachedAtOnceLearnsOfAFailureLater) {
    Trio trio;
    trio.join_all();
    for (size_t n = 0; n < 2; ++n) ASSERT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), 0);
    for (int i = 0; i < 20; ++i) trio.progress();
    MemberNode another("d", collective());
    trio[0].knows(another);  // from here on each address is looked for again
    trio.net.busy = 10;
    auto& transport = trio[0].transport<false>();
    transport.cut(*transport.peer_called(trio[2].endpoint.shm_address), FI_ECONNRESET);
    const auto outcomes = trio.outcomes(200);
    EXPECT_EQ(trio.net.busy, 0u);
    EXPECT_EQ(outcomes[0], -FI_ECONNRESET);
    EXPECT_EQ(outcomes[1], -FI_ECONNRESET);
}

// A member that has done its part may go.
TEST(EngineCollective, AMemberThatIsLostLaterBreaksNothing) {
    Trio trio;
    trio.join_all();
    uint64_t data[3] = {7, 0, 0};
    ASSERT_EQ(
        fi_broadcast(trio[0].ep, &data[0], 1, nullptr, trio[0].group(), trio[0].members[0], FI_UINT64, 0, nullptr), 0);
    for (int i = 0; i < 10; ++i) trio.progress();
    auto& transport = trio[0].transport<false>();
    for (size_t n = 1; n < 3; ++n) transport.cut(*transport.peer_called(trio[n].endpoint.shm_address));
    for (int i = 0; i < 10; ++i) trio.progress();
    for (size_t n = 1; n < 3; ++n) {
        ASSERT_EQ(
            fi_broadcast(trio[n].ep, &data[n], 1, nullptr, trio[n].group(), trio[n].members[0], FI_UINT64, 0, nullptr),
            0);
    }
    trio.outcomes(50);
    EXPECT_EQ(data[1], 7u);
    EXPECT_EQ(data[2], 7u);
}

Header frame(FrameOp op, uint64_t tag, uint64_t second, uint64_t third, size_t size = 0) {
    return {.size = static_cast<uint32_t>(size),
            .op = static_cast<uint8_t>(op),
            .flags = 0,
            .aux = 0,
            .word = {tag, second, third}};
}
bool is_dropped(Trio& trio, const Header& header, size_t times, const std::vector<std::byte>& bytes = {}) {
    auto& transport = trio[0].transport<false>();
    auto* to = transport.peer_called(trio[1].endpoint.shm_address);
    for (size_t i = 0; i < times && !to->closing; ++i) {
        transport.forge(*to, header, bytes);
        trio[1].progress();
    }
    return to->closing;
}

TEST(EngineCollective, APeerThatSendsMoreThanItMayIsDropped) {
    {
        Trio trio;
        trio.join_all();
        EXPECT_FALSE(is_dropped(trio, frame(FrameOp::Collective, 4711, 1, 0), kCollectiveUnits));
        EXPECT_TRUE(is_dropped(trio, frame(FrameOp::Collective, 4711, 1, 0), 1));
    }
    Trio trio;
    trio.join_all();
    const uint64_t length = 100;
    std::vector<std::byte> bytes(sizeof length);
    memcpy(bytes.data(), &length, sizeof length);
    const Header announcement = frame(FrameOp::CollectiveRts, 4711, 1, 1, sizeof length);
    EXPECT_FALSE(is_dropped(trio, announcement, kCollectiveAnnouncements, bytes));
    EXPECT_TRUE(is_dropped(trio, announcement, 1, bytes));
}

// What a peer says of the length is nothing to calculate with: UndefinedBehaviorSanitizer saw the sum of units
// overflow.
TEST(EngineCollective, AnAnnouncementOfAnyLengthGoesWithItsPeer) {
    for (const uint64_t length : {kUnitBytes * INT32_MAX, UINT64_MAX}) {
        Trio trio;
        trio.join_all();
        std::vector<std::byte> bytes(sizeof length);
        memcpy(bytes.data(), &length, sizeof length);
        EXPECT_FALSE(is_dropped(trio, frame(FrameOp::CollectiveRts, 4711, 1, 1, sizeof length), 1, bytes));
        auto& transport = trio[1].transport<false>();
        transport.cut(*transport.peer_called(trio[0].endpoint.shm_address));
        for (int i = 0; i < 20; ++i) trio.progress();
        EXPECT_EQ(transport.peer_called(trio[0].endpoint.shm_address), nullptr);
    }
}

TEST(EngineCollective, FramesThatMakeNoSenseDropTheirPeer) {
    const Header frames[] = {
        frame(FrameOp::CollectiveRts, 1, 1, 0, 8),                 // nobody to answer
        frame(FrameOp::CollectiveRts, 1, 1, 1),                    // no length
        frame(FrameOp::Collective, 1, 1, 1),                       // an answer that nobody gives
        frame(FrameOp::CollectiveAbort, 1, 1, 0),                  // no error
        frame(FrameOp::CollectiveAbort, 1, uint64_t{1} << 32, 5),  // no operation
        frame(FrameOp::CollectiveAbort, 1, 1, 5, 8),               // a payload
        frame(FrameOp::Credit, 0, 0, kCollectiveUnits + 1),        // more than was taken
    };
    for (const Header& header : frames) {
        Trio trio;
        trio.join_all();
        EXPECT_TRUE(is_dropped(trio, header, 1, std::vector<std::byte>(header.size))) << int{header.op};
    }
    // Of an endpoint without the capability.
    Pair pair;
    char byte = 1;
    ASSERT_EQ(fi_send(pair.a.ep, &byte, 1, nullptr, pair.to_b, nullptr), 0);
    pair.progress();
    auto& transport = pair.a.transport<false>();
    auto* to = transport.peer_called(pair.b.endpoint.shm_address);
    transport.forge(*to, frame(FrameOp::Collective, 1, 1, 0));
    pair.b.endpoint.path->progress();
    EXPECT_TRUE(to->closing);
    pair.progress();
}

TEST(EngineCollective, MembersAloneEndAGroup) {
    Trio trio;
    trio.join_all();
    MemberNode outsider("d", collective());
    const fi_addr_t to_b = outsider.knows(trio[1]);
    char byte = 1;
    ASSERT_EQ(fi_send(outsider.ep, &byte, 1, nullptr, to_b, nullptr), 0);
    for (int i = 0; i < 20; ++i) outsider.progress(), trio.progress();
    auto& transport = outsider.transport<false>();
    auto* peer = transport.peer_called(trio[1].endpoint.shm_address);
    // The number of the group, from the tag of one of its members.
    for (uint64_t place = 0; place < 3; ++place) {
        transport.forge(*peer, frame(FrameOp::CollectiveAbort, trio.last_tag - place, 0, FI_EIO));
    }
    for (int i = 0; i < 20; ++i) outsider.progress(), trio.progress();
    for (size_t n = 0; n < 3; ++n) ASSERT_EQ(fi_barrier(trio[n].ep, trio[n].group(), nullptr), 0);
    EXPECT_EQ(trio.outcomes(), kAllComplete);
    // The same by a member.
    auto& own = trio[0].transport<false>();
    for (uint64_t place = 0; place < 3; ++place) {
        own.forge(*own.peer_called(trio[1].endpoint.shm_address),
                  frame(FrameOp::CollectiveAbort, trio.last_tag - place, 0, FI_EIO));
    }
    trio.progress();
    EXPECT_EQ(fi_barrier(trio[1].ep, trio[1].group(), nullptr), -FI_EIO);
    for (int i = 0; i < 20; ++i) trio.progress();
    EXPECT_EQ(fi_barrier(trio[2].ep, trio[2].group(), nullptr), -FI_EIO);
}

// Who knows of the later failure learns of the earlier one, too.
TEST(EngineCollective, AnEarlierFailureIsSentAfterALaterOne) {
    Trio trio;
    trio.join_all();
    auto& own = trio[0].transport<false>();
    for (const uint64_t sequence : {5, 1}) {
        for (uint64_t place = 0; place < 3; ++place) {
            own.forge(*own.peer_called(trio[1].endpoint.shm_address),
                      frame(FrameOp::CollectiveAbort, trio.last_tag - place, sequence, FI_EIO));
        }
        for (int i = 0; i < 20; ++i) trio.progress();
    }
    EXPECT_EQ(fi_barrier(trio[2].ep, trio[2].group(), nullptr), -FI_EIO);
}

TEST(EngineCollective, AGroupThatFailedBeforeItIsJoinedIsRefused) {
    Trio trio;
    trio[0].join();
    trio[1].join();
    for (int i = 0; i < 20; ++i) trio.progress();
    EXPECT_EQ(fi_close(&trio[0].mc->fid), 0);  // gives the join up
    trio[0].mc = nullptr;
    for (int i = 0; i < 20; ++i) trio.progress();
    trio[2].join();
    for (int i = 0; i < 20; ++i) trio.progress();
    for (size_t n = 1; n < 3; ++n) {
        fi_eq_entry entry;
        uint32_t event;
        fi_eq_err_entry error{};
        EXPECT_EQ(fi_eq_read(trio[n].eq, &event, &entry, sizeof entry, 0), -FI_EAVAIL);
        EXPECT_EQ(fi_eq_readerr(trio[n].eq, &error, 0), static_cast<ssize_t>(sizeof error));
        EXPECT_EQ(error.err, FI_ECANCELED);
        EXPECT_EQ(error.fid, &trio[n].mc->fid);
    }
}

}  // namespace
}  // namespace selvage::impl::test
