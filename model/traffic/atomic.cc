// fi_atomic(3): spec/clauses/atomic.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

Ruling atomic_call_comes_back(const TrafficCase& c) { return comes_back(c, is_atomic); }
Ruling atomic_call_accepted(const TrafficCase& c) { return accepts(c, is_atomic); }
Ruling atomic_call_errno(const TrafficCase& c) { return refuses_with_errno(c, is_atomic); }
Ruling atomic_call_succeeds(const TrafficCase& c) { return succeeds(c, is_atomic); }

Ruling atomic_inject_limit(const TrafficCase& c) {
    return keeps_limit(
        c, is_atomic, Field::tx_inject_size,
        [](const Traffic& t, const Operation& o) { return injects(t, o) && o.valid_count >= o.count; },
        "injected, longer than inject_size, and neither refused nor failed");
}

namespace {

// Calls that go beyond what the valid calls said must be refused with `ret`.
Ruling refused_with(const TrafficCase& c, bool (*concerns)(const Operation&), std::int64_t ret, const char* what) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!is_atomic(o) || !o.valid_query || !is_able(c.traffic, o) || o.ret == -FI_EAGAIN || !concerns(o)) continue;
        if (exceeds(c.traffic, o) && o.ret != 0) continue;
        tour.see(o.ret == ret, [&] {
            return compared(c, i, Observable::Returned, Relation::Equals, signed_wide(ret), signed_wide(o.ret), what);
        });
    }
    return tour.ruling();
}

}  // namespace

Ruling atomic_valid_unsupported(const TrafficCase& c) {
    return refused_with(
        c, [](const Operation& o) { return o.valid_count == 0; }, -FI_EOPNOTSUPP,
        "the valid call says that it is not supported");
}
Ruling atomic_valid_count(const TrafficCase& c) {
    return refused_with(
        c, [](const Operation& o) { return o.valid_count != 0 && o.count > o.valid_count; }, -FI_EMSGSIZE,
        "more values than the valid call allows");
}

Ruling atomic_update_stored(const TrafficCase& c) {
    return target_changed(c, [](const Traffic& t, const Operation& o) {
        return o.what == Transfer::Atomic && o.pieces <= 1 && o.target_pieces <= 1 && !injects(t, o);
    });
}
Ruling atomic_update_vector(const TrafficCase& c) {
    return target_changed(
        c, [](const Traffic&, const Operation& o) { return is_atomic(o) && (o.pieces > 1 || o.target_pieces > 1); });
}
Ruling atomic_update_fetched(const TrafficCase& c) {
    return target_changed(c, [](const Traffic&, const Operation& o) { return o.what == Transfer::FetchAtomic; });
}
Ruling atomic_update_compared(const TrafficCase& c) {
    return target_changed(c, [](const Traffic&, const Operation& o) { return o.what == Transfer::CompareAtomic; });
}
Ruling atomic_inject_stored(const TrafficCase& c) {
    return target_changed(c, [](const Traffic& t, const Operation& o) { return is_atomic(o) && injects(t, o); });
}
Ruling atomic_inject_silent(const TrafficCase& c) { return inject_is_silent(c, is_atomic); }
Ruling atomic_fetch_initial(const TrafficCase& c) {
    return result_fetched(c, [](const Traffic&, const Operation& o) { return o.what == Transfer::FetchAtomic; });
}
Ruling atomic_compare_initial(const TrafficCase& c) {
    return result_fetched(c, [](const Traffic&, const Operation& o) { return o.what == Transfer::CompareAtomic; });
}
Ruling atomic_fetch_within_buffer(const TrafficCase& c) { return stays_in_buffer(c, is_atomic); }
Ruling atomic_completion_selected(const TrafficCase& c) { return selected_is_reported(c, is_atomic); }
Ruling atomic_fence_order(const TrafficCase& c) { return fence_holds(c, is_atomic); }

Ruling atomic_access_refused(const TrafficCase& c) {
    return stray_fails(c, is_atomic, [](const Traffic&, const Operation& o) { return o.bad_key || is_barred(o); });
}
Ruling atomic_access_bounds(const TrafficCase& c) {
    return stray_fails(c, is_atomic, [](const Traffic&, const Operation& o) { return !is_barred(o); });
}
Ruling atomic_access_untouched(const TrafficCase& c) { return stray_touches_nothing(c, is_atomic); }

}  // namespace selvage::model::clause
