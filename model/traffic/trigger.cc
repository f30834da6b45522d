// fi_trigger(3): spec/clauses/trigger.toml. Operations with FI_TRIGGER.
#include "model/traffic/waits.h"

namespace selvage::model::clause {

using namespace rules;
using namespace waits;

Ruling trigger_wait_threshold(const TrafficCase& c) {
    return waits_for_threshold(c, [](const TrafficCase& t, int i) { return is_triggered(operation(t, i)); });
}

Ruling trigger_start_reached(const TrafficCase& c) {
    const auto& all = c.traffic.operations;
    if (is_lost_in_counter(c) && std::none_of(all.begin(), all.end(), is_work)) return Ruling::broken(crash(c));
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!is_triggered(operation(c, i)) || part(c, i).start < 0) continue;
        const std::uint64_t due = entries_due(c.traffic, *c.account, static_cast<std::size_t>(i));
        if (due == 0) continue;
        tour.see(part(c, i).entries.size() >= due, [&] {
            return compared(c, i, Observable::Entries, Relation::AtLeast, due, part(c, i).entries.size(),
                            "its counter has reached its threshold, and nothing comes of it");
        });
    }
    return tour.ruling();
}

Ruling trigger_order_threshold(const TrafficCase& c) {
    return begins_in_order(c, is_triggered, [](std::uint64_t a, std::uint64_t b) { return a != b; });
}
Ruling trigger_order_posting(const TrafficCase& c) {
    return begins_in_order(c, is_triggered, [](std::uint64_t a, std::uint64_t b) { return a == b; });
}

}  // namespace selvage::model::clause
