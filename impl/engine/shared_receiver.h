// The shared receive context (fi_srx_context): the receives of its endpoints, and the messages that came before one.
#pragma once

#include "impl/endpoint/shared.h"
#include "impl/engine/receiver.h"

namespace selvage::impl {

struct SharedReceiver : SharedReceive {
    fi_rx_attr attr{};
    size_t min_multi_recv = 0;
    ReceiveContext context;

    static SharedReceiver* of(fid_ep* ep) { return object_of<SharedReceiver>(ep); }
};

// Posting receives to a shared context.
extern const fi_ops_msg kSharedReceiveMsg;        // shared_post.cc
extern const fi_ops_tagged kSharedReceiveTagged;  // shared_post.cc
extern const fi_ops_ep kSharedReceiveEp;          // shared_post.cc

}  // namespace selvage::impl
