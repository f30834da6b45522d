// Where the completions of an endpoint go: its queues and counters, as they were bound when it was enabled.
//
// Called with the endpoint's lock; queues and counters have their own.
#ifndef SELVAGE_IMPL_ENGINE_REPORTS_H
#define SELVAGE_IMPL_ENGINE_REPORTS_H

#include "impl/core/cntr.h"
#include "impl/core/completion.h"
#include "impl/core/cq.h"
#include "impl/core/ep.h"

namespace selvage::impl {

struct Reports {
    CompletionQueue* transmit = nullptr;
    CompletionQueue* receive = nullptr;
    Counter* counters[kSlots] = {};
    uint64_t receive_always = 0;  // FI_COMPLETION unless receives are selective
    void* endpoint_context = nullptr;

    void open(Endpoint& endpoint) {
        transmit = endpoint.tx_cq;
        receive = endpoint.rx_cq;
        memcpy(counters, endpoint.counters, sizeof counters);
        receive_always = endpoint.selective_receive ? 0 : FI_COMPLETION;
        endpoint_context = endpoint.descriptor.fid.context;
    }

    // An operation of this side succeeded; `entry` has FI_COMPLETION when the queue is to tell.
    void transmitted(uint64_t entry, uint64_t flags, CounterSlot slot, void* context) {
        if (entry & FI_COMPLETION) [[likely]] {
            transmit->write({.context = context,
                             .flags = flags,
                             .length = 0,
                             .buffer = nullptr,
                             .data = 0,
                             .tag = 0,
                             .source = FI_ADDR_NOTAVAIL});
        }
        count(slot);
    }
    void count(CounterSlot slot) {
        if (counters[slot]) [[unlikely]]
            counters[slot]->count(1);
    }
    void failed(CompletionQueue* queue, CounterSlot slot, const FailedCompletion& failure) {
        if (queue) queue->write_error(failure);
        if (counters[slot]) counters[slot]->count_errors(1);
    }
    void transmit_failed(uint64_t flags, CounterSlot slot, void* context, int error) {
        failed(transmit, slot,
               {.base = {.context = context,
                         .flags = flags,
                         .length = 0,
                         .buffer = nullptr,
                         .data = 0,
                         .tag = 0,
                         .source = FI_ADDR_NOTAVAIL},
                .overflow = 0,
                .error = error,
                .provider_error = error,
                .data = nullptr,
                .data_size = 0});
    }
};

}  // namespace selvage::impl

#endif
