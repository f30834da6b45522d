// An eventfd that wakes who polls it, written once until it is taken back: the part of a wait object that one kind of
// sleeper looks at, its own threads or the application. Used by wait.cc alone.
//
// raise() may be called by any thread; reset() by one at a time, before it looks for what was published. The two
// exchanges pair: a raise() that finds the event raised writes nothing, and what was published before it, its
// generation too, is seen behind the exchange of the reset() that takes the event back. Modelled with the wait object
// (models/wait_object.pml).
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace selvage::impl {

class WakeEvent {
public:
    WakeEvent() = default;
    ~WakeEvent() { close(); }
    WakeEvent(const WakeEvent&) = delete;
    WakeEvent& operator=(const WakeEvent&) = delete;

    // 0, also when it is open already, or a negative errno. The caller tells other threads.
    int open() {
        if (descriptor_ < 0) descriptor_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        return descriptor_ < 0 ? -errno : 0;
    }
    void close() {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }
    int descriptor() const { return descriptor_; }

    void raise() {
        if (raised_.exchange(true)) return;
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof one);
    }
    void reset() {
        if (!raised_.load()) return;
        uint64_t count;
        [[maybe_unused]] const ssize_t taken = read(descriptor_, &count, sizeof count);
        raised_.exchange(false);
    }

private:
    int descriptor_ = -1;
    std::atomic<bool> raised_{false};
};

}  // namespace selvage::impl
