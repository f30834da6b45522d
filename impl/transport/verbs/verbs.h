// The verbs provider: FI_EP_MSG, FI_EP_DGRAM and FI_EP_RDM over every RDMA device whose interface has an address.
#pragma once

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kVerbsProvider;
}
