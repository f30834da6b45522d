// fi_trigger(3): spec/clauses/trigger_work.toml. Deferred work.
#include "model/traffic/waits.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;
using namespace waits;

namespace {

bool side_has(const TrafficCase& c, Side side, bool (*which)(const Operation&)) {
    return std::any_of(c.traffic.operations.begin(), c.traffic.operations.end(),
                       [&](const Operation& o) { return o.side == side && o.ret == 0 && which(o); });
}
bool adds_errors(const Operation& o) { return o.what == Transfer::TriggerError; }
bool is_counter_work(const Operation& o) { return is_work(o) && moves_counter(o); }

// What may bring a piece of work to its start: one clause for each.
enum class Brought { ByCalls, ByErrors, ByWork };
Brought brought(const TrafficCase& c, int i) {
    const Side side = operation(c, i).side;
    if (side_has(c, side, adds_errors)) return Brought::ByErrors;
    return side_has(c, side, is_counter_work) ? Brought::ByWork : Brought::ByCalls;
}
template <Brought how>
bool is_brought(const TrafficCase& c, int i) {
    return is_work(operation(c, i)) && part(c, i).withdrawn < 0 && brought(c, i) == how;
}

template <Transfer how>
bool is_withdrawn(const TrafficCase& c, int i) {
    const int by = part(c, i).withdrawn;
    return is_work(operation(c, i)) && by >= 0 && operation(c, by).what == how;
}

// Its bytes are there, or an entry reports it.
void see_done(const TrafficCase& c, Tour& tour, int i) {
    const Operation& o = operation(c, i);
    const auto evidence = [&](int at, Observable what, std::vector<int> others = {}) {
        return about(c, at, what, Relation::Equals,
                     name_of(c, i) + " has nothing left to wait for, and nothing comes of it", std::move(others));
    };
    if (o.length == 0 || !part(c, i).entries.empty() || !part(c, i).sure) return;
    if (sends(o)) {
        const int r = part(c, i).partner;
        if (r < 0 || takes_many(c.traffic, operation(c, r)) || operation(c, r).local == Seen::NotLooked) return;
        tour.see(operation(c, r).local != Seen::Untouched, [&] { return evidence(r, Observable::Buffer, {i}); });
    } else if (receives(o)) {
        if (part(c, i).messages.size() != 1 || o.local == Seen::NotLooked) return;
        const int from = part(c, i).messages.front();
        if (operation(c, from).length == 0) return;
        tour.see(o.local != Seen::Untouched, [&] { return evidence(i, Observable::Buffer, {from}); });
    } else if (fetches(o)) {
        if (o.local == Seen::NotLooked) return;
        tour.see(o.local != Seen::Untouched, [&] { return evidence(i, Observable::Result); });
    } else if (is_alone(c, i) && o.remote != Seen::NotLooked) {
        tour.see(o.remote != Seen::Untouched, [&] { return evidence(i, Observable::Target); });
    }
}

Ruling comes_of_it(const TrafficCase& c, Concerns concerns) {
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i)
        if (accepted(operation(c, i)) && concerns(c, i) && part(c, i).start >= 0) see_done(c, tour, i);
    return tour.ruling();
}

// A call that moves the counter does not come back, where some work is brought to its start so.
bool dies(const TrafficCase& c, Concerns concerns) {
    if (!is_lost_in_counter(c)) return false;
    for (int i = 0; i < operation_count(c); ++i)
        if (concerns(c, i)) return true;
    return false;
}

Ruling begins_once_due(const TrafficCase& c, Concerns concerns) {
    if (dies(c, concerns)) return Ruling::broken(crash(c));
    Ruling early = waits_for_threshold(c, concerns);
    if (early.is_broken()) return early;
    Ruling late = comes_of_it(c, concerns);
    if (late.outcome() == Outcome::NotApplicable) return early;
    return late;
}

}  // namespace

Ruling trigger_work_threshold(const TrafficCase& c) { return waits_for_threshold(c, is_brought<Brought::ByCalls>); }
Ruling trigger_work_reached(const TrafficCase& c) {
    constexpr auto kConcerns = is_brought<Brought::ByCalls>;
    return dies(c, kConcerns) ? Ruling::broken(crash(c)) : comes_of_it(c, kConcerns);
}
Ruling trigger_work_errors(const TrafficCase& c) { return begins_once_due(c, is_brought<Brought::ByErrors>); }
Ruling trigger_work_counter(const TrafficCase& c) { return begins_once_due(c, is_brought<Brought::ByWork>); }

Ruling trigger_work_order(const TrafficCase& c) {
    return begins_in_order(c, is_work, [](std::uint64_t, std::uint64_t) { return true; });
}

Ruling trigger_work_silent(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!is_work(o) || !accepted(o) || reporting(c.traffic, o) != Reporting::No) continue;
        const bool told = std::any_of(part(c, i).entries.begin(), part(c, i).entries.end(),
                                      [&](int e) { return entry(c, e).error == 0; });
        tour.see(!told, [&] {
            return about(c, i, Observable::Successes, Relation::Equals, "deferred, and an entry tells of it unasked");
        });
    }
    return tour.ruling();
}

Ruling trigger_work_reported(const TrafficCase& c) {
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const std::uint64_t due = entries_due(c.traffic, *c.account, static_cast<std::size_t>(i));
        if (!is_work(operation(c, i)) || due == 0 || !part(c, i).sure) continue;
        tour.see(part(c, i).entries.size() >= due, [&] {
            return compared(c, i, Observable::Entries, Relation::AtLeast, due, part(c, i).entries.size(),
                            "deferred with FI_COMPLETION, and no entry tells of it");
        });
    }
    return tour.ruling();
}

Ruling trigger_work_cancelled(const TrafficCase& c) {
    return waits_for_threshold(c, is_withdrawn<Transfer::CancelWork>);
}
Ruling trigger_work_flushed(const TrafficCase& c) { return waits_for_threshold(c, is_withdrawn<Transfer::FlushWork>); }

Ruling trigger_work_unsupported(const TrafficCase& c) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        const bool whole = is_counter_work(o) || (is_work(o) && is_able(c.traffic, o) && !exceeds(c.traffic, o) &&
                                                  !strays(c.traffic, o) && (o.flags & ~FI_COMPLETION) == 0);
        if (!whole || o.ret == 0 || o.ret == -FI_EAGAIN) continue;
        tour.see(o.ret == -FI_ENOSYS, [&] {
            return compared(c, i, Observable::Returned, Relation::Equals, signed_wide(-FI_ENOSYS), signed_wide(o.ret),
                            "a request that is not supported is refused with -FI_ENOSYS");
        });
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
