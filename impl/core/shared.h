// Shared transmit and receive contexts, as objects. A shared receive context holds the receives of its endpoints and
// the messages that came before one; a shared transmit context is a promise about attributes, the queues are the
// endpoints'.
#ifndef SELVAGE_IMPL_CORE_SHARED_H
#define SELVAGE_IMPL_CORE_SHARED_H

#include "impl/core/object.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {

struct SharedTransmit {
    fid_stx descriptor{};
    UseCount uses;  // none: an endpoint that is bound to it has no need of it
    Domain* domain = nullptr;
    fi_tx_attr attr{};
};

struct SharedReceive {
    fid_ep descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
    fi_rx_attr attr{};
    bool locked = true;  // threads may post and receive at once
    size_t min_multi_recv = 0;
    ReceiveContext context;

    static SharedReceive* of(fid_ep* ep) { return object_of<SharedReceive>(ep); }
};

// Posting receives to a shared context.
extern const fi_ops_msg kSharedReceiveMsg;        // shared_post.cc
extern const fi_ops_tagged kSharedReceiveTagged;  // shared_post.cc
extern const fi_ops_ep kSharedReceiveEp;          // shared_post.cc

}  // namespace selvage::impl

#endif
