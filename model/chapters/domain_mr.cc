// The registration mode as a whole: the judged clauses of spec/clauses/domain_mr.toml.  Pure functions; any thread.
#include "model/chapters/alike.h"
#include "model/chapters/domain_mr_words.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// Which ways of registering an entry can serve for callers up to 1.4.
enum class Way : std::uint8_t { Can, Cannot, Unknown };

// Bits that no old word covers make a declared entry unfit for any caller up to 1.4, whose word for FI_MR_LOCAL is
// FI_LOCAL_MR in the mode.
bool only_basic_bits(const MatchCase& c) {
    const std::uint64_t local = (requested(c.query, Field::mode) & FI_LOCAL_MR) != 0 ? FI_MR_LOCAL : 0;
    return (mr::bits(c.entry.needed_mr_mode) & ~mr::kBasicBits & ~local) == 0;
}

// Zero on output is either way if a library said so, and no bit needed if a file did.
Way can_register(const MatchCase& c, std::uint64_t word) {
    const auto shown = c.entry.offer.domain.mr_mode;
    const bool declared = c.profile.origin == Origin::Declared;
    if (shown == word) return Way::Can;
    if (declared && (c.entry.most.domain.mr_mode & word) != 0) return Way::Can;
    if (!declared) return Way::Unknown;
    if (shown == FI_MR_UNSPEC) return word == mr::kScalable ? Way::Can : Way::Unknown;
    if ((shown & mr::kOldWords) != 0) return Way::Cannot;
    // Bits of 1.5: what is needed of them decides, the rest are wishes.
    if (word == mr::kBasic) return only_basic_bits(c) ? Way::Can : Way::Cannot;
    return mr::bits(c.entry.needed_mr_mode) == 0 ? Way::Can : Way::Cannot;
}

Fit fit_old(const MatchCase& c, std::uint64_t word) {
    if (mr::expected(c.query) != word) return Fit::not_requested();
    switch (can_register(c, word)) {
        case Way::Can:
            return Fit::fits();
        case Way::Cannot:
            return Fit::no(hint_and_offer(c, Field::domain_mr_mode, Relation::Equals));
        default:
            return Fit::may(hint_and_offer(c, Field::domain_mr_mode, Relation::Equals, "not seen offered"));
    }
}

Ruling old_granted(const OfferCase& c, std::uint64_t word) {
    if (mr::expected(c.query) != word) return Ruling::not_applicable();
    return offer_to_hint(c, Field::domain_mr_mode, Relation::Equals);
}

// The bits that hints may hold without being out of place: those of any version that has bits and is not newer.
std::uint64_t known_bits(Version v) {
    std::uint64_t all = 0;
    for (const auto& w : words(Family::mr_mode)) {
        if (w.since <= std::max(v, Version(1, 5))) all |= w.value;
    }
    return all;
}

// True if the hints hold bits of 1.5 alone: no old word, not zero.
bool requests_bits(const Query& q) { return mr::expected(q) != 0 && (mr::expected(q) & mr::kOldWords) == 0; }

}  // namespace

Fit domain_mr_zero_old(const MatchCase& c) {
    if (!mr::says(c.query) || mr::expected(c.query) != 0) return Fit::not_requested();
    if (c.entry.offer.domain.mr_mode <= mr::kScalable) return Fit::fits();
    const Evidence e = hint_and_offer(c, Field::domain_mr_mode, Relation::Equals, "registers neither of the old ways");
    if (c.profile.origin == Origin::Inferred) return Fit::may(e);
    return only_basic_bits(c) ? Fit::fits() : Fit::no(e);
}

Ruling domain_mr_zero_old_granted(const OfferCase& c) {
    if (!mr::says(c.query) || mr::expected(c.query) != 0 || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mr_mode, Relation::AtMost, mr::kScalable);
}

// Counts as asked by an entry that needs nothing only where nothing else is asked of the domain.
Fit domain_mr_zero(const MatchCase& c) {
    if (!mr::says(c.query) || mr::expected(c.query) != 0) return Fit::not_requested();
    Fit fit = mr::fit_ready(c);
    if (fit.choice() == Choice::Fits && c.hints()->domain != DomainAttr{}) return Fit::not_requested();
    return fit;
}

Ruling domain_mr_zero_granted(const OfferCase& c) {
    if (!mr::says(c.query) || mr::expected(c.query) != 0 || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mr_mode, Relation::Within, mr::kScalable);
}

Fit domain_mr_bits_cover(const MatchCase& c) {
    return requests_bits(c.query) ? mr::fit_ready(c) : Fit::not_requested();
}

Ruling domain_mr_within_request(const OfferCase& c) {
    if (!requests_bits(c.query) || names_only(c.query)) return Ruling::not_applicable();
    // FI_MR_SCALABLE says that no bit is needed; FI_MR_BASIC needs its three.
    const auto requested_bits = mr::expected(c.query);
    const auto basic = (requested_bits & mr::kBasicBits) == mr::kBasicBits ? mr::kBasic : 0;
    return offer_to_value(c, Field::domain_mr_mode, Relation::Within, requested_bits | basic | mr::kScalable);
}

Demand domain_mr_old_alone(const QueryCase& c) {
    const auto expected = mr::expected(c.query);
    if ((expected & mr::kOldWords) == 0) return Demand::not_requested();
    if (expected == mr::kBasic || expected == mr::kScalable) return Demand::nothing();
    const auto word = (expected & mr::kBasic) != 0 ? mr::kBasic : mr::kScalable;
    return refuse_hint(c.query, {FI_ENODATA, FI_EBADFLAGS},
                       number(Field::domain_mr_mode, Relation::Equals, word, expected));
}

Ruling domain_mr_answer_well_formed(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const auto mode = c.offer.domain.mr_mode;
    const auto old = mode & mr::kOldWords;
    const bool alone = old == 0 || mode == mr::kBasic || mode == mr::kScalable;
    return Ruling::check(alone, [&] {
        return at(number(Field::domain_mr_mode, Relation::Differs, mode, mode, "an old word stands alone"), c.index);
    });
}

Demand domain_mr_new_bits_before(const QueryCase& c) {
    const auto expected = mr::expected(c.query);
    if ((expected & ~mr::kOldWords) == 0) return Demand::not_requested();
    return Demand::may_refuse(
        number(Field::domain_mr_mode, Relation::Within, mr::kOldWords, expected, "a bit of 1.5 or later"));
}

Ruling domain_mr_old_answer(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mr_mode, Relation::AtMost, mr::kScalable);
}

Demand domain_mr_unknown_bits(const QueryCase& c) {
    const auto expected = mr::expected(c.query);
    if (expected == 0) return Demand::not_requested();
    const auto known = known_bits(c.query.version);
    if ((expected & ~known) == 0) return Demand::nothing();
    return Demand::may_refuse(number(Field::domain_mr_mode, Relation::Within, known, expected));
}

Fit domain_mr_basic_old(const MatchCase& c) { return fit_old(c, mr::kBasic); }

Ruling domain_mr_basic_old_granted(const OfferCase& c) { return old_granted(c, mr::kBasic); }

Fit domain_mr_scalable_old(const MatchCase& c) { return fit_old(c, mr::kScalable); }

Ruling domain_mr_scalable_old_granted(const OfferCase& c) { return old_granted(c, mr::kScalable); }

Fit domain_mr_basic(const MatchCase& c) {
    return mr::expected(c.query) == mr::kBasic ? mr::fit_ready(c) : Fit::not_requested();
}

Ruling domain_mr_basic_same_answers(const PairCase& c) {
    const auto a = mr::expected(c.first);
    const auto b = mr::expected(c.second);
    const bool both_ways = (a == mr::kBasic && b == mr::kBasicBits) || (a == mr::kBasicBits && b == mr::kBasic);
    // FI_LOCAL_MR has a meaning beside the old word and none beside the bits.
    if (!both_ways || (requested(c.first, Field::mode) & FI_LOCAL_MR) != 0) return Ruling::not_applicable();
    if (!alike_after(c, [b](Query& q) { q.hints->domain.mr_mode = b; }) || !both_answered(c))
        return Ruling::not_applicable();
    return same_endpoints(c, Field::domain_mr_mode, "FI_MR_BASIC is equal to its three bits");
}

Ruling domain_mr_basic_granted(const OfferCase& c) {
    if (mr::expected(c.query) != mr::kBasic || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mr_mode, Relation::Within, mr::kBasic | mr::ready(c.query));
}

Fit domain_mr_scalable(const MatchCase& c) {
    return mr::expected(c.query) == mr::kScalable ? mr::fit_ready(c) : Fit::not_requested();
}

Ruling domain_mr_scalable_granted(const OfferCase& c) {
    if (mr::expected(c.query) != mr::kScalable || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mr_mode, Relation::Within, mr::kScalable | mr::ready(c.query));
}

}  // namespace selvage::model::clause
