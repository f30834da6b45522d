// Talks for the clauses of fi_trigger(3).
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

int trigger(Talk& k, std::uint64_t count) {
    const int i = k.plain(Transfer::Trigger, A, 0);
    k.op(i).count = count;
    return i;
}
int waiting_send(Talk& k, std::uint64_t threshold, std::uint64_t length = 10) {
    const int s = k.message(k.send(A, length), FI_TRIGGER);
    k.op(s).threshold = threshold;
    return s;
}

// A message that waits for two steps of its counter, and is received.
Talk waited() {
    Talk k;
    const int r = k.recv(B);
    const int s = waiting_send(k, 2);
    trigger(k, 1);
    trigger(k, 1);
    return k.sent(s).received(r, s);
}
// Its sender's entry, or its receiver's, is read between the two.
Talk early(bool at_sender) {
    Talk k = waited();
    k.t.entries[at_sender ? 0 : 1].after = 3;
    return k;
}
Talk lost() {
    Talk k = waited();
    k.t.entries.erase(k.t.entries.begin());
    return k;
}
Talk untriggered() {
    Talk k;
    k.recv(B);
    waiting_send(k, 2);
    trigger(k, 1);
    return k;
}
Talk counted(Talk k, std::uint64_t sends) {
    k.t.counters = true;
    k.t.counted[0].send = sends;
    return k;
}
Talk at_once() {
    Talk k;
    const int r = k.recv(B);
    const int s = waiting_send(k, 0);
    return k.sent(s).received(r, s);
}

// Two messages that begin together; the first receive has that of `first`.
Talk two(std::uint64_t threshold, std::uint64_t other, int first) {
    Talk k;
    const int receives[] = {k.recv(B), k.recv(B)};
    const int sends[] = {waiting_send(k, threshold, 8), waiting_send(k, other, 16)};
    trigger(k, 2);
    k.sent(sends[first]).sent(sends[1 - first]);
    return k.received(receives[0], sends[first]).received(receives[1], sends[1 - first]);
}

Talk plain() {
    Talk k;
    const int r = k.recv(B);
    const int s = k.send(A);
    return k.sent(s).received(r, s);
}

}  // namespace

Rows trigger_rows() {
    return {
        HOLDS(trigger_wait_threshold, "done after the second step", waited()),
        HOLDS(trigger_wait_threshold, "its counter was there already", at_once()),
        BREAKS(trigger_wait_threshold, "sent after the first step", early(true)),
        BREAKS(trigger_wait_threshold, "received after the first step", early(false)),
        SKIPS(trigger_wait_threshold, "nothing waits for a counter", plain()),
        HOLDS(trigger_start_reached, "sent", waited()),
        HOLDS(trigger_start_reached, "sent at once", at_once()),
        BREAKS(trigger_start_reached, "received, and never complete", lost()),
        SKIPS(trigger_start_reached, "the counter never gets there", untriggered()),
        HOLDS(cntr_count_send, "what never begins is not counted", counted(untriggered(), 0)),
        BREAKS(cntr_count_send, "what never begins is counted", counted(untriggered(), 1)),
        HOLDS(trigger_order_threshold, "the lower threshold comes first", two(2, 1, 1)),
        BREAKS(trigger_order_threshold, "the higher threshold comes first", two(2, 1, 0)),
        SKIPS(trigger_order_threshold, "both have one threshold", two(2, 2, 0)),
        HOLDS(trigger_order_posting, "the one that was posted first comes first", two(2, 2, 0)),
        BREAKS(trigger_order_posting, "the one that was posted last comes first", two(2, 2, 1)),
        SKIPS(trigger_order_posting, "each has a threshold of its own", two(2, 1, 1)),
        HOLDS(getinfo_caps_trigger_usage, "it waits, and is sent", waited()),
        BREAKS(getinfo_caps_trigger_usage, "it does not wait", early(true)),
        SKIPS(getinfo_caps_trigger_usage, "nothing waits for a counter", plain()),
    };
}

}  // namespace selvage::model::traffic_test
