// What the engine gives every transport: the common part of an offer. A transport fills in names, addresses and the
// capabilities that depend on where it reaches. Only what the engine does is promised here.
#pragma once

#include "impl/catalog/offer.h"
#include "impl/net/interfaces.h"

namespace selvage::impl {

// `reach` is FI_LOCAL_COMM and/or FI_REMOTE_COMM.
void fill_engine_attrs(Offer& offer, fi_ep_type type, uint64_t reach);

// Endpoints of the offer may be scalable, and peers name their receive contexts.
void offer_contexts(Offer& offer);

// Takes out of an offer what FI_EP_DGRAM has not: order, remote memory, answers, contexts that endpoints share.
// `caps` are all that it has.
void restrict_to_datagrams(InfoSet& set, uint64_t caps);

// The address of an interface, by which the offer is found and named.
void place_on(Offer& offer, const Provider& self, const InterfaceAddress& interface);

}  // namespace selvage::impl
