// The completion queue as an object: formats, waiting, errors to read. Completions are written by the engine.
#ifndef SELVAGE_IMPL_CORE_CQ_H
#define SELVAGE_IMPL_CORE_CQ_H

#include "impl/core/object.h"
#include "impl/core/wait.h"

namespace selvage::impl {

struct Domain;

struct CompletionQueue {
    fid_cq descriptor{};
    UseCount uses;
    Domain* domain = nullptr;
    fi_cq_format format = FI_CQ_FORMAT_CONTEXT;
    size_t size = 0;
    fi_cq_wait_cond condition = FI_CQ_COND_NONE;
    WaitObject wait;
    WaitMember member;
    std::atomic<uint32_t> wakeups{0};  // fi_cq_signal calls that a blocked reader has yet to notice

    bool pending();

    static CompletionQueue* of(fid_cq* cq) { return object_of<CompletionQueue>(cq); }
};

}  // namespace selvage::impl

#endif
