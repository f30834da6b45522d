// Every traffic clause on talks made by hand from the text.  The rows stand in traffic_*_rows.cc.
#include <map>
#include <set>

#include "model/spec/clause.h"
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {

std::string_view Talk::clause_name(Clause c) { return clause_text(c).id; }

namespace {

Rows all_rows() {
    Rows all;
    for (auto* rows : {msg_rows, multi_recv_rows, tagged_rows, peek_rows, memory_rows, atomic_rows, entry_rows,
                       field_rows, flag_rows, level_rows, counter_rows, open_rows, capability_rows, domain_rows,
                       resource_rows, trigger_rows, work_rows}) {
        const Rows some = rows();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::string word(Outcome o) {
    return o == Outcome::Holds ? "holds" : o == Outcome::Broken ? "is broken" : "does not apply";
}

TEST(TrafficClauses, SayOfEachTalkWhatTheTextSays) {
    for (const Row& row : all_rows()) {
        const Outcome seen = row.talk.outcome(row.predicate);
        EXPECT_EQ(seen, row.outcome) << row.name << " " << word(seen) << ", not " << word(row.outcome) << ": "
                                     << row.sentence;
    }
}

TEST(TrafficClauses, AreEachSeenToHoldToBreakAndNotToApply) {
    std::map<Ruling (*)(const TrafficCase&), std::set<Outcome>> seen;
    for (const Row& row : all_rows()) seen[row.predicate].insert(row.outcome);
    for (const auto& p : traffic_predicates()) {
        for (const Outcome o : {Outcome::Holds, Outcome::Broken, Outcome::NotApplicable})
            EXPECT_TRUE(seen[p.judge].contains(o)) << clause_text(p.clause).id << ": no row where it " << word(o);
    }
}

TEST(TrafficClauses, ThatHoldOnATalkLeaveItAloneAltogether) {
    for (const Row& row : all_rows()) {
        if (row.outcome != Outcome::Holds) continue;
        EXPECT_EQ(row.talk.broken(), "") << row.name << ": " << row.sentence;
    }
}

// The receive that waits for another source has the message, and the one that it was for is left without.
TEST(TrafficClauses, DoNotChargeAMessageForTheReceiveThatTookIt) {
    Talk k;
    const int directed = k.recv(Side::B);
    k.op(directed).from_any = false;
    k.op(directed).from_other = true;
    const int s = k.send(Side::A);
    k.received(directed, s).sent(s);
    k.op(k.recv(Side::B)).local = Seen::Untouched;
    EXPECT_EQ(k.outcome(clause::msg_match_source), Outcome::Broken);
    EXPECT_EQ(k.outcome(clause::msg_send_whole), Outcome::NotApplicable);
    EXPECT_EQ(k.outcome(clause::cq_entry_comes), Outcome::Holds);
}

// A stream may hold a write back behind a message that nobody takes, and the write is complete once its bytes are
// taken.
TEST(TrafficClauses, DoNotChargeAWriteBehindAMessageThatNobodyTakes) {
    Talk k;
    k.sent(k.send(Side::A));
    const int w = k.write(Side::A);
    k.sent(w);
    k.op(w).remote = Seen::Untouched;
    EXPECT_NE(k.outcome(clause::getinfo_caps_remote_write_serves), Outcome::Broken);
    EXPECT_NE(k.outcome(clause::domain_mr_scalable_offsets), Outcome::Broken);
    k.op(k.recv(Side::B)).local = Seen::Whole;
    EXPECT_EQ(k.outcome(clause::getinfo_caps_remote_write_serves), Outcome::Broken);
}

// An error was to bring a deferred send to its start, and did not.
TEST(TrafficClauses, DoNotChargeACounterForWorkThatDidNotBegin) {
    Talk k;
    k.op(k.recv(Side::B)).local = Seen::Untouched;
    const int s = k.message(k.send(Side::A), 0);
    k.op(s).deferred = true;
    k.op(s).threshold = 1;
    k.op(k.plain(Transfer::TriggerError, Side::A, 0)).count = 1;
    k.t.counters = true;
    EXPECT_EQ(k.outcome(clause::trigger_work_errors), Outcome::Broken);
    EXPECT_EQ(k.outcome(clause::cntr_count_recv), Outcome::Holds) << "that of the sender, who receives nothing";
}

// Of two messages the one came first that has no data (or, the other way round, the one that has).
TEST(TrafficClauses, DoNotChargeTheDataOfAMessageThatAnotherOneOvertook) {
    for (const bool first_has : {true, false}) {
        Talk k;
        const int r = k.recv(Side::B);
        const int due = k.send(Side::A), came = k.send(Side::A, 20);
        k.with_data(first_has ? due : came, 5);
        k.sent(came).received(r, came);
        EXPECT_EQ(k.outcome(clause::msg_match_order), Outcome::Broken);
        EXPECT_NE(k.outcome(clause::msg_data_carried), Outcome::Broken) << first_has;
        EXPECT_NE(k.outcome(clause::cq_flags_remote_cq_data), Outcome::Broken) << first_has;
        EXPECT_NE(k.outcome(clause::cq_len_received), Outcome::Broken) << first_has;
    }
}

// A receive took an empty message in the place of one with bytes and data.
TEST(TrafficClauses, DoNotChargeTheEntryOfAnEmptyMessageForThatOfAnother) {
    Talk k;
    const int r = k.recv(Side::B);
    k.with_data(k.send(Side::A), 5);
    const int empty = k.send(Side::A, 0);
    k.sent(empty).received(r, empty);
    for (const Seen seen : {Seen::Untouched, Seen::NotLooked}) {
        k.last().seen = seen;
        k.op(r).local = Seen::Untouched;
        EXPECT_NE(k.outcome(clause::msg_data_carried), Outcome::Broken);
        EXPECT_NE(k.outcome(clause::cq_len_received), Outcome::Broken);
        EXPECT_NE(k.outcome(clause::msg_send_whole), Outcome::Broken);
    }
}

TEST(TrafficClauses, DoNotChargeTheBytesOfAMessageThatAnotherOneOvertook) {
    Talk k;
    const int r = k.recv(Side::B);
    k.send(Side::A);
    const int came = k.send(Side::A, 20);
    k.sent(came).received(r, came);
    k.last().seen = k.op(r).local = Seen::Foreign;
    EXPECT_EQ(k.outcome(clause::msg_match_order), Outcome::Broken);
    EXPECT_NE(k.outcome(clause::msg_send_whole), Outcome::Broken);
    k.last().bytes_of = k.op(r).bytes_of = -1;
    EXPECT_EQ(k.outcome(clause::msg_send_whole), Outcome::Broken) << "bytes of nobody";
}

// A receive took the second message, not the first: the order is broken, and nothing in its entry.
TEST(TrafficClauses, HoldTheFieldsOfAnEntryAgainstTheMessageWhoseBytesCame) {
    Talk k;
    const int r = k.trecv(Side::B, 0, ~0ULL);
    k.with_data(k.tsend(Side::A, 0x35), 77);
    const int s = k.with_data(k.tsend(Side::A, 0x36), 78);
    k.sent(s).received(r, s);
    EXPECT_EQ(k.outcome(clause::tagged_match_order), Outcome::Broken);
    EXPECT_EQ(k.outcome(clause::cq_flags_remote_cq_data), Outcome::Holds);
    EXPECT_EQ(k.outcome(clause::cq_data_received), Outcome::Holds);
    EXPECT_EQ(k.outcome(clause::cq_tag_received), Outcome::Holds);
    k.last().data = 77;
    k.last().tag = 0x35;
    EXPECT_EQ(k.outcome(clause::cq_data_received), Outcome::Broken) << "what the first one brought";
    EXPECT_EQ(k.outcome(clause::cq_tag_received), Outcome::Broken) << "what the first one brought";
}

// The queue has room for two, and no more were in it at a time.
TEST(TrafficClauses, WhatIsLostThoughTheQueueWasReadInTimeIsNotLostByAFullQueue) {
    Talk k;
    k.t.queue_size = 2;
    for (int i = 0; i < 3; ++i) k.recv(B);
    for (int i = 0; i < 3; ++i) k.send(A);
    for (int i = 0; i < 3; ++i) k.sent(3 + i);
    for (int i = 0; i < 2; ++i) k.received(i, 3 + i);
    std::uint64_t after = k.t.operations.size();
    for (Completion& x : k.t.entries) x.after = after++;
    EXPECT_EQ(k.broken(), "cq.entry.comes: operation 3 (B recv): its completion never came\n");
}

// It may not be over: no counter is to blame for that.
TEST(TrafficClauses, AnOperationThatDidNotEndNeedNotBeCounted) {
    Talk k;
    k.info.caps |= FI_RMA_EVENT;
    k.counted().read(A);
    EXPECT_EQ(k.broken(), "cq.entry.comes: operation 1 (A read): its completion never came\n");
}

}  // namespace
}  // namespace selvage::model::traffic_test
