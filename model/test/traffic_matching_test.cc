// Which receive takes which message, worked out by hand.
#include <random>

#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

Account account(const Talk& talk, Traffic& whole) {
    whole = talk.t;
    whole.info = &talk.info;
    return account_of(whole);
}

int partner(const Talk& talk, int send) {
    Traffic whole;
    return account(talk, whole).parts[static_cast<std::size_t>(send)].partner;
}

TEST(TrafficMatching, FirstPostedReceiveTakesTheMessage) {
    Talk k;
    const int first = k.recv(B);
    const int second = k.recv(B);
    const int m1 = k.send(A);
    const int m2 = k.send(A);
    EXPECT_EQ(partner(k, m1), first);
    EXPECT_EQ(partner(k, m2), second);
}

TEST(TrafficMatching, MessageThatCameFirstIsTakenFirst) {
    Talk k;
    const int m1 = k.tsend(A, 5);
    const int m2 = k.tsend(A, 6);
    const int six = k.trecv(B, 6);
    const int any = k.trecv(B, 0, ~0ULL);
    EXPECT_EQ(partner(k, m1), any);
    EXPECT_EQ(partner(k, m2), six);
}

TEST(TrafficMatching, IsTheSameWhenTheReceivesComeFirst) {
    Talk k;
    const int six = k.trecv(B, 6);
    const int any = k.trecv(B, 0, ~0ULL);
    const int m1 = k.tsend(A, 5);
    const int m2 = k.tsend(A, 6);
    EXPECT_EQ(partner(k, m1), any);
    EXPECT_EQ(partner(k, m2), six);
}

TEST(TrafficMatching, TaggedAndPlainMessagesGoTheirOwnWays) {
    Talk k;
    const int tagged = k.trecv(B, 0, ~0ULL);
    const int plain = k.recv(B);
    const int m1 = k.send(A);
    const int m2 = k.tsend(A, 9);
    EXPECT_EQ(partner(k, m1), plain);
    EXPECT_EQ(partner(k, m2), tagged);
}

// Some are lost, and some overtake others: which one came is what its bytes say.
TEST(TrafficMatching, DatagramsAreMatchedByTheBytesThatCame) {
    Talk k;
    k.info.ep.type = FI_EP_DGRAM;
    const int first = k.recv(B);
    const int second = k.recv(B);
    const int m1 = k.send(A);
    const int m2 = k.send(A);
    const int empty = k.send(A, 0);
    k.received(first, m2);
    k.last().bytes_of = m2;
    Traffic whole;
    const Account a = account(k, whole);
    const auto part = [&](int i) { return a.parts[static_cast<std::size_t>(i)]; };
    EXPECT_EQ(part(m2).partner, first);
    EXPECT_EQ(part(first).messages, std::vector<int>{m2});
    EXPECT_TRUE(part(first).sure && part(m2).sure);
    for (const int lost : {m1, empty}) {
        EXPECT_EQ(part(lost).partner, -1);
        EXPECT_FALSE(part(lost).sure);
    }
    EXPECT_FALSE(part(second).sure);
    EXPECT_FALSE(a.left) << "a lost datagram keeps nobody waiting";
}

// An entry that tells no bytes, or those of a send that never was, proves nothing.
TEST(TrafficMatching, ADatagramOfUnknownBytesIsNobodys) {
    Talk k;
    k.info.ep.type = FI_EP_DGRAM;
    const int r = k.recv(B);
    const int m = k.send(A);
    for (const int bytes_of : {-1, r, 99}) {
        k.t.entries.clear();
        k.received(r, m);
        k.last().bytes_of = bytes_of;
        Traffic whole;
        const Account a = account(k, whole);
        EXPECT_TRUE(a.parts[static_cast<std::size_t>(r)].messages.empty()) << bytes_of;
        EXPECT_FALSE(a.parts[static_cast<std::size_t>(r)].sure) << bytes_of;
    }
}

TEST(TrafficMatching, EachDirectionHasItsOwnReceives) {
    Talk k;
    const int at_a = k.recv(A);
    const int at_b = k.recv(B);
    const int to_a = k.send(B);
    const int to_b = k.send(A);
    EXPECT_EQ(partner(k, to_a), at_a);
    EXPECT_EQ(partner(k, to_b), at_b);
}

TEST(TrafficMatching, CancelledReceiveTakesNothing) {
    Talk k;
    const int gone = k.recv(B);
    k.cancel(gone);
    const int next = k.recv(B);
    const int m = k.send(A);
    k.failed(gone, FI_ECANCELED);
    EXPECT_EQ(partner(k, m), next);
}

TEST(TrafficMatching, CancelThatCameTooLateChangesNothing) {
    Talk k;
    const int r = k.recv(B);
    const int m = k.send(A);
    k.cancel(r);
    k.received(r, m);
    EXPECT_EQ(partner(k, m), r);
}

TEST(TrafficMatching, RefusedCallsTakeNoPart) {
    Talk k;
    const int refused = k.recv(B);
    k.op(refused).ret = -FI_EINVAL;
    const int r = k.recv(B);
    const int lost = k.send(A);
    k.op(lost).ret = -FI_EINVAL;
    const int m = k.send(A);
    EXPECT_EQ(partner(k, m), r);
    EXPECT_EQ(partner(k, lost), -1);
}

TEST(TrafficMatching, ReceiveFromAnotherSourceIsPassedOver) {
    Talk k;
    const int stranger = k.recv(B);
    k.op(stranger).from_any = false;
    k.op(stranger).from_other = true;
    const int r = k.recv(B);
    const int m = k.send(A);
    EXPECT_EQ(partner(k, m), r);
    k.info.caps &= ~FI_DIRECTED_RECV;
    EXPECT_EQ(partner(k, m), stranger) << "without the capability the source is ignored";
}

TEST(TrafficMatching, PeekTakesOnlyWhatItClaimsOrDiscards) {
    Talk k;
    const int m1 = k.tsend(A, 1);
    const int m2 = k.tsend(A, 1);
    const int look = k.peek(B, 1);
    const int discard = k.peek(B, 1, FI_DISCARD);
    const int r = k.trecv(B, 1);
    k.found(look, m1).found(discard, m1).received(r, m2);
    Traffic whole;
    const Account a = account(k, whole);
    EXPECT_EQ(a.parts[static_cast<std::size_t>(look)].partner, m1);
    EXPECT_EQ(a.parts[static_cast<std::size_t>(discard)].partner, m1);
    EXPECT_TRUE(a.parts[static_cast<std::size_t>(m1)].gone);
    EXPECT_EQ(a.parts[static_cast<std::size_t>(m2)].partner, r);
}

TEST(TrafficMatching, ClaimedMessageGoesToItsClaim) {
    Talk k;
    const int m1 = k.tsend(A, 1);
    const int m2 = k.tsend(A, 1);
    const int look = k.peek(B, 1, FI_CLAIM);
    const int r = k.trecv(B, 1);
    const int claim = k.message(k.trecv(B, 1), FI_CLAIM);
    k.op(claim).of = look;
    k.found(look, m1);
    EXPECT_EQ(partner(k, m1), claim);
    EXPECT_EQ(partner(k, m2), r);
}

TEST(TrafficMatching, BufferForManyTakesUntilItsRelease) {
    Talk k;
    k.t.min_multi_recv = 50;
    const int many = k.message(k.recv(B, 100), FI_MULTI_RECV);
    const int next = k.recv(B);
    const int m1 = k.send(A, 30);
    const int m2 = k.send(A, 30);
    const int m3 = k.send(A, 30);
    EXPECT_EQ(partner(k, m3), many) << "nothing has told of a release";
    k.placed(many, m1, 0).placed(many, m2, 32, true);
    EXPECT_EQ(partner(k, m1), many);
    EXPECT_EQ(partner(k, m2), many);
    EXPECT_EQ(partner(k, m3), next);
}

TEST(TrafficMatching, WithoutOrderOnlyASingleMessageIsSure) {
    Talk k;
    k.recv(B);
    const int m = k.send(A);
    k.info.tx.msg_order = 0;
    Traffic whole;
    EXPECT_TRUE(account(k, whole).parts[static_cast<std::size_t>(m)].sure);
    k.send(A);
    EXPECT_FALSE(account(k, whole).parts[static_cast<std::size_t>(m)].sure);
}

TEST(TrafficMatching, TellsOfAMessageThatNobodyTakes) {
    Talk k;
    k.send(A);
    Traffic whole;
    EXPECT_TRUE(account(k, whole).left);
    k.recv(B);
    EXPECT_FALSE(account(k, whole).left);
}

TEST(TrafficMatching, CountsTheEntriesThatAreDue) {
    Talk k;
    k.recv(B);
    k.send(A);
    k.inject(k.send(A));
    k.recv(B);
    k.with_data(k.write(A), 7);
    Traffic whole;
    account(k, whole);
    EXPECT_EQ(entries_due(whole, A, true), 2U);
    EXPECT_EQ(entries_due(whole, B, false), 3U);
    EXPECT_EQ(entries_due(whole, A, false), 0U);
}

// Tags and masks of few values, so that everything matches something.
Talk any_talk(std::mt19937& random) {
    Talk k;
    const int operations = 2 + static_cast<int>(random() % 12);
    for (int i = 0; i < operations; ++i) {
        if (random() % 2 == 0) {
            k.tsend(A, random() % 4);
        } else {
            k.trecv(B, random() % 4, random() % 4);
        }
    }
    return k;
}

// Partners if messages arrive in order, but each only when chance wills it, at the latest at the end.
std::vector<int> late_arrival(const Talk& k, std::mt19937& random) {
    std::vector<int> partners(k.t.operations.size(), -1);
    std::vector<int> under_way, waiting, posted;
    const auto matches = [&](int r, int s) {
        const Operation& a = k.t.operations[static_cast<std::size_t>(r)];
        const Operation& b = k.t.operations[static_cast<std::size_t>(s)];
        return (a.tag & ~a.ignore) == (b.tag & ~a.ignore);
    };
    const auto arrive = [&] {
        const int s = under_way.front();
        under_way.erase(under_way.begin());
        const auto r = std::find_if(posted.begin(), posted.end(), [&](int x) { return matches(x, s); });
        if (r == posted.end()) {
            waiting.push_back(s);
            return;
        }
        partners[static_cast<std::size_t>(s)] = *r;
        posted.erase(r);
    };
    for (int i = 0; i < static_cast<int>(k.t.operations.size()); ++i) {
        while (!under_way.empty() && random() % 3 == 0) arrive();
        if (sends(k.t.operations[static_cast<std::size_t>(i)])) {
            under_way.push_back(i);
            continue;
        }
        const auto s = std::find_if(waiting.begin(), waiting.end(), [&](int x) { return matches(i, x); });
        if (s == waiting.end()) {
            posted.push_back(i);
        } else {
            partners[static_cast<std::size_t>(*s)] = i;
            waiting.erase(s);
        }
    }
    while (!under_way.empty()) arrive();
    return partners;
}

TEST(TrafficMatching, DoesNotDependOnWhenMessagesArrive) {
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        const Talk k = any_talk(random);
        const auto late = late_arrival(k, random);
        Traffic whole;
        const Account a = account(k, whole);
        for (std::size_t i = 0; i < late.size(); ++i) {
            if (sends(k.t.operations[i])) {
                ASSERT_EQ(a.parts[i].partner, late[i]) << "round " << round;
            }
        }
    }
}

}  // namespace
}  // namespace selvage::model::traffic_test
