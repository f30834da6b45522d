// An operation that waits for a counter, and what a counter knows of those that wait for it (work_queue.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "impl/base/list.h"
#include "impl/base/rdma.h"
#include "impl/events/internal_operation.h"

namespace selvage::impl {

struct Counter;
struct Endpoint;

// What the application passed: the vectors are copied, the buffers that they name are the application's.
struct Transfer {
    static constexpr size_t kRangesMax = 8;

    union {
        fi_msg message;
        fi_msg_tagged tagged;
        fi_msg_rma rma;
        fi_msg_atomic atomic;
    };
    fi_msg_fetch fetch;
    fi_msg_compare compare;
    union {
        iovec ranges[kRangesMax];
        fi_ioc operands[kRangesMax];
    };
    union {
        fi_rma_iov targets[kRangesMax];
        fi_rma_ioc atomic_targets[kRangesMax];
    };
    fi_ioc results[kRangesMax];
    fi_ioc comparands[kRangesMax];
    void* regions[kRangesMax];
    void* result_regions[kRangesMax];
    void* comparand_regions[kRangesMax];
};

struct Work final : InternalOperation {
    enum class State : uint8_t { New, Waiting, Due, Starting, UnderWay };

    Work* next = nullptr;  // in the list of its state
    Work* previous = nullptr;
    Work* next_of_all = nullptr;
    Work* previous_of_all = nullptr;
    State state = State::New;
    fi_op_type type = FI_OP_SEND;
    bool deferred = false;      // by FI_QUEUE_WORK; otherwise an operation with FI_TRIGGER
    bool writes_entry = false;  // deferred: FI_COMPLETION
    uint64_t flags = 0;         // for the endpoint
    uint64_t threshold = 0;     // of the counter's successes; if deferred, of successes and errors
    uint64_t sequence = 0;      // of posting
    Counter* trigger = nullptr;
    Counter* completion = nullptr;  // or nullptr
    Counter* target = nullptr;      // that FI_OP_CNTR_SET and FI_OP_CNTR_ADD change
    uint64_t value = 0;             // by what, or to what
    Endpoint* endpoint = nullptr;   // the base, not an alias; nullptr for these two
    void* context = nullptr;        // of the operation
    const fi_deferred_work* request = nullptr;
    Transfer transfer;

    // Of deferred work (trigger/deferred.cc).
    void completed(const Completion& of_operation, CompletionQueue* queue) override;
    void failed(const FailedCompletion& of_operation, CompletionQueue* queue) override;

    bool receives() const { return type == FI_OP_RECV || type == FI_OP_TRECV; }
    bool moves_counter() const { return type == FI_OP_CNTR_SET || type == FI_OP_CNTR_ADD; }
};

// Protected by the lock of the WorkQueue, apart from the atomics, which spare who moves the counter that lock.
struct CounterWork {
    size_t references = 0;                             // work that names the counter
    List<Work> for_successes;                          // sorted by threshold and sequence
    List<Work> for_all;                                // for successes and errors together
    std::atomic<uint64_t> next_successes{UINT64_MAX};  // the first threshold of each
    std::atomic<uint64_t> next_all{UINT64_MAX};
    bool wanted = false;  // the counter's signals are

    List<Work>& list_of(const Work& work) { return work.deferred ? for_all : for_successes; }
};

}  // namespace selvage::impl
