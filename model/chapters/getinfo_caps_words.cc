// fi_getinfo(3): what single capabilities mean, as far as an answer shows it.  The order is that of spec/clauses/.
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// offer: asked for without modifiers, the answer shows all of them or none.
Ruling all_or_none(const OfferCase& c, std::uint64_t capability, std::uint64_t modifiers) {
    const auto expected = requested_caps(c.query);
    if ((expected & capability) == 0 || (expected & modifiers) != 0) return Ruling::not_applicable();
    if ((c.offer.caps & modifiers) == 0) return Ruling::holds();
    return offer_to_value(c, Field::caps, Relation::Contains, modifiers);
}

// match: asked for with some of its modifiers, an offer of these alone fits.
Fit restricted(const MatchCase& c, std::uint64_t capability, std::uint64_t modifiers) {
    const auto expected = requested_caps(c.query);
    const auto some = expected & modifiers;
    if ((expected & capability) == 0 || some == 0 || some == modifiers) return Fit::not_requested();
    return fit_caps(c, capability | some);
}

}  // namespace

Ruling getinfo_caps_msg_both_ways(const OfferCase& c) { return all_or_none(c, FI_MSG, kMessageWays); }

Fit getinfo_caps_msg_one_way_fits(const MatchCase& c) { return restricted(c, FI_MSG, kMessageWays); }

Ruling getinfo_caps_tagged_both_ways(const OfferCase& c) {
    // The two share their modifiers; one finding is enough.
    if ((requested_caps(c.query) & FI_MSG) != 0) return Ruling::not_applicable();
    return all_or_none(c, FI_TAGGED, kMessageWays);
}

Fit getinfo_caps_tagged_one_way_fits(const MatchCase& c) { return restricted(c, FI_TAGGED, kMessageWays); }

Ruling getinfo_caps_rma_all_directions(const OfferCase& c) { return all_or_none(c, FI_RMA, kRemoteWays); }

Fit getinfo_caps_rma_restricted_fits(const MatchCase& c) { return restricted(c, FI_RMA, kRemoteWays); }

Ruling getinfo_caps_atomic_all_directions(const OfferCase& c) {
    if ((requested_caps(c.query) & FI_RMA) != 0) return Ruling::not_applicable();
    return all_or_none(c, FI_ATOMIC, kRemoteWays);
}

Fit getinfo_caps_atomic_restricted_fits(const MatchCase& c) { return restricted(c, FI_ATOMIC, kRemoteWays); }

Ruling getinfo_caps_source_connectionless_granted(const OfferCase& c) {
    if (c.offer.ep.type != FI_EP_MSG || (requested_caps(c.query) & FI_SOURCE) != 0 || names_only(c.query)) {
        return Ruling::not_applicable();
    }
    return offer_to_value(c, Field::caps, Relation::Within, ~std::uint64_t{FI_SOURCE});
}

Fit getinfo_caps_source_connectionless_fits(const MatchCase& c) {
    if ((requested_caps(c.query) & FI_SOURCE) == 0 || c.entry.offer.ep.type != FI_EP_MSG) return Fit::not_requested();
    return Fit::may(number(Field::caps, Relation::Contains, FI_SOURCE, c.entry.offer.caps,
                           "the endpoint is connected, and FI_SOURCE applies to others"));
}

Ruling getinfo_caps_comm_neither_asked(const OfferCase& c) {
    constexpr std::uint64_t kBoth = FI_LOCAL_COMM | FI_REMOTE_COMM;
    // Callers before 1.5 do not know the two words.
    if (names_only(c.query) || (requested_caps(c.query) & kBoth) != 0 || c.query.version < Version(1, 5)) {
        return Ruling::not_applicable();
    }
    return Ruling::check((c.offer.caps & kBoth) != 0, [&] {
        Evidence e = reported(Field::caps, "holds neither FI_LOCAL_COMM nor FI_REMOTE_COMM");
        e.actual = c.offer.caps;
        return at(std::move(e), c.index);
    });
}

Fit getinfo_caps_comm_both_asked(const MatchCase& c) {
    constexpr std::uint64_t kBoth = FI_LOCAL_COMM | FI_REMOTE_COMM;
    return (requested_caps(c.query) & kBoth) == kBoth ? fit_caps(c, kBoth) : Fit::not_requested();
}

}  // namespace selvage::model::clause
