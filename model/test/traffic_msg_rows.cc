// Talks for the clauses of fi_msg(3).
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

// A receive, then a send that it takes, both told.
Talk pair(std::uint64_t length = 10, std::uint64_t room = 100) {
    Talk k;
    const int r = k.recv(B, room);
    const int s = k.send(A, length);
    k.sent(s).received(r, s);
    return k;
}

// The same with the send in another form.
template <typename Change>
Talk changed(Change&& change) {
    Talk k;
    const int r = k.recv(B);
    const int s = k.send(A);
    change(k, r, s);
    if (!is_inject_call(k.op(s))) k.sent(s);
    k.received(r, s);
    return k;
}

Talk injected() {
    return changed([](Talk& k, int, int s) { k.inject(s); });
}

// Two receives and two sends, each told in its place; `swapped`: the wrong way round.
Talk two(bool swapped = false) {
    Talk k;
    const int r1 = k.recv(B);
    const int r2 = k.recv(B);
    const int s1 = k.send(A);
    const int s2 = k.send(A);
    k.sent(s1).sent(s2).received(r1, swapped ? s2 : s1).received(r2, swapped ? s1 : s2);
    return k;
}

// The same behind a message that is longer than its buffer, the other way.
Talk overrun_before(Talk k) {
    const int r = k.recv(A, 5);
    const int s = k.send(B, 10);
    k.sent(s).failed(r, FI_ETRUNC);
    return k;
}

Talk refused(std::int64_t ret) {
    Talk k;
    const int s = k.send(A);
    k.op(s).ret = ret;
    return k;
}

Talk too_long(std::int64_t ret) {
    Talk k;
    const int s = k.send(A, (1 << 20) + 1);
    k.op(s).ret = ret;
    if (ret == 0) k.sent(s);
    return k;
}

Talk long_inject(std::int64_t ret) {
    Talk k;
    k.op(k.inject(k.send(A, 65))).ret = ret;
    return k;
}

Talk again(std::int64_t ret) {
    Talk k;
    const int s = k.send(A);
    k.op(s).again = true;
    k.op(s).ret = ret;
    return k;
}

Talk directed(bool taken) {
    Talk k;
    const int r = k.recv(B);
    k.op(r).from_any = false;
    k.op(r).from_other = true;
    const int s = k.send(A);
    if (taken) k.received(r, s);
    return k;
}

Talk selected(bool told) {
    Talk k;
    k.t.selective_transmit = k.t.selective_receive = true;
    const int r = k.recv(B);
    const int s = k.message(k.send(A), FI_COMPLETION);
    k.op(r).local = Seen::Whole;
    k.op(r).bytes_of = s;
    if (told) k.sent(s);
    return k;
}

// B's first receive is for messages of somebody else, and has the one of A, which is empty.
Talk taken_by_another() {
    Talk k;
    k.t.selective_receive = true;
    const int wrong = k.recv(B);
    k.op(wrong).from_other = true;
    k.message(k.recv(B), FI_COMPLETION);
    const int s = k.send(A, 0);
    k.sent(s).received(wrong, s);
    k.last().bytes_of = -1;
    return k;
}

Talk fenced(bool in_order) {
    Talk k;
    const int r1 = k.recv(B);
    const int r2 = k.recv(B);
    const int s1 = k.send(A);
    const int s2 = k.message(k.send(A), FI_FENCE);
    if (in_order) {
        k.sent(s1).sent(s2);
    } else {
        k.sent(s2).sent(s1);
    }
    k.received(r1, s1).received(r2, s2);
    return k;
}

Talk carrying(bool flag) {
    Talk k = changed([](Talk& talk, int, int s) { talk.with_data(s, 7); });
    if (!flag) k.last().flags &= ~static_cast<std::uint64_t>(FI_REMOTE_CQ_DATA);
    return k;
}

void half(Talk& k) { k.last().seen = Seen::Short; }

}  // namespace

Rows msg_rows() {
    const auto vector = changed([](Talk& k, int r, int s) { k.op(r).pieces = k.op(s).pieces = 2; });
    return {
        HOLDS(msg_call_comes_back, "all calls returned", pair()),
        BREAKS(msg_call_comes_back, "the process died", but(pair(), [](Talk& k) { k.t.crashed_signal = 11; })),
        BREAKS(msg_call_comes_back, "a call hangs", but(pair(), [](Talk& k) { k.t.hung = true; })),
        SKIPS(msg_call_comes_back, "no messages", Talk()),
        SKIPS(msg_call_comes_back, "the process died when all was over and the endpoints were closed",
              but(pair(),
                  [](Talk& k) {
                      k.t.crashed_signal = 11;
                      k.t.crashed_closing = true;
                  })),
        HOLDS(msg_call_accepted, "0 came back", pair()),
        BREAKS(msg_call_accepted, "a plain send was refused", refused(-FI_EINVAL)),
        SKIPS(msg_call_accepted, "there was no room", refused(-FI_EAGAIN)),
        HOLDS(msg_call_errno, "-FI_EINVAL", too_long(-FI_EINVAL)),
        BREAKS(msg_call_errno, "a positive error", refused(22)),
        BREAKS(msg_call_errno, "a number without a name", refused(-99999)),
        SKIPS(msg_call_errno, "nothing was refused", pair()),
        HOLDS(msg_call_succeeds, "both ended well", pair()),
        BREAKS(msg_call_succeeds, "a send failed for nothing",
               but(pair(), [](Talk& k) { k.t.entries.front().error = FI_EIO; })),
        SKIPS(msg_call_succeeds, "a message overran its buffer", pair(200, 100)),
        HOLDS(msg_call_again, "accepted at the second try", but(again(0), [](Talk& k) { k.t.drained = false; })),
        BREAKS(msg_call_again, "refused at the second try", again(-FI_EINVAL)),
        SKIPS(msg_call_again, "accepted at once", pair()),
        HOLDS(msg_length_limit, "refused", too_long(-FI_EMSGSIZE)),
        BREAKS(msg_length_limit, "accepted and complete", too_long(0)),
        SKIPS(msg_length_limit, "short enough", pair()),
        HOLDS(msg_inject_limit, "refused", long_inject(-FI_EINVAL)),
        BREAKS(msg_inject_limit, "accepted", long_inject(0)),
        SKIPS(msg_inject_limit, "short enough", injected()),
        HOLDS(msg_send_whole, "its bytes arrived", pair()),
        BREAKS(msg_send_whole, "a part of it arrived", but(pair(), half)),
        BREAKS(msg_send_whole, "nothing was written", but(pair(), [](Talk& k) { k.last().seen = Seen::Untouched; })),
        SKIPS(msg_send_whole, "its receive never ended",
              but(pair(),
                  [](Talk& k) {
                      k.t.entries.pop_back();
                      k.op(0).local = Seen::Untouched;
                      k.op(0).bytes_of = -1;
                  })),
        SKIPS(msg_send_whole, "no bytes", pair(0)),
        HOLDS(msg_vector_whole, "its ranges arrived", vector),
        BREAKS(msg_vector_whole, "a part of them arrived", but(vector, half)),
        SKIPS(msg_vector_whole, "one range", pair()),
        HOLDS(msg_inject_whole, "its bytes arrived", injected()),
        BREAKS(msg_inject_whole, "the bytes that came later arrived",
               but(injected(), [](Talk& k) { k.last().seen = Seen::Foreign; })),
        SKIPS(msg_inject_whole, "not injected", pair()),
        HOLDS(msg_inject_silent, "no entry", injected()),
        BREAKS(msg_inject_silent, "an entry", but(injected(), [](Talk& k) { k.sent(1); })),
        BREAKS(msg_inject_silent, "an entry without context",
               but(injected(),
                   [](Talk& k) {
                       k.sent(1);
                       k.last().operation = -1;
                   })),
        SKIPS(msg_inject_silent, "not injected", pair()),
        HOLDS(msg_match_order, "first come, first served", two()),
        BREAKS(msg_match_order, "the second receive took the first message", two(true)),
        SKIPS(msg_match_order, "the only receive is for messages of another source",
              but(pair(),
                  [](Talk& k) {
                      k.op(0).from_any = false;
                      k.op(0).from_other = true;
                  })),
        SKIPS(msg_match_order, "no order is promised", but(two(true), [](Talk& k) { k.info.rx.msg_order = 0; })),
        SKIPS(msg_match_order, "an access that is not allowed may have ended what was under way",
              but(two(true),
                  [](Talk& k) {
                      const int stray = k.write(B);
                      k.op(stray).bad_key = true;
                      k.failed(stray, FI_EACCES);
                  })),
        SKIPS(msg_match_order, "a message that is too long may have ended what was under way",
              overrun_before(two(true))),
        HOLDS(msg_match_boundaries, "as long as it was sent", pair()),
        BREAKS(msg_match_boundaries, "longer than it was sent", but(pair(), [](Talk& k) { k.last().length = 20; })),
        SKIPS(msg_match_boundaries, "the format has no length",
              but(pair(), [](Talk& k) { k.t.format = FI_CQ_FORMAT_CONTEXT; })),
        HOLDS(msg_match_source, "it waits for another", directed(false)),
        BREAKS(msg_match_source, "it took a message all the same", directed(true)),
        SKIPS(msg_match_source, "any source", pair()),
        HOLDS(msg_receive_within_buffer, "nothing behind it", pair()),
        BREAKS(msg_receive_within_buffer, "bytes behind it",
               but(pair(200, 100), [](Talk& k) { k.op(0).local = Seen::Beyond; })),
        SKIPS(msg_receive_within_buffer, "nobody looked", Talk()),
        HOLDS(msg_data_carried, "the flag is there", carrying(true)),
        BREAKS(msg_data_carried, "the flag is missing", carrying(false)),
        SKIPS(msg_data_carried, "no data were sent", pair()),
        HOLDS(msg_completion_selected, "the entry is there", selected(true)),
        BREAKS(msg_completion_selected, "the entry never came", selected(false)),
        SKIPS(msg_completion_selected, "it waits for its delivery to be acknowledged",
              but(selected(false), [](Talk& k) { k.op(1).flags |= FI_DELIVERY_COMPLETE; })),
        SKIPS(msg_completion_selected, "the entry came without its context",
              but(selected(true), [](Talk& k) { k.last().operation = -1; })),
        SKIPS(msg_completion_selected, "all completions are told", pair()),
        SKIPS(msg_completion_selected, "a receive that is for others took the message", taken_by_another()),
        HOLDS(msg_fence_order, "the fenced one came last", fenced(true)),
        BREAKS(msg_fence_order, "the fenced one came first", fenced(false)),
        SKIPS(msg_fence_order, "no fence", two()),
    };
}

namespace {

// A buffer of 10000 bytes for many messages, two of which arrive.
Talk many(std::int64_t second_at = 4096, bool released = false, std::uint64_t length = 4000) {
    Talk k;
    k.t.min_multi_recv = 1000;
    const int r = k.message(k.recv(B, 10000), FI_MULTI_RECV);
    const int s1 = k.send(A, length);
    const int s2 = k.send(A, length);
    k.sent(s1).sent(s2).placed(r, s1, 0).placed(r, s2, second_at, released);
    return k;
}

// The same, so that less than the minimum is left.
Talk full(bool released) { return many(5000, released, 4900); }

Talk silent_release(bool told) {
    Talk k;
    k.t.min_multi_recv = 1000;
    k.t.selective_receive = true;
    const int r = k.message(k.recv(B, 1500), FI_MULTI_RECV);
    const int s = k.send(A, 1000);
    k.sent(s);
    if (told) {
        k.placed(r, s, 0);
        k.last().flags = FI_MULTI_RECV;
        k.last().bytes_of = -1;
        k.last().seen = Seen::NotLooked;
    }
    return k;
}

// A buffer in which there is no room to begin with, and to which nothing was sent.
Talk narrow_buffer() {
    Talk k;
    k.t.min_multi_recv = 1000;
    k.t.selective_receive = true;
    k.message(k.recv(B, 0), FI_MULTI_RECV);
    return k;
}

}  // namespace

Rows multi_recv_rows() {
    return {
        HOLDS(msg_multi_recv_whole, "both are there", many()),
        BREAKS(msg_multi_recv_whole, "one is cut", but(many(), half)),
        SKIPS(msg_multi_recv_whole, "a buffer for one", pair()),
        HOLDS(msg_multi_recv_packed, "one behind the other", many()),
        BREAKS(msg_multi_recv_packed, "one on the other", many(2000)),
        BREAKS(msg_multi_recv_packed, "one outside", many(8000)),
        SKIPS(msg_multi_recv_packed, "a buffer for one", pair()),
        HOLDS(msg_multi_recv_released_once, "released with its last message", full(true)),
        BREAKS(msg_multi_recv_released_once, "a message after the release",
               but(full(true), [](Talk& k) { std::swap(k.t.entries[2].flags, k.t.entries[3].flags); })),
        SKIPS(msg_multi_recv_released_once, "not released", many()),
        HOLDS(msg_multi_recv_release_due, "too little is left, and it is released", full(true)),
        BREAKS(msg_multi_recv_release_due, "too little is left, and it is kept", full(false)),
        SKIPS(msg_multi_recv_release_due, "enough is left", many()),
        HOLDS(msg_multi_recv_kept, "much is left", many(4000, false, 100)),
        BREAKS(msg_multi_recv_kept, "much is left, and it is released", many(100, true, 100)),
        SKIPS(msg_multi_recv_kept, "alignment may have cost the rest", full(true)),
        HOLDS(msg_multi_recv_release_told, "told though nothing else is", silent_release(true)),
        BREAKS(msg_multi_recv_release_told, "not told", silent_release(false)),
        SKIPS(msg_multi_recv_release_told, "all receives are told", full(true)),
        SKIPS(msg_multi_recv_release_told, "nothing was taken", narrow_buffer()),
    };
}

}  // namespace selvage::model::traffic_test
