// Control and data progress: the predicates of spec/clauses/domain_progress.toml.  Pure functions; any thread.
#include "model/chapters/alike.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

Fit fit_auto(const MatchCase& c, Field f) {
    if (requested(c.query, f) != FI_PROGRESS_AUTO) return Fit::not_requested();
    return fit_choice(c, f);
}

// An application that drives progress harms no provider that does not need it.
Fit fit_manual(const MatchCase& c, Field f) {
    return requested(c.query, f) == FI_PROGRESS_MANUAL ? Fit::fits() : Fit::not_requested();
}

Ruling auto_granted(const OfferCase& c, Field f) {
    if (requested(c.query, f) != FI_PROGRESS_AUTO) return Ruling::not_applicable();
    return offer_to_hint(c, f, Relation::Equals);
}

// FI_PROGRESS_CONTROL_UNIFIED: a model of control progress alone, since release 2.0; the headers at hand lack it.
constexpr std::uint64_t kControlUnified = 3;
bool requests_unified(const Query& query) {
    return query.version >= Version{2, 0} && requested(query, Field::domain_control_progress) == kControlUnified;
}

Ruling defined(const OfferCase& c, Field f) {
    if (names_only(c.query)) return Ruling::not_applicable();
    if (f == Field::domain_control_progress && requests_unified(c.query)) return offer_to_hint(c, f, Relation::Equals);
    Ruling specified = offer_to_value(c, f, Relation::Differs, FI_PROGRESS_UNSPEC);
    return specified.is_broken() ? std::move(specified) : offer_to_value(c, f, Relation::AtMost, FI_PROGRESS_MANUAL);
}

// Do the calls differ in this field alone: automatic in the first, left open in the second?
bool leaves_open(const PairCase& c, Field f) {
    if (requested(c.first, f) != FI_PROGRESS_AUTO || !c.second.hints || requested(c.second, f) != FI_PROGRESS_UNSPEC)
        return false;
    return alike_after(c, [f](Query& q) { set(*q.hints, f, FI_PROGRESS_UNSPEC); });
}

}  // namespace

Demand domain_control_progress_known(const QueryCase& c) {
    if (requests_unified(c.query)) return Demand::not_requested();  // for the provider to grant or not
    return known_value(c, Field::domain_control_progress);
}
Fit domain_control_progress_auto_fits(const MatchCase& c) { return fit_auto(c, Field::domain_control_progress); }
Ruling domain_control_progress_auto_granted(const OfferCase& c) {
    return auto_granted(c, Field::domain_control_progress);
}
Fit domain_control_progress_manual_fits(const MatchCase& c) { return fit_manual(c, Field::domain_control_progress); }
Ruling domain_control_progress_defined(const OfferCase& c) { return defined(c, Field::domain_control_progress); }

Demand domain_data_progress_known(const QueryCase& c) { return known_value(c, Field::domain_data_progress); }
Fit domain_data_progress_auto_fits(const MatchCase& c) { return fit_auto(c, Field::domain_data_progress); }
Ruling domain_data_progress_auto_granted(const OfferCase& c) { return auto_granted(c, Field::domain_data_progress); }
Fit domain_data_progress_manual_fits(const MatchCase& c) { return fit_manual(c, Field::domain_data_progress); }
Ruling domain_data_progress_defined(const OfferCase& c) { return defined(c, Field::domain_data_progress); }

Ruling domain_progress_auto_recommended(const PairCase& c) {
    if (c.metamorphic != MetamorphicRelation::Relaxed || names_only(c.first) || !both_answered(c))
        return Ruling::not_applicable();
    for (const Field f : {Field::domain_control_progress, Field::domain_data_progress}) {
        if (leaves_open(c, f)) return covers(c, Second, f, "found without asking for automatic progress");
    }
    return Ruling::not_applicable();
}

}  // namespace selvage::model::clause
