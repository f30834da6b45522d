// The operations that are under way on endpoints with checks, by their contexts.
//
// With FI_CONTEXT and FI_CONTEXT2 the provider uses the structure that an application passes as context: it is marked
// when the operation begins, the mark is looked at when it completes, and the structure is overwritten then, so that
// what an application keeps in it, changes in it or uses twice is found. With FI_ASYNC_IOV it reads vectors once more
// after the call has returned: when the queue of the operation is read next.
//
// One table for the process, with a lock of its own, inside which nothing is called. Any thread.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

struct CompletionQueue;
struct Endpoint;

// What a call says of the operation that it begins.
struct BegunCall {
    const char* name;
    const Endpoint* endpoint;  // the base
    CompletionQueue* queue;    // where its completion will be
    void* context;
    bool many;  // FI_MULTI_RECV: it has several completions
    const iovec* ranges;
    void* const* regions;
    size_t count;
};

struct InsistedOperation;

// 0 with the operation, or a negative errno with a line in the log.
int begin_operation(const BegunCall& call, InsistedOperation** result);
// The data path has refused it.
void take_back(InsistedOperation* operation);
// An entry of the queue has been read. False: the application has broken a rule, and the operation fails.
bool complete_operation(const CompletionQueue& queue, const fi_cq_tagged_entry& entry, bool failed);
// The queue is about to be read: looks at the vectors of operations that began since.
void look_at_vectors(const CompletionQueue& queue);
// The endpoint is closed.
void forget_operations(const Endpoint& endpoint);

}  // namespace selvage::impl
