// The transmit context attributes: spec/clauses/endpoint_tx_attr.toml and endpoint_context.toml.
#include "model/chapters/endpoint_context.h"

namespace selvage::model::clause {

using namespace rules;

Demand endpoint_tx_caps_outside_request(const QueryCase& c) { return context_caps_outside_request(c, kTransmit); }
Demand endpoint_tx_caps_foreign(const QueryCase& c) { return context_caps_foreign(c, kTransmit); }
Fit endpoint_tx_caps_granted(const MatchCase& c) { return context_caps_granted(c, kTransmit); }
Ruling endpoint_tx_caps_returned(const OfferCase& c) { return context_caps_returned(c, kTransmit); }
Ruling endpoint_tx_caps_within_info(const OfferCase& c) { return context_caps_within_info(c, kTransmit); }
Ruling endpoint_tx_caps_only_applicable(const OfferCase& c) { return context_caps_only_applicable(c, kTransmit); }
Ruling endpoint_tx_caps_zero(const PairCase& c) { return context_caps_zero(c, kTransmit); }

Fit endpoint_tx_mode_granted(const MatchCase& c) { return context_mode_granted(c, kTransmit); }
Ruling endpoint_tx_mode_returned(const OfferCase& c) { return context_mode_returned(c, kTransmit); }
Ruling endpoint_tx_mode_within_info(const OfferCase& c) { return context_mode_within_info(c, kTransmit); }
Ruling endpoint_tx_mode_only_transmit(const OfferCase& c) { return context_mode_only_applicable(c, kTransmit); }

Fit endpoint_tx_op_flags_granted(const MatchCase& c) { return fit_bits(c, Field::tx_op_flags); }
Ruling endpoint_tx_op_flags_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::tx_op_flags, Relation::Contains);
}
Ruling endpoint_tx_op_flags_only_applicable(const OfferCase& c) {
    return context_op_flags_only_applicable(c, kTransmit);
}

Fit endpoint_tx_msg_order_granted(const MatchCase& c) { return context_msg_order_granted(c, kTransmit); }
Ruling endpoint_tx_msg_order_returned(const OfferCase& c) { return context_msg_order_returned(c, kTransmit); }
Fit endpoint_msg_order_split(const MatchCase& c) {
    return worst(context_msg_order_split(c, kTransmit), context_msg_order_split(c, kReceive));
}

// The bits of FI_ORDER_STRICT contain those of every weaker order.
Fit endpoint_tx_comp_order_granted(const MatchCase& c) { return fit_bits(c, Field::tx_comp_order); }
Ruling endpoint_tx_comp_order_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::tx_comp_order, Relation::Contains);
}

Fit endpoint_inject_size_granted(const MatchCase& c) { return fit_size(c, Field::tx_inject_size); }
Ruling endpoint_inject_size_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::tx_inject_size, Relation::AtLeast);
}

Fit endpoint_tx_size_granted(const MatchCase& c) { return fit_size(c, Field::tx_size); }
Ruling endpoint_tx_size_returned(const OfferCase& c) { return offer_to_hint(c, Field::tx_size, Relation::AtLeast); }

Fit endpoint_tx_iov_limit_granted(const MatchCase& c) { return fit_size(c, Field::tx_iov_limit); }
Ruling endpoint_tx_iov_limit_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::tx_iov_limit, Relation::AtLeast);
}

Fit endpoint_rma_iov_limit_granted(const MatchCase& c) {
    return if_requested(c, FI_RMA | FI_ATOMIC, Field::tx_rma_iov_limit, fit_size(c, Field::tx_rma_iov_limit));
}
Ruling endpoint_rma_iov_limit_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::tx_rma_iov_limit, Relation::AtLeast);
}

Fit endpoint_tx_tclass_granted(const MatchCase& c) { return fit_choice(c, Field::tx_tclass); }
Ruling endpoint_tx_tclass_returned(const OfferCase& c) {
    // Best effort is what the default is in the absence of any other.
    const auto domain = c.offer.domain.tclass;
    const bool is_default =
        c.offer.tx.tclass == FI_TC_UNSPEC && (domain == FI_TC_UNSPEC || domain == FI_TC_BEST_EFFORT);
    if (requested(c.query, Field::tx_tclass) == FI_TC_BEST_EFFORT && is_default && !names_only(c.query))
        return Ruling::holds();
    return offer_to_hint(c, Field::tx_tclass, Relation::Equals);
}

Ruling endpoint_tx_tclass_default(const OfferCase& c) {
    if (requested(c.query, Field::tx_tclass) != 0 || names_only(c.query)) return Ruling::not_applicable();
    if (!c.offer.has(Part::Tx)) return Ruling::not_applicable();
    if (c.offer.tx.tclass == FI_TC_UNSPEC) return Ruling::holds();
    return offer_to_field(c, Field::tx_tclass, Relation::Equals, Field::domain_tclass);
}

}  // namespace selvage::model::clause
