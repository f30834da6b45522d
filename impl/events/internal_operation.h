// An operation that the library itself has posted on an endpoint: deferred work (trigger/), a step of a collective
// operation (collective/).
//
// Its flags have FI_TRIGGER, which no call of an application brings to an engine (endpoint/triggered.h), and its
// context is the InternalOperation. No entry and no counter of the endpoint tells of it; one of these is called in
// their place, once, with the endpoint's lock held and in the middle of what the engine does: it posts nothing itself.
#pragma once

#include "impl/events/completion.h"

namespace selvage::impl {

struct CompletionQueue;

class InternalOperation {
public:
    // `queue`: where the endpoint's completions of this side go, or nullptr.
    virtual void completed(const Completion& completion, CompletionQueue* queue) = 0;
    virtual void failed(const FailedCompletion& completion, CompletionQueue* queue) = 0;

    static InternalOperation& of(void* context) { return *static_cast<InternalOperation*>(context); }
    // What the operation is posted with.
    void* as_context() { return this; }

protected:
    ~InternalOperation() = default;
};

}  // namespace selvage::impl
