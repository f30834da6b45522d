// Talks for what fi_getinfo(3) and fi_domain(3) promise of transfers: capabilities, modes, progress, resources.
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

Talk sent_and_received(bool tagged = false) {
    Talk k;
    const int r = tagged ? k.trecv(B, 5) : k.recv(B);
    const int s = tagged ? k.tsend(A, 5) : k.send(A);
    k.sent(s).received(r, s);
    return k;
}
Talk written() {
    Talk k;
    k.sent(k.write(A));
    return k;
}
Talk have_read() {
    Talk k;
    k.sent(k.read(A));
    return k;
}
Talk fetched() {
    Talk k;
    k.sent(k.atomic(Transfer::FetchAtomic, A));
    return k;
}
Talk refused(Talk k, std::int64_t ret) {
    k.t.entries.clear();
    k.op(0).ret = ret;
    return k;
}
// The first operation failed, and nothing else came.
Talk failed(Talk k, std::uint64_t error) {
    k.t.entries.clear();
    k.failed(0, error);
    return k;
}
template <typename Change>
Talk with(Talk k, Change&& change) {
    change(k);
    return k;
}
Talk without(Talk k, std::uint64_t caps) {
    k.info.caps &= ~caps;
    return k;
}

Talk refused_receive(std::int64_t ret) {
    Talk k;
    k.op(k.trecv(B, 5)).ret = ret;
    return k;
}
Talk of_many(std::int64_t ret) {
    Talk k;
    const int r = k.message(k.recv(B, 1000), FI_MULTI_RECV);
    k.op(r).ret = ret;
    return k;
}
Talk directed(bool takes) {
    Talk k;
    const int r = k.recv(B);
    k.op(r).from_any = false;
    k.op(r).from_other = true;
    const int s = k.send(A);
    if (takes) k.sent(s).received(r, s);
    return k;
}
Talk fenced(bool in_order) {
    Talk k;
    const int first = k.write(A, 10, 100);
    const int second = k.message(k.write(A), FI_FENCE);
    if (in_order) {
        k.sent(first).sent(second);
    } else {
        k.sent(second).sent(first);
    }
    return k;
}
Talk counted(std::uint64_t remote) {
    Talk k = written();
    k.info.caps |= FI_RMA_EVENT;
    k.counted();
    k.t.counted[0].write = 1;
    k.t.counted[1].remote_write = remote;
    return k;
}

Talk progress(Talk k, std::uint64_t model) {
    k.info.domain.data_progress = model;
    return k;
}
Talk rested(bool came) {
    Talk k = progress(Talk(), FI_PROGRESS_AUTO);
    const int r = k.recv(B);
    const int s = k.send(A);
    Operation rest;
    rest.rest = true;
    rest.rested = 1;
    rest.awaited = came ? -1 : s;
    k.post(rest);
    k.sent(s).received(r, s);
    return k;
}

// The first call, while the peer made none.
Talk called_alone(std::int64_t ret) {
    Talk k;
    k.info.domain.control_progress = FI_PROGRESS_AUTO;
    const int r = k.recv(B), s = k.send(A);
    k.op(s).rest = true;
    k.op(s).ret = ret;
    if (ret == 0) k.sent(s).received(r, s);
    return k;
}

Talk contexts(ContextMemory seen, std::uint64_t mode) {
    Talk k = sent_and_received();
    k.info.mode = mode;
    k.op(0).context = k.op(1).context = seen;
    return k;
}
// The same, and none of the two is to be told.
Talk without_completion(ContextMemory seen) {
    Talk k = contexts(seen, FI_CONTEXT);
    k.t.selective_transmit = k.t.selective_receive = true;
    k.t.entries.clear();
    return k;
}
void binds_regions(Talk& k) { k.info.domain.mr_mode = FI_MR_ENDPOINT; }
// A write with data, told at the target with the context of a receive or of nobody.
Talk data_written(bool takes_receive) {
    Talk k;
    k.recv(B);
    k.sent(k.with_data(k.write(A), 7)).reported_target(B, 7);
    if (takes_receive) k.last().operation = 0;
    return k;
}

// A peek claims a message, and a receive of another tag takes it.
Talk claimed() {
    Talk k;
    const int s = k.tsend(A, 5);
    const int p = k.peek(B, 5, FI_CLAIM);
    const int c = k.message(k.trecv(B, 0), FI_CLAIM);
    k.op(c).of = p;
    k.found(p, s).sent(s).received(c, s);
    return k;
}

Talk overrun(std::uint64_t error) {
    Talk k;
    const int r = k.recv(B, 8);
    const int s = k.send(A, 10);
    k.sent(s);
    if (error != 0) {
        k.failed(r, error);
        k.last().overflow = 2;
        k.op(r).local = Seen::Short;
    } else {
        k.received(r, s);
    }
    return k;
}
void as_datagram(Talk& k) { k.info.ep.type = FI_EP_DGRAM; }
Talk early(std::uint64_t error) {
    Talk k;
    const int s = k.send(A);
    const int r = k.recv(B);
    if (error != 0) {
        k.failed(s, error);
    } else {
        k.sent(s).received(r, s);
    }
    return k;
}
Talk alone(std::uint64_t error) {
    Talk k;
    as_datagram(k);
    const int s = k.send(A);
    if (error != 0) {
        k.failed(s, error);
    } else {
        k.sent(s);
    }
    return k;
}
Talk again(std::int64_t ret) {
    Talk k = ret == 0 ? sent_and_received() : Talk();
    if (ret != 0) k.send(A);
    const int s = ret == 0 ? 1 : 0;
    k.op(s).again = true;
    k.op(s).ret = ret;
    return k;
}
Talk small_queue(bool all) {
    Talk k;
    k.t.queue_size = 2;
    for (int i = 0; i < 3; ++i) k.recv(B);
    for (int i = 0; i < 3; ++i) k.send(A);
    for (int i = 0; i < 3; ++i) k.sent(3 + i);
    for (int i = 0; i < (all ? 3 : 2); ++i) k.received(i, 3 + i);
    return k;
}
void read_one_by_one(Talk& k) {
    std::uint64_t after = k.t.operations.size();
    for (Completion& x : k.t.entries) x.after = after++;
}
template <typename Change>
Talk stray(bool fails, Change&& change) {
    Talk k;
    const int i = k.write(A);
    k.op(i).remote = Seen::Untouched;
    change(k.op(i));
    if (fails) {
        k.failed(i, FI_EACCES);
    } else {
        k.sent(i);
    }
    return k;
}
void bad_key(Operation& o) { o.bad_key = true; }
void outside(Operation& o) { o.offset = 4090; }

}  // namespace

Rows capability_rows() {
    return {
        HOLDS(getinfo_caps_msg_operations, "a message is sent", sent_and_received()),
        BREAKS(getinfo_caps_msg_operations, "there is no such call", refused(sent_and_received(), -FI_ENOSYS)),
        BREAKS(getinfo_caps_msg_operations, "it fails for want of it", failed(sent_and_received(), FI_EOPNOTSUPP)),
        SKIPS(getinfo_caps_msg_operations, "the endpoint has no FI_MSG",
              without(refused(sent_and_received(), -FI_ENOSYS), FI_MSG)),
        HOLDS(getinfo_caps_tagged_operations, "a tagged message is sent", sent_and_received(true)),
        BREAKS(getinfo_caps_tagged_operations, "there is no such call", refused(sent_and_received(true), -FI_ENOSYS)),
        BREAKS(getinfo_caps_tagged_operations, "a receive took a message of another tag",
               with(sent_and_received(true), [](Talk& k) { k.op(1).tag = 6; })),
        HOLDS(getinfo_caps_tagged_operations, "a claim takes what its peek found", claimed()),
        SKIPS(getinfo_caps_tagged_operations, "nothing tagged", sent_and_received()),
        HOLDS(getinfo_caps_unselected_refused, "it is refused", without(refused_receive(-FI_ENOSYS), FI_TAGGED)),
        BREAKS(getinfo_caps_unselected_refused, "it is taken", without(refused_receive(0), FI_TAGGED)),
        SKIPS(getinfo_caps_unselected_refused, "it was selected", refused_receive(0)),
        SKIPS(getinfo_caps_unselected_refused, "it may be tried again",
              without(refused_receive(-FI_EAGAIN), FI_TAGGED)),
        HOLDS(getinfo_caps_modifiers_restrict, "it is refused", without(refused_receive(-FI_EINVAL), FI_RECV)),
        BREAKS(getinfo_caps_modifiers_restrict, "it is taken", without(refused_receive(0), FI_RECV)),
        BREAKS(getinfo_caps_modifiers_restrict, "a send is taken", without(sent_and_received(), FI_SEND)),
        SKIPS(getinfo_caps_modifiers_restrict, "no direction was selected",
              without(refused_receive(0), FI_SEND | FI_RECV)),
        HOLDS(getinfo_caps_rma_operations, "a write", written()),
        BREAKS(getinfo_caps_rma_operations, "there is no such call", refused(written(), -FI_ENOSYS)),
        SKIPS(getinfo_caps_rma_operations, "no RMA", sent_and_received()),
        HOLDS(getinfo_caps_atomic_operations, "an atomic", fetched()),
        BREAKS(getinfo_caps_atomic_operations, "there is no such call", refused(fetched(), -FI_ENOSYS)),
        HOLDS(getinfo_caps_atomic_operations, "the valid calls say that there is none, and so does the call",
              with(refused(fetched(), -FI_EOPNOTSUPP), [](Talk& k) { k.op(0).valid_count = 0; })),
        BREAKS(getinfo_caps_atomic_operations, "there is no such call for what is not valid",
               with(refused(fetched(), -FI_ENOSYS), [](Talk& k) { k.op(0).valid_count = 0; })),
        SKIPS(getinfo_caps_atomic_operations, "without the capability",
              without(refused(fetched(), -FI_ENOSYS), FI_ATOMIC)),
        HOLDS(getinfo_caps_source_data, "the peer's address", sent_and_received()),
        BREAKS(getinfo_caps_source_data, "no address",
               with(sent_and_received(), [](Talk& k) { k.last().from_peer = false; })),
        SKIPS(getinfo_caps_source_data, "nobody asked for it", without(sent_and_received(), FI_SOURCE)),
        HOLDS(getinfo_caps_directed_recv_matches, "it takes nothing", directed(false)),
        BREAKS(getinfo_caps_directed_recv_matches, "it takes the message of another", directed(true)),
        SKIPS(getinfo_caps_directed_recv_matches, "without the capability", without(directed(false), FI_DIRECTED_RECV)),
        HOLDS(getinfo_caps_fence_orders, "in order", fenced(true)),
        BREAKS(getinfo_caps_fence_orders, "out of order", fenced(false)),
        SKIPS(getinfo_caps_fence_orders, "no fence", written()),
        HOLDS(getinfo_caps_multi_recv_flag, "taken", of_many(0)),
        BREAKS(getinfo_caps_multi_recv_flag, "refused", of_many(-FI_EINVAL)),
        SKIPS(getinfo_caps_multi_recv_flag, "without the capability", without(of_many(-FI_EINVAL), FI_MULTI_RECV)),
        HOLDS(getinfo_caps_read_initiates, "a read", have_read()),
        BREAKS(getinfo_caps_read_initiates, "no reads", refused(have_read(), -FI_EOPNOTSUPP)),
        SKIPS(getinfo_caps_read_initiates, "nothing is read", written()),
        HOLDS(getinfo_caps_write_initiates, "a write", written()),
        BREAKS(getinfo_caps_write_initiates, "no writes", refused(written(), -FI_EOPNOTSUPP)),
        SKIPS(getinfo_caps_write_initiates, "nothing is written", have_read()),
        HOLDS(getinfo_caps_remote_read_serves, "served", have_read()),
        BREAKS(getinfo_caps_remote_read_serves, "denied", failed(have_read(), FI_EACCES)),
        BREAKS(getinfo_caps_remote_read_serves, "it succeeded, and brought nothing",
               with(have_read(), [](Talk& k) { k.op(0).local = Seen::Untouched; })),
        SKIPS(getinfo_caps_remote_read_serves, "the region allows no reads",
              with(failed(have_read(), FI_EACCES), [](Talk& k) { k.op(0).region_access = 0; })),
        HOLDS(getinfo_caps_remote_write_serves, "served", written()),
        BREAKS(getinfo_caps_remote_write_serves, "denied", failed(written(), FI_EACCES)),
        BREAKS(getinfo_caps_remote_write_serves, "it succeeded, and changed nothing",
               with(written(), [](Talk& k) { k.op(0).remote = Seen::Untouched; })),
        SKIPS(getinfo_caps_remote_write_serves, "the key was bad", stray(true, bad_key)),
        HOLDS(getinfo_caps_send_transfers, "sent", sent_and_received()),
        BREAKS(getinfo_caps_send_transfers, "no sends",
               with(sent_and_received(), [](Talk& k) { k.op(1).ret = -FI_ENOSYS; })),
        SKIPS(getinfo_caps_send_transfers, "nothing is sent", written()),
        HOLDS(getinfo_caps_recv_transfers, "received", sent_and_received(true)),
        BREAKS(getinfo_caps_recv_transfers, "no receives", refused(sent_and_received(true), -FI_ENOSYS)),
        SKIPS(getinfo_caps_recv_transfers, "nothing is received", written()),
        HOLDS(getinfo_caps_rma_event_completes, "the target's counter counts it", counted(1)),
        BREAKS(getinfo_caps_rma_event_completes, "the target's counter stands still", counted(0)),
        SKIPS(getinfo_caps_rma_event_completes, "the other of the target's counters counts it",
              with(counted(0), [](Talk& k) { k.t.counted[1].remote_read = 1; })),
        BREAKS(getinfo_caps_rma_event_completes, "a counter that cannot be bound for it",
               with(counted(1),
                    [](Talk& k) {
                        k.t.open_ret = -FI_ENOSYS;
                        k.t.detail = "fi_ep_bind of a counter of remote operations";
                    })),
        SKIPS(getinfo_caps_rma_event_completes, "nobody asked for it", without(counted(0), FI_RMA_EVENT)),
    };
}

Rows domain_rows() {
    return {
        HOLDS(domain_progress_manual, "all came", progress(sent_and_received(), FI_PROGRESS_MANUAL)),
        BREAKS(domain_progress_manual, "one never came",
               with(progress(sent_and_received(), FI_PROGRESS_MANUAL), [](Talk& k) { k.t.entries.pop_back(); })),
        SKIPS(domain_progress_manual, "progress is automatic",
              with(progress(sent_and_received(), FI_PROGRESS_AUTO), [](Talk& k) { k.t.entries.pop_back(); })),
        HOLDS(domain_progress_auto, "it came while nobody called", rested(true)),
        BREAKS(domain_progress_auto, "it did not", rested(false)),
        SKIPS(domain_progress_auto, "progress is manual", progress(rested(false), FI_PROGRESS_MANUAL)),
        SKIPS(domain_progress_auto, "no receive was there",
              with(rested(false), [](Talk& k) { k.op(2).awaited = k.send(A); })),
        HOLDS(domain_progress_auto_control, "it is accepted", called_alone(0)),
        BREAKS(domain_progress_auto_control, "it may be tried again for ever", called_alone(-FI_EAGAIN)),
        SKIPS(domain_progress_auto_control, "it is refused", called_alone(-FI_EINVAL)),
        SKIPS(domain_progress_auto_control, "control progress is manual",
              with(called_alone(-FI_EAGAIN), [](Talk& k) { k.info.domain.control_progress = FI_PROGRESS_MANUAL; })),
        SKIPS(domain_progress_auto_control, "the peer makes calls",
              with(called_alone(-FI_EAGAIN), [](Talk& k) { k.op(1).rest = false; })),
        SKIPS(domain_progress_auto_control, "it is not the first",
              with(called_alone(0),
                   [](Talk& k) {
                       k.op(1).rest = false;
                       const int s = k.send(A);
                       k.op(s).rest = true;
                       k.op(s).ret = -FI_EAGAIN;
                   })),
        HOLDS(domain_caps_loopback, "reached",
              with(sent_and_received(), [](Talk& k) { k.info.domain.caps = FI_LOCAL_COMM; })),
        BREAKS(domain_caps_loopback, "nobody there",
               with(sent_and_received(),
                    [](Talk& k) {
                        k.info.domain.caps = FI_LOCAL_COMM;
                        k.op(1).ret = -FI_EHOSTUNREACH;
                    })),
        SKIPS(domain_caps_loopback, "without the capability", sent_and_received()),
        HOLDS(domain_mr_local_registration, "sent as it is", sent_and_received()),
        BREAKS(domain_mr_local_registration, "refused", refused(sent_and_received(), -FI_EFAULT)),
        SKIPS(domain_mr_local_registration, "registered",
              with(refused(sent_and_received(), -FI_EFAULT), [](Talk& k) { k.info.domain.mr_mode = FI_MR_LOCAL; })),
        HOLDS(domain_mr_endpoint_registration, "written", with(written(), binds_regions)),
        BREAKS(domain_mr_endpoint_registration, "refused", with(failed(written(), FI_EACCES), binds_regions)),
        SKIPS(domain_mr_endpoint_registration, "regions are not bound", failed(written(), FI_EACCES)),
        HOLDS(domain_mr_scalable_offsets, "written there", written()),
        BREAKS(domain_mr_scalable_offsets, "nothing is there",
               with(written(), [](Talk& k) { k.op(0).remote = Seen::Untouched; })),
        SKIPS(domain_mr_scalable_offsets, "by address",
              with(written(),
                   [](Talk& k) {
                       k.op(0).remote = Seen::Untouched;
                       k.info.domain.mr_mode = FI_MR_VIRT_ADDR;
                   })),
        HOLDS(domain_limits_error_data, "none", stray(true, bad_key)),
        BREAKS(domain_limits_error_data, "more than it says",
               with(stray(true, bad_key), [](Talk& k) { k.last().error_data = 1; })),
        SKIPS(domain_limits_error_data, "no error", written()),
        HOLDS(getinfo_mode_context, "untouched", contexts(ContextMemory::Untouched, 0)),
        BREAKS(getinfo_mode_context, "written", contexts(ContextMemory::Written, 0)),
        SKIPS(getinfo_mode_context, "a look keeps its place there",
              with(contexts(ContextMemory::Written, 0),
                   [](Talk& k) {
                       k.message(0, FI_PEEK | FI_CLAIM);
                       k.op(1).context = ContextMemory::NotLooked;
                   })),
        SKIPS(getinfo_mode_context, "the mode asks for it", contexts(ContextMemory::Written, FI_CONTEXT)),
        HOLDS(getinfo_mode_context_ignored_without_completion, "untouched",
              without_completion(ContextMemory::Untouched)),
        BREAKS(getinfo_mode_context_ignored_without_completion, "written", without_completion(ContextMemory::Written)),
        SKIPS(getinfo_mode_context_ignored_without_completion, "it has completions",
              contexts(ContextMemory::Written, FI_CONTEXT)),
        HOLDS(getinfo_mode_context_size, "within it", contexts(ContextMemory::Written, FI_CONTEXT)),
        HOLDS(getinfo_mode_context_size, "within two", contexts(ContextMemory::Second, FI_CONTEXT2)),
        BREAKS(getinfo_mode_context_size, "behind it", contexts(ContextMemory::Second, FI_CONTEXT)),
        BREAKS(getinfo_mode_context_size, "behind two", contexts(ContextMemory::Beyond, FI_CONTEXT2)),
        SKIPS(getinfo_mode_context_size, "no mode asks for it", contexts(ContextMemory::Second, 0)),
        HOLDS(getinfo_mode_rx_cq_data, "told without a receive", data_written(false)),
        BREAKS(getinfo_mode_rx_cq_data, "a receive is taken up", data_written(true)),
        SKIPS(getinfo_mode_rx_cq_data, "the mode says so",
              with(data_written(true), [](Talk& k) { k.info.mode = FI_RX_CQ_DATA; })),
    };
}

Rows resource_rows() {
    return {
        HOLDS(domain_rm_enabled_protects, "cut off", overrun(FI_ETRUNC)),
        BREAKS(domain_rm_enabled_protects, "written behind",
               with(overrun(FI_ETRUNC), [](Talk& k) { k.op(0).local = Seen::Beyond; })),
        SKIPS(domain_rm_enabled_protects, "nothing is too long", sent_and_received()),
        HOLDS(domain_rm_context_full_enabled, "taken at last", again(0)),
        BREAKS(domain_rm_context_full_enabled, "refused for good", again(-FI_EINVAL)),
        SKIPS(domain_rm_context_full_enabled, "never full", sent_and_received()),
        HOLDS(domain_rm_queue_full_enabled, "all came", small_queue(true)),
        BREAKS(domain_rm_queue_full_enabled, "the third was lost", small_queue(false)),
        HOLDS(domain_rm_queue_full_enabled, "each was read before it was full",
              but(small_queue(true), read_one_by_one)),
        SKIPS(domain_rm_queue_full_enabled, "there was room",
              with(small_queue(false), [](Talk& k) { k.t.queue_size = 8; })),
        HOLDS(domain_rm_target_datagram, "dropped", alone(0)),
        BREAKS(domain_rm_target_datagram, "told", alone(FI_ENORX)),
        SKIPS(domain_rm_target_datagram, "reliable", early(FI_ENORX)),
        HOLDS(domain_rm_target_reliable_enabled, "received later", early(0)),
        BREAKS(domain_rm_target_reliable_enabled, "given up", early(FI_ENORX)),
        SKIPS(domain_rm_target_reliable_enabled, "without resource management",
              with(early(FI_ENORX), [](Talk& k) { k.info.domain.resource_mgmt = FI_RM_DISABLED; })),
        HOLDS(domain_rm_overrun_reliable, "failed", overrun(FI_ETRUNC)),
        HOLDS(domain_rm_overrun_reliable, "cut off", overrun(0)),
        BREAKS(domain_rm_overrun_reliable, "told whole", with(overrun(0), [](Talk& k) { k.last().length = 10; })),
        SKIPS(domain_rm_overrun_reliable, "a datagram", with(overrun(0), as_datagram)),
        HOLDS(domain_rm_overrun_datagram, "cut off", with(overrun(0), as_datagram)),
        BREAKS(domain_rm_overrun_datagram, "told whole",
               with(overrun(0),
                    [](Talk& k) {
                        as_datagram(k);
                        k.last().length = 10;
                    })),
        SKIPS(domain_rm_overrun_datagram, "reliable", overrun(0)),
        HOLDS(domain_rm_rma_unmatched, "failed", stray(true, bad_key)),
        BREAKS(domain_rm_rma_unmatched, "told as done", stray(false, bad_key)),
        SKIPS(domain_rm_rma_unmatched, "a good key", written()),
        HOLDS(domain_rm_rma_overrun, "failed", stray(true, outside)),
        BREAKS(domain_rm_rma_overrun, "told as done", stray(false, outside)),
        SKIPS(domain_rm_rma_overrun, "inside", written()),
    };
}

}  // namespace selvage::model::traffic_test
