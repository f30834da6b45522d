// What the attributes of an endpoint promise of transfers: spec/clauses/endpoint_ep_attr.toml, endpoint_tx_attr.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

// A write that did not fail, and is small enough that others are ordered with it.
bool is_ordered_write(const TrafficCase& c, int i) {
    const Operation& o = operation(c, i);
    return o.what == Transfer::Write && accepted(o) && !waits_for_counter(o) && !strays(c.traffic, o) &&
           !failed(c, i) && o.length < c.traffic.info->ep.max_order_waw_size;
}

// The last of the writes whose bytes `i` replaces; -1 if there is none, or something else changes the same bytes.
int replaced_by(const TrafficCase& c, int i) {
    int last = -1;
    for (int k = 0; k < operation_count(c); ++k) {
        if (k == i || !may_change(c, k, i)) continue;
        if (k > i || !is_ordered_write(c, k)) return -1;
        last = k;
    }
    return last;
}

}  // namespace

// Of reads the patterns do not tell which of two writes they saw.
Ruling endpoint_order_size_kept(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    const bool promised = ordered(t, FI_ORDER_WAW) || ordered(t, FI_ORDER_RMA_WAW);
    if (!promised || !is_reliable(t) || !all_has_come(c)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!is_ordered_write(c, i) || operation(c, i).remote == Seen::NotLooked) continue;
        const int before = replaced_by(c, i);
        if (before < 0) continue;
        tour.see(operation(c, i).remote == Seen::Whole, [&] {
            return about(c, i, Observable::Target, Relation::Equals,
                         "the target's memory is not what it wrote there after " + name_of(c, before), {before});
        });
    }
    return tour.ruling();
}

Ruling endpoint_op_flags_defaults(const TrafficCase& c) {
    return selected_is_reported(c, [](const Operation& o) { return o.form != CallForm::Message; });
}

}  // namespace selvage::model::clause
