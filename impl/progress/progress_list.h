// What makes progress when a queue, a counter or the automatic-progress thread is called: the attached data paths and
// connection managers, and their arming for those who sleep.
//
// Hot: advance(), one indirect call per attached object, none when the list is empty. attach and detach are control
// calls; they are made without the lock of the object that is attached or detached, since a thread inside advance()
// takes that lock while it holds this one. After detach no thread is inside the object on behalf of this list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/progress/progressive.h"

namespace selvage::impl {

class WaitObject;

enum class Armed : uint8_t { Armed, Busy, Later, NoDescriptor };

// What the thread that makes automatic progress knows of the application (progress_thread.h).
class ApplicationActivity {
public:
    explicit ApplicationActivity(WaitObject& thread) : thread_(thread) {}
    void note_progress() { calls_.store(calls() + 1, std::memory_order_relaxed); }
    uint32_t calls() const { return calls_.load(std::memory_order_relaxed); }

    // Queues on which a thread of the application sleeps, or may outside of the library: while there are any, the
    // thread does not nap. Both sides store, then load, sequentially consistent: either the sleeper sees the nap and
    // ends it, or the thread sees the sleeper.
    //     sleeper: sleepers_ + 1, napping_?      thread: napping_ = true, sleepers_?
    void begin_sleep();
    void end_sleep() { sleepers_.fetch_sub(1); }
    bool sleeps() const { return sleepers_.load() != 0; }
    void nap(int64_t nanoseconds);

private:
    WaitObject& thread_;
    std::atomic<uint32_t> calls_{0};
    std::atomic<uint32_t> sleepers_{0};
    std::atomic<bool> napping_{false};
};

class ProgressList {
public:
    explicit ProgressList(WaitObject& wait) : wait_(wait) {}
    ~ProgressList();
    ProgressList(const ProgressList&) = delete;
    ProgressList& operator=(const ProgressList&) = delete;

    // The application serialises all use of the owner, and no automatic progress runs: nothing is locked. Before the
    // first attach.
    void set_serialised(bool serialised) { serialised_ = serialised; }

    // Reports calls of advance(), and sleepers, to the thread that makes automatic progress. Before the first attach.
    void set_activity(ApplicationActivity* activity) { activity_ = activity; }

    // Counted: an object attached twice is detached twice. With `sleeps`, threads that sleep on the owner look for its
    // arrivals; without, another thread does (automatic progress). 0, -FI_ENOMEM, or an errno for no descriptor left.
    int attach(Progressive* object, bool sleeps);
    void detach(Progressive* object);

    void advance() {
        if (!count_.load(std::memory_order_relaxed)) return;
        if (serialised_) {
            advance_all();
        } else if (lock_.try_lock()) {  // another thread that has it makes progress for this one
            advance_all();
            lock_.unlock();
        }
    }

    // Armed: every object has nothing left to do, and from now to disarm() the owner's wait object is woken by
    // arrivals. Otherwise nothing is armed, and disarm() is not called: Busy, there is something to do; Later,
    // something is to be tried again soon; NoDescriptor, arrivals would wake nobody, since the process has no
    // descriptor left for them.
    Armed arm();
    void disarm();

    // The same for an application that blocks outside the library after fi_trywait. It may never come back to tell, so
    // this ends by itself after kNativeReads calls of advance(), with a spurious wake-up.
    bool arm_native();
    void disarm_native();

    // An object whose arrivals only a descriptor reports.
    bool has_descriptor();

private:
    static constexpr unsigned kNativeReads = 16;

    class Wakes final : public Sleeper {
    public:
        explicit Wakes(WaitObject& wait) : wait_(wait) {}
        void wake() override;

    private:
        WaitObject& wait_;
    };
    struct Item {
        Progressive* object;
        size_t uses;
        bool sleeps;
        int watched;  // the descriptor of the object that the wait object watches, or negative
        Wakes sleeper;
    };

    void advance_all() {
        const size_t count = count_.load(std::memory_order_relaxed);
        for (size_t i = 0; i < count; ++i) items_[i]->object->advance();
        if (activity_) activity_->note_progress();
        if (native_) [[unlikely]]
            count_native();
    }
    void lock() {
        if (!serialised_) lock_.lock();
    }
    void unlock() {
        if (!serialised_) lock_.unlock();
    }
    size_t find(const Progressive* object) const;
    int add(Progressive* object, bool sleeps);
    int watch(Item& item);
    Armed arm_item(Item& item);
    Armed arm_locked();
    void disarm_locked();
    void count_native();

    WaitObject& wait_;
    std::atomic<size_t> count_{0};  // changed with the lock held
    bool serialised_ = false;
    ApplicationActivity* activity_ = nullptr;
    SpinLock lock_;  // protects what follows, and is held while the objects are called
    Item** items_ = nullptr;
    size_t capacity_ = 0;
    size_t sleepers_ = 0;  // arm() calls without their disarm(); while there are any, items are registered
    bool native_ = false;  // one of them is arm_native()'s
    unsigned native_reads_ = 0;
};

}  // namespace selvage::impl
