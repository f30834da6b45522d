// Shared transmit and receive contexts, as an endpoint is bound to them. A shared transmit context is a promise about
// attributes, the queues are the endpoints'.
#pragma once

#include "impl/base/object.h"
#include "impl/domain/domain.h"

namespace selvage::impl {

struct SharedTransmit {
    fid_stx descriptor{};
    UseCount uses;  // none: an endpoint that is bound to it has no need of it
    Domain* domain = nullptr;
    fi_tx_attr attr{};
};

// The beginning of a SharedReceiver: what it holds is the engine's.
struct SharedReceive {
    fid_ep descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
};

template <typename Context>
int close_context(fid* descriptor) {
    auto* context = object_of<Context>(descriptor);
    if (!context->uses.close()) return -FI_EBUSY;
    context->domain->uses.release();
    destroy(context);
    return 0;
}

}  // namespace selvage::impl
