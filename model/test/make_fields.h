// Short makers for the tests of predicates that look at a few fields: an fi_info is named by the values it holds.
// For tests only.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/judge/cases.h"
#include "model/judge/ruling.h"
#include "model_gen/predicates.h"

namespace selvage::model::fields_test {

using Values = std::initializer_list<std::pair<Field, std::uint64_t>>;

inline constexpr Version kOld{1, 4};  ///< the last version before mr_mode became a set of bits
inline constexpr Version kNow{1, 17};

/// An fi_info with all five attribute structures and these numbers.
inline Info info(Values values = {}) {
    Info i;
    i.present = kAllParts;
    for (const auto& [field, value] : values) set(i, field, value);
    return i;
}

/// The same, with a text field set too.
inline Info with(Info i, Field f, std::string value) {
    text(i, f) = std::move(value);
    return i;
}

/// A call with NULL hints.
inline Query call(Version v = kNow) {
    Query q;
    q.version = v;
    return q;
}

/// A call with these hints.
inline Query query_for(Info hints, Version v = kNow) {
    Query q = call(v);
    q.hints = std::move(hints);
    return q;
}
inline Query query_for(Values hints, Version v = kNow) { return query_for(info(hints), v); }

inline Query flagged(Query q, std::uint64_t flags) {
    q.flags = flags;
    return q;
}

/// A list of offers; without any: what a refusal with `ret` leaves.
inline Answer answer(std::vector<Info> offers, int ret = 0) {
    const bool none = offers.empty();
    return {.ret = ret, .list_null = none, .offers = std::move(offers)};
}

/// An offer as pairs compare them.
inline Info endpoint(std::uint64_t type, std::string provider = "teaching", std::string domain = "paper0") {
    Info i = info({{Field::ep_type, type}});
    i.fabric.prov_name = std::move(provider);
    i.domain.name = std::move(domain);
    return i;
}

inline Outcome rule(Ruling (*p)(const OfferCase&), const Query& q, const Info& offer) {
    const World world;
    return p(OfferCase{q, world, offer, 0, nullptr}).outcome();
}

inline Outcome rule(Ruling (*p)(const AnswerCase&), const Query& q, const Answer& a, const World& world = {}) {
    return p(AnswerCase{q, world, a, nullptr}).outcome();
}

inline Outcome rule(Ruling (*p)(const PairCase&), MetamorphicRelation metamorphic, const Query& first,
                    const Answer& first_answer, const Query& second, const Answer& second_answer) {
    const World world;
    return p(PairCase{metamorphic, world, first, first_answer, second, second_answer}).outcome();
}

/// Of a provider with one entry.
inline Choice fit(Fit (*p)(const MatchCase&), const Query& q, const Entry& entry, Origin origin) {
    const World world;
    const Profile profile{.provider = "teaching", .version = q.version, .origin = origin, .entries = {entry}};
    return p(MatchCase{q, world, profile, entry}).choice();
}

/// An entry that shows this, and is not known to need anything.
inline Entry entry(Info offer) {
    Entry e;
    e.offer = std::move(offer);
    return e;
}

inline Demand demand(Demand (*p)(const QueryCase&), const Query& q) {
    const World world;
    return p(QueryCase{q, world});
}

inline constexpr auto kHolds = Outcome::Holds;
inline constexpr auto kBroken = Outcome::Broken;
inline constexpr auto kSkips = Outcome::NotApplicable;

}  // namespace selvage::model::fields_test
