// Calls on objects that nothing else uses, one in each script: waits, closes of what is in use, address vectors, memory
// regions, options of endpoints, connections.
#include <rdma/fi_errno.h>

#include "model/group/group_rules.h"

namespace selvage::model {
namespace {

using namespace rules;

// A wait that a signal ends is shorter than its time, which is 2000.
constexpr std::int64_t kMostSignalMillis = 1900;

bool is_made(const GroupCase& c, ObjectCall call) {
    return c.script.act == GroupAct::Calls && c.script.call == call && round_of(c, kOfScript).posted;
}
// The call itself did not come back.  What ends the process later, when all is closed, is another clause's.
bool is_lost(const GroupCase& c, ObjectCall call) {
    const GroupRound& r = round_of(c, kOfScript);
    return c.script.act == GroupAct::Calls && c.script.call == call && c.seen.crashed() && r.began && !r.posted;
}

std::int64_t stored(const GroupCase& c) { return fact(c, kOfScript, 0, GroupFact::Stored); }
std::int64_t returned(const GroupCase& c) { return fact(c, kOfScript, 0, GroupFact::Returned); }

Ruling fact_of_call(const GroupCase& c, GroupFact f, Relation r, std::int64_t expected, const char* what) {
    return each_fact(c, kOfScript, {0}, f, r, expected, what);
}

Ruling call_returns(const GroupCase& c, ObjectCall call, Relation r, std::int64_t expected, const char* what) {
    if (is_lost(c, call)) return Ruling::broken(crash(c));
    if (!is_made(c, call)) return Ruling::not_applicable();
    if (returned(c) <= 0) return fact_of_call(c, GroupFact::Returned, r, expected, what);
    // As text it looks like the error of the same number.
    const std::string positive = std::string(what) + ", which returned a positive number";
    return fact_of_call(c, GroupFact::Returned, r, expected, positive.c_str());
}
Ruling call_returns(const GroupCase& c, ObjectCall call, std::int64_t expected, const char* what) {
    return call_returns(c, call, Relation::Equals, expected, what);
}
Ruling call_fails(const GroupCase& c, ObjectCall call, const char* what) {
    return call_returns(c, call, Relation::Differs, 0, what);
}

// It returns that, and then stored this.
struct Stores {
    Relation relation;
    std::int64_t expected;
    const char* what;
};
Ruling call_returns_and_stores(const GroupCase& c, ObjectCall call, std::int64_t expected, const char* what,
                               const Stores& stores) {
    Ruling made = call_returns(c, call, expected, what);
    if (made.outcome() != Outcome::Holds) return made;
    return fact_of_call(c, GroupFact::Stored, stores.relation, stores.expected, stores.what);
}

// What the call stored, where it returned what it should.
Ruling call_stores(const GroupCase& c, ObjectCall call, std::int64_t where, std::int64_t expected, const char* what) {
    if (is_lost(c, call)) return Ruling::broken(crash(c));
    if (!is_made(c, call) || returned(c) != where) return Ruling::not_applicable();
    return fact_of_call(c, GroupFact::Stored, Relation::Equals, expected, what);
}

Ruling is_supported_or(const GroupCase& c, ObjectCall call, std::int64_t error, const char* what) {
    if (is_made(c, call) && returned(c) == 0) return Ruling::holds();
    return call_returns(c, call, error, what);
}

}  // namespace

namespace clause {

Ruling cq_sread_blocks(const GroupCase& c) {
    return call_returns(c, ObjectCall::QueueWait, -FI_EAGAIN, "fi_cq_sread of an empty queue for 200 ms");
}
Ruling cq_sread_at_once(const GroupCase& c) {
    return call_returns(c, ObjectCall::QueueLook, -FI_EAGAIN, "fi_cq_sread of an empty queue for 0 ms");
}
Ruling cq_signal_wakes(const GroupCase& c) {
    return call_returns_and_stores(c, ObjectCall::QueueSignal, -FI_EAGAIN, "fi_cq_sread that fi_cq_signal ends",
                                   {Relation::AtMost, kMostSignalMillis, "milliseconds until it returned"});
}
Ruling cntr_wait_threshold(const GroupCase& c) {
    return call_returns(c, ObjectCall::CounterWait, -FI_ETIMEDOUT, "fi_cntr_wait for 200 ms, for what does not come");
}
Ruling poll_trywait_events(const GroupCase& c) {
    return call_returns(c, ObjectCall::TryWait, -FI_EAGAIN, "fi_trywait on an event queue that holds an event");
}

Ruling eq_close_busy(const GroupCase& c) {
    return call_returns(c, ObjectCall::CloseEvents, -FI_EBUSY, "fi_close of an event queue that an endpoint has");
}
Ruling poll_set_close_busy(const GroupCase& c) {
    return call_returns(c, ObjectCall::ClosePollSet, -FI_EBUSY, "fi_close of a poll set with a queue in it");
}
Ruling poll_wait_set_close_busy(const GroupCase& c) {
    return call_returns(c, ObjectCall::CloseWaitSet, -FI_EBUSY, "fi_close of a wait set that a queue has");
}
Ruling mr_close_busy(const GroupCase& c) {
    if (is_made(c, ObjectCall::CloseRegion) && stored(c) == -FI_EBUSY) return Ruling::holds();
    return call_returns(c, ObjectCall::CloseRegion, -FI_EBUSY,
                        "fi_close of a region that is bound to a counter, which could be closed, too");
}
Ruling cntr_close_busy_region(const GroupCase& c) {
    if (is_made(c, ObjectCall::CloseCounter) && stored(c) == -FI_EBUSY) return Ruling::holds();
    return call_returns(c, ObjectCall::CloseCounter, -FI_EBUSY,
                        "fi_close of a counter that a region is bound to, which could be closed, too");
}

Ruling mr_flags_unknown_refused(const GroupCase& c) {
    return call_returns(c, ObjectCall::RegionFlags, -FI_EBADFLAGS, "fi_mr_reg with a flag that no header has");
}
Ruling mr_iface_ignored(const GroupCase& c) {
    return call_returns(c, ObjectCall::RegionInterface, 0, "fi_mr_regattr with FI_HMEM_CUDA, without FI_HMEM");
}
Ruling mr_raw_key_too_small(const GroupCase& c) {
    return call_returns(c, ObjectCall::RegionRawKey, -FI_ETOOSMALL, "fi_mr_raw_attr with room for one byte of the key");
}

Ruling av_insert_lowest_index(const GroupCase& c) {
    return call_stores(c, ObjectCall::LowestIndex, 1, 1, "the index of an address, where 0 and 2 are in use");
}
Ruling av_lookup_length(const GroupCase& c) {
    if (is_lost(c, ObjectCall::ShortLookup)) return Ruling::broken(crash(c));
    if (!is_made(c, ObjectCall::ShortLookup)) return Ruling::not_applicable();
    return fact_of_call(c, GroupFact::Stored, Relation::Equals, 0,
                        "bytes by which addrlen differs from the address's, of which four fit");
}
Ruling av_insert_status(const GroupCase& c) {
    return call_returns_and_stores(c, ObjectCall::InsertStatus, 0, "fi_av_insert of an address with FI_SYNC_ERR",
                                   {Relation::Equals, 0, "the status of an address that was inserted"});
}
Ruling av_insertsym_order(const GroupCase& c) {
    return call_stores(c, ObjectCall::InsertSymmetric, 4, 0,
                       "addresses of 127.0.0.1, 127.0.0.2 and services 5000, 5001 that are not in this order");
}
Ruling av_insertsvc_string(const GroupCase& c) {
    return call_returns(c, ObjectCall::InsertString, 0, "fi_av_insertsvc of fi_sockaddr_in://127.0.0.1:6001");
}
Ruling av_insertsvc_unknown_name(const GroupCase& c) {
    return call_returns(c, ObjectCall::InsertUnknown, 0, "fi_av_insertsvc of a name that no node has");
}
Ruling av_event_needs_queue(const GroupCase& c) {
    return call_returns(c, ObjectCall::InsertWithoutEvents, -FI_ENOEQ, "fi_av_insert before an event queue is bound");
}
Ruling av_event_completes(const GroupCase& c) {
    return call_returns_and_stores(c, ObjectCall::InsertEvent, 0, "fi_av_insert into a vector with FI_EVENT",
                                   {Relation::Equals, 1, "events FI_AV_COMPLETE with its context and count"});
}
Ruling av_open_context(const GroupCase& c) {
    return call_stores(c, ObjectCall::VectorContext, 0, 1,
                       "whether the vector has the context that it was opened with");
}

Ruling endpoint_name_cut_short(const GroupCase& c) {
    return call_returns_and_stores(c, ObjectCall::ShortName, -FI_ETOOSMALL, "fi_getname with room for four bytes",
                                   {Relation::Equals, 1, "whether it gives these bytes, and the length"});
}
Ruling endpoint_option_p2p_required(const GroupCase& c) {
    return is_supported_or(c, ObjectCall::PeerToPeer, -FI_EOPNOTSUPP, "fi_setopt of FI_HMEM_P2P_REQUIRED");
}
Ruling endpoint_option_xpu_trigger(const GroupCase& c) {
    return is_supported_or(c, ObjectCall::TriggerVariables, -FI_EOPNOTSUPP, "fi_getopt of FI_OPT_XPU_TRIGGER");
}
Ruling endpoint_control_op_flags(const GroupCase& c) {
    return call_returns(c, ObjectCall::OperationFlags, 0, "fi_control with FI_GETOPSFLAG of FI_TRANSMIT");
}
Ruling endpoint_enable_needs_transmit_queue(const GroupCase& c) {
    return call_fails(c, ObjectCall::EnableToSend, "fi_enable with a queue for FI_RECV alone");
}
Ruling endpoint_enable_needs_receive_queue(const GroupCase& c) {
    return call_fails(c, ObjectCall::EnableToReceive, "fi_enable with a queue for FI_TRANSMIT alone");
}
Ruling endpoint_bind_other_domain(const GroupCase& c) {
    return call_fails(c, ObjectCall::OtherDomain, "fi_ep_bind of a queue of another domain");
}
Ruling endpoint_enable_needs_shared(const GroupCase& c) {
    return call_fails(c, ObjectCall::SharedUnbound, "fi_enable without the shared receive context");
}
Ruling endpoint_bind_single_shared(const GroupCase& c) {
    return call_fails(c, ObjectCall::SharedTwice, "fi_ep_bind of a second shared receive context");
}
Ruling endpoint_rx_iov_limit_exceeded(const GroupCase& c) {
    return call_fails(c, ObjectCall::ManyBuffers, "fi_recvv with a buffer more than rx_attr.iov_limit");
}

Ruling cm_listen_needs_events(const GroupCase& c) {
    return call_fails(c, ObjectCall::ListenAlone, "fi_listen without an event queue");
}
Ruling cm_backlog_set(const GroupCase& c) {
    return call_returns(c, ObjectCall::Backlog, 0, "fi_control with FI_BACKLOG");
}
Ruling cm_connect_cut_short(const GroupCase& c) {
    return call_returns(c, ObjectCall::LongConnectData, 0, "fi_connect with 100 bytes more than FI_OPT_CM_DATA_SIZE");
}

}  // namespace clause
}  // namespace selvage::model
