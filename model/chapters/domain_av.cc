// The type of address vectors that a domain can use: the predicates of spec/clauses/domain_av.toml.
// Pure functions; any thread.
#include "model/chapters/rules.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

bool connected(const Info& offer) { return offer.ep.type == FI_EP_MSG || offer.ep.type == FI_EP_SOCK_STREAM; }

// FI_AV_UNSPEC on output says that the provider can support either, so it fits both.
Fit fit_type(const MatchCase& c, std::uint64_t type) {
    if (requested(c.query, Field::domain_av_type) != type || connected(c.entry.offer)) return Fit::not_requested();
    if (c.entry.offer.domain.av_type == FI_AV_UNSPEC) return Fit::fits();
    return fit_choice(c, Field::domain_av_type);
}

}  // namespace

Demand domain_av_known(const QueryCase& c) { return known_value(c, Field::domain_av_type); }

Fit domain_av_map_fits(const MatchCase& c) { return fit_type(c, FI_AV_MAP); }

Fit domain_av_table_fits(const MatchCase& c) { return fit_type(c, FI_AV_TABLE); }

// A wildcard: it counts as asked only where nothing else is asked of the domain.
Fit domain_av_unspec_fits(const MatchCase& c) {
    if (c.hints() == nullptr || !c.hints()->has(Part::Domain) || c.hints()->domain != DomainAttr{})
        return Fit::not_requested();
    return Fit::fits();
}

Ruling domain_av_granted(const OfferCase& c) {
    const auto expected = requested(c.query, Field::domain_av_type);
    if (!is_word(Field::domain_av_type, expected) || connected(c.offer)) return Ruling::not_applicable();
    // The two types are numbered 1 and 2, so "the type or FI_AV_UNSPEC" is "within the type".
    static_assert(FI_AV_UNSPEC == 0 && FI_AV_MAP == 1 && FI_AV_TABLE == 2);
    return offer_to_hint(c, Field::domain_av_type, Relation::Within);
}

Ruling domain_av_answer_known(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_av_type, Relation::AtMost, FI_AV_TABLE);
}

Fit domain_av_connected(const MatchCase& c) {
    const auto expected = requested(c.query, Field::domain_av_type);
    if (expected == 0 || !connected(c.entry.offer)) return Fit::not_requested();
    return Fit::may(hint_and_offer(c, Field::domain_av_type, Relation::Equals,
                                   "address vectors serve connectionless endpoints alone"));
}

}  // namespace selvage::model::clause
