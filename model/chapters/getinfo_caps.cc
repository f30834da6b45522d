// fi_getinfo(3): capabilities in general: request and grant, the three classes, modifiers.
#include "model/chapters/alike.h"
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

std::uint64_t hint_caps(const Query& q) { return requested(q, Field::caps); }

// pair: both calls have hints, differ in caps alone and are answered.
bool only_caps_differ(const PairCase& c) {
    if (!c.first.hints || !c.second.hints || names_only(c.first) || !both_answered(c)) return false;
    if (c.first.hints->caps == c.second.hints->caps) return false;
    return alike_after(c, [&](Query& q) { q.hints->caps = c.second.hints->caps; });
}

struct Side {
    const Query* query = nullptr;
    const Answer* answer = nullptr;
    Call call = First;
};
struct Sides {
    Side more, fewer;
};
// The two calls, the one whose caps contain the other's first; null where neither does.
Sides by_caps(const PairCase& c) {
    const Side a{&c.first, &c.first_answer, First};
    const Side b{&c.second, &c.second_answer, Second};
    const auto first = hint_caps(c.first);
    const auto second = hint_caps(c.second);
    if ((first & second) == second) return {a, b};
    if ((first & second) == first) return {b, a};
    return {};
}

// pair: the calls differ by modifiers that one names of capabilities which the other names without any.
bool narrows(const Sides& s) {
    if (s.more.query == nullptr) return false;
    const auto base = hint_caps(*s.fewer.query);
    const auto added = hint_caps(*s.more.query) & ~base;
    const bool of_what_is_requested = ((added & kMessageWays) == 0 || (base & kMessages) != 0) &&
                                      ((added & kRemoteWays) == 0 || (base & kRemote) != 0);
    return base != 0 && (added & ~modifier_caps()) == 0 && (base & modifier_caps()) == 0 && of_what_is_requested &&
           well_formed(base) && well_formed(base | added);
}

// pair: neither context asks for what the call with more modifiers leaves out; that a call asks for less would not
// show.
bool contexts_follow(const Sides& s) {
    const Query& q = *s.more.query;
    const auto of_contexts = requested(q, Field::tx_caps) | requested(q, Field::rx_caps);
    return (of_contexts & ~with_implied(hint_caps(q))) == 0;
}

// All capabilities reported for an endpoint.
std::uint64_t caps_reported(const Answer& answer, const Info& endpoint) {
    std::uint64_t caps = 0;
    for (const Info& o : answer.offers) {
        if (same_endpoint(o, endpoint)) caps |= o.caps;
    }
    return caps;
}

}  // namespace

Ruling getinfo_caps_requested_granted(const OfferCase& c) {
    const auto expected = requested_caps(c.query) & (primary_caps() | modifier_caps());
    if (expected == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::caps, Relation::Contains, expected);
}

Fit getinfo_caps_requested_fits(const MatchCase& c) {
    return fit_caps(c, requested_caps(c.query) & (primary_caps() | modifier_caps()));
}

Ruling getinfo_caps_zero_full_set(const OfferCase& c) {
    if (hint_caps(c.query) != 0 || names_only(c.query)) return Ruling::not_applicable();
    return Ruling::check((c.offer.caps & primary_caps()) != 0, [&] {
        if (c.offer.caps == 0) return at(number(Field::caps, Relation::Differs, 0, 0), c.index);
        Evidence e = reported(Field::caps, "holds no primary capability");
        e.actual = c.offer.caps;
        return at(std::move(e), c.index);
    });
}

Ruling getinfo_caps_zero_covers(const PairCase& c) {
    if (!only_caps_differ(c) || (hint_caps(c.first) != 0 && hint_caps(c.second) != 0)) return Ruling::not_applicable();
    const auto s = by_caps(c);
    bool compared = false;
    for (const Info& granted : s.more.answer->offers) {
        const auto all = caps_reported(*s.fewer.answer, granted);
        if (all == 0) continue;
        compared = true;
        // With variable messages an application receives by other calls: it has to know that it asked for them.
        constexpr std::uint64_t kByName = FI_VARIABLE_MSG;
        const auto expected = granted.caps & hint_caps(*s.more.query) & (primary_caps() | modifier_caps()) & ~kByName;
        if ((expected & ~with_implied(all)) == 0) continue;
        return Ruling::broken(observed(
            Observable::EndpointBits,
            number(Field::caps, Relation::Contains, expected, all, "granted when asked for, not told when nothing is"),
            {s.more.call, s.fewer.call}));
    }
    return compared ? Ruling::holds() : Ruling::not_applicable();
}

Ruling getinfo_caps_only_known(const OfferCase& c) {
    return names_only(c.query) ? Ruling::not_applicable()
                               : offer_to_value(c, Field::caps, Relation::Within, known_caps());
}

Ruling getinfo_caps_primary_not_requested(const OfferCase& c) {
    const auto expected = requested_caps(c.query);
    if (expected == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::caps, Relation::Within, expected | ~primary_caps());
}

Fit getinfo_caps_secondary_requested(const MatchCase& c) {
    auto expected = requested_caps(c.query) & secondary_caps();
    // Two clauses of their own: getinfo.caps.source-connectionless-fits and getinfo.caps.comm-both-asked.
    if (c.entry.offer.ep.type == FI_EP_MSG) expected &= ~std::uint64_t{FI_SOURCE};
    constexpr std::uint64_t kBoth = FI_LOCAL_COMM | FI_REMOTE_COMM;
    if ((expected & kBoth) == kBoth) expected &= ~kBoth;
    return fit_caps(c, expected);
}

Ruling getinfo_caps_secondary_granted(const OfferCase& c) {
    const auto expected = requested_caps(c.query) & secondary_caps();
    if (expected == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::caps, Relation::Contains, expected);
}

Ruling getinfo_caps_secondary_unselected_usable(const PairCase& c) {
    if (!only_caps_differ(c)) return Ruling::not_applicable();
    const auto s = by_caps(c);
    if (s.more.query == nullptr) return Ruling::not_applicable();
    const auto base = hint_caps(*s.fewer.query);
    const auto added = hint_caps(*s.more.query) & ~base;
    // FI_SOURCE of a connected endpoint may be refused although it was there (getinfo.caps.source-connectionless-fits).
    if (base == 0 || (added & ~secondary_caps()) != 0 || !well_formed(base | added)) return Ruling::not_applicable();
    bool reported_unrequested = false;
    for (const Info& o : s.fewer.answer->offers) {
        if ((o.caps & added) != added || ((added & FI_SOURCE) != 0 && o.ep.type == FI_EP_MSG)) continue;
        reported_unrequested = true;
        if (caps_reported(*s.more.answer, o) != 0) continue;
        return Ruling::broken(
            observed(Observable::Endpoints,
                     number(Field::caps, Relation::Contains, added, 0, "told unasked, and refused when asked for"),
                     {s.fewer.call, s.more.call}));
    }
    return reported_unrequested ? Ruling::holds() : Ruling::not_applicable();
}

Fit getinfo_caps_av_user_id_class(const MatchCase& c) {
    const auto expected = requested_caps(c.query) & FI_AV_USER_ID;
    if (c.granted == nullptr || expected == 0) return fit_caps(c, expected);
    if ((c.granted->caps & expected) != 0) return Fit::fits();
    return Fit::no(
        number(Field::caps, Relation::Contains, expected, c.granted->caps, "asked for, and granted without it"));
}

Fit getinfo_caps_modifiers_assumed_fit(const MatchCase& c) {
    const auto expected = requested_caps(c.query);
    std::uint64_t assumed = 0;
    // A group whose capability is not offered at all is refused by getinfo.caps.requested-fits.
    if ((expected & kMessages & c.entry.offer.caps) != 0 && (expected & kMessageWays) == 0) assumed |= kMessageWays;
    if ((expected & kRemote & c.entry.offer.caps) != 0 && (expected & kRemoteWays) == 0) assumed |= kRemoteWays;
    return fit_caps(c, assumed);
}

Ruling getinfo_caps_modifiers_limit(const OfferCase& c) {
    const auto expected = requested_caps(c.query);
    std::uint64_t left_out = 0;
    const auto limit = [&](std::uint64_t of, std::uint64_t modifiers) {
        if ((expected & of) != 0 && (expected & modifiers) != 0) left_out |= modifiers & ~expected;
    };
    limit(kMessages, kMessageWays);
    limit(kRemote, kRemoteWays);
    if (left_out == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::caps, Relation::Within, ~left_out);
}

Ruling getinfo_caps_modifiers_only_narrow(const PairCase& c) {
    if (!only_caps_differ(c)) return Ruling::not_applicable();
    const auto s = by_caps(c);
    if (!narrows(s) || !contexts_follow(s) || s.fewer.answer->ret != 0) return Ruling::not_applicable();
    return covers(c, s.fewer.call, Field::caps, "modifiers ask for less, yet an endpoint is lost");
}

Ruling getinfo_caps_modifiers_all_equal_none(const PairCase& c) {
    if (!only_caps_differ(c)) return Ruling::not_applicable();
    const auto s = by_caps(c);
    if (!narrows(s) || s.more.answer->ret != 0) return Ruling::not_applicable();
    if (hint_caps(*s.more.query) != with_implied(hint_caps(*s.fewer.query))) return Ruling::not_applicable();
    return covers(c, s.more.call, Field::caps, "all modifiers ask for what none do, yet an endpoint is lost");
}

}  // namespace selvage::model::clause
