// The checks before the data path of one endpoint, while duties are insisted on (catalog/duties.h).
//
// An endpoint that is enabled has the tables of its transport in its descriptor. put_checks_before() puts tables of
// this room in their place, whose functions look at the call and hand it on in the form with a structure and flags.
// What injects goes on as it is, but for its prefix. The queues of the endpoint get a table of this room, too
// (queue.cc).
#pragma once

#include "impl/endpoint/ep.h"
#include "impl/insist/operations.h"

namespace selvage::impl {

struct Checks {
    // The transport's.
    const fi_ops_msg* msg;
    const fi_ops_tagged* tagged;
    const fi_ops_rma* rma;
    const fi_ops_atomic* atomic;
    // The endpoint's own, of the functions below and, where it cannot do a thing, those above.
    fi_ops_msg checked_msg;
    fi_ops_tagged checked_tagged;
    fi_ops_rma checked_rma;
    fi_ops_atomic checked_atomic;

    static const Checks& of(fid_ep* ep) { return *Endpoint::of(ep)->base->checks; }
};

fi_ops_msg checked_messages(const Checks& checks, const Endpoint& endpoint);            // messages.cc
fi_ops_tagged checked_tagged_messages(const Checks& checks, const Endpoint& endpoint);  // messages.cc
fi_ops_rma checked_accesses(const Checks& checks, const Endpoint& endpoint);            // accesses.cc
fi_ops_atomic checked_atomics(const Checks& checks, const Endpoint& endpoint);          // accesses.cc
extern const fi_ops_cq kCheckedCqOps;                                                   // queue.cc

// A call that begins an operation, as far as it is looked at.
struct LookedAtCall {
    const char* name;
    fid_ep* ep;
    const iovec* ranges;
    void* const* regions;
    size_t count;
    void* context;
    uint64_t flags;  // of the call, with the defaults of the endpoint
    bool receives;
};

// Whether trigger/ starts work that it has kept, deferred or triggered: neither the context nor the vectors of the call
// are the application's.
bool starts_work(fid_ep* ep, uint64_t flags);

// With FI_BUFFERED_RECV, on an endpoint that took it on: messages are notified, and then claimed or discarded.
bool buffers_receives(fid_ep* ep);

// With FI_MR_LOCAL: each range is in the region that its desc names, which gives `access`. 0 or -FI_EINVAL.
int check_regions(const LookedAtCall& call, uint64_t access);

// Tells the table of operations of one that will have a completion.
int begin(const LookedAtCall& call, InsistedOperation** operation);

// Begins the operation and hands it on.
template <typename Forward>
ssize_t hand_on(const LookedAtCall& call, Forward forward) {
    InsistedOperation* operation = nullptr;
    const int error = begin(call, &operation);
    if (error) return error;
    const ssize_t result = forward();
    if (result < 0) take_back(operation);
    return result;
}

}  // namespace selvage::impl
