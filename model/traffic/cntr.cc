// Counters: spec/clauses/cntr.toml.
//
// What was posted bounds a counter from above; once all is done and nothing failed, it must have counted all of it.
#include <algorithm>

#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

constexpr Side kSides[] = {Side::A, Side::B};

// How many operations a counter must have counted.
struct Due {
    std::uint64_t count = 0;
    bool known = true;
};

// Evidence about counters of a side.
Evidence of_counters(Side side, Observable seen, CounterKind counter, Relation r, std::uint64_t expected,
                     std::uint64_t actual, const char* what) {
    Evidence e = number(Field::completion, r, expected, actual, std::string(name_of(side)) + "'s counter of " + what);
    e.observed.what = seen;
    e.observed.side = side;
    e.observed.counter = counter;
    return e;
}

// What one counter counts: how it is called, and its value in what was seen.
struct Counts {
    CounterKind kind;
    const char* what;
    std::uint64_t Counted::*value;
};

bool stands_still(const TrafficCase& c) { return c.traffic.counters && all_has_come(c) && is_reliable(c.traffic); }

// `due` returns how many of a side must be counted.
template <typename DueOf>
Ruling counts(const TrafficCase& c, const Counts& counter, DueOf&& due) {
    if (!stands_still(c)) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        const Due d = due(s);
        if (!d.known) continue;
        const std::uint64_t value = c.traffic.counted[number_of(s)].*counter.value;
        tour.see(value == d.count, [&] {
            return of_counters(s, Observable::Counter, counter.kind, Relation::Equals, d.count, value, counter.what);
        });
    }
    return tour.ruling();
}

// Whether work that asks for an entry counts, too, is left open (fi_trigger(3)).
void leave_out_work(Due& d, const Operation& o) { d.known = d.known && (o.flags & FI_COMPLETION) == 0; }

// What waits for a counter has begun, as far as its effects tell.  That it does not, once it is due, breaks what
// fi_trigger(3) says of it, and no counter.
bool has_begun(const TrafficCase& c, int i) {
    const Operation& o = operation(c, i);
    if (!waits_for_counter(o) || !part(c, i).entries.empty()) return true;
    if (!sends(o)) return is_touched(o.local) || is_touched(o.remote);
    return is_seen_received(c, i);
}

/// @param at_target they are counted there, and work is as everything else
template <typename Concerns>
Due initiated(const TrafficCase& c, Side s, Concerns&& concerns, bool at_target = false) {
    Due d;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (o.side != s || !accepted(o) || !concerns(o) || part(c, i).start < 0) continue;
        if (is_work(o) && !at_target) {
            leave_out_work(d, o);
            continue;
        }
        ++d.count;
        if ((sends(o) && !part(c, i).sure) || !has_begun(c, i) || is_without_entry(c, i)) d.known = false;
    }
    return d;
}

bool reads(const Operation& o) { return fetches(o); }
bool writes(const Operation& o) { return o.what == Transfer::Write || o.what == Transfer::Atomic; }

Due received(const TrafficCase& c, Side s) {
    Due d;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!accepted(o)) continue;
        // Whether these count as messages received is not said.
        if (o.side == s && (peeks(o) || discards(o))) d.known = false;
        if (o.side != s && o.what == Transfer::Write && carries_data(o)) d.known = false;
        if (o.side != s || !receives(o)) continue;
        const auto& taken = part(c, i).messages;
        if (!part(c, i).sure || !std::ranges::all_of(taken, [&](int m) { return has_begun(c, m); })) d.known = false;
        if (is_work(o))
            leave_out_work(d, o);
        else
            d.count += taken.size();
    }
    return d;
}

Ruling counts_remote(const TrafficCase& c, const Counts& counter, bool (*concerns)(const Operation&)) {
    if (!can(c.traffic, FI_RMA_EVENT)) return Ruling::not_applicable();
    return counts(c, counter, [&](Side s) { return initiated(c, other(s), concerns, true); });
}

}  // namespace
}  // namespace selvage::model::clause

namespace selvage::model::shapes {

bool remote_events_are_counted(const TrafficCase& c) {
    return std::ranges::all_of(clause::kSides, [&](Side s) {
        const auto due = [&](bool (*concerns)(const Operation&)) {
            return clause::initiated(c, other(s), concerns, true).count;
        };
        const Counted& seen = c.traffic.counted[number_of(s)];
        return seen.remote_read + seen.remote_write == due(clause::reads) + due(clause::writes);
    });
}

}  // namespace selvage::model::shapes

namespace selvage::model::clause {

Ruling cntr_count_send(const TrafficCase& c) {
    return counts(c, {CounterKind::Send, "sends", &Counted::send}, [&](Side s) { return initiated(c, s, sends); });
}
Ruling cntr_count_recv(const TrafficCase& c) {
    return counts(c, {CounterKind::Recv, "messages received", &Counted::recv}, [&](Side s) { return received(c, s); });
}
Ruling cntr_count_read(const TrafficCase& c) {
    return counts(c, {CounterKind::Read, "reads", &Counted::read}, [&](Side s) { return initiated(c, s, reads); });
}
Ruling cntr_count_write(const TrafficCase& c) {
    return counts(c, {CounterKind::Write, "writes", &Counted::write}, [&](Side s) { return initiated(c, s, writes); });
}
Ruling cntr_count_remote_read(const TrafficCase& c) {
    return counts_remote(c, {CounterKind::RemoteRead, "reads from the other side", &Counted::remote_read}, reads);
}
Ruling cntr_count_remote_write(const TrafficCase& c) {
    return counts_remote(c, {CounterKind::RemoteWrite, "writes from the other side", &Counted::remote_write}, writes);
}

// Work is counted by the counter that it names, whatever the endpoint is bound to.
Ruling trigger_work_counted(const TrafficCase& c) {
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        std::uint64_t due = 0, begun = 0;
        bool known = true;
        for (int i = 0; i < operation_count(c); ++i) {
            const Operation& o = operation(c, i);
            if (o.side != s || !is_work(o) || !accepted(o) || part(c, i).start < 0) continue;
            ++begun;
            due += receives(o) ? part(c, i).messages.size() : 1;
            known = known && part(c, i).sure;
        }
        // What else may bring work to its start has clauses of its own.
        for (const Operation& o : c.traffic.operations) {
            const bool other = o.what == Transfer::TriggerError || (moves_counter(o) && o.deferred);
            known = known && !(o.side == s && o.ret == 0 && other);
        }
        const std::uint64_t value = c.traffic.counted[number_of(s)].work;
        if (begun == 0 || !known) continue;
        tour.see(value == due, [&] {
            return of_counters(s, Observable::Counter, CounterKind::Work, Relation::Equals, due, value,
                               "deferred work that is complete");
        });
    }
    return tour.ruling();
}

Ruling cntr_error_none(const TrafficCase& c) {
    if (!stands_still(c)) return Ruling::not_applicable();
    const bool cancelled = std::any_of(c.traffic.entries.begin(), c.traffic.entries.end(),
                                       [](const Completion& x) { return x.error != 0; });
    if (cancelled) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        const Counted& n = c.traffic.counted[number_of(s)];
        const std::uint64_t errors = n.send_errors + n.recv_errors + n.read_errors + n.write_errors;
        tour.see(errors == 0, [&] {
            return of_counters(s, Observable::Errors, {}, Relation::Equals, 0, errors, "errors, though nothing failed");
        });
    }
    return tour.ruling();
}

Ruling cntr_error_counted(const TrafficCase& c) {
    if (!c.traffic.counters || !is_whole(c)) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        std::uint64_t failed = 0;
        for (int i = 0; i < operation_count(c); ++i) {
            const Operation& o = operation(c, i);
            if (o.side != s || !transmits(o)) continue;
            for (const int e : part(c, i).entries)
                if (entry(c, e).error != 0) ++failed;
        }
        if (failed == 0) continue;
        const Counted& n = c.traffic.counted[number_of(s)];
        const std::uint64_t errors = n.send_errors + n.read_errors + n.write_errors;
        tour.see(errors >= failed, [&] {
            return of_counters(s, Observable::TransmitErrors, {}, Relation::AtLeast, failed, errors,
                               "transmits that failed");
        });
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
