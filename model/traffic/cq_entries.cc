// Which entries come, and whose they are: spec/clauses/cq_entries.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

// Entries of the own queue that an operation may have at most.
bool too_many(const TrafficCase& c, int i) {
    const auto& p = part(c, i);
    if (takes_many(c.traffic, operation(c, i))) return false;
    return p.entries.size() > 1;
}

}  // namespace

Ruling cq_context_returned(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        for (const int e : part(c, i).entries) {
            const Operation& o = operation(c, i);
            tour.see(in_own_queue(c, i, entry(c, e)) && o.ret == 0, [&] {
                if (o.ret != 0)
                    return compared(c, i, Observable::RefusedEntries, Relation::Equals, 0, 1,
                                    "an entry for a call that was refused");
                return compared(c, i, Observable::Queue, Relation::Equals, number_of_queue(o.side, transmits(o)),
                                number_of_queue(entry(c, e).side, entry(c, e).transmit),
                                "an entry with its context in a queue that is not its own");
            });
        }
    }
    for (const int e : c.account->orphans) {
        const Completion& x = entry(c, e);
        const bool unposted = x.error != 0 || (!x.transmit && (!has_flags(c.traffic) || (x.flags & FI_RECV) == 0));
        tour.see(unposted, [&] {
            constexpr auto kWhat = "an entry for an operation with a context of nobody";
            if (x.transmit) return of_nobody(x, Observable::Successes, Relation::Equals, 0, 1, kWhat);
            return of_nobody(x, Observable::Flags, Relation::Lacks, FI_RECV, x.flags, kWhat);
        });
    }
    return tour.ruling();
}

Ruling cq_entry_once(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!accepted(operation(c, i)) || part(c, i).entries.empty()) continue;
        tour.see(!too_many(c, i), [&] {
            return compared(c, i, Observable::Entries, Relation::AtMost, 1, part(c, i).entries.size(),
                            "it completed more than once");
        });
    }
    return tour.ruling();
}

Ruling cq_entry_comes(const TrafficCase& c) { return entries_come(c, "its completion never came"); }

}  // namespace selvage::model::clause
