// How much the application serializes its calls: the judged clauses of spec/clauses/domain_threading.toml.
// Pure functions; any thread.
#include "model/chapters/rules.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// How much serialization a model demands of the application.  FI_THREAD_ENDPOINT and FI_THREAD_COMPLETION share a tier:
// each demands something that the other does not.
int demands(std::uint64_t model) {
    switch (model) {
        case FI_THREAD_SAFE:
            return 0;
        case FI_THREAD_FID:
            return 1;
        case FI_THREAD_ENDPOINT:
        case FI_THREAD_COMPLETION:
            return 2;
        case FI_THREAD_DOMAIN:
            return 3;
        default:
            return -1;
    }
}

bool defined(std::uint64_t model) { return demands(model) >= 0; }

}  // namespace

Demand domain_threading_known(const QueryCase& c) { return known_value(c, Field::domain_threading); }

Fit domain_threading_safe_supported(const MatchCase& c) {
    return requested(c.query, Field::domain_threading) == FI_THREAD_SAFE ? Fit::fits() : Fit::not_requested();
}

Fit domain_threading_fits(const MatchCase& c) {
    const auto expected = requested(c.query, Field::domain_threading);
    const auto offered = c.entry.offer.domain.threading;
    if (expected == FI_THREAD_SAFE || !defined(expected)) return Fit::not_requested();
    if (defined(offered) && demands(offered) < demands(expected)) return Fit::fits();
    if (offered == expected) return Fit::fits();
    // Within the shared tier, and where the answer to a wide query demands more, other models may be there as well.
    const bool same_tier = demands(offered) == demands(expected);
    if (same_tier)
        return Fit::may(
            hint_and_offer(c, Field::domain_threading, Relation::Equals, "neither demands less than the other"));
    return fit_choice(c, Field::domain_threading);
}

Ruling domain_threading_granted(const OfferCase& c) {
    const auto expected = requested(c.query, Field::domain_threading);
    if (!defined(expected) || !defined(c.offer.domain.threading) || names_only(c.query))
        return Ruling::not_applicable();
    // As the models are numbered: SAFE 1, FID 2, DOMAIN 3, COMPLETION 4, ENDPOINT 5.
    switch (demands(expected)) {
        case 0:
        case 1:
            return offer_to_value(c, Field::domain_threading, Relation::AtMost, expected);
        case 2:
            return offer_to_value(c, Field::domain_threading, Relation::Differs, FI_THREAD_DOMAIN);
        default:
            return Ruling::holds();
    }
}

Ruling domain_threading_endpoint_or_completion(const OfferCase& c) {
    if (requested(c.query, Field::domain_threading) != FI_THREAD_ENDPOINT || names_only(c.query))
        return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_threading, Relation::Differs, FI_THREAD_COMPLETION);
}

Ruling domain_threading_unspec_defined(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    Ruling specified = offer_to_value(c, Field::domain_threading, Relation::Differs, FI_THREAD_UNSPEC);
    if (specified.is_broken()) return specified;
    return offer_to_value(c, Field::domain_threading, Relation::AtMost, FI_THREAD_ENDPOINT);
}

// What one thread alone is given, each of several must be given; how they end is part of it.
Ruling domain_threading_control_safe(const SideEffects& c) {
    if (c.act != SideEffects::Act::GetInfoThreads) return Ruling::not_applicable();
    if (c.crashed_signal != 0 || c.hung || c.exited) return Ruling::broken(reported(Field::subject, c.detail));
    if (c.answer == nullptr) return Ruling::holds();
    const auto signed_bits = [](int ret) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(ret)); };
    return Ruling::check(c.ret == c.answer->ret, [&] {
        return number(Field::call_return, Relation::Equals, signed_bits(c.answer->ret), signed_bits(c.ret), c.detail);
    });
}

}  // namespace selvage::model::clause
