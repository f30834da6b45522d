// Automatic progress: one thread per domain that moves what is attached while the application does nothing.
//
// It is started by the first attach and ends with the domain. It sleeps on the descriptors of what is attached, spins
// for a short time after it was woken, and keeps out of the way while the application makes progress itself: every
// advance() of a queue of such a domain counts up activity(), and as long as that moves, the thread naps for a
// millisecond at a time, unarmed, so that peers need not wake anybody. A thread of the application that is about to
// sleep ends the nap, and there is none while it sleeps, since nobody else would look for what is to wake it.
#pragma once

#include "impl/base/lock.h"
#include "impl/progress/wait.h"

namespace selvage::impl {

class ProgressThread {
public:
    ProgressThread() = default;
    ~ProgressThread() { stop(); }
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

    // 0, -FI_ENOMEM, or an errno for no descriptor or thread left. Counted, like ProgressList::attach; without the
    // object's lock held.
    int attach(Progressive* object);
    void detach(Progressive* object) { list_.detach(object); }
    // Nothing is attached any more.
    void stop();

    ApplicationActivity& activity() { return activity_; }
    bool running() const { return running_; }

private:
    static void* enter(void* self);
    int start();
    void run();
    bool application_is_active(uint32_t* seen) const;
    void sleep();

    WaitObject wait_;
    ProgressList list_{wait_};
    ApplicationActivity activity_{wait_};
    std::atomic<bool> stopping_{false};
    Mutex lock_;  // protects what follows
    bool opened_ = false;
    bool running_ = false;
    pthread_t thread_{};
};

}  // namespace selvage::impl
