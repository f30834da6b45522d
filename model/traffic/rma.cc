// fi_rma(3): spec/clauses/rma.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

Ruling rma_call_comes_back(const TrafficCase& c) { return comes_back(c, is_rma); }
Ruling rma_call_accepted(const TrafficCase& c) { return accepts(c, is_rma); }
Ruling rma_call_errno(const TrafficCase& c) { return refuses_with_errno(c, is_rma); }
Ruling rma_call_succeeds(const TrafficCase& c) { return succeeds(c, is_rma); }

Ruling rma_length_limit(const TrafficCase& c) {
    return keeps_limit(
        c, is_rma, Field::ep_max_msg_size, [](const Traffic&, const Operation&) { return true; },
        "longer than max_msg_size, and neither refused nor failed");
}
Ruling rma_inject_limit(const TrafficCase& c) {
    return keeps_limit(c, is_rma, Field::tx_inject_size, injects,
                       "injected, longer than inject_size, and neither refused nor failed");
}

Ruling rma_write_whole(const TrafficCase& c) {
    return target_changed(c, [](const Traffic& t, const Operation& o) {
        return is_rma(o) && o.pieces <= 1 && o.target_pieces <= 1 && !injects(t, o);
    });
}
Ruling rma_write_vector(const TrafficCase& c) {
    return target_changed(
        c, [](const Traffic&, const Operation& o) { return is_rma(o) && (o.pieces > 1 || o.target_pieces > 1); });
}
Ruling rma_inject_whole(const TrafficCase& c) {
    return target_changed(c, [](const Traffic& t, const Operation& o) { return is_rma(o) && injects(t, o); });
}
Ruling rma_inject_silent(const TrafficCase& c) { return inject_is_silent(c, is_rma); }
Ruling rma_read_whole(const TrafficCase& c) {
    return result_fetched(
        c, [](const Traffic&, const Operation& o) { return is_rma(o) && o.pieces <= 1 && o.target_pieces <= 1; });
}
Ruling rma_read_vector(const TrafficCase& c) {
    return result_fetched(
        c, [](const Traffic&, const Operation& o) { return is_rma(o) && (o.pieces > 1 || o.target_pieces > 1); });
}
Ruling rma_read_within_buffer(const TrafficCase& c) { return stays_in_buffer(c, is_rma); }
Ruling rma_completion_selected(const TrafficCase& c) { return selected_is_reported(c, is_rma); }
Ruling rma_fence_order(const TrafficCase& c) { return fence_holds(c, is_rma); }

Ruling rma_access_key(const TrafficCase& c) {
    return stray_fails(c, is_rma, [](const Traffic&, const Operation& o) { return o.bad_key; });
}
Ruling rma_access_permission(const TrafficCase& c) {
    return stray_fails(c, is_rma, [](const Traffic&, const Operation& o) { return !o.bad_key && is_barred(o); });
}
Ruling rma_access_bounds(const TrafficCase& c) {
    return stray_fails(c, is_rma, [](const Traffic&, const Operation& o) { return !is_barred(o); });
}
Ruling rma_access_untouched(const TrafficCase& c) { return stray_touches_nothing(c, is_rma); }

namespace {

// Entries at the target that belong to no posted operation, by what they say.
struct AtTarget {
    std::uint64_t all = 0;
    std::vector<std::uint64_t> data;  // of those with FI_REMOTE_CQ_DATA
};

AtTarget at_target(const TrafficCase& c, Side side) {
    AtTarget out;
    for (const Completion& x : c.traffic.entries) {
        if (x.side != side || x.transmit || x.error != 0) continue;
        const bool told = has_flags(c.traffic) ? (x.flags & (FI_REMOTE_WRITE | FI_REMOTE_READ)) != 0 : x.operation < 0;
        if (!told) continue;
        ++out.all;
        if (!has_flags(c.traffic) || (x.flags & FI_REMOTE_CQ_DATA) != 0) out.data.push_back(x.data);
    }
    return out;
}

// Data of the writes that went to a side, in order.
std::vector<std::uint64_t> data_sent(const TrafficCase& c, Side to) {
    std::vector<std::uint64_t> out;
    for (const Operation& o : c.traffic.operations)
        if (o.side != to && o.what == Transfer::Write && accepted(o) && carries_data(o)) out.push_back(o.data);
    return out;
}

constexpr Side kSides[] = {Side::A, Side::B};

bool has_target(const TrafficCase& c, Side side) {
    return std::any_of(c.traffic.operations.begin(), c.traffic.operations.end(),
                       [&](const Operation& o) { return accepted(o) && o.side != side && is_rma(o); });
}

}  // namespace

Ruling rma_target_silent(const TrafficCase& c) {
    if (can(c.traffic, FI_RMA_EVENT)) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        if (!has_target(c, s)) continue;
        const auto most = data_sent(c, s).size();
        tour.see(at_target(c, s).all <= most, [&] {
            return of_nobody(
                s, false, Observable::Successes, Relation::AtMost, most, at_target(c, s).all,
                std::string("entries at ") + name_of(s) + " for accesses from the other side that carry no data");
        });
    }
    return tour.ruling();
}

Ruling rma_data_told(const TrafficCase& c) {
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        const auto due = data_entries_due(c.traffic, *c.account, s);
        if (due == 0) continue;
        tour.see(at_target(c, s).data.size() >= due, [&] {
            return of_nobody(s, false, Observable::Successes, Relation::AtLeast, due, at_target(c, s).data.size(),
                             std::string("entries at ") + name_of(s) + " for writes that carry data");
        });
    }
    return tour.ruling();
}

Ruling rma_data_value(const TrafficCase& c) {
    if (!has_data(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (const Side s : kSides) {
        auto sent = data_sent(c, s);
        for (const std::uint64_t d : at_target(c, s).data) {
            const auto it = std::find(sent.begin(), sent.end(), d);
            tour.see(it != sent.end(), [&] {
                return of_nobody(s, false, Observable::Data, Relation::Differs, d, d,
                                 std::string("data at ") + name_of(s) + " that no write sent");
            });
            if (it != sent.end()) sent.erase(it);
        }
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
