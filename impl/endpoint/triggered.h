// What the engine knows of work that waits for counters (trigger/).
//
// Calls with FI_TRIGGER among their flags are handed to post_triggered(), so that what reaches an engine has the flag
// for another reason: it is the library's own (events/internal_operation.h).
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

// A call with its flags, in one form for all types.
struct TransferCall {
    fi_op_type type;
    const void* message;  // fi_msg, fi_msg_tagged, fi_msg_rma or fi_msg_atomic
    uint64_t flags;
    fi_msg_fetch fetch = {};
    fi_msg_compare compare = {};
};

ssize_t post_triggered(fid_ep* descriptor, const TransferCall& call);  // trigger/triggered.cc

}  // namespace selvage::impl
