// Which domain an answer speaks of: the judged clauses of spec/clauses/domain_identity.toml, but for those about opened
// instances, which model/lifecycle/ keeps.  Pure functions; any thread.
#include "model/chapters/rules.h"

namespace selvage::model::clause {

using namespace rules;

Fit domain_name_fits(const MatchCase& c) { return fit_name(c, Field::domain_name); }

Ruling domain_name_granted(const OfferCase& c) { return offer_to_named(c, Field::domain_name); }

Ruling domain_name_present(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const Text& name = c.offer.domain.name;
    return Ruling::check(name.has_value(),
                         [&] { return at(texts(Field::domain_name, Relation::NotNull, {}, name), c.index); });
}

}  // namespace selvage::model::clause
