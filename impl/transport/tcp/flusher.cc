// See flusher.h.
#include "impl/transport/tcp/flusher.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "impl/core/lock.h"
#include "impl/transport/tcp/knobs.h"

namespace selvage::impl::tcp {

std::atomic<bool> Deferring::flusher_sleeps_{false};

// Static, and usable at any time of the process: nothing in it has a constructor or destructor that does anything.
class Flusher {
public:
    bool add(Deferring* member) {
        LockGuard guard(lock_);
        forget_after_fork();
        if (!running_ && !start()) return false;
        member->next_ = members_;
        member->seen_ = false;
        members_ = member;
        return true;
    }

    // The last one ends the thread, so that the library can be unloaded.
    void remove(Deferring* member) {
        LockGuard changing(changing_);
        pthread_t ended;
        {
            LockGuard guard(lock_);
            Deferring** at = &members_;
            while (*at && *at != member) at = &(*at)->next_;
            if (!*at) return;
            *at = member->next_;
            if (members_ || !running_ || owner_ != getpid()) return;
            stop_ = true;
            running_ = false;
            ended = thread_;
            pthread_cond_signal(&wake_);
        }
        pthread_join(ended, nullptr);
        LockGuard guard(lock_);
        stop_ = false;
    }

    void wake() {
        LockGuard guard(lock_);
        pthread_cond_signal(&wake_);
    }

private:
    // The thread does not exist in a child process, and the parent's transports are not the child's to use.
    void forget_after_fork() {
        const pid_t self = getpid();
        if (owner_ == self) return;
        owner_ = self;
        running_ = false;
        members_ = nullptr;
    }

    bool start() {
        if (stop_) return false;  // the last thread is still ending
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        const int error = pthread_create(&thread_, nullptr, run, this);
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
        running_ = error == 0;
        return running_;
    }

    static void* run(void* self) {
        pthread_setname_np(pthread_self(), "selvage-flush");
        static_cast<Flusher*>(self)->loop();
        return nullptr;
    }

    void loop() {
        LockGuard guard(lock_);
        int idle = 0;
        while (!stop_) {
            idle = tick() ? 0 : idle + 1;
            if (idle > kFlushIdle) {
                Deferring::flusher_sleeps_.store(true, std::memory_order_seq_cst);
                if (!anything_deferred()) pthread_cond_wait(&wake_, lock_.native());
                Deferring::flusher_sleeps_.store(false, std::memory_order_relaxed);
                idle = 0;
            }
            if (!stop_) wait_for_tick();
        }
    }

    void wait_for_tick() {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += kFlushTick * 1'000'000;
        if (until.tv_nsec >= 1'000'000'000) {
            until.tv_nsec -= 1'000'000'000;
            ++until.tv_sec;
        }
        pthread_cond_timedwait(&wake_, lock_.native(), &until);
    }

    bool anything_deferred() const {
        for (const Deferring* member = members_; member; member = member->next_) {
            if (member->deferred_.load(std::memory_order_seq_cst)) return true;
        }
        return false;
    }

    bool tick() {
        bool busy = false;
        for (Deferring* member = members_; member; member = member->next_) {
            const uint32_t round = member->round();
            if (!member->deferred_.load(std::memory_order_relaxed)) {
                member->seen_ = false;
                continue;
            }
            busy = true;
            if (member->seen_ && member->seen_round_ == round) member->flush_deferred();
            member->seen_ = true;
            member->seen_round_ = round;
        }
        return busy;
    }

    Mutex lock_;      // protects what follows
    Mutex changing_;  // one removal at a time
    pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
    pthread_t thread_{};
    pid_t owner_ = 0;
    bool running_ = false;
    bool stop_ = false;
    Deferring* members_ = nullptr;
};

namespace {
constinit Flusher flusher;
}

bool Deferring::join_flusher() {
    if (!joined_) joined_ = flusher.add(this);
    return joined_;
}

void Deferring::leave_flusher() {
    if (joined_) flusher.remove(this);
    joined_ = false;
}

void Deferring::wake_flusher() { flusher.wake(); }

}  // namespace selvage::impl::tcp
