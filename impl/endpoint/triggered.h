// What the engine knows of work that waits for counters (trigger/).
//
// Calls with FI_TRIGGER among their flags are handed to post_triggered(), so that what reaches an engine has the flag
// for another reason: it is deferred work. Its context is the work; no entry and no counter of the endpoint tells of
// it, but deferred_completed() or deferred_failed() is called in their place, with the endpoint's lock held.
#pragma once

#include "impl/events/completion.h"

namespace selvage::impl {

struct CompletionQueue;

// A call with its flags, in one form for all types.
struct TransferCall {
    fi_op_type type;
    const void* message;  // fi_msg, fi_msg_tagged, fi_msg_rma or fi_msg_atomic
    uint64_t flags;
    fi_msg_fetch fetch = {};
    fi_msg_compare compare = {};
};

ssize_t post_triggered(fid_ep* descriptor, const TransferCall& call);  // trigger/triggered.cc

// `queue`: where the endpoint's completions of this side go, or nullptr.
void deferred_completed(const Completion& completion, CompletionQueue* queue);     // trigger/deferred.cc
void deferred_failed(const FailedCompletion& completion, CompletionQueue* queue);  // trigger/deferred.cc

}  // namespace selvage::impl
