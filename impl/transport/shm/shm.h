// The shared-memory provider: FI_EP_RDM between processes of one machine.
#pragma once

#include "impl/catalog/offer.h"

namespace selvage::impl {
extern const Provider kShmProvider;
}
