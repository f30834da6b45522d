// Talks for the clauses of fi_tagged(3).
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

template <typename Change>
Talk changed(Change&& change) {
    Talk k;
    const int r = k.trecv(B, 5);
    const int s = k.tsend(A, 5);
    change(k, r, s);
    if (!is_inject_call(k.op(s))) k.sent(s);
    k.received(r, s);
    return k;
}

Talk pair() {
    return changed([](Talk&, int, int) {});
}
Talk injected() {
    return changed([](Talk& k, int, int s) { k.inject(s); });
}

// A receive of one tag, one of any; a message of another tag and one of that tag.
Talk two(bool swapped = false) {
    Talk k;
    const int five = k.trecv(B, 5);
    const int any = k.trecv(B, 0, ~0ULL);
    const int s6 = k.tsend(A, 6);
    const int s5 = k.tsend(A, 5);
    k.sent(s6).sent(s5).received(any, swapped ? s5 : s6).received(five, swapped ? s6 : s5);
    return k;
}

Talk refused(std::int64_t ret) {
    Talk k;
    k.op(k.tsend(A, 1)).ret = ret;
    return k;
}

Talk long_inject(std::int64_t ret) {
    Talk k;
    k.op(k.inject(k.tsend(A, 1, 65))).ret = ret;
    return k;
}

Talk directed(bool taken) {
    Talk k;
    const int r = k.trecv(B, 5);
    k.op(r).from_any = false;
    k.op(r).from_other = true;
    const int s = k.tsend(A, 5);
    if (taken) k.received(r, s);
    return k;
}

Talk selected(bool told) {
    Talk k;
    k.t.selective_transmit = k.t.selective_receive = true;
    k.op(k.trecv(B, 5)).local = Seen::Whole;
    const int s = k.message(k.tsend(A, 5), FI_COMPLETION);
    if (told) k.sent(s);
    return k;
}

Talk fenced(bool in_order) {
    Talk k;
    const int r1 = k.trecv(B, 1);
    const int r2 = k.trecv(B, 2);
    const int s1 = k.tsend(A, 1);
    const int s2 = k.message(k.tsend(A, 2), FI_FENCE);
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

Rows tagged_rows() {
    const auto vector = changed([](Talk& k, int, int s) { k.op(s).pieces = 2; });
    return {
        HOLDS(tagged_call_comes_back, "all calls returned", pair()),
        BREAKS(tagged_call_comes_back, "the process was ended", but(pair(), [](Talk& k) { k.t.exited = true; })),
        SKIPS(tagged_call_comes_back, "nothing is tagged", Talk()),
        SKIPS(tagged_call_comes_back, "the process died of a call whose capability was not asked for",
              but(pair(),
                  [](Talk& k) {
                      k.t.crashed_signal = 11;
                      k.t.crashed_at = 0;
                      k.info.caps &= ~FI_TAGGED;
                  })),
        HOLDS(tagged_call_accepted, "0 came back", pair()),
        BREAKS(tagged_call_accepted, "a plain send was refused", refused(-FI_ENOSYS)),
        SKIPS(tagged_call_accepted, "the endpoint cannot",
              but(refused(-FI_ENOSYS), [](Talk& k) { k.info.caps &= ~FI_TAGGED; })),
        HOLDS(tagged_call_errno, "-FI_EINVAL", long_inject(-FI_EINVAL)),
        BREAKS(tagged_call_errno, "a positive error", refused(1)),
        SKIPS(tagged_call_errno, "nothing was refused", pair()),
        HOLDS(tagged_call_succeeds, "both ended well", pair()),
        BREAKS(tagged_call_succeeds, "a receive failed for nothing",
               but(Talk(),
                   [](Talk& k) {
                       const int r = k.trecv(B, 5);
                       k.failed(r, FI_EIO);
                   })),
        SKIPS(tagged_call_succeeds, "a peek failed", but(Talk(), [](Talk& k) { k.failed(k.peek(B, 5), FI_EIO); })),
        SKIPS(tagged_call_succeeds, "it discards, and neither peeks nor claims",
              but(Talk(), [](Talk& k) { k.failed(k.message(k.trecv(B, 5), FI_DISCARD), FI_EIO); })),
        SKIPS(tagged_call_succeeds, "it was cancelled",
              but(Talk(),
                  [](Talk& k) {
                      const int r = k.trecv(B, 5);
                      k.cancel(r);
                      k.failed(r, FI_ECANCELED);
                  })),
        HOLDS(tagged_inject_limit, "refused", long_inject(-FI_EINVAL)),
        BREAKS(tagged_inject_limit, "accepted", long_inject(0)),
        SKIPS(tagged_inject_limit, "short enough", injected()),
        HOLDS(tagged_send_whole, "its bytes arrived", pair()),
        BREAKS(tagged_send_whole, "a part of it arrived", but(pair(), half)),
        SKIPS(tagged_send_whole, "nothing arrived", Talk()),
        HOLDS(tagged_vector_whole, "its ranges arrived", vector),
        BREAKS(tagged_vector_whole, "a part of them arrived", but(vector, half)),
        SKIPS(tagged_vector_whole, "one range", pair()),
        HOLDS(tagged_inject_whole, "its bytes arrived", injected()),
        BREAKS(tagged_inject_whole, "a part of them arrived", but(injected(), half)),
        SKIPS(tagged_inject_whole, "not injected", pair()),
        HOLDS(tagged_inject_silent, "no entry", injected()),
        BREAKS(tagged_inject_silent, "an entry", but(injected(), [](Talk& k) { k.sent(1); })),
        SKIPS(tagged_inject_silent, "not injected", pair()),
        HOLDS(tagged_match_tag, "tag 5 for tag 5", pair()),
        BREAKS(tagged_match_tag, "tag 6 for tag 5", two(true)),
        SKIPS(tagged_match_tag, "nothing arrived", Talk()),
        HOLDS(tagged_match_order, "each message to its receive", two()),
        BREAKS(tagged_match_order, "the other way round", two(true)),
        SKIPS(tagged_match_order, "the receive asks for another tag",
              but(pair(), [](Talk& k) { k.op(0).tag = 0x106; })),
        SKIPS(tagged_match_order, "no order is promised", but(two(), [](Talk& k) { k.info.tx.msg_order = 0; })),
        HOLDS(tagged_match_boundaries, "as long as it was sent", pair()),
        BREAKS(tagged_match_boundaries, "shorter than it was sent", but(pair(), [](Talk& k) { k.last().length = 9; })),
        SKIPS(tagged_match_boundaries, "nothing arrived", Talk()),
        HOLDS(tagged_match_source, "it waits for another", directed(false)),
        BREAKS(tagged_match_source, "it took a message all the same", directed(true)),
        SKIPS(tagged_match_source, "any source", pair()),
        HOLDS(tagged_receive_within_buffer, "nothing behind it", pair()),
        BREAKS(tagged_receive_within_buffer, "bytes behind it",
               but(pair(), [](Talk& k) { k.last().seen = Seen::Beyond; })),
        SKIPS(tagged_receive_within_buffer, "nobody looked", Talk()),
        HOLDS(tagged_data_carried, "the flag is there", carrying(true)),
        BREAKS(tagged_data_carried, "the flag is missing", carrying(false)),
        SKIPS(tagged_data_carried, "no data were sent", pair()),
        HOLDS(tagged_completion_selected, "the entry is there", selected(true)),
        BREAKS(tagged_completion_selected, "the entry never came", selected(false)),
        SKIPS(tagged_completion_selected, "nothing shows that it ended",
              but(selected(false), [](Talk& k) { k.op(0).local = Seen::Untouched; })),
        SKIPS(tagged_completion_selected, "the entry came without its context",
              but(selected(true), [](Talk& k) { k.last().operation = -1; })),
        SKIPS(tagged_completion_selected, "all completions are told", pair()),
        HOLDS(tagged_fence_order, "the fenced one came last", fenced(true)),
        BREAKS(tagged_fence_order, "the fenced one came first", fenced(false)),
        SKIPS(tagged_fence_order, "no fence", two()),
    };
}

namespace {

// A message that waits, a peek that finds it, and a receive that takes it.
Talk peeked(std::uint64_t flags = 0) {
    Talk k;
    const int s = k.tsend(A, 5);
    const int p = k.peek(B, 5, flags);
    const int r = k.trecv(B, 5);
    k.found(p, s).sent(s);
    if (flags == 0) k.received(r, s);
    return k;
}

Completion& peek_entry(Talk& k) { return k.t.entries[0]; }

Talk empty_peek(std::uint64_t error) {
    Talk k;
    k.failed(k.peek(B, 5), error);
    return k;
}

Talk peeked_into(Seen seen) {
    Talk k = peeked();
    k.op(1).length = 100;
    peek_entry(k).buffer_offset = 0;
    peek_entry(k).seen = seen;
    return k;
}

// Two messages; the first is claimed, the second goes to a plain receive.
Talk claimed(bool stolen = false) {
    Talk k;
    const int s1 = k.tsend(A, 5);
    const int s2 = k.tsend(A, 5);
    const int p = k.peek(B, 5, FI_CLAIM);
    const int r = k.trecv(B, 5);
    const int c = k.message(k.trecv(B, 5), FI_CLAIM);
    k.op(c).of = p;
    k.found(p, s1).sent(s1).sent(s2).received(r, stolen ? s1 : s2).received(c, stolen ? s2 : s1);
    return k;
}

Talk discarded(bool received) {
    Talk k = peeked(FI_DISCARD);
    if (received) k.received(2, 0);
    return k;
}

}  // namespace

Rows peek_rows() {
    return {
        HOLDS(tagged_peek_told, "its result came", peeked()),
        BREAKS(tagged_peek_told, "no result", but(Talk(), [](Talk& k) { k.peek(B, 5); })),
        SKIPS(tagged_peek_told, "no peek", Talk()),
        HOLDS(tagged_peek_found, "the message is there", peeked()),
        BREAKS(tagged_peek_found, "there is none", but(peeked(), [](Talk& k) { k.op(0).tag = 6; })),
        SKIPS(tagged_peek_found, "it found nothing", empty_peek(FI_ENOMSG)),
        HOLDS(tagged_peek_nothing, "FI_ENOMSG", empty_peek(FI_ENOMSG)),
        BREAKS(tagged_peek_nothing, "another error", empty_peek(FI_EAGAIN)),
        SKIPS(tagged_peek_nothing, "it found one", peeked()),
        HOLDS(tagged_peek_length, "the message's length", peeked()),
        BREAKS(tagged_peek_length, "its own buffer's", but(peeked(), [](Talk& k) { peek_entry(k).length = 0; })),
        SKIPS(tagged_peek_length, "it found nothing", empty_peek(FI_ENOMSG)),
        HOLDS(tagged_peek_tag, "the message's tag", peeked()),
        BREAKS(tagged_peek_tag, "another", but(peeked(), [](Talk& k) { peek_entry(k).tag = 6; })),
        SKIPS(tagged_peek_tag, "the format has none", but(peeked(), [](Talk& k) { k.t.format = FI_CQ_FORMAT_DATA; })),
        HOLDS(tagged_peek_buffer, "the data are there", peeked_into(Seen::Whole)),
        BREAKS(tagged_peek_buffer, "the data are not there", peeked_into(Seen::Untouched)),
        SKIPS(tagged_peek_buffer, "no data were told", peeked()),
        HOLDS(tagged_peek_leaves_message, "a receive took it", peeked()),
        BREAKS(tagged_peek_leaves_message, "it was gone", but(peeked(), [](Talk& k) { k.t.entries.pop_back(); })),
        SKIPS(tagged_peek_leaves_message, "it was discarded", discarded(false)),
        HOLDS(tagged_peek_not_queued, "one result", peeked()),
        BREAKS(tagged_peek_not_queued, "it took a message later",
               but(empty_peek(FI_ENOMSG),
                   [](Talk& k) {
                       const int s = k.tsend(A, 5);
                       k.received(0, s);
                   })),
        SKIPS(tagged_peek_not_queued, "no peek", Talk()),
        HOLDS(tagged_claim_reserved, "its claim took it", claimed()),
        BREAKS(tagged_claim_reserved, "a plain receive took it", claimed(true)),
        SKIPS(tagged_claim_reserved, "nothing was claimed", peeked()),
        HOLDS(tagged_claim_receives, "it is there", claimed()),
        BREAKS(tagged_claim_receives, "it is not", but(claimed(), [](Talk& k) { k.last().seen = Seen::Untouched; })),
        SKIPS(tagged_claim_receives, "nothing was claimed", peeked()),
        HOLDS(tagged_discard_gone, "nobody has it", discarded(false)),
        BREAKS(tagged_discard_gone, "a receive has it", discarded(true)),
        SKIPS(tagged_discard_gone, "nothing was discarded", peeked()),
    };
}

}  // namespace selvage::model::traffic_test
