// See waits.h.
#include "model/traffic/waits.h"

namespace selvage::model::waits {

using namespace rules;
using namespace shapes;

namespace {

// An entry of the operation, or of what took its message, was read before the operation could begin.
void see_early(const TrafficCase& c, Tour& tour, int i, const Completion& x) {
    const int start = part(c, i).start;
    const auto expected = static_cast<std::uint64_t>(start) + 1;
    tour.see(start >= 0 && x.after >= expected, [&] {
        return compared(c, x.operation, Observable::CallsMade, Relation::AtLeast,
                        start < 0 ? ~std::uint64_t{0} : expected, x.after,
                        name_of(c, i) + " waits for its counter, and is done before it has got there");
    });
}

// What never begins changes no memory.  That it has no entry and no receiver is seen above.
void see_idle(const TrafficCase& c, Tour& tour, int i) {
    const Operation& o = operation(c, i);
    if (part(c, i).start >= 0 || !accepted(o)) return;
    const bool looked = updates(o) && o.length > 0 && is_alone(c, i) && o.remote != Seen::NotLooked;
    tour.see(!looked || o.remote == Seen::Untouched, [&] {
        return about(c, i, Observable::Target, Relation::Differs,
                     "its counter does not get there, and the target's memory was written");
    });
}

// Another such send of that side begins in the same call.
bool has_rival(const TrafficCase& c, int i, bool (*is_one)(const Operation&),
               bool (*concerns)(std::uint64_t, std::uint64_t)) {
    const Operation& o = operation(c, i);
    for (int k = 0; k < operation_count(c); ++k) {
        const Operation& x = operation(c, k);
        const bool rival = k != i && sends(x) && is_one(x) && x.side == o.side && is_tagged(x) == is_tagged(o);
        if (rival && concerns(x.threshold, o.threshold) && part(c, k).start == part(c, i).start) return true;
    }
    return false;
}

}  // namespace

Ruling waits_for_threshold(const TrafficCase& c, Concerns concerns) {
    Tour tour;
    for (const Completion& x : c.traffic.entries) {
        if (x.operation < 0 || x.error != 0) continue;
        const auto is_one = [&](int i) {
            return waits_for_counter(operation(c, i)) && accepted(operation(c, i)) && concerns(c, i);
        };
        if (is_one(x.operation)) see_early(c, tour, x.operation, x);
        if (x.bytes_of >= 0 && is_one(x.bytes_of)) see_early(c, tour, x.bytes_of, x);
    }
    for (int i = 0; i < operation_count(c); ++i)
        if (waits_for_counter(operation(c, i)) && concerns(c, i)) see_idle(c, tour, i);
    return tour.ruling();
}

bool is_lost_in_counter(const TrafficCase& c) {
    const int at = c.traffic.crashed_at;
    const bool posting = !c.account->returned && !c.traffic.crashed_opening && !c.traffic.crashed_closing;
    return posting && at >= 0 && at < operation_count(c) && moves_counter(operation(c, at));
}

Ruling begins_in_order(const TrafficCase& c, bool (*is_one)(const Operation&),
                       bool (*concerns)(std::uint64_t, std::uint64_t)) {
    if (!c.account->returned || !c.account->calm || !ordered(c.traffic, FI_ORDER_SAS)) return Ruling::not_applicable();
    Tour tour;
    for (int r = 0; r < operation_count(c); ++r) {
        const Operation& o = operation(c, r);
        const auto& taken = part(c, r).messages;
        if (!receives(o) || !accepted(o) || takes_many(c.traffic, o) || !part(c, r).sure || taken.size() != 1) continue;
        for (const int e : part(c, r).entries) {
            const int from = entry(c, e).bytes_of;
            if (from < 0 || entry(c, e).error != 0) continue;
            const Operation& came = operation(c, from);
            const Operation& due = operation(c, taken.front());
            if (!is_one(came) || !is_one(due) || !has_rival(c, taken.front(), is_one, concerns)) continue;
            if (from != taken.front() && !concerns(came.threshold, due.threshold)) continue;
            tour.see(from == taken.front(), [&] {
                return about(
                    c, r, Observable::Buffer, Relation::Differs,
                    "it took the message of " + name_of(c, from) + ", which begins after " + name_of(c, taken.front()),
                    {from});
            });
        }
    }
    return tour.ruling();
}

}  // namespace selvage::model::waits
