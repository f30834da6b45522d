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
        if (sleeping_.load(std::memory_order_relaxed)) [[unlikely]]
            arm_for_sleepers();
    }
    void add_sleeper(Sleeper& sleeper) {
        SpinGuard guard(sleepers_lock_);
        sleeper.next_ = sleepers_;
        sleepers_ = &sleeper;
        sleeping_.store(true, std::memory_order_relaxed);
    }
    void remove_sleeper(Sleeper& sleeper) {
        SpinGuard guard(sleepers_lock_);
        Sleeper** link = &sleepers_;
        while (*link && *link != &sleeper) link = &(*link)->next_;
        if (*link) *link = sleeper.next_;
        sleeping_.store(sleepers_ != nullptr, std::memory_order_relaxed);
    }

protected:
    ~Progressive() = default;

private:
    [[gnu::noinline, gnu::cold]] void arm_for_sleepers() {
        if (arm()) return;
        // There is more to do than one call does, and perhaps no other comes from here: they are to do it.
        SpinGuard guard(sleepers_lock_);
        for (Sleeper* sleeper = sleepers_; sleeper; sleeper = sleeper->next_) sleeper->wake();
    }

    std::atomic<bool> sleeping_{false};  // sleepers_ is not empty
    SpinLock sleepers_lock_;
    Sleeper* sleepers_ = nullptr;
};

}  // namespace selvage::impl
