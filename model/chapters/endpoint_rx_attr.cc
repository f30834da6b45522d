// The receive context attributes: spec/clauses/endpoint_rx_attr.toml and endpoint_context.toml.
#include "model/chapters/endpoint_context.h"

namespace selvage::model::clause {

using namespace rules;

Demand endpoint_rx_caps_outside_request(const QueryCase& c) { return context_caps_outside_request(c, kReceive); }
Demand endpoint_rx_caps_foreign(const QueryCase& c) { return context_caps_foreign(c, kReceive); }
Fit endpoint_rx_caps_granted(const MatchCase& c) { return context_caps_granted(c, kReceive); }
Ruling endpoint_rx_caps_returned(const OfferCase& c) { return context_caps_returned(c, kReceive); }
Ruling endpoint_rx_caps_within_info(const OfferCase& c) { return context_caps_within_info(c, kReceive); }
Ruling endpoint_rx_caps_only_applicable(const OfferCase& c) { return context_caps_only_applicable(c, kReceive); }
Ruling endpoint_rx_caps_zero(const PairCase& c) { return context_caps_zero(c, kReceive); }

Fit endpoint_rx_mode_granted(const MatchCase& c) { return context_mode_granted(c, kReceive); }
Ruling endpoint_rx_mode_returned(const OfferCase& c) { return context_mode_returned(c, kReceive); }
Ruling endpoint_rx_mode_within_info(const OfferCase& c) { return context_mode_within_info(c, kReceive); }

Fit endpoint_rx_op_flags_granted(const MatchCase& c) { return fit_bits(c, Field::rx_op_flags); }
Ruling endpoint_rx_op_flags_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::rx_op_flags, Relation::Contains);
}
Ruling endpoint_rx_op_flags_only_applicable(const OfferCase& c) {
    return context_op_flags_only_applicable(c, kReceive);
}

Fit endpoint_rx_msg_order_granted(const MatchCase& c) { return context_msg_order_granted(c, kReceive); }
Ruling endpoint_rx_msg_order_returned(const OfferCase& c) { return context_msg_order_returned(c, kReceive); }

Fit endpoint_rx_comp_order_granted(const MatchCase& c) { return fit_bits(c, Field::rx_comp_order); }
Ruling endpoint_rx_comp_order_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::rx_comp_order, Relation::Contains);
}

// A value that the provider may adjust or ignore fails no call, whatever it is.
Fit endpoint_buffered_recv_hint(const MatchCase& c) {
    return requested(c.query, Field::rx_total_buffered_recv) == 0 ? Fit::not_requested() : Fit::fits();
}

Fit endpoint_rx_size_granted(const MatchCase& c) { return fit_size(c, Field::rx_size); }
Ruling endpoint_rx_size_returned(const OfferCase& c) { return offer_to_hint(c, Field::rx_size, Relation::AtLeast); }

Fit endpoint_rx_iov_limit_granted(const MatchCase& c) { return fit_size(c, Field::rx_iov_limit); }
Ruling endpoint_rx_iov_limit_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::rx_iov_limit, Relation::AtLeast);
}

}  // namespace selvage::model::clause
