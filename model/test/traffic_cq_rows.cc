// Talks for the clauses of fi_cq(3) and fi_cntr(3).
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

Talk pair(std::uint64_t length = 10, std::uint64_t room = 100) {
    Talk k;
    const int r = k.recv(B, room);
    const int s = k.send(A, length);
    k.sent(s).received(r, s);
    return k;
}
Talk tagged_pair() {
    Talk k;
    const int r = k.trecv(B, 5, 0xf0);
    const int s = k.tsend(A, 0x35);
    k.sent(s).received(r, s);
    return k;
}
Talk with_data() {
    Talk k;
    const int r = k.recv(B);
    const int s = k.with_data(k.send(A), 77);
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
void with_bad_key(Talk& k) {
    k.op(0).bad_key = true;
    k.last().seen = Seen::Untouched;
}
Talk changed(Transfer what) {
    Talk k;
    k.sent(k.atomic(what, A));
    return k;
}
Talk cancelled(std::uint64_t error) {
    Talk k;
    const int r = k.recv(B);
    k.cancel(r);
    if (error != 0) k.failed(r, error);
    return k;
}
Talk cancelled_overrun() {
    Talk k;
    const int r = k.recv(B, 4);
    k.send(A, 10);
    k.cancel(r);
    k.failed(r, FI_ETRUNC);
    return k;
}
Talk quiet(bool entry) {
    Talk k;
    k.t.selective_transmit = k.t.selective_receive = true;
    const int r = k.recv(B);
    const int s = k.send(A);
    k.op(r).local = Seen::Whole;
    k.op(r).bytes_of = s;
    if (entry) k.sent(s);
    return k;
}
Talk quiet_failure(bool told) {
    Talk k;
    k.t.selective_transmit = true;
    k.counted().t.counted[0].write_errors = 1;
    const int w = k.write(A);
    k.op(w).bad_key = true;
    k.op(w).remote = Seen::Untouched;
    if (told) k.failed(w, FI_EACCES);
    return k;
}
Talk overrun(std::uint64_t olen) {
    Talk k;
    const int r = k.recv(B, 100);
    const int s = k.send(A, 130);
    k.sent(s).failed(r, FI_ETRUNC);
    k.last().overflow = olen;
    return k;
}
// Of two messages the later one came first, it seems.
Talk overrun_by_either(std::uint64_t olen) {
    return but(overrun(olen), [](Talk& k) {
        const int s = k.send(A, 4000);
        k.sent(s);
    });
}
Talk many(std::int64_t offset) {
    Talk k;
    const int r = k.message(k.recv(B, 1000), FI_MULTI_RECV);
    const int s = k.send(A);
    k.sent(s).placed(r, s, offset);
    return k;
}
Talk at_target(std::uint64_t flags) {
    Talk k;
    k.sent(k.with_data(k.write(A), 7));
    k.reported_target(B, 7);
    k.last().flags = flags;
    return k;
}

}  // namespace

Rows entry_rows() {
    return {
        HOLDS(cq_context_returned, "each its own", pair()),
        BREAKS(cq_context_returned, "a context of nobody", but(pair(), [](Talk& k) { k.last().operation = -1; })),
        BREAKS(cq_context_returned, "in the other side's queue", but(pair(), [](Talk& k) { k.last().side = A; })),
        SKIPS(cq_context_returned, "no entries", Talk()),
        HOLDS(cq_entry_once, "each once", pair()),
        BREAKS(cq_entry_once, "one twice", but(pair(), [](Talk& k) { k.sent(1); })),
        SKIPS(cq_entry_once, "a buffer for many", but(Talk(), [](Talk& k) { k.message(k.recv(B), FI_MULTI_RECV); })),
        HOLDS(cq_entry_comes, "each came", pair()),
        BREAKS(cq_entry_comes, "the send's is lost",
               but(pair(), [](Talk& k) { k.t.entries.erase(k.t.entries.begin()); })),
        BREAKS(cq_entry_comes, "the receive's is lost", but(pair(), [](Talk& k) { k.t.entries.pop_back(); })),
        SKIPS(cq_entry_comes, "the write's came without its context",
              but(written(), [](Talk& k) { k.last().operation = -1; })),
        BREAKS(cq_entry_comes, "the send's is lost, and one of a tagged message has no context",
               but(pair(),
                   [](Talk& k) {
                       k.t.entries.front().operation = -1;
                       k.t.entries.front().flags = FI_SEND | FI_TAGGED;
                   })),
        SKIPS(cq_entry_comes, "more may come", but(pair(), [](Talk& k) { k.t.drained = false; })),
        SKIPS(cq_entry_comes, "nobody takes the message", but(Talk(), [](Talk& k) { k.send(A); })),
        HOLDS(cq_error_code, "FI_ECANCELED", cancelled(FI_ECANCELED)),
        BREAKS(cq_error_code, "a number without a name", cancelled(99999)),
        SKIPS(cq_error_code, "no error", pair()),
        HOLDS(cq_error_unselected, "told", quiet_failure(true)),
        BREAKS(cq_error_unselected, "not told", quiet_failure(false)),
        SKIPS(cq_error_unselected, "nothing failed", quiet(false)),
        SKIPS(cq_error_unselected, "nothing shows that it failed",
              but(quiet_failure(false), [](Talk& k) { k.t.counted[0].write_errors = 0; })),
        SKIPS(cq_error_unselected, "it succeeded, and another access failed",
              but(quiet_failure(false), [](Talk& k) { k.sent(0); })),
        SKIPS(cq_error_unselected, "not told, with a message that was too long for its buffer",
              but(quiet_failure(false),
                  [](Talk& k) {
                      const int r = k.recv(B, 100);
                      k.send(A, 130);
                      k.failed(r, FI_ETRUNC);
                  })),
        HOLDS(endpoint_selective_silent, "no entry", quiet(false)),
        BREAKS(endpoint_selective_silent, "an entry", quiet(true)),
        SKIPS(endpoint_selective_silent, "all completions are told", pair()),
        HOLDS(endpoint_op_flags_defaults, "the default asks for an entry",
              but(quiet(true), [](Talk& k) { k.t.transmit_flags = FI_COMPLETION; })),
        BREAKS(endpoint_op_flags_defaults, "and it does not come",
               but(quiet(false), [](Talk& k) { k.t.transmit_flags = FI_COMPLETION; })),
        SKIPS(endpoint_op_flags_defaults, "nothing shows that it ended",
              but(Talk(),
                  [](Talk& k) {
                      k.t.selective_transmit = true;
                      k.t.transmit_flags = FI_COMPLETION;
                      k.read(A, 0);
                      k.op(0).local = Seen::NotLooked;
                  })),
        SKIPS(endpoint_op_flags_defaults, "no default asks for one", quiet(false)),
        HOLDS(endpoint_cancel_ends, "it was cancelled", cancelled(FI_ECANCELED)),
        BREAKS(endpoint_cancel_ends, "nothing came", cancelled(0)),
        SKIPS(endpoint_cancel_ends, "nothing was cancelled", pair()),
        HOLDS(endpoint_cancel_code, "FI_ECANCELED", cancelled(FI_ECANCELED)),
        BREAKS(endpoint_cancel_code, "FI_EINTR", but(cancelled(FI_EINTR), [](Talk&) {})),
        SKIPS(endpoint_cancel_code, "nothing was cancelled", pair()),
        SKIPS(endpoint_cancel_code, "it had failed before, by a message that was too long", cancelled_overrun()),
        HOLDS(endpoint_cancel_unasked, "asked for", cancelled(FI_ECANCELED)),
        BREAKS(endpoint_cancel_unasked, "not asked for",
               but(Talk(), [](Talk& k) { k.failed(k.recv(B), FI_ECANCELED); })),
        SKIPS(endpoint_cancel_unasked, "nothing was cancelled", pair()),
    };
}

Rows field_rows() {
    return {
        HOLDS(cq_len_received, "ten bytes", pair()),
        BREAKS(cq_len_received, "the buffer's size", but(pair(), [](Talk& k) { k.last().length = 100; })),
        SKIPS(cq_len_received, "the format has none", but(pair(), [](Talk& k) { k.t.format = FI_CQ_FORMAT_CONTEXT; })),
        HOLDS(cq_buf_multi_recv, "inside", many(40)),
        BREAKS(cq_buf_multi_recv, "nowhere", many(-1)),
        BREAKS(cq_buf_multi_recv, "not where the bytes are",
               but(many(40), [](Talk& k) { k.last().seen = Seen::Untouched; })),
        SKIPS(cq_buf_multi_recv, "a buffer for one", pair()),
        HOLDS(cq_data_received, "the same", with_data()),
        BREAKS(cq_data_received, "swapped bytes", but(with_data(), [](Talk& k) { k.last().data = 77ULL << 56; })),
        SKIPS(cq_data_received, "none were sent", pair()),
        HOLDS(cq_tag_received, "the sender's", tagged_pair()),
        BREAKS(cq_tag_received, "the receiver's", but(tagged_pair(), [](Talk& k) { k.last().tag = 5; })),
        SKIPS(cq_tag_received, "no tag", pair()),
        HOLDS(cq_olen_discarded, "thirty bytes", overrun(30)),
        BREAKS(cq_olen_discarded, "the message's length", overrun(130)),
        SKIPS(cq_olen_discarded, "nothing was truncated", pair()),
        SKIPS(cq_olen_discarded, "what the other message left over", overrun_by_either(3900)),
        BREAKS(cq_olen_discarded, "of neither message", overrun_by_either(77)),
        HOLDS(cq_overrun_told, "an error", overrun(30)),
        BREAKS(cq_overrun_told, "more than the buffer holds",
               but(pair(130, 100), [](Talk& k) { k.last().length = 130; })),
        SKIPS(cq_overrun_told, "it fits", pair()),
        HOLDS(cq_source_told, "the peer", pair()),
        BREAKS(cq_source_told, "nobody", but(pair(), [](Talk& k) { k.last().from_peer = false; })),
        SKIPS(cq_source_told, "no FI_SOURCE", but(pair(), [](Talk& k) { k.info.caps &= ~FI_SOURCE; })),
        HOLDS(cq_source_not_available, "none",
              but(pair(),
                  [](Talk& k) {
                      k.info.caps &= ~FI_SOURCE;
                      k.last().from_peer = false;
                  })),
        BREAKS(cq_source_not_available, "a wrong one",
               but(pair(),
                   [](Talk& k) {
                       k.info.caps &= ~FI_SOURCE;
                       k.last().from_peer = false;
                       k.last().from_wrong = true;
                   })),
        SKIPS(cq_source_not_available, "FI_SOURCE", pair()),
    };
}

namespace {

void add(Talk& k, std::uint64_t flag) { k.last().flags |= flag; }
void drop(Talk& k, std::uint64_t flag) { k.last().flags &= ~flag; }
void context_only(Talk& k) { k.t.format = FI_CQ_FORMAT_CONTEXT; }

template <std::uint64_t Flag>
void without(Talk& k) {
    drop(k, Flag);
}
template <std::uint64_t Flag>
void together(Talk& k) {
    add(k, Flag);
}

Talk only_sent() {
    Talk k;
    k.recv(B);
    k.sent(k.send(A));
    k.t.drained = false;
    return k;
}

}  // namespace

Rows flag_rows() {
    return {
        HOLDS(cq_flags_send, "there", only_sent()),
        BREAKS(cq_flags_send, "missing", but(only_sent(), without<FI_SEND>)),
        BREAKS(cq_flags_send, "of a receive", but(pair(), together<FI_SEND>)),
        SKIPS(cq_flags_send, "the format has no flags", but(pair(), context_only)),
        HOLDS(cq_flags_recv, "there", pair()),
        BREAKS(cq_flags_recv, "missing", but(pair(), without<FI_RECV>)),
        BREAKS(cq_flags_recv, "of a send", but(only_sent(), together<FI_RECV>)),
        SKIPS(cq_flags_recv, "no receive", written()),
        HOLDS(cq_flags_msg, "there", pair()),
        BREAKS(cq_flags_msg, "missing", but(pair(), without<FI_MSG>)),
        SKIPS(cq_flags_msg, "no message", written()),
        BREAKS(cq_flags_msg, "of a write", but(written(), together<FI_MSG>)),
        SKIPS(cq_flags_msg, "a tagged message", but(tagged_pair(), together<FI_MSG>)),
        HOLDS(cq_flags_tagged, "there", tagged_pair()),
        BREAKS(cq_flags_tagged, "missing", but(tagged_pair(), without<FI_TAGGED>)),
        SKIPS(cq_flags_tagged, "nothing tagged", pair()),
        HOLDS(cq_flags_rma, "there", written()),
        BREAKS(cq_flags_rma, "missing", but(written(), without<FI_RMA>)),
        SKIPS(cq_flags_rma, "no RMA", pair()),
        HOLDS(cq_flags_atomic, "there", changed(Transfer::Atomic)),
        BREAKS(cq_flags_atomic, "missing", but(changed(Transfer::Atomic), without<FI_ATOMIC>)),
        SKIPS(cq_flags_atomic, "no atomics", written()),
        HOLDS(cq_flags_read, "there", have_read()),
        BREAKS(cq_flags_read, "missing", but(have_read(), without<FI_READ>)),
        BREAKS(cq_flags_read, "of a write", but(written(), together<FI_READ>)),
        SKIPS(cq_flags_read, "nothing was read", pair()),
        HOLDS(cq_flags_write, "there", written()),
        BREAKS(cq_flags_write, "missing", but(written(), without<FI_WRITE>)),
        BREAKS(cq_flags_write, "of a read", but(have_read(), together<FI_WRITE>)),
        SKIPS(cq_flags_write, "nothing was written", pair()),
        HOLDS(cq_flags_fetching_atomic, "FI_READ", changed(Transfer::FetchAtomic)),
        BREAKS(cq_flags_fetching_atomic, "neither", but(changed(Transfer::FetchAtomic), without<FI_READ>)),
        SKIPS(cq_flags_fetching_atomic, "nothing was fetched", changed(Transfer::Atomic)),
        HOLDS(cq_flags_remote_write, "there", at_target(FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA)),
        BREAKS(cq_flags_remote_write, "missing", at_target(FI_RMA | FI_REMOTE_CQ_DATA)),
        SKIPS(cq_flags_remote_write, "no entry at the target", written()),
        SKIPS(cq_flags_remote_write, "of a receive, with a context of nobody",
              but(pair(), [](Talk& k) { k.last().operation = -1; })),
        HOLDS(cq_flags_remote_unasked, "not there", written()),
        BREAKS(cq_flags_remote_unasked, "there", but(written(), together<FI_REMOTE_WRITE>)),
        SKIPS(cq_flags_remote_unasked, "no entries", Talk()),
        HOLDS(cq_flags_remote_cq_data, "data came", with_data()),
        BREAKS(cq_flags_remote_cq_data, "none came", but(pair(), together<FI_REMOTE_CQ_DATA>)),
        SKIPS(cq_flags_remote_cq_data, "none is told", pair()),
        HOLDS(cq_flags_multi_recv, "of a buffer for many", but(many(40), together<FI_MULTI_RECV>)),
        BREAKS(cq_flags_multi_recv, "of a buffer for one", but(pair(), together<FI_MULTI_RECV>)),
        SKIPS(cq_flags_multi_recv, "no release", pair()),
        HOLDS(cq_flags_buffered, "not there", pair()),
        BREAKS(cq_flags_buffered, "there", but(pair(), together<FI_MORE>)),
        SKIPS(cq_flags_buffered, "buffered receives", but(pair(), [](Talk& k) { k.info.mode |= FI_BUFFERED_RECV; })),
    };
}

namespace {

Talk level(Talk k, int i, std::uint64_t flags) {
    k.message(i, flags);
    return k;
}

// A send with this level; its receive waits already.
Talk sent_with(std::uint64_t flags, Seen seen = Seen::NotLooked) {
    Talk k = level(pair(), 1, flags);
    k.t.entries.front().seen = seen;
    return k;
}

// A send that asks for a match, and a receive that comes later.
Talk matched(bool early) {
    Talk k;
    const int s = k.message(k.tsend(A, 5), FI_MATCH_COMPLETE);
    if (early) k.sent(s);
    const int r = k.trecv(B, 5);
    if (!early) k.sent(s);
    k.received(r, s);
    return k;
}

Talk two(bool transmit_swapped, bool receive_swapped) {
    Talk k;
    const int r1 = k.recv(B);
    const int r2 = k.recv(B);
    const int s1 = k.send(A);
    const int s2 = k.send(A);
    if (transmit_swapped) {
        k.sent(s2).sent(s1);
    } else {
        k.sent(s1).sent(s2);
    }
    if (receive_swapped) {
        k.received(r2, s2).received(r1, s1);
    } else {
        k.received(r1, s1).received(r2, s2);
    }
    return k;
}

template <Seen What>
void now(Talk& k) {
    k.last().seen = What;
}

}  // namespace

Rows level_rows() {
    return {
        HOLDS(cq_level_inject, "as it was sent", sent_with(FI_INJECT_COMPLETE)),
        BREAKS(cq_level_inject, "as its buffer became", but(sent_with(FI_INJECT_COMPLETE), now<Seen::Foreign>)),
        SKIPS(cq_level_inject, "another level", pair()),
        HOLDS(cq_level_delivery_write, "there", level(written(), 0, FI_DELIVERY_COMPLETE)),
        BREAKS(cq_level_delivery_write, "not there yet",
               but(level(written(), 0, FI_DELIVERY_COMPLETE), now<Seen::Untouched>)),
        SKIPS(cq_level_delivery_write, "another level", but(written(), now<Seen::Untouched>)),
        HOLDS(cq_level_delivery_send, "there", sent_with(FI_DELIVERY_COMPLETE, Seen::Whole)),
        BREAKS(cq_level_delivery_send, "not there yet", sent_with(FI_DELIVERY_COMPLETE, Seen::Untouched)),
        SKIPS(cq_level_delivery_send, "another level", sent_with(0, Seen::Untouched)),
        HOLDS(cq_level_match, "after the match", matched(false)),
        BREAKS(cq_level_match, "before the match", matched(true)),
        SKIPS(cq_level_match, "another level", pair()),
        HOLDS(cq_level_returned_data, "there", have_read()),
        BREAKS(cq_level_returned_data, "not there yet", but(have_read(), now<Seen::Untouched>)),
        SKIPS(cq_level_returned_data, "nothing was fetched", written()),
        SKIPS(cq_level_returned_data, "no region has the key", but(have_read(), with_bad_key)),
        HOLDS(cq_level_target, "there", pair()),
        BREAKS(cq_level_target, "not there yet", but(pair(), now<Seen::Untouched>)),
        SKIPS(cq_level_target, "nobody looked", but(pair(), now<Seen::NotLooked>)),
        SKIPS(cq_level_target, "in a queue of others",
              but(pair(),
                  [](Talk& k) {
                      k.last().seen = Seen::Untouched;
                      k.last().transmit = true;
                  })),
        HOLDS(cq_order_transmit, "as submitted", two(false, false)),
        BREAKS(cq_order_transmit, "the second first", two(true, false)),
        SKIPS(cq_order_transmit, "no order is promised",
              but(two(true, false), [](Talk& k) { k.info.tx.comp_order = 0; })),
        HOLDS(cq_order_receive, "as sent", two(false, false)),
        BREAKS(cq_order_receive, "the second first", two(false, true)),
        SKIPS(cq_order_receive, "no order is promised",
              but(two(false, true), [](Talk& k) { k.info.rx.comp_order = 0; })),
    };
}

namespace {

template <typename Change>
Talk counted(Talk k, Change&& change) {
    k.t.counters = true;
    change(k.t.counted);
    return k;
}

Talk counted_pair(std::uint64_t sent, std::uint64_t got) {
    return counted(pair(), [&](Counted* n) {
        n[0].send = sent;
        n[1].recv = got;
    });
}
Talk counted_write(std::uint64_t count, std::uint64_t at_target = 0) {
    return counted(written(), [&](Counted* n) {
        n[0].write = count;
        n[1].remote_write = at_target;
    });
}
Talk counted_read(std::uint64_t count, std::uint64_t at_target = 0) {
    return counted(have_read(), [&](Counted* n) {
        n[0].read = count;
        n[1].remote_read = at_target;
    });
}
Talk events(Talk k) {
    k.info.caps |= FI_RMA_EVENT;
    return k;
}
Talk failure(std::uint64_t errors) {
    return counted(quiet_failure(true), [&](Counted* n) { n[0].write_errors = errors; });
}

}  // namespace

Rows counter_rows() {
    return {
        HOLDS(cntr_count_send, "one", counted_pair(1, 1)),
        BREAKS(cntr_count_send, "two", counted_pair(2, 1)),
        BREAKS(cntr_count_send, "none", counted_pair(0, 1)),
        SKIPS(cntr_count_send, "no counters", pair()),
        HOLDS(cntr_count_recv, "one", counted_pair(1, 1)),
        BREAKS(cntr_count_recv, "none", counted_pair(1, 0)),
        SKIPS(cntr_count_recv, "no counters", pair()),
        HOLDS(cntr_count_read, "one", counted_read(1)),
        BREAKS(cntr_count_read, "none", counted_read(0)),
        SKIPS(cntr_count_read, "no counters", have_read()),
        HOLDS(cntr_count_write, "one", counted_write(1)),
        BREAKS(cntr_count_write, "none", counted_write(0)),
        SKIPS(cntr_count_write, "no counters", written()),
        HOLDS(cntr_count_remote_read, "one", events(counted_read(1, 1))),
        BREAKS(cntr_count_remote_read, "none", events(counted_read(1, 0))),
        SKIPS(cntr_count_remote_read, "no events", counted_read(1, 0)),
        HOLDS(cntr_count_remote_write, "one", events(counted_write(1, 1))),
        BREAKS(cntr_count_remote_write, "none", events(counted_write(1, 0))),
        SKIPS(cntr_count_remote_write, "no events", counted_write(1, 0)),
        HOLDS(cntr_error_none, "none", counted_pair(1, 1)),
        BREAKS(cntr_error_none, "one", counted(counted_pair(1, 1), [](Counted* n) { n[1].recv_errors = 1; })),
        SKIPS(cntr_error_none, "something failed", failure(1)),
        HOLDS(cntr_error_counted, "one", failure(1)),
        BREAKS(cntr_error_counted, "none", failure(0)),
        SKIPS(cntr_error_counted, "nothing failed", counted_pair(1, 1)),
    };
}

}  // namespace selvage::model::traffic_test
