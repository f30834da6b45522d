// Something that moves only when it is called: the part of a data path, or of a connection manager, that queues and
// counters know. They call progress() when the application reads them and the other two before a thread sleeps.
//
// Who calls: any thread that reads, waits, polls, or runs automatic progress; the object locks itself. The queues keep
// a pointer from attach() to detach() (progress_list.h): after detach no thread is inside and none will come.
//
// Sleeping and arming. A thread that wants to sleep registers as a sleeper, then calls arm(), then sleeps. progress()
// by another thread disarms; it is followed by a look at the sleepers, and arms again for them (advance()). The
// object's own lock orders the two: either arm() comes after that progress(), or the thread that made progress sees the
// sleeper, who registered before it took the lock in arm(). An implementation that looks for arrivals in another call
// than progress() (a posted operation that needs room) ends that call with after_progress(), too.
//
// Due work. A counter is moved with the lock of a data path held, and what waits for it (domain/work_queue.h) may need
// that lock. So it is only marked as due there, on every data path of the domain; who has made progress on one starts
// it in after_progress(), where no such lock is held. Sleepers are woken to do so.
#pragma once

#include "impl/base/spin_lock.h"

namespace selvage::impl {

// A thread, or a descriptor in the application's hands, that waits for arrivals.
class Sleeper {
public:
    virtual void wake() = 0;  // from any thread, holding anything; does not block

protected:
    ~Sleeper() = default;

private:
    friend class Progressive;
    Sleeper* next_ = nullptr;
};

class DueWork {
public:
    // Starts what is due; what cannot start now stays due. Returns at once when another thread is about it.
    virtual void run() = 0;

protected:
    ~DueWork() = default;
};

class Progressive {
public:
    // Handles what has arrived and what could not be sent before; writes completions or events. Returns at once when
    // another thread makes progress on it already.
    virtual void progress() = 0;
    // Before sleeping: true when nothing is left to do, and wait_descriptor() will become readable when there is.
    virtual bool arm() = 0;
    // A descriptor for poll, or kNoDescriptor if none is needed (everything happens in the calls of this process).
    // Another negative value is the errno for which there is none now; a later call may find one. A descriptor stays
    // the same until detach.
    virtual int wait_descriptor() const = 0;
    static constexpr int kNoDescriptor = -1;

    // What the queues call.
    void advance() {
        progress();
        after_progress();
    }
    void after_progress() {
        if (attention_.load(std::memory_order_relaxed)) [[unlikely]]
            attend();
    }
    void add_sleeper(Sleeper& sleeper) {
        SpinGuard guard(sleepers_lock_);
        sleeper.next_ = sleepers_;
        sleepers_ = &sleeper;
        attention_.fetch_or(kSleepers);
    }
    void remove_sleeper(Sleeper& sleeper) {
        SpinGuard guard(sleepers_lock_);
        Sleeper** link = &sleepers_;
        while (*link && *link != &sleeper) link = &(*link)->next_;
        if (*link) *link = sleeper.next_;
        if (!sleepers_) attention_.fetch_and(static_cast<uint8_t>(~kSleepers));
    }

    // For the work of the domain, which has its own list of the objects. A sleeper that was added before is woken, and
    // one that is added later finds has_due_work() before it sleeps.
    void mark_due(DueWork& work) {
        work_.store(&work, std::memory_order_relaxed);
        attention_.fetch_or(kDue);
        wake_sleepers();
    }
    void unmark_due() { attention_.fetch_and(static_cast<uint8_t>(~kDue)); }
    bool has_due_work() const { return attention_.load() & kDue; }
    Progressive* next_path = nullptr;  // in that list
    Progressive* previous_path = nullptr;

protected:
    ~Progressive() = default;

private:
    static constexpr uint8_t kSleepers = 1;  // sleepers_ is not empty
    static constexpr uint8_t kDue = 2;

    [[gnu::noinline, gnu::cold]] void attend() {
        if (has_due_work()) work_.load(std::memory_order_relaxed)->run();
        if (!(attention_.load(std::memory_order_relaxed) & kSleepers)) return;
        if (arm() && !has_due_work()) return;
        // There is more to do than one call does, and perhaps no other comes from here: they are to do it.
        wake_sleepers();
    }
    void wake_sleepers() {
        SpinGuard guard(sleepers_lock_);
        for (Sleeper* sleeper = sleepers_; sleeper; sleeper = sleeper->next_) sleeper->wake();
    }

    std::atomic<uint8_t> attention_{0};
    std::atomic<DueWork*> work_{nullptr};  // set before kDue
    SpinLock sleepers_lock_;
    Sleeper* sleepers_ = nullptr;
};

}  // namespace selvage::impl
