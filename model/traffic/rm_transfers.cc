// Resource management: clauses of spec/clauses/domain_rm.toml that show when data moves.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

bool is_managed(const Traffic& t) { return t.info != nullptr && t.info->domain.resource_mgmt == FI_RM_ENABLED; }
bool takes_bytes(const Operation& o) { return receives(o) || fetches(o); }

// The message that a receive of one took, where it is longer than the buffer; nullptr if it is not, or not known.
const Operation* too_long_for(const TrafficCase& c, int receive) {
    const Operation& o = operation(c, receive);
    if (!receives(o) || !accepted(o) || peeks(o) || discards(o) || takes_many(c.traffic, o)) return nullptr;
    const auto& taken = part(c, receive).messages;
    if (taken.size() != 1 || operation(c, taken.front()).length <= o.length) return nullptr;
    return &operation(c, taken.front());
}

bool some_overrun(const TrafficCase& c) {
    for (int i = 0; i < operation_count(c); ++i) {
        if (accepted(operation(c, i)) && (strays(c.traffic, operation(c, i)) || too_long_for(c, i) != nullptr))
            return true;
    }
    return false;
}

// A message that is longer than its buffer is cut off, or its receive fails.
Ruling cut_or_failed(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (too_long_for(c, i) == nullptr) continue;
        const Operation& o = operation(c, i);
        for (const int e : part(c, i).entries) {
            const Completion& x = entry(c, e);
            const bool told_more = x.error == 0 && has_flags(c.traffic) && x.length > o.length;
            tour.see(!told_more && x.seen != Seen::Beyond, [&] {
                constexpr auto kWhat = "the message is longer than its buffer, and neither cut off nor failed";
                if (!told_more) return about(c, i, Observable::Behind, Relation::Equals, kWhat);
                return compared(c, i, Observable::Length, Relation::AtMost, o.length, x.length, kWhat);
            });
        }
    }
    return tour.ruling();
}

// More entries must have come into one queue than it was opened for.
bool fills_a_queue(const TrafficCase& c) {
    for (const Side s : {Side::A, Side::B}) {
        for (const bool transmit : {false, true})
            if (entries_due(c.traffic, s, transmit) > c.traffic.queue_size) return true;
    }
    return false;
}

// How many entries of the queue that is the operation's own are due and did not come.
std::uint64_t missing_beside(const TrafficCase& c, int i) {
    std::uint64_t missing = 0;
    for (int k = 0; k < operation_count(c); ++k) {
        const Operation& o = operation(c, k);
        if (o.side != operation(c, i).side || transmits(o) != transmits(operation(c, i))) continue;
        const auto due = entries_due(c.traffic, *c.account, static_cast<std::size_t>(k));
        missing += due - std::min<std::uint64_t>(due, part(c, k).entries.size());
    }
    return missing;
}

// What was read of the operation's queue at one time, after it was posted, and what is missing is more than the queue
// has room for: its entry may have found it full.  Otherwise it is lost for another reason, which is for cq.entry.comes
// to speak of.  True, too, of an operation that has its entries.
bool may_find_a_full_queue(const TrafficCase& c, int i) {
    const Operation& o = operation(c, i);
    if (part(c, i).entries.size() >= entries_due(c.traffic, *c.account, static_cast<std::size_t>(i))) return true;
    const auto read_together = [&](const Completion& x) {
        return static_cast<std::uint64_t>(std::ranges::count_if(c.traffic.entries, [&](const Completion& y) {
            return y.side == x.side && y.transmit == x.transmit && y.after == x.after;
        }));
    };
    const std::uint64_t missing = missing_beside(c, i);
    return missing > c.traffic.queue_size || std::ranges::any_of(c.traffic.entries, [&](const Completion& x) {
               return x.side == o.side && x.transmit == transmits(o) && x.after > static_cast<std::uint64_t>(i) &&
                      read_together(x) + missing > c.traffic.queue_size;
           });
}

}  // namespace

Ruling domain_rm_enabled_protects(const TrafficCase& c) {
    if (!is_managed(c.traffic) || !some_overrun(c)) return Ruling::not_applicable();
    return both(stays_in_buffer(c, takes_bytes), stray_touches_nothing(c, reaches_memory));
}

Ruling domain_rm_context_full_enabled(const TrafficCase& c) {
    if (!is_managed(c.traffic)) return Ruling::not_applicable();
    return again_may_be_tried(c, "the context was full, and the next call was refused for good");
}

Ruling domain_rm_queue_full_enabled(const TrafficCase& c) {
    if (!is_managed(c.traffic) || c.traffic.queue_size == 0 || !fills_a_queue(c)) return Ruling::not_applicable();
    return entries_come(c, "more was posted than the queue has room for, and its entry was lost",
                        may_find_a_full_queue);
}

Ruling domain_rm_target_datagram(const TrafficCase& c) {
    if (!is_datagram(c.traffic) || !c.account->returned || !nothing_amiss(c)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!sends(o) || !accepted(o) || part(c, i).before) continue;
        for (const int e : part(c, i).entries) {
            tour.see(entry(c, e).error == 0, [&] {
                return compared(c, i, Observable::Error, Relation::Equals, 0, entry(c, e).error,
                                "a datagram that finds no buffer is dropped, and its sender is not told");
            });
        }
    }
    return tour.ruling();
}

Ruling domain_rm_target_reliable_enabled(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (!is_managed(t) || !is_reliable(t) || !c.account->returned || !nothing_amiss(c)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!sends(o) || !accepted(o) || part(c, i).before || part(c, i).partner < 0) continue;
        for (const int e : part(c, i).entries) {
            tour.see(entry(c, e).error == 0, [&] {
                return compared(c, i, Observable::Error, Relation::Equals, 0, entry(c, e).error,
                                "it found no buffer yet, and failed instead of being tried again");
            });
        }
    }
    return tour.ruling();
}

Ruling domain_rm_overrun_datagram(const TrafficCase& c) {
    return is_datagram(c.traffic) ? cut_or_failed(c) : Ruling::not_applicable();
}
Ruling domain_rm_overrun_reliable(const TrafficCase& c) {
    return is_reliable(c.traffic) ? cut_or_failed(c) : Ruling::not_applicable();
}

Ruling domain_rm_rma_unmatched(const TrafficCase& c) {
    return stray_fails(c, reaches_memory, [](const Traffic&, const Operation& o) { return is_barred(o); });
}
Ruling domain_rm_rma_overrun(const TrafficCase& c) {
    return stray_fails(c, reaches_memory, [](const Traffic&, const Operation& o) { return !is_barred(o); });
}

}  // namespace selvage::model::clause
