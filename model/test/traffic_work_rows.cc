// Talks for the clauses of fi_trigger(3) on deferred work.
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

int move_counter(Talk& k, Transfer how, std::uint64_t count) {
    const int i = k.plain(how, A, 0);
    k.op(i).count = count;
    return i;
}
int trigger(Talk& k, std::uint64_t count = 1) { return move_counter(k, Transfer::Trigger, count); }
int defer(Talk& k, int i, std::uint64_t threshold, std::uint64_t flags = 0) {
    if (k.op(i).what < Transfer::Cancel) k.message(i, flags);
    k.op(i).deferred = true;
    k.op(i).threshold = threshold;
    return i;
}
int withdraw(Talk& k, Transfer how, int of = -1) {
    const int i = k.plain(how, A, 0);
    k.op(i).of = of;
    return i;
}
Talk& counted(Talk& k, std::uint64_t work) {
    k.t.counted[0].work = work;
    return k;
}
// Its message was received, by then.
Talk& received(Talk& k, int r, int s, std::uint64_t after) {
    k.received(r, s).op(r).local = Seen::Whole;
    k.last().after = after;
    return k;
}

// A message that is queued at 1, is received, and is brought to its start by the second of `by`.
Talk queued(std::uint64_t flags = 0) {
    Talk k;
    const int r = k.recv(B), s = defer(k, k.send(A), 2, flags);
    trigger(k), trigger(k);
    return counted(received(k, r, s, 4), 1);
}
Talk early() {
    return but(queued(), [](Talk& k) { k.last().after = 3; });
}
Talk lost() {
    return but(queued(), [](Talk& k) {
        k.t.entries.clear();
        k.op(0).local = Seen::Untouched;
    });
}
Talk pending_write(Seen seen) {
    Talk k;
    defer(k, k.write(A), 2);
    k.op(0).remote = seen;
    trigger(k);
    return k;
}
Talk brought_by(Transfer how, std::uint64_t after) {
    Talk k;
    const int r = k.recv(B), s = defer(k, k.send(A), 2);
    if (how == Transfer::TriggerError) {
        trigger(k), move_counter(k, how, 1);
    } else {
        defer(k, move_counter(k, how, how == Transfer::TriggerSet ? 2 : 1), 1);
        trigger(k);
    }
    return received(k, r, s, after);
}
Talk not_brought(Transfer how) {
    return but(brought_by(how, 4), [](Talk& k) {
        k.t.entries.clear();
        k.op(0).local = Seen::Untouched;
    });
}
Talk begun() { return brought_by(Transfer::TriggerError, 4); }
Talk with_counters(Talk k, std::uint64_t got) {
    k.t.counters = true;
    k.t.counted[1].recv = got;
    return k;
}
Talk two(std::uint64_t threshold, std::uint64_t other, int first) {
    Talk k;
    const int receives[] = {k.recv(B), k.recv(B)};
    const int sends[] = {defer(k, k.send(A, 8), threshold), defer(k, k.send(A, 16), other)};
    trigger(k, 2);
    counted(k, 2);
    return k.received(receives[0], sends[first]).received(receives[1], sends[1 - first]);
}
// The receive takes the message that was withdrawn, or one that was sent later.
Talk withdrawn(Transfer how, bool begins) {
    Talk k;
    const int r = k.recv(B), s = defer(k, k.send(A), 1);
    withdraw(k, how, how == Transfer::CancelWork ? s : -1);
    trigger(k);
    const int later = k.send(A, 20);
    return k.sent(later).received(r, begins ? s : later);
}
Talk refused(std::int64_t ret) {
    Talk k;
    k.op(defer(k, k.send(A), 1)).ret = ret;
    return k;
}

}  // namespace

Rows work_rows() {
    return {
        HOLDS(trigger_work_threshold, "received after the second step", queued()),
        BREAKS(trigger_work_threshold, "received after the first step", early()),
        HOLDS(trigger_work_threshold, "nothing was written yet", pending_write(Seen::Untouched)),
        BREAKS(trigger_work_threshold, "written already", pending_write(Seen::Whole)),
        SKIPS(trigger_work_threshold, "its counter has errors", brought_by(Transfer::TriggerError, 3)),
        HOLDS(trigger_work_reached, "received", queued()),
        BREAKS(trigger_work_reached, "never received", lost()),
        SKIPS(trigger_work_reached, "the counter never gets there", pending_write(Seen::Untouched)),
        HOLDS(trigger_work_errors, "an error brings it", brought_by(Transfer::TriggerError, 4)),
        BREAKS(trigger_work_errors, "an error does not bring it", not_brought(Transfer::TriggerError)),
        SKIPS(trigger_work_errors, "no errors", queued()),
        HOLDS(cntr_count_recv, "the message came", with_counters(begun(), 1)),
        BREAKS(cntr_count_recv, "it came, and was not counted", with_counters(begun(), 0)),
        HOLDS(trigger_work_counter, "work adds to the counter", brought_by(Transfer::Trigger, 4)),
        HOLDS(trigger_work_counter, "work sets the counter", brought_by(Transfer::TriggerSet, 4)),
        BREAKS(trigger_work_counter, "begun before the work has added", brought_by(Transfer::Trigger, 3)),
        BREAKS(trigger_work_counter, "never begun", not_brought(Transfer::Trigger)),
        SKIPS(trigger_work_counter, "no work changes the counter", queued()),
        HOLDS(trigger_work_counted, "once", queued()),
        BREAKS(trigger_work_counted, "never", but(queued(), [](Talk& k) { counted(k, 0); })),
        BREAKS(trigger_work_counted, "twice", but(queued(), [](Talk& k) { counted(k, 2); })),
        SKIPS(trigger_work_counted, "nothing has begun", pending_write(Seen::Untouched)),
        HOLDS(cntr_count_send, "deferred sends are not counted",
              but(queued(), [](Talk& k) { k.counted().t.counted[1].recv = 1; })),
        HOLDS(trigger_work_silent, "no entry", queued()),
        BREAKS(trigger_work_silent, "an entry", queued().sent(1)),
        SKIPS(trigger_work_silent, "an entry was asked for", queued(FI_COMPLETION)),
        HOLDS(trigger_work_reported, "an entry that was asked for", queued(FI_COMPLETION).sent(1)),
        BREAKS(trigger_work_reported, "none", queued(FI_COMPLETION)),
        SKIPS(trigger_work_reported, "none was asked for", queued()),
        HOLDS(trigger_work_order, "the lower threshold comes first", two(2, 1, 1)),
        BREAKS(trigger_work_order, "the higher threshold comes first", two(2, 1, 0)),
        HOLDS(trigger_work_order, "the one that was queued first comes first", two(2, 2, 0)),
        BREAKS(trigger_work_order, "the one that was queued last comes first", two(2, 2, 1)),
        SKIPS(trigger_work_order, "one alone", queued()),
        HOLDS(trigger_work_cancelled, "another message came", withdrawn(Transfer::CancelWork, false)),
        BREAKS(trigger_work_cancelled, "it came", withdrawn(Transfer::CancelWork, true)),
        SKIPS(trigger_work_cancelled, "it was flushed", withdrawn(Transfer::FlushWork, false)),
        HOLDS(trigger_work_flushed, "another message came", withdrawn(Transfer::FlushWork, false)),
        BREAKS(trigger_work_flushed, "it came", withdrawn(Transfer::FlushWork, true)),
        SKIPS(trigger_work_flushed, "it was cancelled", withdrawn(Transfer::CancelWork, false)),
        HOLDS(trigger_work_unsupported, "-FI_ENOSYS", refused(-FI_ENOSYS)),
        BREAKS(trigger_work_unsupported, "-FI_EINVAL", refused(-FI_EINVAL)),
        SKIPS(trigger_work_unsupported, "accepted", queued()),
    };
}

}  // namespace selvage::model::traffic_test
