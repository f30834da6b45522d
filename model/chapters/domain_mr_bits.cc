// The registration mode bits one by one, and the size of keys: the judged clauses of spec/clauses/domain_mr_bits.toml,
// but for those about registered regions, which model/lifecycle/ keeps.  Pure functions; any thread.
#include "model/chapters/domain_mr_words.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// An entry with the bit, and hints without it.  Where the hints carry it, domain.mr.bits-cover speaks of all bits at
// once.  An inferred entry needs a bit for sure only if it is the one that it shows.
Fit fit_bit(const MatchCase& c, std::uint64_t bit) {
    const auto shown = mr::bits(c.entry.offer.domain.mr_mode);
    if (!mr::says(c.query) || (shown & bit) == 0 || (mr::ready(c.query) & bit) != 0) return Fit::not_requested();
    const auto needed = mr::bits(c.entry.needed_mr_mode);
    const bool declared = c.profile.origin == Origin::Declared;
    if (declared && (needed & bit) == 0) return Fit::not_requested();
    Evidence e = number(Field::domain_mr_mode, Relation::Within, mr::expected(c.query), bit, "the offer needs it");
    return declared || needed == bit ? Fit::no(std::move(e)) : Fit::may(std::move(e));
}

}  // namespace

Fit domain_mr_bit_allocated(const MatchCase& c) { return fit_bit(c, FI_MR_ALLOCATED); }
Fit domain_mr_bit_collective(const MatchCase& c) { return fit_bit(c, FI_MR_COLLECTIVE); }
Fit domain_mr_bit_endpoint(const MatchCase& c) { return fit_bit(c, FI_MR_ENDPOINT); }
Fit domain_mr_bit_local(const MatchCase& c) { return fit_bit(c, FI_MR_LOCAL); }
Fit domain_mr_bit_mmu_notify(const MatchCase& c) { return fit_bit(c, FI_MR_MMU_NOTIFY); }
Fit domain_mr_bit_prov_key(const MatchCase& c) { return fit_bit(c, FI_MR_PROV_KEY); }
Fit domain_mr_bit_raw(const MatchCase& c) { return fit_bit(c, FI_MR_RAW); }
Fit domain_mr_bit_rma_event(const MatchCase& c) { return fit_bit(c, FI_MR_RMA_EVENT); }
Fit domain_mr_bit_virt_addr(const MatchCase& c) { return fit_bit(c, FI_MR_VIRT_ADDR); }

Ruling domain_mr_key_size_raw(const OfferCase& c) {
    if (names_only(c.query) || c.offer.domain.mr_key_size <= 8) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_mr_mode, Relation::Contains, FI_MR_RAW);
}

Demand domain_mr_key_size_raw_hints(const QueryCase& c) {
    const auto size = requested(c.query, Field::domain_mr_key_size);
    if (size <= 8) return Demand::not_requested();
    if ((mr::expected(c.query) & FI_MR_RAW) != 0) return Demand::nothing();
    return refuse_hint(c.query, {FI_ENODATA},
                       number(Field::domain_mr_key_size, Relation::AtMost, 8, size, "without FI_MR_RAW"));
}

}  // namespace selvage::model::clause
