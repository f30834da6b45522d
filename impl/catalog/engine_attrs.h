// What the engine gives every transport: the common part of an offer. A transport fills in names, addresses and the
// capabilities that depend on where it reaches. Only what the engine does is promised here.
#pragma once

#include "impl/catalog/offer.h"

namespace selvage::impl {

// `reach` is FI_LOCAL_COMM and/or FI_REMOTE_COMM.
void fill_engine_attrs(Offer& offer, fi_ep_type type, uint64_t reach);

}  // namespace selvage::impl
