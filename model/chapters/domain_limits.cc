// Sizes and counts of a domain: the predicates of spec/clauses/domain_limits.toml.  All but the last few have one
// shape: what hints ask for is a lower bound.  Pure functions; any thread.
#include "model/chapters/rules.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

Ruling reaches(const OfferCase& c, Field f) { return offer_to_hint(c, f, Relation::AtLeast); }

}  // namespace

Fit domain_mr_key_size_fits(const MatchCase& c) { return fit_size(c, Field::domain_mr_key_size); }
Ruling domain_mr_key_size_granted(const OfferCase& c) { return reaches(c, Field::domain_mr_key_size); }

Fit domain_cq_data_size_fits(const MatchCase& c) { return fit_size(c, Field::domain_cq_data_size); }
Ruling domain_cq_data_size_granted(const OfferCase& c) { return reaches(c, Field::domain_cq_data_size); }

Fit domain_cq_cnt_fits(const MatchCase& c) { return fit_size(c, Field::domain_cq_cnt); }
Ruling domain_cq_cnt_granted(const OfferCase& c) { return reaches(c, Field::domain_cq_cnt); }

Fit domain_ep_cnt_fits(const MatchCase& c) { return fit_size(c, Field::domain_ep_cnt); }
Ruling domain_ep_cnt_granted(const OfferCase& c) { return reaches(c, Field::domain_ep_cnt); }

Fit domain_tx_ctx_cnt_fits(const MatchCase& c) { return fit_size(c, Field::domain_tx_ctx_cnt); }
Ruling domain_tx_ctx_cnt_granted(const OfferCase& c) { return reaches(c, Field::domain_tx_ctx_cnt); }

Fit domain_rx_ctx_cnt_fits(const MatchCase& c) { return fit_size(c, Field::domain_rx_ctx_cnt); }
Ruling domain_rx_ctx_cnt_granted(const OfferCase& c) { return reaches(c, Field::domain_rx_ctx_cnt); }

Fit domain_max_ep_tx_ctx_fits(const MatchCase& c) { return fit_size(c, Field::domain_max_ep_tx_ctx); }
Ruling domain_max_ep_tx_ctx_granted(const OfferCase& c) { return reaches(c, Field::domain_max_ep_tx_ctx); }

Fit domain_max_ep_rx_ctx_fits(const MatchCase& c) { return fit_size(c, Field::domain_max_ep_rx_ctx); }
Ruling domain_max_ep_rx_ctx_granted(const OfferCase& c) { return reaches(c, Field::domain_max_ep_rx_ctx); }

Fit domain_max_ep_stx_ctx_fits(const MatchCase& c) { return fit_size(c, Field::domain_max_ep_stx_ctx); }
Ruling domain_max_ep_stx_ctx_granted(const OfferCase& c) { return reaches(c, Field::domain_max_ep_stx_ctx); }

Fit domain_max_ep_srx_ctx_fits(const MatchCase& c) { return fit_size(c, Field::domain_max_ep_srx_ctx); }
Ruling domain_max_ep_srx_ctx_granted(const OfferCase& c) { return reaches(c, Field::domain_max_ep_srx_ctx); }

Fit domain_cntr_cnt_fits(const MatchCase& c) { return fit_size(c, Field::domain_cntr_cnt); }
Ruling domain_cntr_cnt_granted(const OfferCase& c) { return reaches(c, Field::domain_cntr_cnt); }

Fit domain_mr_iov_limit_fits(const MatchCase& c) { return fit_size(c, Field::domain_mr_iov_limit); }
Ruling domain_mr_iov_limit_granted(const OfferCase& c) { return reaches(c, Field::domain_mr_iov_limit); }

Fit domain_max_err_data_fits(const MatchCase& c) { return fit_size(c, Field::domain_max_err_data); }
Ruling domain_max_err_data_granted(const OfferCase& c) { return reaches(c, Field::domain_max_err_data); }

Ruling domain_cq_data_size_minimum(const OfferCase& c) {
    if (names_only(c.query) || c.offer.domain.cq_data_size == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::domain_cq_data_size, Relation::AtLeast, 4);
}

// The number is called optimal, so above it the provider may choose, a declared one too.
Fit domain_mr_cnt_fits(const MatchCase& c) {
    const auto expected = requested(c.query, Field::domain_mr_cnt);
    if (expected == 0) return Fit::not_requested();
    if (expected <= c.entry.offer.domain.mr_cnt || expected <= c.entry.most.domain.mr_cnt) return Fit::fits();
    return Fit::may(hint_and_offer(c, Field::domain_mr_cnt, Relation::AtLeast, "above the optimal number"));
}
Ruling domain_mr_cnt_granted(const OfferCase& c) { return reaches(c, Field::domain_mr_cnt); }

}  // namespace selvage::model::clause
