// The rules that transmit and receive contexts share.  See endpoint_context.h.
#include "model/chapters/endpoint_context.h"

#include <array>
#include <vector>

#include "model/chapters/capabilities.h"

namespace selvage::model::rules {

const ContextSide kTransmit = {
    Part::Tx, Field::tx_caps, Field::tx_mode, Field::tx_op_flags, Field::tx_msg_order, Field::tx_comp_order, &Word::tx};
const ContextSide kReceive = {
    Part::Rx, Field::rx_caps, Field::rx_mode, Field::rx_op_flags, Field::rx_msg_order, Field::rx_comp_order, &Word::rx};

namespace {

// A capability that modifiers narrow, and all of its modifiers.
struct Narrowed {
    std::uint64_t capability;
    std::uint64_t modifiers;
};

std::vector<Narrowed> find_narrowed() {
    std::vector<Narrowed> out;
    for (const Word& w : words(Family::caps)) {
        if (w.word_class != WordClass::Primary) continue;
        Narrowed n{w.value, 0};
        for (const Word& m : words(Family::caps))
            if (m.word_class == WordClass::Modifier && (m.modifies & w.value) != 0) n.modifiers |= m.value;
        if (n.modifiers != 0) out.push_back(n);
    }
    return out;
}

const std::vector<Narrowed>& narrowed_capabilities() {
    static const std::vector<Narrowed> all = find_narrowed();
    return all;
}

// Capabilities of one side without those that `request` narrows to the other side: FI_MSG|FI_RECV sends nothing, so
// FI_MSG asks nothing of the transmit context.
std::uint64_t of_this_side(std::uint64_t caps, std::uint64_t request, const ContextSide& side) {
    const auto full = implied(request);
    const auto own = applicable(Family::caps, side);
    for (const auto& n : narrowed_capabilities())
        if ((full & n.modifiers & own) == 0) caps &= ~n.capability;
    return caps;
}

// The capabilities that a call asks of a context: those in its own structure or, where these are 0, those of the call
// that apply to it.
std::uint64_t requested_caps(const Query& q, const ContextSide& side) {
    const auto whole = requested(q, Field::caps);
    const auto own = requested(q, side.caps);
    if (whole == 0 && own == 0) return 0;
    const auto known = applicable(Family::caps, side, q.version);
    return of_this_side((own != 0 ? own : whole) & known, whole != 0 ? whole : own, side);
}

std::uint64_t find_applicable(Family family, const ContextSide& side, Version version) {
    std::uint64_t all = 0;
    for (const Word& w : words(family))
        if (!w.alias && w.*side.applies && w.since <= version) all |= w.value;
    return all;
}

using BySideAndMinor = std::array<std::array<std::uint64_t, kNewest.minor_part() + 1>, 2>;

BySideAndMinor find_applicable_caps() {
    BySideAndMinor out{};
    for (unsigned minor = 0; minor <= kNewest.minor_part(); ++minor) {
        out[0][minor] = find_applicable(Family::caps, kTransmit, Version(1, minor));
        out[1][minor] = find_applicable(Family::caps, kReceive, Version(1, minor));
    }
    return out;
}

// Does any word of the family stand for the bit?
std::uint64_t named_bits(Family family) {
    std::uint64_t all = 0;
    for (const Word& w : words(family)) all |= w.value;
    return all;
}

// Capabilities that the page sorts to none of the structures are judged in none of them.
std::uint64_t unsorted_caps() {
    static const std::uint64_t unsorted = [] {
        std::uint64_t all = 0;
        for (const Word& w : words(Family::caps))
            if (!w.alias && !w.tx && !w.rx && !w.domain) all |= w.value;
        return all;
    }();
    return unsorted;
}

// The bits that must not be there.  A library that is newer than the spec may know more words than the spec does.
Ruling only(const OfferCase& c, Field field, Family family, std::uint64_t allowed) {
    const auto actual = get(c.offer, field);
    if (actual == 0 || names_only(c.query)) return Ruling::not_applicable();
    if (c.world.library > kNewest) allowed |= ~named_bits(family);
    return Ruling::check((actual & ~allowed) == 0,
                         [&] { return at(number(field, Relation::Within, allowed, actual), c.index); });
}

std::uint64_t class_bits(WordClass a, WordClass b) {
    std::uint64_t all = 0;
    for (const Word& w : words(Family::caps))
        if (!w.alias && (w.word_class == a || w.word_class == b)) all |= w.value;
    return all;
}

// A plain order and the two that it was split into in API version 1.8.
struct Split {
    std::uint64_t plain, rma, atomic;
};
constexpr Split kSplits[] = {
    {FI_ORDER_RAR, FI_ORDER_RMA_RAR, FI_ORDER_ATOMIC_RAR},
    {FI_ORDER_RAW, FI_ORDER_RMA_RAW, FI_ORDER_ATOMIC_RAW},
    {FI_ORDER_WAR, FI_ORDER_RMA_WAR, FI_ORDER_ATOMIC_WAR},
    {FI_ORDER_WAW, FI_ORDER_RMA_WAW, FI_ORDER_ATOMIC_WAW},
};

// Parts whose plain order is among `order`.
std::uint64_t covered_parts(std::uint64_t order) {
    std::uint64_t parts = 0;
    for (const Split& s : kSplits)
        if ((order & s.plain) != 0) parts |= s.rma | s.atomic;
    return parts;
}

// Plain orders of which `order` holds both parts.
std::uint64_t joined_parts(std::uint64_t order) {
    std::uint64_t plain = 0;
    for (const Split& s : kSplits)
        if ((order & s.rma) != 0 && (order & s.atomic) != 0) plain |= s.plain;
    return plain;
}

// The order that an entry is known to offer.
std::uint64_t offered_order(const MatchCase& c, const ContextSide& side) {
    const auto shown = get(c.entry.offer, side.msg_order);
    return c.profile.origin == Origin::Declared ? shown | get(c.entry.most, side.msg_order) : shown;
}

// Capabilities that hints ask of a context although they can't be its own: those of the other side, and those beyond
// what info.caps asks for.  That is for context_caps_foreign and context_caps_outside_request to judge.
std::uint64_t misplaced_caps(const Query& q, const ContextSide& side) {
    const auto whole = requested(q, Field::caps);
    const auto fitting = applicable(Family::caps, side, q.version);
    return requested(q, side.caps) & ~(whole != 0 ? fitting & implied(whole) : fitting);
}

// Every word that a caller of that version can know.
std::uint64_t known_caps(Version version) {
    std::uint64_t all = 0;
    for (const Word& w : words(Family::caps))
        if (w.since <= version) all |= w.value;
    return all;
}

// The same calls but for the capabilities of one context, which the first one spells out?
bool spells_out(const PairCase& c, const ContextSide& side) {
    if (c.metamorphic != MetamorphicRelation::Relaxed || !c.first.hints || !c.second.hints) return false;
    const auto spelled = get(*c.first.hints, side.caps);
    if (spelled == 0 || get(*c.second.hints, side.caps) != 0) return false;
    const auto whole = c.first.hints->caps;
    if ((whole & ~known_caps(c.first.version)) != 0) return false;  // what they apply to is not said
    const auto own = whole & applicable(Family::caps, side, c.first.version);
    if (spelled != own || own != of_this_side(own, whole, side)) return false;
    Query relaxed = c.first;
    set(*relaxed.hints, side.caps, 0);
    return relaxed == c.second;
}

std::uint64_t as_number(int ret) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(ret)); }

}  // namespace

std::uint64_t implied(std::uint64_t caps) {
    std::uint64_t more = 0;
    for (const auto& n : narrowed_capabilities())
        if ((caps & n.capability) != 0 && (caps & n.modifiers) == 0) more |= n.modifiers;
    return caps | more;
}

std::uint64_t applicable(Family family, const ContextSide& side, Version version) {
    // Each offer is held against the words of caps six times, and these are the same for all.
    static const BySideAndMinor caps = find_applicable_caps();
    const bool spelled = family == Family::caps && version >= Version(1, 0) && version <= kNewest;
    return spelled ? caps[&side == &kReceive][version.minor_part()] : find_applicable(family, side, version);
}

Fit worst(Fit a, Fit b) { return a.choice() < b.choice() ? std::move(b) : std::move(a); }

Fit if_requested(const MatchCase& c, std::uint64_t caps, Field f, Fit fit) {
    const auto whole = requested(c.query, Field::caps);
    if (fit.choice() != Choice::Fits || whole == 0 || (whole & caps) != 0) return fit;
    return Fit::may(hint_and_offer(c, f, Relation::AtMost, "what it is about was not asked for"));
}

Demand context_caps_outside_request(const QueryCase& c, const ContextSide& side) {
    const auto whole = requested(c.query, Field::caps);
    const auto own = requested(c.query, side.caps);
    if (whole == 0 || own == 0 || names_only(c.query)) return Demand::not_requested();
    const auto beyond = own & applicable(Family::caps, side, c.query.version) & ~implied(whole);
    auto why = [&] {
        return number(side.caps, Relation::Within, implied(whole), own, "more than caps holds or implies");
    };
    if ((beyond & class_bits(WordClass::Primary, WordClass::Modifier)) != 0)
        return Demand::must_refuse({FI_ENODATA, FI_EBADFLAGS}, why());
    return beyond != 0 ? Demand::may_refuse(why()) : Demand::nothing();
}

Demand context_caps_foreign(const QueryCase& c, const ContextSide& side) {
    const auto own = requested(c.query, side.caps);
    if (own == 0 || names_only(c.query)) return Demand::not_requested();
    const auto known = applicable(Family::caps, side, c.query.version);
    if ((own & ~known) == 0) return Demand::nothing();
    return Demand::may_refuse(number(side.caps, Relation::Within, known, own, "does not apply to this context"));
}

Fit context_caps_granted(const MatchCase& c, const ContextSide& side) {
    if (requested(c.query, side.caps) == 0) return Fit::not_requested();
    const auto expected = requested_caps(c.query, side);
    if (expected == 0) return Fit::not_requested();
    const auto shown = get(c.entry.offer, side.caps);
    if ((expected & ~shown) == 0) return Fit::fits();
    const auto evidence = number(side.caps, Relation::Contains, expected, shown);
    const auto possible = shown | get(c.entry.most, side.caps) | c.entry.also_caps;
    if (c.profile.origin == Origin::Inferred || (expected & ~implied(possible)) == 0) {
        const bool sure = c.profile.origin == Origin::Declared && (expected & ~possible) == 0 &&
                          !may_lack_hmem(c.query, expected & ~shown);
        return sure ? Fit::fits() : Fit::may(evidence);
    }
    return Fit::no(evidence);
}

Ruling context_caps_returned(const OfferCase& c, const ContextSide& side) {
    const auto expected = requested_caps(c.query, side);
    if (expected == 0 || names_only(c.query)) return Ruling::not_applicable();
    const auto actual = get(c.offer, side.caps);
    const auto unsaid = implied(actual) & ~actual;
    return Ruling::check((expected & ~implied(actual)) == 0, [&] {
        return at(number(side.caps, Relation::Contains, expected & ~unsaid, actual), c.index);
    });
}

Ruling context_caps_within_info(const OfferCase& c, const ContextSide& side) {
    const auto actual = get(c.offer, side.caps);
    const auto misplaced = misplaced_caps(c.query, side);
    if ((actual & ~misplaced) == 0 || names_only(c.query)) return Ruling::not_applicable();
    const auto whole = implied(c.offer.caps) | misplaced;
    return Ruling::check((actual & ~whole) == 0, [&] {
        return at(number(side.caps, Relation::Within, whole, actual, "caps and what they imply"), c.index);
    });
}

Ruling context_caps_only_applicable(const OfferCase& c, const ContextSide& side) {
    return only(c, side.caps, Family::caps, applicable(Family::caps, side) | unsorted_caps());
}

Ruling context_caps_zero(const PairCase& c, const ContextSide& side) {
    if (names_only(c.first) || !spells_out(c, side)) return Ruling::not_applicable();
    const Answer& a = c.first_answer;
    const Answer& b = c.second_answer;
    const auto differ = [](Evidence e) { return Ruling::broken(observed(Observable::Answers, std::move(e))); };
    if ((a.ret == 0) != (b.ret == 0))
        return differ(number(Field::call_return, Relation::Equals, as_number(a.ret), as_number(b.ret)));
    if (a.offers.size() != b.offers.size())
        return differ(number(Field::call_count, Relation::Equals, a.offers.size(), b.offers.size()));
    for (std::size_t i = 0; i < a.offers.size(); ++i) {
        for (const Field f : {Field::ep_type, Field::caps, Field::tx_caps, Field::rx_caps}) {
            const auto first = get(a.offers[i], f);
            const auto second = get(b.offers[i], f);
            if (first == second) continue;
            return differ(at(number(f, Relation::Equals, first, second), static_cast<int>(i)));
        }
    }
    return Ruling::holds();
}

Fit context_mode_granted(const MatchCase& c, const ContextSide& side) {
    const auto allowed = requested(c.query, side.mode);
    if (allowed == 0) return Fit::not_requested();  // info.mode counts, and its own clause judges it
    const auto needed = c.entry.needed_mode & get(c.entry.offer, side.mode);
    const auto missing = number(side.mode, Relation::Contains, needed, allowed, "required of this context");
    if ((needed & ~allowed) != 0) return c.profile.origin == Origin::Declared ? Fit::no(missing) : Fit::may(missing);
    // Hints whose context allows more than the whole does contradict themselves.
    const auto whole = requested(c.query, Field::mode);
    if ((allowed & ~whole) != 0) return Fit::may(number(side.mode, Relation::Within, whole, allowed));
    return Fit::fits();
}

Ruling context_mode_returned(const OfferCase& c, const ContextSide& side) {
    if (c.hints() == nullptr || names_only(c.query) || !c.offer.has(side.part)) return Ruling::not_applicable();
    const auto own = requested(c.query, side.mode);
    return offer_to_value(c, side.mode, Relation::Within, own != 0 ? own : requested(c.query, Field::mode));
}

Ruling context_mode_within_info(const OfferCase& c, const ContextSide& side) {
    if (get(c.offer, side.mode) == 0 || names_only(c.query)) return Ruling::not_applicable();
    return offer_to_field(c, side.mode, Relation::Within, Field::mode);
}

Ruling context_mode_only_applicable(const OfferCase& c, const ContextSide& side) {
    // Bits that no word names may be what a newer interface, or a provider, means by them.
    return only(c, side.mode, Family::mode, applicable(Family::mode, side) | ~named_bits(Family::mode));
}

Ruling context_op_flags_only_applicable(const OfferCase& c, const ContextSide& side) {
    return only(c, side.op_flags, Family::op_flags, applicable(Family::op_flags, side));
}

Fit context_msg_order_granted(const MatchCase& c, const ContextSide& side) {
    const auto expected = requested(c.query, side.msg_order);
    if (expected == 0) return Fit::not_requested();
    const auto offered = offered_order(c, side);
    const auto missing = expected & ~offered;
    if (missing == 0) return Fit::fits();
    const auto evidence = number(side.msg_order, Relation::Contains, expected, offered);
    if ((missing & ~covered_parts(offered)) == 0) {
        // From 1.8 on endpoint.msg-order.split leaves it open; a caller before that does not know the parts.
        return c.query.version >= Version(1, 8) ? Fit::fits() : Fit::may(evidence);
    }
    const auto by_meaning = covered_parts(offered) | joined_parts(offered);
    if (c.profile.origin == Origin::Inferred || (missing & ~by_meaning) == 0) return Fit::may(evidence);
    return Fit::no(evidence);
}

Fit context_msg_order_split(const MatchCase& c, const ContextSide& side) {
    const auto parts = requested(c.query, side.msg_order) & covered_parts(~std::uint64_t{0});
    if (parts == 0) return Fit::not_requested();
    const auto offered = offered_order(c, side);
    if ((parts & ~offered) == 0) return Fit::fits();
    if ((parts & ~offered & covered_parts(offered)) == 0) return Fit::not_requested();  // not even the whole is there
    return Fit::may(number(side.msg_order, Relation::Contains, parts, offered, "only the plain order is offered"));
}

Ruling context_msg_order_returned(const OfferCase& c, const ContextSide& side) {
    const auto expected = requested(c.query, side.msg_order);
    if (expected == 0 || names_only(c.query)) return Ruling::not_applicable();
    const auto actual = get(c.offer, side.msg_order);
    // A plain order keeps its parts, and both parts keep the plain one.
    return offer_to_value(c, side.msg_order, Relation::Contains,
                          expected & ~(covered_parts(actual) | joined_parts(actual)));
}

}  // namespace selvage::model::rules
