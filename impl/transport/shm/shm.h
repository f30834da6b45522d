// The shared-memory provider: FI_EP_RDM between processes of one machine.
#ifndef SELVAGE_IMPL_TRANSPORT_SHM_SHM_H
#define SELVAGE_IMPL_TRANSPORT_SHM_SHM_H

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kShmProvider;
}

#endif
