// Makers for the tests of the chapters on endpoint attributes and fi_tostr: a test names fields and values, all else is
// zero, and all parts are present.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <initializer_list>
#include <utility>

#include "model/judge/cases.h"
#include "model/judge/ruling.h"
#include "model_gen/predicates.h"

namespace selvage::model::fields_test {

using Values = std::initializer_list<std::pair<Field, std::uint64_t>>;

inline constexpr auto kHolds = Outcome::Holds;
inline constexpr auto kBroken = Outcome::Broken;
inline constexpr auto kSkips = Outcome::NotApplicable;

/// An fi_info with all five attribute structures and these numbers.
inline Info info(Values values = {}) {
    Info i;
    i.present = kAllParts;
    for (const auto& [field, value] : values) set(i, field, value);
    return i;
}

/// A call with NULL hints.
inline Query call() {
    Query q;
    q.version = Version(1, 17);
    return q;
}

/// A call with these hints.
inline Query query_for(Values hints, Version version = Version(1, 17)) {
    Query q = call();
    q.version = version;
    q.hints = info(hints);
    return q;
}

inline Query flagged(Query q, std::uint64_t flags) {
    q.flags = flags;
    return q;
}

inline Outcome rule(Ruling (*p)(const OfferCase&), const Query& q, const Info& offer) {
    const World world;
    return p(OfferCase{q, world, offer, 0, nullptr}).outcome();
}
inline Outcome rule(Ruling (*p)(const OfferCase&), const Query& q, Values offer) { return rule(p, q, info(offer)); }

inline Demand demand(Demand (*p)(const QueryCase&), const Query& q) {
    const World world;
    return p(QueryCase{q, world});
}

inline Entry entry(Info offer) {
    Entry e;
    e.offer = std::move(offer);
    return e;
}

/// Of a provider with one entry.
inline Choice fit(Fit (*p)(const MatchCase&), const Query& q, const Entry& only, Origin origin) {
    const World world;
    const Profile profile{.provider = "teaching", .version = q.version, .origin = origin, .entries = {only}};
    return p(MatchCase{q, world, profile, profile.entries.front()}).choice();
}
/// Of a declared profile whose one entry shows `offered` and grants up to `most`.
inline Choice declared(Fit (*p)(const MatchCase&), const Query& q, Values offered, Values most = {}) {
    Entry e = entry(info(offered));
    e.most = info(most);
    return fit(p, q, e, Origin::Declared);
}
/// Of an inferred profile whose one entry was seen to offer this.
inline Choice inferred(Fit (*p)(const MatchCase&), const Query& q, Values offered) {
    return fit(p, q, entry(info(offered)), Origin::Inferred);
}

}  // namespace selvage::model::fields_test
