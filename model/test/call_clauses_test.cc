// The clauses on calls of single objects: on what a sound library shows, on one number that breaks them, on calls that
// were not made and on ones that did not come back.
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <iterator>

#include "model/group/group.h"
#include "model/test/call_rows.h"
#include "model_gen/predicates.h"

namespace selvage::model {
namespace {

using enum ObjectCall;

struct CallRow {
    const char* name;
    Ruling (*judge)(const GroupCase&);
    ObjectCall call;
    std::int64_t returned, stored;           ///< kept
    std::int64_t wrong_return, wrong_store;  ///< broken
};

constexpr std::int64_t kMillis = 200;

const CallRow kRows[] = {
    {"sread", clause::cq_sread_blocks, QueueWait, -FI_EAGAIN, kMillis, -FI_ETIMEDOUT, kMillis},
    {"sread_at_once", clause::cq_sread_at_once, QueueLook, -FI_EAGAIN, 0, -FI_ETIMEDOUT, 0},
    {"signal", clause::cq_signal_wakes, QueueSignal, -FI_EAGAIN, 100, -FI_ECANCELED, 100},
    {"signal_late", clause::cq_signal_wakes, QueueSignal, -FI_EAGAIN, 100, -FI_EAGAIN, 2000},
    {"counter", clause::cntr_wait_threshold, CounterWait, -FI_ETIMEDOUT, kMillis, FI_ETIMEDOUT, kMillis},
    {"trywait", clause::poll_trywait_events, TryWait, -FI_EAGAIN, 0, 0, 0},
    {"events", clause::eq_close_busy, CloseEvents, -FI_EBUSY, 0, 0, 0},
    {"poll_set", clause::poll_set_close_busy, ClosePollSet, -FI_EBUSY, 0, 0, 0},
    {"wait_set", clause::poll_wait_set_close_busy, CloseWaitSet, -FI_EBUSY, 0, 0, 0},
    {"region", clause::mr_close_busy, CloseRegion, 0, -FI_EBUSY, 0, 0},
    {"region_busy", clause::mr_close_busy, CloseRegion, -FI_EBUSY, 0, -FI_EINVAL, 0},
    {"counter_of_region", clause::cntr_close_busy_region, CloseCounter, -FI_EBUSY, 0, 0, 0},
    {"region_flags", clause::mr_flags_unknown_refused, RegionFlags, -FI_EBADFLAGS, 0, 0, 0},
    {"region_iface", clause::mr_iface_ignored, RegionInterface, 0, 0, -FI_ENOSYS, 0},
    {"raw_key", clause::mr_raw_key_too_small, RegionRawKey, -FI_ETOOSMALL, 8, -FI_ENOSYS, 1},
    {"lowest", clause::av_insert_lowest_index, LowestIndex, 1, 1, 1, 3},
    {"lookup", clause::av_lookup_length, ShortLookup, 0, 0, 0, -12},
    {"status", clause::av_insert_status, InsertStatus, 0, 0, 0, 0x5555},
    {"status_refused", clause::av_insert_status, InsertStatus, 0, 0, -FI_EBADFLAGS, 0x5555},
    {"symmetric", clause::av_insertsym_order, InsertSymmetric, 4, 0, 4, 2},
    {"string", clause::av_insertsvc_string, InsertString, 0, 0, -FI_EINVAL, 0},
    {"unknown_name", clause::av_insertsvc_unknown_name, InsertUnknown, 0, 0, 2, 0},
    {"no_queue", clause::av_event_needs_queue, InsertWithoutEvents, -FI_ENOEQ, 0, 1, 0},
    {"event", clause::av_event_completes, InsertEvent, 0, 1, 0, 0},
    {"event_counted", clause::av_event_completes, InsertEvent, 0, 1, 1, 1},
    {"context", clause::av_open_context, VectorContext, 0, 1, 0, 0},
    {"name", clause::endpoint_name_cut_short, ShortName, -FI_ETOOSMALL, 1, -FI_ETOOSMALL, 0},
    {"name_whole", clause::endpoint_name_cut_short, ShortName, -FI_ETOOSMALL, 1, 0, 1},
    {"p2p", clause::endpoint_option_p2p_required, PeerToPeer, -FI_EOPNOTSUPP, 0, -FI_ENOPROTOOPT, 0},
    {"p2p_there", clause::endpoint_option_p2p_required, PeerToPeer, 0, 0, -FI_EINVAL, 0},
    {"xpu", clause::endpoint_option_xpu_trigger, TriggerVariables, -FI_EOPNOTSUPP, 0, -FI_ENOPROTOOPT, 0},
    {"op_flags", clause::endpoint_control_op_flags, OperationFlags, 0, 0, -FI_ENOSYS, 0},
    {"transmit_queue", clause::endpoint_enable_needs_transmit_queue, EnableToSend, -FI_ENOCQ, 0, 0, 0},
    {"receive_queue", clause::endpoint_enable_needs_receive_queue, EnableToReceive, -FI_ENOCQ, 0, 0, 0},
    {"domain", clause::endpoint_bind_other_domain, OtherDomain, -FI_EDOMAIN, 0, 0, 0},
    {"shared", clause::endpoint_enable_needs_shared, SharedUnbound, -FI_EOPBADSTATE, 0, 0, 0},
    {"shared_twice", clause::endpoint_bind_single_shared, SharedTwice, -FI_EINVAL, 0, 0, 0},
    {"buffers", clause::endpoint_rx_iov_limit_exceeded, ManyBuffers, -FI_EINVAL, 0, 0, 0},
    {"listen", clause::cm_listen_needs_events, ListenAlone, -FI_ENOEQ, 0, 0, 0},
    {"backlog", clause::cm_backlog_set, Backlog, 0, 0, -FI_ENOSYS, 0},
    {"connect", clause::cm_connect_cut_short, LongConnectData, 0, 256, -FI_EINVAL, 256},
};

class CallClause : public testing::TestWithParam<CallRow> {
protected:
    [[nodiscard]] Ruling judge() const { return GetParam().judge({kNewest, info_, script_, seen_}); }
    void make(ObjectCall call, std::int64_t returned, std::int64_t stored) {
        script_.act = GroupAct::Calls;
        script_.call = call;
        script_.members = 1;
        seen_ = {};
        GroupRound& r = seen_.rounds[1];
        r.began = r.posted = true;
        r.members[0].facts[static_cast<std::size_t>(GroupFact::Returned)] = returned;
        r.members[0].facts[static_cast<std::size_t>(GroupFact::Stored)] = stored;
    }

    Info info_;
    GroupScript script_;
    GroupSeen seen_;
};

TEST_P(CallClause, HoldsWhereTheCallReturnsWhatItShould) {
    make(GetParam().call, GetParam().returned, GetParam().stored);
    EXPECT_EQ(judge().outcome(), Outcome::Holds);
}

TEST_P(CallClause, IsBrokenByAnotherNumber) {
    make(GetParam().call, GetParam().wrong_return, GetParam().wrong_store);
    EXPECT_TRUE(judge().is_broken());
}

TEST_P(CallClause, SaysNothingOfAnotherCallOrOfOneThatWasNotMade) {
    make(GetParam().call == QueueWait ? QueueLook : QueueWait, GetParam().wrong_return, GetParam().wrong_store);
    EXPECT_EQ(judge().outcome(), Outcome::NotApplicable);
    make(GetParam().call, GetParam().wrong_return, GetParam().wrong_store);
    seen_.rounds[1].posted = false;
    EXPECT_EQ(judge().outcome(), Outcome::NotApplicable);
}

TEST_P(CallClause, IsNotBrokenByACrashBehindTheCall) {
    make(GetParam().call, GetParam().returned, GetParam().stored);
    seen_.crashed_signal = 11;
    EXPECT_EQ(judge().outcome(), Outcome::Holds);
}

INSTANTIATE_TEST_SUITE_P(All, CallClause, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(CallClauses, ACallThatDoesNotComeBackBreaksItsOwn) {
    const Info info;
    GroupScript script;
    script.act = GroupAct::Calls;
    script.call = CounterWait;
    GroupSeen seen;
    seen.hung = true;
    const GroupCase shown{kNewest, info, script, seen};
    EXPECT_EQ(clause::cntr_wait_threshold(shown).outcome(), Outcome::NotApplicable) << "ahead of the call";
    seen.rounds[1].began = true;
    EXPECT_TRUE(clause::cntr_wait_threshold(shown).is_broken());
    EXPECT_EQ(clause::cq_sread_blocks(shown).outcome(), Outcome::NotApplicable);
}

}  // namespace

bool has_call_row(Ruling (*judge)(const GroupCase&)) {
    return std::any_of(std::begin(kRows), std::end(kRows), [judge](const CallRow& row) { return row.judge == judge; });
}

}  // namespace selvage::model
