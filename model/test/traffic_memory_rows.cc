// Talks for the clauses of fi_rma(3) and fi_atomic(3).
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

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

template <typename Change>
Talk one(int (*post)(Talk&), Change&& change) {
    Talk k;
    const int i = post(k);
    change(k, i);
    if (!is_inject_call(k.op(i))) k.sent(i);
    return k;
}

int a_write(Talk& k) { return k.write(A); }
int a_read(Talk& k) { return k.read(A); }
int an_atomic(Talk& k) { return k.atomic(Transfer::Atomic, A); }

Talk injected(int (*post)(Talk&)) {
    return one(post, [](Talk& k, int i) { k.inject(i); });
}
Talk in_pieces(int (*post)(Talk&)) {
    return one(post, [](Talk& k, int i) { k.op(i).pieces = 2; });
}
Talk refused(int (*post)(Talk&), std::int64_t ret) {
    Talk k;
    k.op(post(k)).ret = ret;
    return k;
}
Talk too_long(std::int64_t ret) {
    Talk k = refused(a_write, ret);
    k.t.region_length = 0;
    k.op(0).length = (1 << 20) + 1;
    return k;
}
Talk long_inject(int (*post)(Talk&), std::int64_t ret) {
    Talk k = refused(post, ret);
    k.inject(0);
    k.op(0).length = 65;
    return k;
}
Talk long_read_by_default() {
    Talk k;
    k.t.transmit_flags = FI_INJECT;
    k.sent(k.read(A, 65));
    return k;
}
Talk selected(int (*post)(Talk&), bool told) {
    Talk k;
    k.t.selective_transmit = true;
    const int i = k.message(post(k), FI_COMPLETION);
    if (told) k.sent(i);
    return k;
}
Talk fenced(int (*post)(Talk&), bool in_order) {
    Talk k;
    const int first = k.write(A, 10, 100);
    const int second = k.message(post(k), FI_FENCE);
    if (in_order) {
        k.sent(first).sent(second);
    } else {
        k.sent(second).sent(first);
    }
    return k;
}

// An access that must fail; `change` says why.
template <typename Change>
Talk stray(int (*post)(Talk&), bool fails, Change&& change) {
    Talk k;
    const int i = post(k);
    k.op(i).remote = Seen::Untouched;
    change(k.op(i));
    if (fails) {
        k.failed(i, FI_EACCES);
    } else {
        k.sent(i);
    }
    return k;
}
// Its success was told, and the refusal after it, with the context of nobody.
Talk stray_told_late(std::uint64_t level) {
    Talk k;
    const int i = k.message(k.write(A), level);
    k.op(i).bad_key = true;
    k.op(i).remote = Seen::Untouched;
    k.sent(i);
    k.failed(i, FI_EACCES);
    k.last().operation = -1;
    return k;
}
// The same behind a message that no receive takes.
Talk stray_behind_fence() {
    Talk k;
    k.send(A);
    const int i = k.message(k.write(A), FI_FENCE);
    k.op(i).region_access = 0;
    k.op(i).remote = Seen::Untouched;
    return k;
}
// And the fence is that of another one.
Talk stray_after_fence() {
    Talk k;
    k.send(A);
    k.message(k.write(A), FI_FENCE);
    const int i = k.write(A);
    k.op(i).region_access = 0;
    k.op(i).remote = Seen::Untouched;
    return k;
}
void bad_key(Operation& o) { o.bad_key = true; }
void no_permission(Operation& o) { o.region_access = 0; }
void outside(Operation& o) { o.offset = 4090; }

Talk with_data(bool told, std::uint64_t value = 7) {
    Talk k;
    k.sent(k.with_data(k.write(A), 7));
    if (told) k.reported_target(B, value);
    return k;
}

// Two writes to one place, where writes are ordered.
Talk written_twice(Seen last) {
    Talk k;
    k.info.tx.msg_order = k.info.rx.msg_order = FI_ORDER_RMA_WAW;
    k.info.ep.max_order_waw_size = 1000;
    k.sent(k.write(A)).op(0).remote = Seen::Foreign;
    k.sent(k.write(A, 20, 5));
    k.op(1).remote = last;
    return k;
}

void cut(Talk& k) {
    k.op(0).remote = Seen::Short;
    if (!k.t.entries.empty()) k.last().seen = Seen::Short;
}

// Nothing comes of a write outside, behind a message to a buffer of 100 bytes.
Talk stray_after(std::uint64_t length) {
    Talk k;
    const int r = k.recv(B, 100);
    const int s = k.send(A, length);
    k.sent(s);
    if (length > 100)
        k.failed(r, FI_ETRUNC);
    else
        k.received(r, s);
    const int w = k.write(A);
    k.op(w).remote = Seen::Untouched;
    outside(k.op(w));
    return k;
}

}  // namespace

Rows memory_rows() {
    return {
        HOLDS(rma_call_comes_back, "all calls returned", written()),
        BREAKS(rma_call_comes_back, "the process died", but(written(), [](Talk& k) { k.t.crashed_signal = 6; })),
        SKIPS(rma_call_comes_back, "no RMA", Talk()),
        HOLDS(rma_call_accepted, "0 came back", written()),
        BREAKS(rma_call_accepted, "a plain write was refused", refused(a_write, -FI_EINVAL)),
        SKIPS(rma_call_accepted, "outside of the region",
              but(refused(a_write, -FI_EINVAL), [](Talk& k) { outside(k.op(0)); })),
        HOLDS(rma_call_errno, "-FI_EMSGSIZE", too_long(-FI_EMSGSIZE)),
        BREAKS(rma_call_errno, "a positive error", refused(a_write, 5)),
        SKIPS(rma_call_errno, "nothing was refused", written()),
        HOLDS(rma_call_succeeds, "it ended well", written()),
        BREAKS(rma_call_succeeds, "it failed for nothing", but(Talk(), [](Talk& k) { k.failed(k.write(A), FI_EIO); })),
        SKIPS(rma_call_succeeds, "the key was bad", stray(a_write, true, bad_key)),
        HOLDS(rma_length_limit, "refused", too_long(-FI_EMSGSIZE)),
        BREAKS(rma_length_limit, "accepted", too_long(0)),
        SKIPS(rma_length_limit, "short enough", written()),
        HOLDS(rma_inject_limit, "refused", long_inject(a_write, -FI_EMSGSIZE)),
        BREAKS(rma_inject_limit, "accepted", long_inject(a_write, 0)),
        SKIPS(rma_inject_limit, "short enough", injected(a_write)),
        SKIPS(rma_inject_limit, "a read of an endpoint whose default is FI_INJECT", long_read_by_default()),
        HOLDS(rma_call_accepted, "a long read of an endpoint whose default is FI_INJECT", long_read_by_default()),
        HOLDS(rma_write_whole, "its bytes stand there", written()),
        BREAKS(rma_write_whole, "a part of them stands there", but(written(), cut)),
        SKIPS(rma_write_whole, "another write may have replaced them",
              but(written(),
                  [](Talk& k) {
                      cut(k);
                      k.sent(k.write(A));
                  })),
        HOLDS(endpoint_order_size_kept, "the later of two writes stands there", written_twice(Seen::Whole)),
        BREAKS(endpoint_order_size_kept, "the earlier one does", written_twice(Seen::Foreign)),
        SKIPS(endpoint_order_size_kept, "it was too long to be ordered",
              but(written_twice(Seen::Foreign), [](Talk& k) { k.op(1).length = 1000; })),
        SKIPS(endpoint_order_size_kept, "one end does not order writes",
              but(written_twice(Seen::Foreign), [](Talk& k) { k.info.rx.msg_order = 0; })),
        SKIPS(endpoint_order_size_kept, "they do not meet",
              but(written_twice(Seen::Foreign), [](Talk& k) { k.op(1).offset = 10; })),
        SKIPS(endpoint_order_size_kept, "a third one came later",
              but(written_twice(Seen::Foreign),
                  [](Talk& k) {
                      k.sent(k.write(A, 20, 5));
                      k.op(2).remote = Seen::NotLooked;
                  })),
        HOLDS(rma_write_vector, "its ranges stand there", in_pieces(a_write)),
        BREAKS(rma_write_vector, "a part of them stands there", but(in_pieces(a_write), cut)),
        SKIPS(rma_write_vector, "one range", written()),
        HOLDS(rma_inject_whole, "its bytes stand there", injected(a_write)),
        BREAKS(rma_inject_whole, "a part of them stands there", but(injected(a_write), cut)),
        SKIPS(rma_inject_whole, "not injected", written()),
        HOLDS(rma_inject_silent, "no entry", injected(a_write)),
        BREAKS(rma_inject_silent, "an entry", but(injected(a_write), [](Talk& k) { k.sent(0); })),
        SKIPS(rma_inject_silent, "not injected", written()),
        HOLDS(rma_read_whole, "the target's bytes came", have_read()),
        BREAKS(rma_read_whole, "a part of them came", but(have_read(), [](Talk& k) { k.last().seen = Seen::Short; })),
        SKIPS(rma_read_whole, "nothing was read", written()),
        HOLDS(rma_read_vector, "the ranges are filled", in_pieces(a_read)),
        BREAKS(rma_read_vector, "they are not", but(in_pieces(a_read), [](Talk& k) { k.last().seen = Seen::Foreign; })),
        SKIPS(rma_read_vector, "one range", have_read()),
        HOLDS(rma_read_within_buffer, "nothing behind it", have_read()),
        BREAKS(rma_read_within_buffer, "bytes behind it",
               but(have_read(), [](Talk& k) { k.op(0).local = Seen::Beyond; })),
        SKIPS(rma_read_within_buffer, "nothing was read", written()),
        HOLDS(rma_completion_selected, "the entry is there", selected(a_write, true)),
        BREAKS(rma_completion_selected, "the entry never came", selected(a_write, false)),
        SKIPS(rma_completion_selected, "nothing shows that it ended",
              but(selected(a_write, false), [](Talk& k) { k.op(0).remote = Seen::Untouched; })),
        SKIPS(rma_completion_selected, "all completions are told", written()),
        HOLDS(rma_fence_order, "the fenced one came last", fenced(a_write, true)),
        BREAKS(rma_fence_order, "the fenced one came first", fenced(a_write, false)),
        SKIPS(rma_fence_order, "no fence", written()),
        HOLDS(rma_target_silent, "the target was told nothing", written()),
        BREAKS(rma_target_silent, "the target was told",
               but(written(),
                   [](Talk& k) {
                       k.reported_target(B, 0);
                       k.last().flags = FI_RMA | FI_REMOTE_WRITE;
                   })),
        SKIPS(rma_target_silent, "it asked for events", but(written(), [](Talk& k) { k.info.caps |= FI_RMA_EVENT; })),
        HOLDS(rma_data_told, "the target was told", with_data(true)),
        BREAKS(rma_data_told, "the target was not told", with_data(false)),
        SKIPS(rma_data_told, "no data", written()),
        HOLDS(rma_data_value, "the same data", with_data(true)),
        BREAKS(rma_data_value, "other data", with_data(true, 8)),
        BREAKS(rma_data_value, "told twice", but(with_data(true), [](Talk& k) { k.reported_target(B, 7); })),
        SKIPS(rma_data_value, "no data", written()),
        HOLDS(rma_access_key, "it failed", stray(a_write, true, bad_key)),
        BREAKS(rma_access_key, "it succeeded", stray(a_write, false, bad_key)),
        HOLDS(rma_access_key, "it failed after it was taken", stray_told_late(FI_INJECT_COMPLETE)),
        BREAKS(rma_access_key, "it failed after it was transmitted", stray_told_late(FI_TRANSMIT_COMPLETE)),
        BREAKS(rma_access_key, "it was taken, and nothing else was told",
               but(stray_told_late(FI_INJECT_COMPLETE), [](Talk& k) { k.t.entries.pop_back(); })),
        SKIPS(rma_access_key, "a good key", written()),
        HOLDS(rma_access_permission, "it failed", stray(a_read, true, no_permission)),
        BREAKS(rma_access_permission, "it succeeded", stray(a_read, false, no_permission)),
        SKIPS(rma_access_permission, "a good key", written()),
        SKIPS(rma_access_permission, "it waits behind a fence", stray_behind_fence()),
        SKIPS(rma_access_permission, "it waits behind one that does", stray_after_fence()),
        BREAKS(rma_access_permission, "the fence is the other side's",
               but(stray_after_fence(), [](Talk& k) { k.op(1).side = B, k.recv(B); })),
        BREAKS(rma_access_permission, "no fence, and nothing came",
               but(stray_behind_fence(), [](Talk& k) { k.op(1).flags = 0, k.recv(B); })),
        SKIPS(rma_access_permission, "nobody takes the message before it",
              but(stray_behind_fence(), [](Talk& k) { k.op(1).flags = 0; })),
        HOLDS(rma_access_bounds, "it failed", stray(a_write, true, outside)),
        BREAKS(rma_access_bounds, "it succeeded", stray(a_write, false, outside)),
        SKIPS(rma_access_bounds, "inside", written()),
        SKIPS(rma_access_bounds, "nothing came, after a message that was too long for its buffer", stray_after(130)),
        BREAKS(rma_access_bounds, "it succeeded, after a message that was too long for its buffer",
               but(stray_after(130), [](Talk& k) { k.sent(2); })),
        BREAKS(rma_access_bounds, "nothing came, after a message that fits", stray_after(100)),
        HOLDS(rma_access_untouched, "as it was", stray(a_write, true, bad_key)),
        BREAKS(rma_access_untouched, "written all the same",
               but(stray(a_write, true, bad_key), [](Talk& k) { k.op(0).remote = Seen::Whole; })),
        BREAKS(rma_access_untouched, "written behind the region",
               but(stray(a_write, true, outside), [](Talk& k) { k.op(0).remote = Seen::Beyond; })),
        SKIPS(rma_access_untouched, "a good key", written()),
    };
}

namespace {

Talk base() {
    Talk k;
    k.sent(k.atomic(Transfer::Atomic, A));
    return k;
}
Talk fetching() {
    Talk k;
    k.sent(k.atomic(Transfer::FetchAtomic, A));
    return k;
}
Talk comparing() {
    Talk k;
    k.sent(k.atomic(Transfer::CompareAtomic, A));
    return k;
}
Talk beyond_valid(std::uint64_t valid, std::int64_t ret) {
    Talk k = refused(an_atomic, ret);
    k.op(0).count = 9;
    k.op(0).valid_count = valid;
    return k;
}
void wrong_result(Talk& k) { k.last().seen = Seen::Foreign; }

}  // namespace

Rows atomic_rows() {
    return {
        HOLDS(atomic_call_comes_back, "all calls returned", base()),
        BREAKS(atomic_call_comes_back, "the process died", but(base(), [](Talk& k) { k.t.crashed_signal = 11; })),
        SKIPS(atomic_call_comes_back, "no atomics", Talk()),
        HOLDS(atomic_call_accepted, "0 came back", base()),
        BREAKS(atomic_call_accepted, "what is valid was refused", refused(an_atomic, -FI_EOPNOTSUPP)),
        SKIPS(atomic_call_accepted, "nobody asked whether it is valid",
              but(refused(an_atomic, -FI_EOPNOTSUPP), [](Talk& k) { k.op(0).valid_query = false; })),
        HOLDS(atomic_call_errno, "-FI_EMSGSIZE", beyond_valid(8, -FI_EMSGSIZE)),
        BREAKS(atomic_call_errno, "a positive error", refused(an_atomic, 95)),
        SKIPS(atomic_call_errno, "nothing was refused", base()),
        HOLDS(atomic_call_succeeds, "it ended well", base()),
        BREAKS(atomic_call_succeeds, "it failed for nothing",
               but(Talk(), [](Talk& k) { k.failed(k.atomic(Transfer::Atomic, A), FI_EIO); })),
        SKIPS(atomic_call_succeeds, "the key was bad", stray(an_atomic, true, bad_key)),
        HOLDS(atomic_valid_unsupported, "-FI_EOPNOTSUPP", beyond_valid(0, -FI_EOPNOTSUPP)),
        BREAKS(atomic_valid_unsupported, "accepted", beyond_valid(0, 0)),
        SKIPS(atomic_valid_unsupported, "supported", base()),
        HOLDS(atomic_valid_count, "-FI_EMSGSIZE", beyond_valid(8, -FI_EMSGSIZE)),
        BREAKS(atomic_valid_count, "another error", beyond_valid(8, -FI_EINVAL)),
        SKIPS(atomic_valid_count, "as many as allowed", base()),
        HOLDS(atomic_inject_limit, "refused", long_inject(an_atomic, -FI_EMSGSIZE)),
        BREAKS(atomic_inject_limit, "accepted", long_inject(an_atomic, 0)),
        SKIPS(atomic_inject_limit, "short enough", injected(an_atomic)),
        HOLDS(atomic_update_stored, "the target has the sum", base()),
        BREAKS(atomic_update_stored, "it has not", but(base(), cut)),
        SKIPS(atomic_update_stored, "nothing was changed", fetching()),
        HOLDS(atomic_update_vector, "the target has the sums", in_pieces(an_atomic)),
        BREAKS(atomic_update_vector, "it has not", but(in_pieces(an_atomic), cut)),
        SKIPS(atomic_update_vector, "one range", base()),
        HOLDS(atomic_update_fetched, "the target has the sum", fetching()),
        BREAKS(atomic_update_fetched, "it has not", but(fetching(), [](Talk& k) { k.op(0).remote = Seen::Untouched; })),
        SKIPS(atomic_update_fetched, "nothing was fetched", base()),
        HOLDS(atomic_update_compared, "the target was swapped", comparing()),
        BREAKS(atomic_update_compared, "it was not", but(comparing(), [](Talk& k) { k.op(0).remote = Seen::Foreign; })),
        SKIPS(atomic_update_compared, "nothing was compared", base()),
        HOLDS(atomic_fetch_initial, "the value before", fetching()),
        BREAKS(atomic_fetch_initial, "another value", but(fetching(), wrong_result)),
        SKIPS(atomic_fetch_initial, "nothing was fetched", base()),
        SKIPS(atomic_fetch_initial, "no region has the key",
              but(but(fetching(), wrong_result),
                  [](Talk& k) {
                      for (auto& o : k.t.operations) o.bad_key = true;
                  })),
        HOLDS(atomic_compare_initial, "the value before", comparing()),
        BREAKS(atomic_compare_initial, "another value", but(comparing(), wrong_result)),
        SKIPS(atomic_compare_initial, "nothing was compared", base()),
        HOLDS(atomic_fetch_within_buffer, "nothing behind it", fetching()),
        BREAKS(atomic_fetch_within_buffer, "bytes behind it",
               but(fetching(), [](Talk& k) { k.op(0).local = Seen::Beyond; })),
        SKIPS(atomic_fetch_within_buffer, "nothing was fetched", base()),
        HOLDS(atomic_inject_stored, "the target has the sum", injected(an_atomic)),
        BREAKS(atomic_inject_stored, "it has not", but(injected(an_atomic), cut)),
        SKIPS(atomic_inject_stored, "not injected", base()),
        HOLDS(atomic_inject_silent, "no entry", injected(an_atomic)),
        BREAKS(atomic_inject_silent, "an entry", but(injected(an_atomic), [](Talk& k) { k.sent(0); })),
        SKIPS(atomic_inject_silent, "not injected", base()),
        HOLDS(atomic_completion_selected, "the entry is there", selected(an_atomic, true)),
        BREAKS(atomic_completion_selected, "the entry never came", selected(an_atomic, false)),
        SKIPS(atomic_completion_selected, "nothing shows that it ended",
              but(selected(an_atomic, false), [](Talk& k) { k.op(0).remote = Seen::Untouched; })),
        SKIPS(atomic_completion_selected, "all completions are told", base()),
        HOLDS(atomic_fence_order, "the fenced one came last", fenced(an_atomic, true)),
        BREAKS(atomic_fence_order, "the fenced one came first", fenced(an_atomic, false)),
        SKIPS(atomic_fence_order, "no fence", base()),
        HOLDS(atomic_access_refused, "it failed", stray(an_atomic, true, bad_key)),
        BREAKS(atomic_access_refused, "it succeeded", stray(an_atomic, false, no_permission)),
        SKIPS(atomic_access_refused, "a good key", base()),
        HOLDS(atomic_access_bounds, "it failed", stray(an_atomic, true, outside)),
        BREAKS(atomic_access_bounds, "it succeeded", stray(an_atomic, false, outside)),
        SKIPS(atomic_access_bounds, "inside", base()),
        HOLDS(atomic_access_untouched, "as it was", stray(an_atomic, true, bad_key)),
        BREAKS(atomic_access_untouched, "changed all the same",
               but(stray(an_atomic, true, bad_key), [](Talk& k) { k.op(0).remote = Seen::Whole; })),
        SKIPS(atomic_access_untouched, "a good key", base()),
    };
}

}  // namespace selvage::model::traffic_test
