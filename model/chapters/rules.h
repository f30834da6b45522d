// The few shapes that most clauses have, so that a predicate reads like its promise.
//
// A chapter (one file of this folder) holds the predicates of one file of spec/clauses/.  A predicate is a small pure
// function in namespace clause, named after the clause; its promise stands above its declaration in predicates.h.
// Only chapters include this file.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <string>
#include <utility>

#include "model/text/profile_text.h"
#include "model_gen/newer_names.h"
#include "model_gen/predicates.h"

namespace selvage::model::rules {

/// Evidence of a comparison of numbers.
inline Evidence number(Field field, Relation relation, std::uint64_t expected, std::uint64_t actual,
                       std::string note = {}) {
    Evidence e;
    e.field = field;
    e.relation = relation;
    e.expected = expected;
    e.actual = actual;
    e.note = std::move(note);
    return e;
}

/// Evidence of a comparison of two fields of one offer.
inline Evidence fields(const Info& offer, Field field, Relation relation, Field other, std::string note = {}) {
    Evidence e = number(field, relation, get(offer, other), get(offer, field), std::move(note));
    e.expected_field = other;
    return e;
}

/// Evidence of a comparison of texts.
inline Evidence texts(Field field, Relation relation, Text expected, Text actual, std::string note = {}) {
    Evidence e;
    e.field = field;
    e.relation = relation;
    e.expected_text = std::move(expected);
    e.actual_text = std::move(actual);
    e.note = std::move(note);
    return e;
}

/// Evidence that no comparison shows.
inline Evidence reported(Field field, std::string note) {
    Evidence e;
    e.field = field;
    e.relation = Relation::Happens;
    e.note = std::move(note);
    return e;
}

inline Evidence at(Evidence e, int offer) {
    e.offer = offer;
    return e;
}

/// Evidence of what its field does not say.  @param operations which calls, where there is more than one
inline Evidence observed(Observable what, Evidence e, std::vector<int> operations = {}) {
    e.observed.what = what;
    e.observed.operations = std::move(operations);
    return e;
}

/// Does a relation hold between two numbers?
inline bool stands(Relation r, std::uint64_t actual, std::uint64_t expected) {
    switch (r) {
        case Relation::Equals:
            return actual == expected;
        case Relation::Differs:
            return actual != expected;
        case Relation::Contains:
            return (actual & expected) == expected;
        case Relation::Within:
            return (actual & ~expected) == 0;
        case Relation::Meets:
            return (actual & expected) != 0;
        case Relation::Lacks:
            return (actual & expected) == 0;
        case Relation::AtLeast:
            return actual >= expected;
        case Relation::AtMost:
            return actual <= expected;
        case Relation::MultipleOf:
            return expected != 0 && actual % expected == 0;
        default:
            return false;
    }
}

/// The value of a hint; zero where the hints, the part or the value are absent: "not asked".
inline std::uint64_t requested(const Query& q, Field f) { return q.hints ? get(*q.hints, f) : 0; }

/// True where the call only asks which providers exist: promises about offers then do not apply.
inline bool names_only(const Query& q) { return (q.flags & FI_PROV_ATTR_ONLY) != 0; }

/// query: what a hint says must be refused.  A call that asks only which providers exist gets one entry of each with
/// default values, so that no hint can be what it stumbles over: there the refusal is left open.
inline Demand refuse_hint(const Query& q, std::vector<int> errnos, Evidence why) {
    return names_only(q) ? Demand::may_refuse(std::move(why)) : Demand::must_refuse(std::move(errnos), std::move(why));
}

/// Is it the value of a word of the field's family?
inline bool is_word(Field f, std::uint64_t value) {
    for (const auto& w : words(row(f).family)) {
        if (w.value == value) return true;
    }
    return false;
}

/// query: a value of one of the family's words, or zero; any other must be refused with -FI_ENODATA.
inline Demand known_value(const QueryCase& c, Field f) {
    const auto expected = requested(c.query, f);
    if (expected == 0) return Demand::not_requested();
    if (is_word(f, expected)) return Demand::nothing();
    return refuse_hint(c.query, {FI_ENODATA}, number(f, Relation::Equals, 0, expected, "no word has that value"));
}

/// offer: the field stands in `relation` to the hint of the same name, where one is set.
inline Ruling offer_to_hint(const OfferCase& c, Field f, Relation relation) {
    const auto expected = requested(c.query, f);
    if (expected == 0 || names_only(c.query)) return Ruling::not_applicable();
    const auto actual = get(c.offer, f);
    return Ruling::check(stands(relation, actual, expected),
                         [&] { return at(number(f, relation, expected, actual), c.index); });
}

/// offer: the field stands in `relation` to a value.
inline Ruling offer_to_value(const OfferCase& c, Field f, Relation relation, std::uint64_t expected) {
    const auto actual = get(c.offer, f);
    return Ruling::check(stands(relation, actual, expected),
                         [&] { return at(number(f, relation, expected, actual), c.index); });
}

/// offer: the field stands in `relation` to another field of the offer.
inline Ruling offer_to_field(const OfferCase& c, Field f, Relation relation, Field other) {
    return Ruling::check(stands(relation, get(c.offer, f), get(c.offer, other)),
                         [&] { return at(fields(c.offer, f, relation, other), c.index); });
}

/// What the hint asks for, and what the entry offers, as evidence for a fit.
inline Evidence hint_and_offer(const MatchCase& c, Field f, Relation relation, std::string note = {}) {
    return number(f, relation, requested(c.query, f), get(c.entry.offer, f), std::move(note));
}

/// match: an exact value (endpoint type, protocol): another one does not fit.
inline Fit fit_equal(const MatchCase& c, Field f) {
    const auto expected = requested(c.query, f);
    if (expected == 0) return Fit::not_requested();
    if (get(c.entry.offer, f) == expected) return Fit::fits();
    return Fit::no(hint_and_offer(c, f, Relation::Equals));
}

/// match: every bit asked for must be offered (bits that only an inferred profile lacks leave it open).
inline Fit fit_bits(const MatchCase& c, Field f) {
    const auto expected = requested(c.query, f);
    if (expected == 0) return Fit::not_requested();
    if ((expected & ~get(c.entry.offer, f)) == 0) return Fit::fits();
    if (c.profile.origin == Origin::Declared) {
        if ((expected & ~(get(c.entry.offer, f) | get(c.entry.most, f))) == 0) return Fit::fits();
        return Fit::no(hint_and_offer(c, f, Relation::Contains));
    }
    return Fit::may(hint_and_offer(c, f, Relation::Contains, "not seen offered"));
}

/// match: a size up to what is offered fits; beyond it, a declared profile says how far one may go, and an inferred one
/// does not know.
inline Fit fit_size(const MatchCase& c, Field f) {
    const auto expected = requested(c.query, f);
    if (expected == 0) return Fit::not_requested();
    if (expected <= get(c.entry.offer, f)) return Fit::fits();
    if (c.profile.origin == Origin::Inferred)
        return Fit::may(hint_and_offer(c, f, Relation::AtMost, "more than was seen offered"));
    if (expected <= get(c.entry.most, f)) return Fit::fits();
    return Fit::no(hint_and_offer(c, f, Relation::AtMost));
}

/// match: one of named values (an address vector type, a traffic class).  What is offered fits; a declared profile
/// lists the others that it grants, and an inferred one does not know them.
inline Fit fit_choice(const MatchCase& c, Field f) {
    const auto expected = requested(c.query, f);
    if (expected == 0) return Fit::not_requested();
    if (get(c.entry.offer, f) == expected) return Fit::fits();
    if (c.profile.origin == Origin::Inferred)
        return Fit::may(hint_and_offer(c, f, Relation::Equals, "not seen offered"));
    if (is_choice(c.entry.most, f, expected)) return Fit::fits();
    return Fit::no(hint_and_offer(c, f, Relation::Equals));
}

/// match: a name must be the offered one.
inline Fit fit_name(const MatchCase& c, Field f) {
    const Text* expected = c.hints() != nullptr ? &text(*c.hints(), f) : nullptr;
    if (expected == nullptr || !*expected) return Fit::not_requested();
    if (text(c.entry.offer, f) == *expected) return Fit::fits();
    return Fit::no(texts(f, Relation::TextEquals, *expected, text(c.entry.offer, f)));
}

/// offer: the text is that of the hint of the same name, where one is set.
inline Ruling offer_to_named(const OfferCase& c, Field f) {
    if (c.hints() == nullptr || names_only(c.query)) return Ruling::not_applicable();
    const Text& expected = text(*c.hints(), f);
    if (!expected) return Ruling::not_applicable();
    const Text& actual = text(c.offer, f);
    return Ruling::check(actual == expected,
                         [&] { return at(texts(f, Relation::TextEquals, expected, actual), c.index); });
}

}  // namespace selvage::model::rules
