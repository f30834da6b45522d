// Authorization keys and the traffic class of a domain: the predicates of spec/clauses/domain_auth.toml.
// Pure functions; any thread.
#include "model/chapters/alike.h"

namespace selvage::model::clause {

using namespace rules;

Ruling domain_auth_ignored_before(const PairCase& c) {
    if (!c.first.hints || !c.second.hints) return Ruling::not_applicable();
    const auto& a = c.first.hints->domain;
    const auto& b = c.second.hints->domain;
    if (a.auth_key == b.auth_key && a.auth_key_size == b.auth_key_size) return Ruling::not_applicable();
    const bool only_the_key = alike_after(c, [&](Query& q) {
        q.hints->domain.auth_key = b.auth_key;
        q.hints->domain.auth_key_size = b.auth_key_size;
    });
    if (!only_the_key || !both_answered(c)) return Ruling::not_applicable();
    return same_endpoints(c, Field::domain_auth_key, "up to 1.4 the key is ignored");
}

Fit domain_auth_size_fits(const MatchCase& c) {
    const auto expected = requested(c.query, Field::domain_auth_key_size);
    if (expected == 0) return Fit::not_requested();
    const bool declared = c.profile.origin == Origin::Declared;
    // Whether a key of the right size is let in is known only of a declared provider, and of the key that was seen.
    const bool same_key = c.hints()->domain.auth_key && c.hints()->domain.auth_key == c.entry.offer.domain.auth_key;
    const auto size = get(c.entry.offer, Field::domain_auth_key_size);
    if (expected == size && (declared || same_key)) return Fit::fits();
    if (!declared)
        return Fit::may(hint_and_offer(c, Field::domain_auth_key_size, Relation::Equals, "not seen offered"));
    const auto most = get(c.entry.most, Field::domain_auth_key_size);
    const bool has_key = c.hints()->domain.auth_key && c.hints()->domain.auth_key->size() == expected;
    if (expected == most && has_key) return Fit::fits();
    // A provider may take keys of some lengths alone.
    if (expected <= most) return Fit::may(hint_and_offer(c, Field::domain_auth_key_size, Relation::AtMost));
    return Fit::no(hint_and_offer(c, Field::domain_auth_key_size, Relation::Equals));
}

Ruling domain_auth_granted(const OfferCase& c) {
    const auto size = requested(c.query, Field::domain_auth_key_size);
    if (size == 0 || names_only(c.query)) return Ruling::not_applicable();
    const Text& key = c.hints()->domain.auth_key;
    if (!key || key->size() != size) return Ruling::not_applicable();
    return offer_to_named(c, Field::domain_auth_key);
}

// As far as an answer shows: the key of an endpoint that nobody asked for would be one of its own.
Ruling domain_auth_none(const OfferCase& c) {
    if (names_only(c.query) || requested(c.query, Field::domain_auth_key_size) != 0 ||
        requested(c.query, Field::ep_auth_key_size) != 0 || c.offer.domain.auth_key_size != 0)
        return Ruling::not_applicable();
    return offer_to_value(c, Field::ep_auth_key_size, Relation::Equals, 0);
}

Fit domain_tclass_fits(const MatchCase& c) { return fit_choice(c, Field::domain_tclass); }

Ruling domain_tclass_granted(const OfferCase& c) {
    // Best effort is what the default is in the absence of any other.
    const bool is_default = requested(c.query, Field::domain_tclass) == FI_TC_BEST_EFFORT && !names_only(c.query);
    if (is_default && c.offer.domain.tclass == FI_TC_UNSPEC) return Ruling::holds();
    return offer_to_hint(c, Field::domain_tclass, Relation::Equals);
}

}  // namespace selvage::model::clause
