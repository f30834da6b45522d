// See flusher.h.
#include "impl/transport/tcp/flusher.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <initializer_list>

#include "impl/base/lock.h"
#include "impl/transport/tcp/knobs.h"

namespace selvage::impl::tcp {

std::atomic<bool> Deferring::flusher_sleeps_{false};

// Static, and usable at any time of the process: nothing in it has a constructor or destructor that does anything.
//
// The descriptors of all members are in one epoll, each for one event, from when the application has stopped calling.
class Flusher {
public:
    bool add(Deferring* member) {
        watch_forks();
        LockGuard changing(changing_);  // so that no thread is still ending
        LockGuard guard(lock_);
        forget_after_fork();
        // The thread starts last, so that none is left without a member. It waits for the lock.
        const bool entered =
            (running_ || open_descriptors()) && (member->setup_descriptor_ < 0 || watch(member, EPOLL_CTL_ADD, 0));
        if (!entered || (!running_ && !start_thread())) {
            if (!running_) close_descriptors();
            return false;
        }
        running_ = true;
        member->next_ = members_;
        member->seen_ = member->watched_ = false;
        members_ = member;
        if (Deferring::flusher_sleeps_.load(std::memory_order_relaxed)) set_timer();
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
            if (!running_ || owner_ != getpid()) return;
            if (member->setup_descriptor_ >= 0) {
                epoll_ctl(epoll_, EPOLL_CTL_DEL, member->setup_descriptor_, nullptr);
            }
            if (members_) return;
            stop_ = true;
            running_ = false;
            ended = thread_;
            wake();
        }
        pthread_join(ended, nullptr);
        LockGuard guard(lock_);
        stop_ = false;
        close_descriptors();
    }

    // A child gets the locks free, though the thread may hold one at any time.
    void hold() {
        changing_.lock();
        lock_.lock();
    }
    void let_go() {
        lock_.unlock();
        changing_.unlock();
    }

    // By members, and so while the descriptor is open. The thread wakes a tick later.
    void set_timer() const {
        const itimerspec tick{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = kFlushTick * 1'000'000}};
        (void)timerfd_settime(timer_, 0, &tick, nullptr);
    }

private:
    void wake() const {
        const uint64_t one = 1;
        (void)!write(event_, &one, sizeof one);
    }
    static void watch_forks();

    // The thread does not exist in a child process, and the parent's transports are not the child's to use.
    void forget_after_fork() {
        const pid_t self = getpid();
        if (owner_ == self) return;
        owner_ = self;
        running_ = false;
        members_ = nullptr;
        close_descriptors();
    }

    void close_descriptors() {
        for (int* descriptor : {&event_, &timer_, &epoll_}) {
            if (*descriptor >= 0) close(*descriptor);
            *descriptor = -1;
        }
    }

    bool open_descriptors() {
        event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        epoll_event event{}, timer{};
        event.events = EPOLLIN;
        timer.events = EPOLLIN | EPOLLET;
        timer.data.ptr = this;  // no member
        return event_ >= 0 && timer_ >= 0 && epoll_ >= 0 && !epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &event) &&
               !epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &timer);
    }

    bool start_thread() {
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        const int error = pthread_create(&thread_, nullptr, run, this);
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
        return error == 0;
    }

    bool watch(Deferring* member, int operation, uint32_t events) const {
        epoll_event event{};
        event.events = events | EPOLLONESHOT;
        event.data.ptr = member;
        return epoll_ctl(epoll_, operation, member->setup_descriptor_, &event) == 0;
    }

    static void* run(void* self) {
        pthread_setname_np(pthread_self(), "selvage-flush");
        static_cast<Flusher*>(self)->loop();
        return nullptr;
    }

    void loop() {
        LockGuard guard(lock_);
        int idle = kFlushIdle;
        while (!stop_) {
            idle = tick() ? 0 : idle + 1;
            if (idle > kFlushIdle) {
                Deferring::flusher_sleeps_.store(true, std::memory_order_seq_cst);
                if (!anything_deferred()) collect(anything_timed() || !all_watched() ? kSetupTick : -1);
                Deferring::flusher_sleeps_.store(false, std::memory_order_relaxed);
                idle = kFlushIdle;
            } else {
                wait_for_tick();
                if (!stop_) collect(0);
            }
        }
    }

    // The lock is given up meanwhile. Both waits are for a length of time, whatever happens to the clock on the wall.
    void wait_for_tick() {
        lock_.unlock();
        pollfd wait{.fd = event_, .events = POLLIN, .revents = 0};
        (void)poll(&wait, 1, kFlushTick);
        lock_.lock();
    }
    void collect(int milliseconds) {
        constexpr int kBatch = 16;
        epoll_event events[kBatch];
        lock_.unlock();
        const int count = epoll_wait(epoll_, events, kBatch, milliseconds);
        lock_.lock();
        for (int i = 0; i < count; ++i) {
            Deferring* member = members_;  // it may have left in the meantime
            while (member && member != events[i].data.ptr) member = member->next_;
            if (member) member->watched_ = false;
            uint64_t count_of_wakes;
            if (!events[i].data.ptr) (void)!read(event_, &count_of_wakes, sizeof count_of_wakes);
        }
    }

    bool anything_deferred() const {
        for (const Deferring* member = members_; member; member = member->next_) {
            if (member->deferred_.load(std::memory_order_seq_cst)) return true;
        }
        return false;
    }
    bool anything_timed() const {
        for (const Deferring* member = members_; member; member = member->next_) {
            if (member->setup_descriptor_ >= 0 && member->timed_.load(std::memory_order_seq_cst)) return true;
        }
        return false;
    }

    // The descriptors of those whose applications call are not.
    bool all_watched() const {
        for (const Deferring* member = members_; member; member = member->next_) {
            if (member->setup_descriptor_ >= 0 && !member->watched_) return false;
        }
        return true;
    }

    // True if something is to be looked at again a tick later.
    bool tick() {
        bool busy = false;
        for (Deferring* member = members_; member; member = member->next_) busy |= look_at(*member);
        return busy;
    }

    bool look_at(Deferring& member) const {
        const bool deferred = member.deferred_.load(std::memory_order_relaxed);
        const bool setup = member.setup_descriptor_ >= 0 && (!member.watched_ || member.timed());
        if (!deferred && !setup) {
            member.seen_ = false;
            return false;
        }
        const uint32_t round = member.round();
        const bool seen = member.seen_;
        const bool quiet = seen && member.seen_round_ == round;
        member.seen_ = true;
        member.seen_round_ = round;
        if (quiet) {
            if (setup) member.advance_setup();
            member.flush_deferred();
            if (setup && !member.watched_) member.watched_ = watch(&member, EPOLL_CTL_MOD, EPOLLIN);
        }
        // Seen and not quiet: the application makes progress, and sees to what is set up.
        return deferred || !seen;
    }

    Mutex lock_;      // protects what follows
    Mutex changing_;  // one addition or removal at a time; before lock_
    pthread_t thread_{};
    pid_t owner_ = 0;
    int event_ = -1;  // wakes the thread at once, to end
    int timer_ = -1;  // wakes it a tick later
    int epoll_ = -1;
    bool running_ = false;
    bool stop_ = false;
    Deferring* members_ = nullptr;
};

namespace {
constinit Flusher flusher;
}

void Flusher::watch_forks() {
    const auto after = [] { flusher.let_go(); };
    static const int armed = pthread_atfork([] { flusher.hold(); }, after, after);
    static_cast<void>(armed);
}

bool Deferring::join_flusher(int setup) {
    if (joined_) return true;
    setup_descriptor_ = setup;
    joined_ = flusher.add(this);
    return joined_;
}

void Deferring::leave_flusher() {
    if (joined_) flusher.remove(this);
    joined_ = false;
}

void Deferring::wake_flusher() { flusher.set_timer(); }

}  // namespace selvage::impl::tcp
