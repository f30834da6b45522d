// fi_getinfo(3): mode bits, which are duties that the application takes on.  The order is that of spec/clauses/.
#include "model/chapters/alike.h"
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// FI_LOCAL_MR counts before 1.5 and under the two old ways of registration; else it is ignored.
bool local_mr_counts(const Query& q) {
    const auto mr_mode = requested(q, Field::domain_mr_mode);
    return q.version < Version(1, 5) || mr_mode == FI_MR_BASIC || mr_mode == FI_MR_SCALABLE;
}

std::uint64_t needed(const MatchCase& c) {
    return c.entry.needed_mode & ~std::uint64_t{FI_LOCAL_MR};  // getinfo.mode.local-mr-counts has that one
}

Fit refuse(const MatchCase& c, std::uint64_t bits) {
    Evidence e = number(Field::mode, Relation::Contains, bits, c.hints()->mode, "is what the offer needs");
    return c.profile.origin == Origin::Declared ? Fit::no(std::move(e)) : Fit::may(std::move(e));
}

// offer: a mode bit stands only where messages do.
Ruling only_with_messages(const OfferCase& c, std::uint64_t bit) {
    if ((c.offer.mode & bit) == 0 || names_only(c.query)) return Ruling::not_applicable();
    if ((c.offer.caps & (FI_MSG | FI_TAGGED)) != 0) return Ruling::holds();
    return offer_to_value(c, Field::mode, Relation::Within, ~bit);
}

}  // namespace

Ruling getinfo_mode_within_hints(const OfferCase& c) {
    if (!c.query.hints || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::mode, Relation::Within, c.query.hints->mode);
}

Fit getinfo_mode_zero_means_none(const MatchCase& c) {
    if (!c.hints() || names_only(c.query) || needed(c) == 0) return Fit::not_requested();
    return (needed(c) & ~c.hints()->mode) == 0 ? Fit::fits() : refuse(c, needed(c));
}

Fit getinfo_mode_extra_bits_fit(const MatchCase& c) {
    if (!c.hints() || names_only(c.query) || (c.hints()->mode & ~c.entry.needed_mode) == 0) return Fit::not_requested();
    if ((c.hints()->mode & ~known_modes()) == 0) return Fit::fits();
    return Fit::may(number(Field::mode, Relation::Within, known_modes(), c.hints()->mode, "a bit that is no mode"));
}

Ruling getinfo_mode_more_never_hurts(const PairCase& c) {
    if (c.metamorphic != MetamorphicRelation::MoreModes || names_only(c.first) || c.first_answer.ret != 0 ||
        !both_answered(c))
        return Ruling::not_applicable();
    return covers(c, First, Field::mode, "lost when the application takes on more duties");
}

Ruling getinfo_mode_null_hints_supported(const PairCase& c) {
    if (c.first.hints.has_value() == c.second.hints.has_value() || c.first.version != c.second.version ||
        names_only(c.first)) {
        return Ruling::not_applicable();
    }
    const bool first_null = !c.first.hints;
    const Query& none = first_null ? c.first : c.second;
    const Answer& all = first_null ? c.first_answer : c.second_answer;
    const Answer& some = first_null ? c.second_answer : c.first_answer;
    if (none.node || none.service || none.flags != 0 || names_only(c.second)) return Ruling::not_applicable();
    bool compared = false;
    for (const Info& o : some.offers) {
        std::uint64_t told_modes = 0;
        bool found = false;
        for (const Info& a : all.offers) {
            if (!same_endpoint(a, o)) continue;
            found = true;
            told_modes |= a.mode;
        }
        if (!found) continue;
        compared = true;
        if ((o.mode & ~told_modes) != 0) {
            return Ruling::broken(observed(
                Observable::EndpointBits,
                number(Field::mode, Relation::Within, told_modes, o.mode, "a bit that the answer to NULL hints lacks"),
                {first_null ? Second : First, first_null ? First : Second}));
        }
    }
    return compared ? Ruling::holds() : Ruling::not_applicable();
}

Ruling getinfo_mode_known_bits(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::mode, Relation::Within, known_modes());
}

Ruling getinfo_mode_buffered_recv_scope(const OfferCase& c) { return only_with_messages(c, FI_BUFFERED_RECV); }

Ruling getinfo_mode_local_mr_ignored(const PairCase& c) {
    if (!c.first.hints || !c.second.hints || (c.first.hints->mode ^ c.second.hints->mode) != FI_LOCAL_MR)
        return Ruling::not_applicable();
    if (names_only(c.first) || local_mr_counts(c.first) || !both_answered(c)) return Ruling::not_applicable();
    if (!alike_after(c, [](Query& q) { q.hints->mode ^= FI_LOCAL_MR; })) return Ruling::not_applicable();
    return same_endpoints(c, Field::mode, "FI_LOCAL_MR changed the answer");
}

Fit getinfo_mode_local_mr_counts(const MatchCase& c) {
    if (!c.hints() || names_only(c.query) || !local_mr_counts(c.query)) return Fit::not_requested();
    const bool needs = (c.entry.needed_mode & FI_LOCAL_MR) != 0 || (c.entry.needed_mr_mode & FI_MR_LOCAL) != 0;
    if (!needs) return Fit::not_requested();
    return (c.hints()->mode & FI_LOCAL_MR) != 0 ? Fit::fits() : refuse(c, FI_LOCAL_MR);
}

Ruling getinfo_mode_prefix_nonzero_with(const OfferCase& c) {
    if ((c.offer.mode & FI_MSG_PREFIX) == 0 || !c.offer.has(Part::Ep) || names_only(c.query))
        return Ruling::not_applicable();
    return offer_to_value(c, Field::ep_msg_prefix_size, Relation::AtLeast, 1);
}

Ruling getinfo_mode_prefix_scope(const OfferCase& c) { return only_with_messages(c, FI_MSG_PREFIX); }

}  // namespace selvage::model::clause
