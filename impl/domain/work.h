// An operation that waits for a counter, and what a counter knows of those that wait for it (work_queue.h).
//
// Sends of one range that have FI_TRIGGER are described by small records, which come from pools (work_pool.h): a Work
// for those that are posted one after another and differ in no more than a ShortSend says, and a ShortSend for each but
// the first. Everything else is a LongWork, which is allocated for the operation.
#pragma once

#include <sys/single_threaded.h>

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

// A send of one range, with or without a tag. The buffer is the application's.
// Neighbours here are none in the structures of the calls: two that are, which the application has stored just before,
// would be loaded as one vector, which has to wait for both stores to reach the cache.
struct ShortSend {
    ShortSend* next;  // what the same Work starts behind it, or nullptr
    const void* bytes;
    void* region;  // fi_mr_desc, or nullptr
    size_t size;
    fi_addr_t to;
    uint64_t data;
    uint64_t tag;
    void* context;
};

struct LongWork;

struct Work {
    enum class State : uint8_t { New, Waiting, Due, Starting, UnderWay };

    Work* next = nullptr;  // in the list of its state
    Work* previous = nullptr;
    fi_op_type type = FI_OP_SEND;
    State state = State::New;
    bool is_short = false;   // `send` is what there is to do, and the record is the pool's; otherwise a LongWork
    bool deferred = false;   // by FI_QUEUE_WORK, and a LongWork; otherwise an operation with FI_TRIGGER
    uint8_t sends = 0;       // with is_short: from `send` on
    uint64_t flags = 0;      // for the endpoint
    uint64_t threshold = 0;  // of the counter's successes; if deferred, of successes and errors
    uint64_t sequence = 0;   // of posting; nothing is posted between the sends of one Work
    Counter* trigger = nullptr;
    Endpoint* endpoint = nullptr;  // the base, not an alias; nullptr for FI_OP_CNTR_SET and FI_OP_CNTR_ADD
    ShortSend send;                // with is_short: the first
    ShortSend* last_send;          // with is_short

    bool receives() const { return type == FI_OP_RECV || type == FI_OP_TRECV; }
    bool moves_counter() const { return type == FI_OP_CNTR_SET || type == FI_OP_CNTR_ADD; }
    // In the order in which work that becomes due together is started.
    bool precedes(const Work& other) const {
        return threshold != other.threshold ? threshold < other.threshold : sequence < other.sequence;
    }
    // REQUIRES: !is_short
    LongWork& as_long();
    const LongWork& as_long() const;
};

// Made by create(), and destroyed by destroy().
struct LongWork final : Work, InternalOperation {
    void* context = nullptr;        // of the operation
    bool writes_entry = false;      // deferred: FI_COMPLETION
    Counter* completion = nullptr;  // or nullptr
    Counter* target = nullptr;      // that FI_OP_CNTR_SET and FI_OP_CNTR_ADD change
    uint64_t value = 0;             // by what, or to what
    const fi_deferred_work* request = nullptr;
    Transfer transfer;

    // Of deferred work (trigger/deferred.cc).
    void completed(const Completion& of_operation, CompletionQueue* queue) override;
    void failed(const FailedCompletion& of_operation, CompletionQueue* queue) override;
};

inline LongWork& Work::as_long() { return static_cast<LongWork&>(*this); }
inline const LongWork& Work::as_long() const { return static_cast<const LongWork&>(*this); }

// Protected by the lock of the WorkQueue, apart from the atomics, which spare who moves the counter that lock.
struct CounterWork {
    Counter* counter = nullptr;
    CounterWork* next = nullptr;  // in the list of the WorkQueue
    CounterWork* previous = nullptr;
    size_t references = 0;     // work that names the counter
    List<Work> for_successes;  // sorted by threshold and sequence
    List<Work> for_all;        // for successes and errors together
    // The first threshold of each list. Who adds work publishes the threshold and then reads the counter; who moves the
    // counter reads the threshold behind that. All four are sequentially consistent, so one of them sees the other. A
    // threshold that is higher than it was may be seen late: then the lock is taken in vain.
    std::atomic<uint64_t> next_successes{UINT64_MAX};
    std::atomic<uint64_t> next_all{UINT64_MAX};
    bool wanted = false;  // the counter's signals are

    List<Work>& list_of(const Work& work) { return work.deferred ? for_all : for_successes; }
    bool empty() const { return for_successes.empty() && for_all.empty(); }
    bool is_published() const { return (next_successes.load() & next_all.load()) != UINT64_MAX; }
    // By what is published. REQUIRES: the caller has moved the counter, or has the lock
    bool is_reached() const;  // trigger/counter_work.h

    [[gnu::always_inline]] static void publish(std::atomic<uint64_t>& threshold, uint64_t value) {
        const uint64_t old = threshold.load(std::memory_order_relaxed);
        if (old == value) return;
        // Two stores: an order that is chosen at run time is compiled as the strongest one.
        if (value > old || __libc_single_threaded) {
            threshold.store(value, std::memory_order_relaxed);
        } else {
            threshold.store(value, std::memory_order_seq_cst);
        }
    }
};

}  // namespace selvage::impl
