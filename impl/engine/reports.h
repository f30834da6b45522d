// Where the completions of an endpoint go: its queues and counters, as they were bound when it was enabled, and
// counters that were bound since (DataPath::set_counter).
//
// Called with the endpoint's lock; queues and counters have their own.
#pragma once

#include "impl/endpoint/ep.h"
#include "impl/events/cntr.h"
#include "impl/events/completion.h"
#include "impl/events/cq.h"
#include "impl/events/internal_operation.h"

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

    // An operation of this side succeeded; `entry` has FI_COMPLETION when the queue is to tell, or FI_TRIGGER (without
    // it) for the library's own (internal_operation.h).
    void transmitted(uint64_t entry, uint64_t flags, CounterSlot slot, void* context) {
        if (entry & FI_COMPLETION) [[likely]] {
            transmit->write({.context = context,
                             .flags = flags,
                             .length = 0,
                             .buffer = nullptr,
                             .data = 0,
                             .tag = 0,
                             .source = FI_ADDR_NOTAVAIL});
        } else if (entry & FI_TRIGGER) [[unlikely]] {
            return internal_transmitted(flags, context);
        }
        count(slot);
    }
    [[gnu::noinline]] void internal_transmitted(uint64_t flags, void* context) const {
        InternalOperation::of(context).completed(failure_of(flags, context, 0, 0).base, transmit);
    }
    void count(CounterSlot slot) {
        if (counters[slot]) [[unlikely]]
            counters[slot]->count(1);
    }
    void failed(CompletionQueue* queue, CounterSlot slot, const FailedCompletion& failure) {
        if (failure.base.flags & FI_TRIGGER) return InternalOperation::of(failure.base.context).failed(failure, queue);
        if (queue) queue->write_error(failure);
        if (failure.without_source != WithoutSource::Error) return count(slot);
        if (counters[slot]) counters[slot]->count_errors(1);
    }
    void transmit_failed(uint64_t flags, CounterSlot slot, void* context, int error) {
        failed(transmit, slot, failure_of(flags, context, 0, error));
    }
    // A receive that took nothing.
    void receive_failed(uint64_t flags, void* context, uint64_t tag, int error) {
        failed(receive, kSlotRecv, failure_of(flags, context, tag, error));
    }

    // Lets the queues and counters make progress of the endpoint at `path`. All of them or none.
    int attach(const Endpoint& endpoint, Progressive* path) {
        if (transmit && !transmit->reserve(endpoint.tx.size)) return -FI_ENOMEM;
        if (receive && !receive->reserve(endpoint.rx.size)) {
            if (transmit) transmit->unreserve(endpoint.tx.size);
            return -FI_ENOMEM;
        }
        int error = 0;
        size_t done = 0;
        visit([&](auto& queue) {
            if (!error) error = queue.attach(path);
            if (!error) ++done;
        });
        if (!error) return 0;
        visit([&](auto& queue) {
            if (done) --done, queue.detach(path);
        });
        unreserve(endpoint);
        return error;
    }
    // After attach() returned 0.
    void detach(const Endpoint& endpoint, Progressive* path) {
        visit([&](auto& queue) { queue.detach(path); });
        unreserve(endpoint);
    }

    // Of an endpoint that threads share from now on, or no more (DataPath::share).
    void share() {
        visit([](auto& queue) { queue.share(); });
    }
    void unshare() {
        visit([](auto& queue) { queue.unshare(); });
    }
    // Spurious, to those who sleep.
    void wake_waiters() {
        visit([](auto& queue) { queue.wait.signal(); });
    }

private:
    template <typename Visit>
    void visit(Visit each) {
        if (transmit) each(*transmit);
        if (receive) each(*receive);
        for (Counter* counter : counters) {
            if (counter) each(*counter);
        }
    }
    void unreserve(const Endpoint& endpoint) {
        if (transmit) transmit->unreserve(endpoint.tx.size);
        if (receive) receive->unreserve(endpoint.rx.size);
    }
};

}  // namespace selvage::impl
