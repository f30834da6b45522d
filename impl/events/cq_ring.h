// The entries of a completion queue in their order, successes and failures. Not locked.
//
// A ring of cache lines that grows when it is full and starts again at its first line whenever it runs empty, so that a
// queue which is read as fast as it is written stays in one line of the cache. A failure is an entry like any other
// with a record beside it. When memory for growth is short the ring is overrun: what it holds stays readable, nothing
// more is taken. room() and empty() may be asked by threads that do not hold the owner's lock.
#pragma once

#include <atomic>

#include "impl/events/completion.h"
#include "impl/net/address.h"

namespace selvage::impl {

// What an error entry has beyond a completion.
struct Failure {
    static constexpr size_t kDataMax = kAddressBytesMax;
    Failure* next;
    size_t overflow;
    int error;
    int provider_error;
    size_t data_size;
    WithoutSource without_source;
    unsigned char data[kDataMax];
};

struct alignas(64) CompletionSlot {
    Completion completion;
    Failure* failure;  // nullptr: a success
};
static_assert(sizeof(CompletionSlot) == 64);

class CompletionRing {
public:
    CompletionRing() = default;
    ~CompletionRing();
    CompletionRing(const CompletionRing&) = delete;
    CompletionRing& operator=(const CompletionRing&) = delete;

    // Room for so many entries without another allocation. False when memory is short; nothing changed then.
    bool grow_to(size_t entries);

    size_t size() const { return queued_.load(std::memory_order_relaxed); }
    bool overrun() const { return overrun_.load(std::memory_order_relaxed); }
    size_t failures() const { return failed_; }

    void push(const Completion& completion) {
        const size_t queued = size();
        if (queued >= capacity_) [[unlikely]] {
            if (!make_room()) return;
        }
        push_at_hand(completion);
    }
    // The same when there is room: size() is less than what grow_to() was asked for.
    void push_at_hand(const Completion& completion) {
        const size_t queued = size();
        CompletionSlot& slot = slots_[(head_ + queued) & mask_];
        slot.completion = completion;
        slot.failure = nullptr;
        queued_.store(queued + 1, std::memory_order_relaxed);
    }
    void push_failure(const FailedCompletion& failed);

    // The entry that many places behind the first; it must be there.
    CompletionSlot& at(size_t index) { return slots_[(head_ + index) & mask_]; }
    CompletionSlot& front() { return slots_[head_]; }
    void pop(size_t count) {
        const size_t left = size() - count;
        head_ = left ? (head_ + count) & mask_ : 0;
        queued_.store(left, std::memory_order_relaxed);
    }
    // Removes the first entry, a failure. Its record is valid until the next call.
    const Failure* pop_failure();
    // For a reader that asks for no sources. Whether the entry, a failure, is a success to it; makes it one; and
    // removes the first entries while nothing is to be read of them.
    bool succeeds_without_source(size_t index) { return at(index).failure->without_source == WithoutSource::Success; }
    void make_success(size_t index);
    void drop_unrequested();

private:
    [[gnu::noinline, gnu::cold]] bool make_room();
    Failure* take_record();

    std::atomic<size_t> queued_{0};
    size_t head_ = 0;
    size_t capacity_ = 0;  // a power of two, or none yet
    size_t mask_ = 0;      // capacity_ - 1
    CompletionSlot* slots_ = nullptr;
    void* block_ = nullptr;  // what was allocated for the slots
    std::atomic<bool> overrun_{false};
    size_t failed_ = 0;
    Failure* free_ = nullptr;     // records to use again
    Failure* retired_ = nullptr;  // the one that was popped last
    Failure spare_{};             // used, once, when there is no memory for a record
    bool spare_used_ = false;
};

}  // namespace selvage::impl
