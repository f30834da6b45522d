// Scalable endpoints (fi_endpoint(3), SCALABLE ENDPOINTS): one address, and transmit and receive contexts behind it.
//
// A context is an Endpoint that only sends or only receives. It has a data path of its own, with its own peers, queues
// and lock, from its fi_enable on; what it shares with the others of its endpoint is the address, of which its data
// path uses the part that its number stands for (net/context_id.h), the address vector, and what makes connections
// where there are any (ContextListener). So threads that use contexts of their own never meet in a data transfer.
//
// 1. The address is in use from fi_enable of the endpoint or of its first context on, whichever comes first.
// 2. A context takes its attributes, address and address vector from the endpoint; a use of it keeps that open.
//
// 3. A receive context that takes no messages may be bound to no queue: it makes progress with that of a transmit
//    context, which has to be enabled before. Programs for one-sided transfers have such contexts.
//
// Lock order: a context's control lock, then the endpoint's.
#pragma once

#include "impl/endpoint/ep.h"
#include "impl/net/context_id.h"

namespace selvage::impl {

// What a provider keeps for all contexts of an endpoint.
class ContextListener {
public:
    // No context uses it any more. Destroys it.
    virtual void close() = 0;

protected:
    ~ContextListener() = default;
};

struct ScalableEndpoint : Endpoint {
    // Protected by `lock`. `enabled`: the address is in use.
    ContextListener* listener = nullptr;
    Endpoint* transmits[kContextsMax] = {};
    Endpoint* receives[kContextsMax] = {};
    CompletionQueue* queues[kContextsMax] = {};  // of transmit contexts, from fi_enable on

    static ScalableEndpoint* of(fid_ep* ep) { return object_of<ScalableEndpoint>(ep); }
};

extern const fi_ops_cm kContextCm;  // ep_control.cc

// With the context's lock, when it is enabled: what it has from its endpoint. 0, or a negative fabric errno.
int join_scalable(Endpoint* context);
// When it is closed, and still bound: its index is free.
void forget_context(Endpoint* context);

}  // namespace selvage::impl
