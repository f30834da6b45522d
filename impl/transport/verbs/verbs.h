// The verbs provider: RDMA devices. Its place in the list is here; it offers nothing yet.
#ifndef SELVAGE_IMPL_TRANSPORT_VERBS_VERBS_H
#define SELVAGE_IMPL_TRANSPORT_VERBS_VERBS_H

#include "impl/core/offer.h"

namespace selvage::impl {
extern const Provider kVerbsProvider;
}

#endif
