// One completion, as the engine reports it and a completion queue keeps it until it is read in the queue's format.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

// Members in the order of fi_cq_tagged_entry, so that reading the largest format is one copy; the address of the source
// behind it.
struct Completion {
    void* context;
    uint64_t flags;
    size_t length;
    void* buffer;
    uint64_t data;
    uint64_t tag;
    fi_addr_t source;
};

// What fi_cq_read and fi_cq_sread, which ask for no source, make of an error entry. One whose only fault is an unknown
// source is an error for fi_cq_readfrom alone (fi_cq(3), FI_SOURCE_ERR): the data have arrived.
enum class WithoutSource : uint8_t {
    Error,
    Success,
    Nothing,  // no completion was requested
};
constexpr WithoutSource of_unknown_source(bool requested) {
    return requested ? WithoutSource::Success : WithoutSource::Nothing;
}

// One that failed. The application owns no memory of it; `err_data` is copied (at most kErrorDataMax bytes).
struct FailedCompletion {
    Completion base;
    size_t overflow;     // bytes that did not fit (FI_ETRUNC)
    int error;           // positive fabric errno
    int provider_error;  // what fi_cq_strerror explains
    const void* data;    // the address of an unknown source (FI_SOURCE_ERR), or nullptr
    size_t data_size;
    WithoutSource without_source = WithoutSource::Error;
};

// Of an operation that has moved nothing.
inline FailedCompletion failure_of(uint64_t flags, void* context, uint64_t tag, int error) {
    return {.base = {.context = context,
                     .flags = flags,
                     .length = 0,
                     .buffer = nullptr,
                     .data = 0,
                     .tag = tag,
                     .source = FI_ADDR_NOTAVAIL},
            .overflow = 0,
            .error = error,
            .provider_error = error,
            .data = nullptr,
            .data_size = 0};
}

}  // namespace selvage::impl
