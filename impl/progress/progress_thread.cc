// See progress_thread.h.
#include "impl/progress/progress_thread.h"

#include <csignal>

#include "impl/progress/wait_block.h"

namespace selvage::impl {
namespace {

constexpr int64_t kNap = 1'000'000;  // nanoseconds
constexpr size_t kStackBytes = size_t{256} << 10;
constexpr int kForever = -1;

}  // namespace

int ProgressThread::attach(Progressive* object) {
    LockGuard guard(lock_);
    if (!opened_) {
        const int error = wait_.open(FI_WAIT_FD, nullptr, nullptr, nullptr);
        if (error) {
            wait_.close();
            return error;
        }
        opened_ = true;
    }
    const int error = list_.attach(object, true);
    if (error || running_) return error;
    const int not_started = start();
    if (not_started) list_.detach(object);
    return not_started;
}

// The application's signals are not for this thread.
int ProgressThread::start() {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return -FI_ENOMEM;
    pthread_attr_setstacksize(&attributes, kStackBytes);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread_, &attributes, enter, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    running_ = error == 0;
    return -error;
}

void ProgressThread::stop() {
    LockGuard guard(lock_);
    if (!running_) return;
    stopping_.store(true);
    wait_.signal();
    pthread_join(thread_, nullptr);
    running_ = false;
}

void* ProgressThread::enter(void* self) {
    pthread_setname_np(pthread_self(), "selvage");
    static_cast<ProgressThread*>(self)->run();
    return nullptr;
}

bool ProgressThread::application_is_active(uint32_t* seen) const {
    const uint32_t now = activity_.calls();
    const bool moved = now != *seen;
    *seen = now;
    return moved && !activity_.sleeps();
}

void ProgressThread::sleep() {
    wait_.want();
    const uint32_t seen = wait_.generation();
    const Armed armed = stopping_.load() ? Armed::Busy : list_.arm();
    if (armed == Armed::Armed) {
        wait_.wait(seen, Deadline(kForever));
        list_.disarm();
    } else if (armed == Armed::NoDescriptor) {
        wait_.nap_undescribed(seen, Deadline(kForever));
    } else if (armed == Armed::Later) {
        wait_.nap_briefly(seen, Deadline(kForever));
    }
    wait_.unwant();
}

void ProgressThread::run() {
    uint32_t seen = activity_.calls();
    while (!stopping_.load()) {
        SpinBudget spin(wait_.spin_budget());
        bool active;
        do {
            list_.advance();
            active = application_is_active(&seen);
        } while (!active && spin.left() && !stopping_.load(std::memory_order_relaxed));
        if (active) {
            activity_.nap(kNap);
        } else {
            sleep();
        }
    }
}

}  // namespace selvage::impl
