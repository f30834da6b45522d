// A process beside a test, that is killed or stopped.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>
#include <utility>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {

// It has the region of that name, and does nothing. The constructor returns when the region is there.
class IdleOwner {
public:
    explicit IdleOwner(const Name& name) {
        int ready[2];
        if (pipe(ready)) return;
        process_ = fork();
        if (process_ == 0) {
            ShmTransport owner;
            if (owner.open_at(name.text, {}) == 0) static_cast<void>(!write(ready[1], "x", 1));
            for (;;) pause();
        }
        char byte;
        ready_ = read(ready[0], &byte, 1) == 1;
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~IdleOwner() { kill(); }
    IdleOwner(const IdleOwner&) = delete;
    IdleOwner& operator=(const IdleOwner&) = delete;

    bool is_ready() const { return ready_; }
    // True when it has gone.
    bool kill() {
        if (process_ <= 0) return false;
        ::kill(process_, SIGKILL);
        const pid_t gone = waitpid(process_, nullptr, 0);
        return std::exchange(process_, 0) == gone;
    }

private:
    pid_t process_ = 0;
    bool ready_ = false;
};

// Sees a child stop itself, and a while later sends it a signal.
class Resumer {
public:
    explicit Resumer(pid_t child, int signal = SIGCONT)
        : child_(child), thread_([=, this] {
              int status = 0;
              const bool stopped = waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
              usleep(50'000);
              waited_ = stopped && waits_;
              ::kill(child, signal);
          }) {}
    // A test that fails waits for no child that does not stop.
    ~Resumer() {
        if (!thread_.joinable()) return;
        ::kill(child_, SIGKILL);
        thread_.join();
    }
    Resumer(const Resumer&) = delete;
    Resumer& operator=(const Resumer&) = delete;

    // The test waits for the child no longer. True if it did until the signal.
    bool was_waited_for() {
        waits_ = false;
        thread_.join();
        return waited_;
    }

private:
    pid_t child_;
    std::atomic<bool> waits_{true};
    bool waited_ = false;
    std::thread thread_;
};

}  // namespace selvage::impl::test
