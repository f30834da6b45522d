// What transmit and receive contexts have in common: tx_attr and rx_attr are judged by the same rules, each from its
// own side.  Only the chapters of the endpoint attributes include this file.
//
// Invariant: nothing here knows which of the two sides it judges but through ContextSide.
#pragma once

#include "model/chapters/rules.h"
#include "model_gen/vocabulary.h"

namespace selvage::model::rules {

/// One of the two context structures, by its fields and by the words that may stand in them.
struct ContextSide {
    Part part;
    Field caps, mode, op_flags, msg_order, comp_order;
    bool Word::*applies;
};
extern const ContextSide kTransmit;
extern const ContextSide kReceive;

/// Capabilities with the modifiers that they imply: a capability without any of its modifiers has them all.
std::uint64_t implied(std::uint64_t caps);
/// The words of a family that mean something for one side, as known to callers of a version.
std::uint64_t applicable(Family family, const ContextSide& side, Version version = kNewest);
/// The least favourable of two fits.
Fit worst(Fit a, Fit b);
/// A fit that is sure only if one of `caps` was asked for (or none at all): a size of RMA in a call without RMA is not.
Fit if_requested(const MatchCase& c, std::uint64_t caps, Field f, Fit fit);

// The clauses of one context, each for both sides.
Demand context_caps_outside_request(const QueryCase& c, const ContextSide& side);
Demand context_caps_foreign(const QueryCase& c, const ContextSide& side);
Fit context_caps_granted(const MatchCase& c, const ContextSide& side);
Ruling context_caps_returned(const OfferCase& c, const ContextSide& side);
Ruling context_caps_within_info(const OfferCase& c, const ContextSide& side);
Ruling context_caps_only_applicable(const OfferCase& c, const ContextSide& side);
Ruling context_caps_zero(const PairCase& c, const ContextSide& side);
Fit context_mode_granted(const MatchCase& c, const ContextSide& side);
Ruling context_mode_returned(const OfferCase& c, const ContextSide& side);
Ruling context_mode_within_info(const OfferCase& c, const ContextSide& side);
Ruling context_mode_only_applicable(const OfferCase& c, const ContextSide& side);
Ruling context_op_flags_only_applicable(const OfferCase& c, const ContextSide& side);
Fit context_msg_order_granted(const MatchCase& c, const ContextSide& side);
Fit context_msg_order_split(const MatchCase& c, const ContextSide& side);
Ruling context_msg_order_returned(const OfferCase& c, const ContextSide& side);

}  // namespace selvage::model::rules
