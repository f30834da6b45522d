// Errors out of completion queues: fi_cq_readerr and fi_cq_strerror.
#include <algorithm>
#include <cstdio>

#include "impl/base/abi_2x.h"
#include "impl/events/cq.h"
#include "impl/events/cq_errors.h"
#include "impl/fabric/domain_core.h"

namespace selvage::impl {

void CompletionQueue::write_error(const FailedCompletion& failed) {
    lock();
    ring.push_failure(failed);
    unlock();
    wait.signal_if_wanted();
}

namespace {

void fill(fi_cq_err_entry* out, const Completion& completion, const Failure& failure) {
    out->op_context = completion.context;
    out->flags = completion.flags;
    out->len = completion.length;
    out->buf = completion.buffer;
    out->data = completion.data;
    out->tag = completion.tag;
    out->olen = failure.overflow;
    out->err = failure.error;
    out->prov_errno = failure.provider_error;
}

// Before 1.5 the structure ends with err_data, and that is an output. Later a caller who gives room has it filled.
void fill_data(fi_cq_err_entry* out, const Failure& failure, uint32_t version) {
    void* data = failure.data_size ? const_cast<unsigned char*>(failure.data) : nullptr;
    if (version < FI_VERSION(1, 5)) {
        out->err_data = data;
        return;
    }
    if (!out->err_data_size || !out->err_data) {
        out->err_data = data;
        out->err_data_size = failure.data_size;
        return;
    }
    out->err_data_size = std::min(out->err_data_size, failure.data_size);
    if (out->err_data_size) memcpy(out->err_data, failure.data, out->err_data_size);
}

// Later still there is one more field behind the others.
void fill_source(fi_cq_err_entry* out, fi_addr_t source, uint32_t version) {
    if (version >= kVersionOfGrownStructures) static_cast<CqErrorEntry*>(out)->src_addr = source;
}

// With the queue's lock held.
ssize_t take_error(CompletionQueue& cq, fi_cq_err_entry* buffer) {
    const uint32_t version = cq.domain->version();
    if (!cq.ring.size()) {
        if (!cq.ring.overrun()) return -FI_EAGAIN;
        static constexpr Failure kOverrun{.next = nullptr,
                                          .overflow = 0,
                                          .error = FI_EOVERRUN,
                                          .provider_error = kErrorOverrun,
                                          .data_size = 0,
                                          .without_source = WithoutSource::Error,
                                          .data = {}};
        fill(buffer, Completion{}, kOverrun);
        fill_data(buffer, kOverrun, version);
        fill_source(buffer, FI_ADDR_NOTAVAIL, version);
        return 1;
    }
    if (!cq.ring.at(0).failure) return -FI_EAGAIN;
    const Completion completion = cq.ring.at(0).completion;
    const Failure* failure = cq.ring.pop_failure();
    fill(buffer, completion, *failure);
    fill_data(buffer, *failure, version);
    fill_source(buffer, completion.source, version);
    return 1;
}

}  // namespace

ssize_t read_cq_error(fid_cq* descriptor, fi_cq_err_entry* buffer, uint64_t flags) {
    auto* cq = CompletionQueue::of(descriptor);
    if (!buffer) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    if (!cq->ring.size()) cq->progress.advance();
    cq->lock();
    const ssize_t result = take_error(*cq, buffer);
    cq->unlock();
    return result;
}

const char* strerror_cq(fid_cq*, int provider_errno, const void*, char* buffer, size_t length) {
    const char* text = provider_error_text(provider_errno);
    if (!buffer || !length) return text;
    snprintf(buffer, length, "%s", text);
    return buffer;
}

}  // namespace selvage::impl
