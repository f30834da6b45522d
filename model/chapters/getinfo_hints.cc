// fi_getinfo(3): what a hint means in general.  The order is that of spec/clauses/.
#include "model/chapters/alike.h"
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

bool all_wildcards(const Info& hints) {
    for (const FieldRow& r : number_fields()) {
        if (r.field != Field::mode && r.field != Field::domain_mr_mode && get(hints, r.field) != 0) return false;
    }
    for (const FieldRow& r : text_fields()) {
        if (text(hints, r.field)) return false;
    }
    return true;
}

// offer: a limit that was not asked for is filled in.
bool left_empty(const OfferCase& c, Field f, bool used) {
    return used && requested(c.query, f) == 0 && get(c.offer, f) == 0;
}

constexpr std::uint8_t kOptional = kAllParts & ~(1U << unsigned(Part::Domain));

}  // namespace

Fit getinfo_hints_zero_is_wildcard(const MatchCase& c) {
    // Judged where nothing else is asked; a zero beside other hints is what relaxing compares.
    if (!c.hints() || names_only(c.query) || !all_wildcards(*c.hints())) return Fit::not_requested();
    return Fit::fits();
}

Ruling getinfo_hints_default_filled(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const auto caps = with_implied(c.offer.caps);
    const bool tx = c.offer.has(Part::Tx) && (caps & (FI_SEND | FI_READ | FI_WRITE)) != 0;
    const bool rx = c.offer.has(Part::Rx) && (caps & FI_RECV) != 0;
    const bool moves = c.offer.has(Part::Ep) && (caps & (kMessages | kRemote)) != 0;
    const std::pair<Field, bool> limits[] = {{Field::tx_size, tx},
                                             {Field::tx_iov_limit, tx},
                                             {Field::rx_size, rx},
                                             {Field::rx_iov_limit, rx},
                                             {Field::ep_max_msg_size, moves}};
    bool any = false;
    for (const auto& [field, used] : limits) {
        any = any || (used && requested(c.query, field) == 0);
        if (left_empty(c, field, used)) return offer_to_value(c, field, Relation::AtLeast, 1);
    }
    return any ? Ruling::holds() : Ruling::not_applicable();
}

Ruling getinfo_hints_null_substructure(const PairCase& c) {
    if (!c.first.hints || !c.second.hints || names_only(c.first) || !both_answered(c)) return Ruling::not_applicable();
    const auto changed = static_cast<std::uint8_t>(c.first.hints->present ^ c.second.hints->present);
    if (changed == 0 || (changed & ~kOptional) != 0) return Ruling::not_applicable();
    // Equal but for what is present: so the part that is present holds zeros alone.
    if (!alike_after(c, [&](Query& q) { q.hints->present = c.second.hints->present; })) return Ruling::not_applicable();
    return same_endpoints(c, Field::call_hints, "a part of zeros and an absent one get different endpoints");
}

Ruling getinfo_hints_never_written(const SideEffects& c) {
    if (c.act != SideEffects::Act::GetInfo || c.query == nullptr || !c.query->hints) return Ruling::not_applicable();
    return Ruling::check(!c.hints_written, [&] {
        const bool known = c.written_field != Field::call_hints;
        return observed(
            Observable::HintsWritten,
            reported(c.written_field, known ? std::string(row(c.written_field).path) + " of the hints was written to"
                                            : std::string("the hints were written to")));
    });
}

Ruling getinfo_hints_not_kept(const SideEffects& c) {
    // Of a call, `copy_shares` says that an answer points into the hints.
    if (c.act != SideEffects::Act::GetInfo || c.query == nullptr || !c.query->hints || c.answer == nullptr ||
        c.answer->offers.empty()) {
        return Ruling::not_applicable();
    }
    return Ruling::check(!c.copy_shares, [] {
        return observed(Observable::SharedMemory, reported(Field::call_hints, "are pointed into by the answer"));
    });
}

}  // namespace selvage::model::clause
