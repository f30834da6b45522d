// The verbs provider: FI_EP_MSG, FI_EP_DGRAM and FI_EP_RDM over every RDMA device whose interface has an address.
#ifndef SELVAGE_IMPL_TRANSPORT_VERBS_VERBS_H
#define SELVAGE_IMPL_TRANSPORT_VERBS_VERBS_H

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kVerbsProvider;
}

#endif
