// What the calls that start an operation say, in one form for all their variants.
#pragma once

#include "impl/endpoint/atomic_types.h"
#include "impl/engine/protocol.h"

namespace selvage::impl {

struct SendRequest {
    FrameOp op;  // Message or Tagged
    const iovec* ranges;
    size_t count;
    fi_addr_t to;
    uint64_t tag;
    uint64_t data;
    bool has_data;
    void* context;
    uint64_t flags;
    void* const* regions = nullptr;  // fi_mr_desc of each range, where the application has to name them
};

// A read or a write.
struct AccessRequest {
    bool write;
    const iovec* ranges;
    size_t count;
    const fi_rma_iov* targets;
    size_t target_count;
    fi_addr_t to;
    uint64_t data;
    bool has_data;
    void* context;
    uint64_t flags;
    void* const* regions = nullptr;  // fi_mr_desc of each range, where the application has to name them
};

struct AtomicRequest {
    AtomicForm form;
    fi_datatype type;
    fi_op op;
    const fi_ioc* operands;
    size_t count;
    const fi_ioc* compare;
    size_t compare_count;
    const fi_ioc* results;
    size_t result_count;
    const fi_rma_ioc* targets;
    size_t target_count;
    fi_addr_t to;
    void* context;
    uint64_t flags;
    // fi_mr_desc of each, where endpoints have FI_HMEM.
    void* const* regions = nullptr;
    void* const* compare_regions = nullptr;
    void* const* result_regions = nullptr;
};

}  // namespace selvage::impl
