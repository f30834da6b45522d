// What the engine knows of work that waits for counters (trigger/).
//
// Calls with FI_TRIGGER among their flags are handed to post_triggered() and its kin, so that what reaches an engine
// has the flag for another reason: it is the library's own (events/internal_operation.h).
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

// Calls of any type with FI_TRIGGER (trigger/triggered.cc): what the call returns.
ssize_t post_triggered(fid_ep* descriptor, const TransferCall& call);
// The same of fi_sendmsg and fi_tsendmsg, with less to do.
ssize_t post_triggered_send(fid_ep* descriptor, const fi_msg& message, uint64_t flags);
ssize_t post_triggered_tagged_send(fid_ep* descriptor, const fi_msg_tagged& message, uint64_t flags);

}  // namespace selvage::impl
