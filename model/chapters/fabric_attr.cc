// The fabric attributes of hints and answers: the judged clauses of spec/clauses/fabric_attr.toml, but for those about
// opened instances, which model/lifecycle/ keeps.  Pure functions; any thread.
#include "model/chapters/alike.h"
#include "model/chapters/provider_names.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// The version that the entry's utility provider reports for itself; zero if the list does not tell it.
std::uint64_t own_version(std::string_view layered, const Answer& named) {
    const auto layers = split(layered, ';');
    if (layers.size() != 2 || is_utility(layers[0]) == is_utility(layers[1])) return 0;
    const auto utility = is_utility(layers[0]) ? layers[0] : layers[1];
    for (const auto& o : named.offers) {
        if (o.fabric.prov_name && *o.fabric.prov_name == utility) return o.fabric.prov_version;
    }
    return 0;
}

Ruling utility_versions(const PairCase& c, Call offers) {
    const Answer& offered = offers == First ? c.first_answer : c.second_answer;
    const Answer& named = offers == First ? c.second_answer : c.first_answer;
    bool applied = false;
    for (std::size_t i = 0; i < offered.offers.size(); ++i) {
        const auto& fabric = offered.offers[i].fabric;
        const auto own = fabric.prov_name && is_layered(*fabric.prov_name) ? own_version(*fabric.prov_name, named) : 0;
        if (own == 0) continue;
        applied = true;
        if (fabric.prov_version != own) {
            return Ruling::broken(
                observed(Observable::Entry,
                         at(number(Field::fabric_prov_version, Relation::Equals, own, fabric.prov_version,
                                   "the utility provider reports another version for itself"),
                            static_cast<int>(i)),
                         {offers}));
        }
    }
    return applied ? Ruling::holds() : Ruling::not_applicable();
}

}  // namespace

Fit fabric_name_fits(const MatchCase& c) { return fit_name(c, Field::fabric_name); }

Ruling fabric_name_granted(const OfferCase& c) { return offer_to_named(c, Field::fabric_name); }

Ruling fabric_name_present(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const Text& name = c.offer.fabric.name;
    return Ruling::check(name.has_value(),
                         [&] { return at(texts(Field::fabric_name, Relation::NotNull, {}, name), c.index); });
}

// A version is a fact about the provider: no query brings another.
Fit fabric_prov_version_fits(const MatchCase& c) {
    const auto expected = requested(c.query, Field::fabric_prov_version);
    if (expected == 0) return Fit::not_requested();
    if (c.entry.offer.fabric.prov_version >= expected) return Fit::fits();
    return Fit::no(hint_and_offer(c, Field::fabric_prov_version, Relation::AtLeast));
}

Ruling fabric_prov_version_granted(const OfferCase& c) {
    return offer_to_hint(c, Field::fabric_prov_version, Relation::AtLeast);
}

// Under FI_PROV_ATTR_ONLY too: it is one of the two members that are filled in there.
Ruling fabric_prov_version_well_formed(const OfferCase& c) {
    return offer_to_value(c, Field::fabric_prov_version, Relation::Differs, 0);
}

Ruling fabric_prov_version_utility(const PairCase& c) {
    if (c.first.version != c.second.version || names_only(c.first) == names_only(c.second))
        return Ruling::not_applicable();
    return utility_versions(c, names_only(c.second) ? First : Second);
}

Ruling fabric_api_version_equal(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::fabric_api_version, Relation::Equals, c.query.version.packed);
}

}  // namespace selvage::model::clause
