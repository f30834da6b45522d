// What the capabilities of fi_getinfo(3) mean once data moves: clauses of spec/clauses/getinfo_caps_words.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

// How the runtime names the call that binds a counter of what the peer does (conformance/runtime/open.c).
constexpr std::string_view kRemoteCounter = "fi_ep_bind of a counter of remote operations";

bool reads(const Operation& o) { return fetches(o); }
bool writes(const Operation& o) { return o.what == Transfer::Write || (is_atomic(o) && updates(o)); }

// An error that says: the target does not let others do this.
bool is_denial(std::uint64_t error) { return error == FI_EACCES || error == FI_EPERM; }

// Accesses that the target must serve are neither denied nor without effect.
Ruling is_served(const TrafficCase& c, bool (*kind)(const Operation&), Seen Operation::*effect) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !accepted(o) || admission(c.traffic, o) != Admission::Accept) continue;
        for (const int e : part(c, i).entries) {
            tour.see(!is_denial(entry(c, e).error), [&] {
                return compared(c, i, Observable::Error, Relation::Equals, 0, entry(c, e).error,
                                "the target has the capability, and denies the access");
            });
        }
        const bool looked = o.*effect != Seen::NotLooked && o.length > 0 && is_alone(c, i);
        if (!looked || !succeeded(c, i) || !all_has_come(c) || is_atomic(o)) continue;
        tour.see(o.*effect != Seen::Untouched, [&] {
            return about(c, i, fetches(o) ? Observable::Result : Observable::Target, Relation::Equals,
                         "it succeeded, and did nothing");
        });
    }
    return tour.ruling();
}

// A tagged receive takes messages of a matching tag alone; a claim takes the one that its peek found, whatever its tag.
Ruling matches_tags(const TrafficCase& c) {
    if (!c.account->returned) return Ruling::not_applicable();
    return each_success(
        c, [](const Operation& o) { return o.what == Transfer::TaggedRecv && !peeks(o) && !claims(o); },
        [&](Tour& tour, int r, const Completion& x) {
            if (x.bytes_of < 0 || !is_tagged(operation(c, x.bytes_of))) return;
            const Operation& o = operation(c, r);
            tour.see(((operation(c, x.bytes_of).tag ^ o.tag) & ~o.ignore) == 0, [&] {
                return about(c, r, Observable::Buffer, Relation::Differs,
                             "it took the message of " + name_of(c, x.bytes_of), {x.bytes_of});
            });
        });
}

// Of what is not supported an atomic call says -FI_EOPNOTSUPP (fi_atomic(3)); -FI_ENOSYS says that there is no such
// call.
Ruling has_atomic_calls(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        const bool selected = (!fetches(o) || can(c.traffic, FI_READ)) && (!updates(o) || can(c.traffic, FI_WRITE));
        if (!is_atomic(o) || !can(c.traffic, FI_ATOMIC) || !selected) continue;
        tour.see(o.ret != -FI_ENOSYS, [&] {
            return compared(c, i, Observable::Returned, Relation::Differs, signed_wide(-FI_ENOSYS), signed_wide(o.ret),
                            "the endpoint has the capability, and not the call");
        });
    }
    return tour.ruling();
}

bool has_primary(const Traffic& t, const Operation& o) { return can(t, is_tagged(o) ? FI_TAGGED : FI_MSG); }
// One direction was selected, and it is not the one of `o`.
bool goes_the_other_way(const Traffic& t, const Operation& o) {
    return has_primary(t, o) && can(t, sends(o) ? FI_RECV : FI_SEND) && !can(t, sends(o) ? FI_SEND : FI_RECV);
}

// Messages of this kind are refused.  One that got -FI_EAGAIN was not accepted either.
Ruling is_refused(const TrafficCase& c, bool (*kind)(const Traffic&, const Operation&), const char* what) {
    if (!c.account->returned || c.traffic.info == nullptr) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if ((!sends(o) && !receives(o)) || o.ret == -FI_EAGAIN || !kind(c.traffic, o)) continue;
        tour.see(o.ret != 0,
                 [&] { return compared(c, i, Observable::Returned, Relation::Differs, 0, signed_wide(o.ret), what); });
    }
    return tour.ruling();
}

}  // namespace

Ruling getinfo_caps_unselected_refused(const TrafficCase& c) {
    return is_refused(
        c, [](const Traffic& t, const Operation& o) { return receives(o) && !has_primary(t, o); },
        "the endpoint lacks the capability, and takes the receive");
}
Ruling getinfo_caps_modifiers_restrict(const TrafficCase& c) {
    return is_refused(c, goes_the_other_way, "the endpoint is limited to the other direction, and takes the call");
}

Ruling getinfo_caps_msg_operations(const TrafficCase& c) { return is_there(c, is_message); }
Ruling getinfo_caps_tagged_operations(const TrafficCase& c) { return both(is_there(c, is_tagged), matches_tags(c)); }
Ruling getinfo_caps_rma_operations(const TrafficCase& c) { return is_there(c, is_rma); }
Ruling getinfo_caps_atomic_operations(const TrafficCase& c) {
    return both(has_atomic_calls(c), is_there(c, is_atomic));
}

Ruling getinfo_caps_source_data(const TrafficCase& c) { return cq_source_told(c); }
Ruling getinfo_caps_directed_recv_matches(const TrafficCase& c) { return directed(c, receives); }
Ruling getinfo_caps_trigger_usage(const TrafficCase& c) {
    return both(trigger_wait_threshold(c), trigger_start_reached(c));
}
Ruling getinfo_caps_fence_orders(const TrafficCase& c) { return fence_holds(c, transmits); }

Ruling getinfo_caps_multi_recv_flag(const TrafficCase& c) {
    if (!can(c.traffic, FI_MULTI_RECV)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!takes_many(c.traffic, o) || admission(c.traffic, o) != Admission::Accept) continue;
        tour.see(o.ret == 0 || o.ret == -FI_EAGAIN, [&] {
            return compared(c, i, Observable::Returned, Relation::Equals, 0, signed_wide(o.ret),
                            "a buffer with FI_MULTI_RECV is refused");
        });
    }
    return tour.ruling();
}

Ruling getinfo_caps_read_initiates(const TrafficCase& c) { return is_there(c, reads); }
Ruling getinfo_caps_write_initiates(const TrafficCase& c) { return is_there(c, writes); }
Ruling getinfo_caps_remote_read_serves(const TrafficCase& c) { return is_served(c, reads, &Operation::local); }
Ruling getinfo_caps_remote_write_serves(const TrafficCase& c) { return is_served(c, writes, &Operation::remote); }
Ruling getinfo_caps_send_transfers(const TrafficCase& c) { return is_there(c, sends); }
Ruling getinfo_caps_recv_transfers(const TrafficCase& c) { return is_there(c, receives); }

// The counters of the target are the events that tell of such operations, whatever they carry.
Ruling getinfo_caps_rma_event_completes(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (t.open_ret != 0 && t.detail == kRemoteCounter && c.account->returned && can(t, FI_RMA_EVENT)) {
        Evidence e = number(Field::call_return, Relation::Equals, 0, signed_wide(t.open_ret),
                            t.detail + ", which was opened, did not return 0");
        e.observed.what = Observable::Opening;
        return Ruling::broken(std::move(e));
    }
    Ruling counted = both(cntr_count_remote_read(c), cntr_count_remote_write(c));
    // An event that the wrong counter counts has been generated: what is broken is fi_cntr(3).
    if (counted.is_broken() && remote_events_are_counted(c)) return Ruling::not_applicable();
    return counted;
}

}  // namespace selvage::model::clause
