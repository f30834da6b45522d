// Capabilities and mode of the domain itself: the predicates of spec/clauses/domain_caps.toml.
// Pure functions; any thread.
#include "model/chapters/rules.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// What a domain can have: the words that say so, and those that no list of any structure claims.
std::uint64_t domain_caps() {
    static const std::uint64_t all_of_them = [] {
        std::uint64_t all = 0;
        for (const auto& w : words(Family::caps)) {
            if (w.domain || (!w.alias && !w.tx && !w.rx)) all |= w.value;
        }
        return all;
    }();
    return all_of_them;
}

// A capability of the endpoint that speaks of the domain must be one of the domain.
Ruling consistent(const OfferCase& c, std::uint64_t cap) {
    if (names_only(c.query) || (c.offer.caps & cap) == 0) return Ruling::not_applicable();
    return Ruling::check((c.offer.domain.caps & cap) != 0, [&] {
        Evidence e = fields(c.offer, Field::domain_caps, Relation::Contains, Field::caps);
        e.expected = cap;
        return at(std::move(e), c.index);
    });
}

// The one mode bit of a domain has two homes in the hints; either counts.
std::uint64_t supported_mode(const Query& q) { return requested(q, Field::mode) | requested(q, Field::domain_mode); }

}  // namespace

Demand domain_caps_known(const QueryCase& c) {
    const auto expected = requested(c.query, Field::domain_caps);
    if (expected == 0) return Demand::not_requested();
    if ((expected & ~domain_caps()) == 0) return Demand::nothing();
    return refuse_hint(c.query, {FI_ENODATA, FI_EBADFLAGS},
                       number(Field::domain_caps, Relation::Within, domain_caps(), expected));
}

Fit domain_caps_fits(const MatchCase& c) { return fit_bits(c, Field::domain_caps); }

Ruling domain_caps_granted(const OfferCase& c) { return offer_to_hint(c, Field::domain_caps, Relation::Contains); }

Ruling domain_caps_answer_known(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_caps, Relation::Within, domain_caps());
}

Ruling domain_caps_local_consistent(const OfferCase& c) { return consistent(c, FI_LOCAL_COMM); }

Ruling domain_caps_remote_consistent(const OfferCase& c) { return consistent(c, FI_REMOTE_COMM); }

Ruling domain_caps_shared_av_consistent(const OfferCase& c) { return consistent(c, FI_SHARED_AV); }

Ruling domain_caps_some_communication(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const auto actual = c.offer.domain.caps;
    return Ruling::check((actual & (FI_LOCAL_COMM | FI_REMOTE_COMM)) != 0, [&] {
        return at(number(Field::domain_caps, Relation::Contains, FI_LOCAL_COMM, actual, "nor FI_REMOTE_COMM"), c.index);
    });
}

Fit domain_mode_fits(const MatchCase& c) {
    constexpr std::uint64_t kBit = FI_RESTRICTED_COMP;
    if (c.hints() == nullptr || (c.entry.offer.domain.mode & kBit) == 0) return Fit::not_requested();
    const auto supported = supported_mode(c.query);
    if ((supported & kBit) != 0) return Fit::fits();
    Evidence e = number(Field::domain_mode, Relation::Within, supported, kBit, "the domain needs it");
    if (c.profile.origin == Origin::Declared) return Fit::no(std::move(e));
    return Fit::may(std::move(e));
}

Ruling domain_mode_within(const OfferCase& c) {
    if (c.hints() == nullptr || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mode, Relation::Within, supported_mode(c.query));
}

Ruling domain_mode_answer_known(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mode, Relation::Within, FI_RESTRICTED_COMP);
}

}  // namespace selvage::model::clause
