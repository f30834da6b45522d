// Resource management: the judged clauses of spec/clauses/domain_rm.toml.  Pure functions; any thread.
#include "model/chapters/rules.h"

namespace selvage::model::clause {

using namespace rules;

Demand domain_rm_known(const QueryCase& c) { return known_value(c, Field::domain_resource_mgmt); }

Fit domain_rm_enabled_fits(const MatchCase& c) {
    if (requested(c.query, Field::domain_resource_mgmt) != FI_RM_ENABLED) return Fit::not_requested();
    return fit_choice(c, Field::domain_resource_mgmt);
}

Ruling domain_rm_enabled_granted(const OfferCase& c) {
    if (requested(c.query, Field::domain_resource_mgmt) != FI_RM_ENABLED) return Ruling::not_applicable();
    return offer_to_hint(c, Field::domain_resource_mgmt, Relation::Equals);
}

// Disabling is leave not to protect; who protects all the same does what was asked.
Fit domain_rm_disabled_fits(const MatchCase& c) {
    return requested(c.query, Field::domain_resource_mgmt) == FI_RM_DISABLED ? Fit::fits() : Fit::not_requested();
}

Ruling domain_rm_defined(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    Ruling specified = offer_to_value(c, Field::domain_resource_mgmt, Relation::Differs, FI_RM_UNSPEC);
    if (specified.is_broken()) return specified;
    return offer_to_value(c, Field::domain_resource_mgmt, Relation::AtMost, FI_RM_ENABLED);
}

}  // namespace selvage::model::clause
