// Shared transmit and receive contexts, as objects.
#ifndef SELVAGE_IMPL_CORE_SHARED_H
#define SELVAGE_IMPL_CORE_SHARED_H

#include "impl/core/object.h"

namespace selvage::impl {

struct Domain;

struct SharedTransmit {
    fid_stx descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
    fi_tx_attr attr{};
};

struct SharedReceive {
    fid_ep descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
    fi_rx_attr attr{};
};

}  // namespace selvage::impl

#endif
