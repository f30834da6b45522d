// The completion queue: what the engine writes, in the order it writes it, read by the application in its format.
//
// For the engine:
//   write, write_error  an operation completed. Never fails and never loses anything: the ring grows beyond the size
//                       that was asked for. Called with the endpoint's lock held; the queue's own lock is the inner
//                       one.
//   reserve             once per endpoint at enable, with the number of operations that may be outstanding on it:
//                       with it, growth needs no memory for anything but what was never posted here (remote CQ data,
//                       several messages in one FI_MULTI_RECV buffer). The memory is not touched until it is used.
//   room                before posting with FI_RM_ENABLED: false while as many completions are unread as the queue has
//                       entries, then the answer is -FI_EAGAIN. What is outstanding already still finds its place.
//   attach, detach      a data path that moves when the queue is read. Without the endpoint's lock held.
// If memory is short all the same, the queue is overrun as fi_cq(3) says: what is in it can be read, then every read
// answers -FI_EAVAIL, and fi_cq_readerr FI_EOVERRUN.
//
// Locking: none where the domain is serialised and so are its endpoints (datapath.h), else a spin lock around the ring.
#pragma once

#include "impl/base/object.h"
#include "impl/events/cq_ring.h"
#include "impl/events/idle_reads.h"
#include "impl/progress/wait.h"

namespace selvage::impl {

struct DomainCore;

struct CompletionQueue {
    fid_cq descriptor{};
    UseCount uses;
    DomainCore* domain = nullptr;
    fi_cq_format format = FI_CQ_FORMAT_CONTEXT;
    size_t size = 0;
    fi_cq_wait_cond condition = FI_CQ_COND_NONE;
    WaitObject wait;
    WaitMember member;
    ProgressList progress{wait};
    std::atomic<uint32_t> wakeups{0};           // calls of fi_cq_signal
    std::atomic<uint32_t> answered_wakeups{0};  // as it was when a blocking read returned for one of them

    // `completion.source` is FI_ADDR_NOTAVAIL where fi_cq_readfrom has nothing to tell.
    void write(const Completion& completion) {
        lock();
        ring.push(completion);
        unlock();
        wait.signal_if_wanted();
    }
    void write_error(const FailedCompletion& failed);

    bool room() const { return ring.size() < size; }
    bool reserve(size_t operations);
    void unreserve(size_t operations);

    // 0, -FI_ENOMEM, or an errno for no descriptor or thread left; nothing is attached then.
    int attach(Progressive* path);
    void detach(Progressive* path);

    bool pending() { return holds(1); }
    // As many entries as that, or an error to read.
    bool holds(size_t entries);

    static CompletionQueue* of(fid_cq* cq) { return object_of<CompletionQueue>(cq); }

    // For cq*.cc and tests.
    void lock() {
        if (!serialised) ring_lock.lock();
    }
    void unlock() {
        if (!serialised) ring_lock.unlock();
    }
    // From now on, or no more, threads write here that the application does not serialise with those that read. Called
    // by the latter, in a domain that is serialised; counted. Nothing that the former look at is stored while there are
    // some.
    void share() {
        if (sharers++) return;
        serialised = false;
        at_hand = 0;
    }
    void unshare() {
        if (--sharers) return;
        serialised = true;
        at_hand = size;
    }
    bool serialised = false;
    uint32_t sharers = 0;
    size_t at_hand = 0;  // `size`, or 0 where the ring is locked: below it, who has a data path alone pushes by itself
    SpinLock ring_lock;  // protects the ring
    CompletionRing ring;
    std::atomic<uint32_t> reads{0};  // since the last one that made progress
    IdleReads idle;
    size_t reserved = 0;                   // protected by ring_lock
    std::atomic<uint64_t> served_caps{0};  // of its endpoints, with FI_RESTRICTED_COMP (catalog/duties.h)
};

ssize_t read_cq_error(fid_cq*, fi_cq_err_entry*, uint64_t flags);                                     // cq_error.cc
const char* strerror_cq(fid_cq*, int provider_errno, const void* data, char* buffer, size_t length);  // cq_error.cc
extern const fi_ops_cq kCqOps[FI_CQ_FORMAT_TAGGED + 1];  // by format; cq_read.cc

}  // namespace selvage::impl
