// When an entry may come, what it guarantees and in which order: spec/clauses/cq_levels.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

Ruling cq_level_inject(const TrafficCase& c) {
    return arrives_whole(c, [](const Traffic& t, const Operation& s, const Operation&) {
        return flagged(t, s, FI_INJECT_COMPLETE) && !injects(t, s);
    });
}

Ruling cq_level_delivery_write(const TrafficCase& c) {
    if (!is_reliable(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c,
        [&](const Operation& o) {
            return updates(o) && flagged(c.traffic, o, FI_DELIVERY_COMPLETE) && o.length > 0 && !fetches(o);
        },
        [&](Tour& tour, int i, const Completion& x) {
            if (x.seen == Seen::NotLooked || !is_alone(c, i)) return;
            tour.see(x.seen == Seen::Whole, [&] {
                return about(c, i, Observable::TargetAtEntry, Relation::Equals,
                             "delivered, and the target's memory does not hold it yet");
            });
        });
}

Ruling cq_level_delivery_send(const TrafficCase& c) {
    if (!is_reliable(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [&](const Operation& o) { return sends(o) && flagged(c.traffic, o, FI_DELIVERY_COMPLETE) && o.length > 0; },
        [&](Tour& tour, int i, const Completion& x) {
            // Only where a buffer was ready when the message came.
            const auto& p = part(c, i);
            if (!p.sure || !p.before || p.partner < 0 || x.seen == Seen::NotLooked) return;
            if (operation(c, i).length > operation(c, p.partner).length) return;
            tour.see(x.seen == Seen::Whole, [&] {
                return about(c, i, Observable::PartnerAtEntry, Relation::Equals,
                             "delivered, and the buffer of " + name_of(c, p.partner) + " does not hold it yet",
                             {p.partner});
            });
        });
}

Ruling cq_level_match(const TrafficCase& c) {
    return each_success(
        c,
        [&](const Operation& o) { return o.what == Transfer::TaggedSend && flagged(c.traffic, o, FI_MATCH_COMPLETE); },
        [&](Tour& tour, int i, const Completion& x) {
            if (!part(c, i).sure || part(c, i).gone) return;
            const int r = part(c, i).partner;
            tour.see(r >= 0 && x.after > static_cast<std::uint64_t>(r), [&] {
                if (r < 0)
                    return compared(c, i, Observable::Successes, Relation::Equals, 0, 1,
                                    "complete, and nothing ever matched it");
                return compared(c, i, Observable::CallsMade, Relation::AtLeast, static_cast<std::uint64_t>(r) + 1,
                                x.after, "complete before " + name_of(c, r) + " was there to match it");
            });
        });
}

Ruling cq_level_returned_data(const TrafficCase& c) {
    return each_success(
        c,
        // Where there is no such memory, there are no data: that it did not fail is for rma.access to say.
        [&](const Operation& o) { return fetches(o) && o.length > 0 && !strays(c.traffic, o); },
        [&](Tour& tour, int i, const Completion& x) {
            if (x.seen == Seen::NotLooked || !is_alone(c, i)) return;
            tour.see(x.seen == Seen::Whole, [&] {
                return about(c, i, Observable::ResultAtEntry, Relation::Equals,
                             "complete, and the data that it fetches are not there yet");
            });
        });
}

namespace {

// The message of a receive has bytes that its buffer can take, and they can be told from what was there.
bool brings_bytes(const TrafficCase& c, int i, const Completion& x) {
    const Operation& r = operation(c, i);
    if (r.length == 0 || (takes_many(c.traffic, r) && !has_data(c.traffic))) return false;
    const auto& p = part(c, i);
    if (p.sure && p.messages.size() == 1) return operation(c, p.messages.front()).length > 0;
    return has_flags(c.traffic) && x.length > 0;
}

}  // namespace

Ruling cq_level_target(const TrafficCase& c) {
    return each_success(
        c, [](const Operation& o) { return receives(o) && !peeks(o) && !discards(o); },
        [&](Tour& tour, int i, const Completion& x) {
            const bool lowered = flagged(c.traffic, operation(c, i), FI_TRANSMIT_COMPLETE);
            if (x.seen == Seen::NotLooked || lowered || !reports_message(c.traffic, x)) return;
            if (!brings_bytes(c, i, x)) return;
            const bool kept = x.seen == Seen::Whole || x.seen == Seen::Short || x.seen == Seen::Beyond;
            tour.see(kept, [&] {
                return about(c, i, Observable::BufferAtEntry, Relation::Differs,
                             "received, and the data are not in its buffer yet");
            });
        });
}

Ruling cq_order_transmit(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (t.info == nullptr || (t.info->tx.comp_order & FI_ORDER_STRICT) == 0) return Ruling::not_applicable();
    Tour tour;
    int last[2] = {-1, -1};
    for (const Completion& x : t.entries) {
        if (!x.transmit || x.operation < 0 || x.error != 0 || waits_for_counter(operation(c, x.operation))) continue;
        int& before = last[number_of(x.side)];
        if (before >= 0) {
            tour.see(before <= x.operation, [&] {
                return about(c, x.operation, Observable::Order, Relation::AtMost,
                             "complete after " + name_of(c, before) + ", which was submitted later", {before});
            });
        }
        before = std::max(before, x.operation);
    }
    return tour.ruling();
}

Ruling cq_order_receive(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (t.info == nullptr || (t.info->rx.comp_order & FI_ORDER_STRICT) == 0 || !ordered(t, FI_ORDER_SAS))
        return Ruling::not_applicable();
    Tour tour;
    // Only messages whose receives were waiting for both of them: then they are processed as they come.
    for (int a = 0; a < operation_count(c); ++a) {
        for (int b = a + 1; b < operation_count(c); ++b) {
            if (!sends(operation(c, a)) || !sends(operation(c, b)) || operation(c, a).side != operation(c, b).side)
                continue;
            if (waits_for_counter(operation(c, a)) || waits_for_counter(operation(c, b))) continue;
            const int ra = part(c, a).partner;
            const int rb = part(c, b).partner;
            if (ra < 0 || rb < 0 || ra == rb || ra > a || rb > a || !part(c, a).sure || !part(c, b).sure) continue;
            if (takes_many(t, operation(c, ra)) || takes_many(t, operation(c, rb))) continue;
            if (!succeeded(c, ra) || !succeeded(c, rb)) continue;
            tour.see(part(c, ra).entries.front() < part(c, rb).entries.front(), [&] {
                return about(c, rb, Observable::Order, Relation::AtLeast,
                             "complete before " + name_of(c, ra) + ", whose message was sent before its own", {ra});
            });
        }
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
