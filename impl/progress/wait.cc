// See wait.h: the wait object.
#include "impl/progress/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "impl/config/log.h"

namespace selvage::impl {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNapMax = 1'000'000;

// Returns 0 or the errno.
int futex_wait(std::atomic<uint32_t>& word, uint32_t expected, const timespec* timeout) {
    const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
    return result == 0 ? 0 : errno;
}

void futex_wake_all(std::atomic<uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

timespec to_timespec(int64_t nanoseconds) {
    return {.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
}

}  // namespace

Deadline::Deadline(int milliseconds) : endless_(milliseconds < 0) {
    if (!endless_) at_ = monotonic_nanoseconds() + static_cast<int64_t>(milliseconds) * (kSecond / 1000);
}

int64_t Deadline::remaining() const { return std::max<int64_t>(0, at_ - monotonic_nanoseconds()); }

int WaitObject::open(fi_wait_obj kind, fid_wait* set, const Fabric* fabric, WaitMember* member) {
    switch (kind) {
        case FI_WAIT_NONE:
        case FI_WAIT_UNSPEC:
        case FI_WAIT_FD:
        case FI_WAIT_MUTEX_COND:
        case FI_WAIT_YIELD:
        case FI_WAIT_POLLFD:
            kind_ = kind;
            return open_primitives();
        case FI_WAIT_SET: {
            if (!set || set->fid.fclass != FI_CLASS_WAIT) return -FI_EINVAL;
            auto* owner = object_of<WaitSet>(set);
            if (owner->fabric != fabric || !owner->uses.acquire()) return -FI_EINVAL;
            kind_ = kind;
            set_ = owner;
            member_ = member;
            wanted_ = &owner->wait.own_wanted_;
            LockGuard guard(owner->lock);
            member->next = owner->members;
            owner->members = member;
            // Nothing is attached to it yet, so that this only counts those who sleep.
            for (size_t i = 0; i < owner->sleeping; ++i) member->progress->arm();
            return 0;
        }
    }
    return -FI_EINVAL;
}

int WaitObject::open_for_set(fi_wait_obj kind) {
    if (kind == FI_WAIT_NONE || kind == FI_WAIT_SET) return -FI_EINVAL;
    return open(kind, nullptr, nullptr, nullptr);
}

int WaitObject::open_primitives() {
    if (kind_ == FI_WAIT_MUTEX_COND) return open_condition();
    if (!gives_descriptor()) return 0;
    LockGuard guard(lock_);
    return open_descriptors();
}

// Recursive: an application may hold the mutex while it reads, and what it reads may signal.
int WaitObject::open_condition() {
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes)) return -FI_ENOMEM;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_cond_init(&condition_, nullptr);
    has_condition_ = true;
    return 0;
}

// With the lock held. What was opened is closed again when one fails. Signals raise events before anybody sleeps on
// one.
int WaitObject::open_descriptors() {
    int error = event_.open();
    const int group = error ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (!error && group < 0) error = -errno;
    if (!error && gives_descriptor()) error = open_native(group);
    if (error) {
        if (group >= 0) ::close(group);
        close_descriptors();
        return error;
    }
    has_event_.store(true);
    group_.store(group);
    return 0;
}

int WaitObject::open_native(int group) {
    const int error = native_event_.open();
    if (error) return error;
    native_epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (native_epoll_ < 0) return -errno;
    for (const int descriptor : {native_event_.descriptor(), group}) {
        epoll_event interest{.events = EPOLLIN, .data = {.fd = descriptor}};
        if (epoll_ctl(native_epoll_, EPOLL_CTL_ADD, descriptor, &interest)) return -errno;
    }
    return 0;
}

void WaitObject::close_descriptors() {
    has_event_.store(false);
    if (native_epoll_ >= 0) ::close(native_epoll_);
    native_epoll_ = -1;
    if (group_.load() >= 0) ::close(group_.load());
    group_.store(-1);
    native_event_.close();
    event_.close();
}

void WaitObject::close() {
    if (set_) {
        LockGuard guard(set_->lock);
        WaitMember** link = &set_->members;
        while (*link && *link != member_) link = &(*link)->next;
        if (*link) *link = member_->next;
    }
    if (set_) set_->uses.release();
    set_ = nullptr;
    wanted_ = &own_wanted_;
    close_descriptors();
    free(watched_);
    watched_ = nullptr;
    watched_count_ = watched_capacity_ = 0;
    if (has_condition_) {
        pthread_cond_destroy(&condition_);
        pthread_mutex_destroy(&mutex_);
    }
    has_condition_ = false;
}

void WaitObject::signal() {
    if (set_) {
        set_->wait.signal();
        return;
    }
    generation_.fetch_add(1);
    if (sleepers_.load()) futex_wake_all(generation_);
    if (has_event_.load()) {
        event_.raise();
        if (gives_descriptor()) native_event_.raise();
    }
    if (has_condition_) broadcast();
}

// The application's mutex is free within its own few instructions between fi_trywait and pthread_cond_wait, or is held
// by a thread that waits for a lock which the caller of this has. The second is no reason to wait for ever.
void WaitObject::broadcast() {
    constexpr int kTries = 1000;
    bool locked = false;
    for (int i = 0; i < kTries && !locked; ++i) {
        locked = pthread_mutex_trylock(&mutex_) == 0;
        if (!locked) sched_yield();
    }
    pthread_cond_broadcast(&condition_);
    if (locked) pthread_mutex_unlock(&mutex_);
}

WaitObject::Woken WaitObject::wait(uint32_t seen, const Deadline& deadline) {
    if (generation() != seen) return Woken::Signal;
    if (deadline.passed()) return Woken::Timeout;
    if (polls()) {
        sched_yield();
        return Woken::Signal;
    }
    if (group_.load() >= 0) return wait_on_descriptors(seen, deadline);
    const timespec left = to_timespec(deadline.endless() ? 0 : deadline.remaining());
    return wait_on_futex(seen, deadline.endless() ? nullptr : &left);
}

WaitObject::Woken WaitObject::nap(uint32_t seen, int64_t nanoseconds) {
    const timespec left = to_timespec(nanoseconds);
    return wait_on_futex(seen, &left);
}

WaitObject::Woken WaitObject::nap_undescribed(uint32_t seen, const Deadline& deadline) {
    if (!warned_.exchange(true)) {
        log(FI_LOG_WARN, FI_LOG_CORE, "no file descriptor left to sleep on: looking for arrivals every millisecond");
    }
    return nap_briefly(seen, deadline);
}

WaitObject::Woken WaitObject::nap_briefly(uint32_t seen, const Deadline& deadline) {
    const int64_t left = deadline.endless() ? kNapMax : std::min(kNapMax, deadline.remaining());
    const Woken woken = nap(seen, left);
    return woken == Woken::Timeout ? Woken::Signal : woken;
}

WaitObject::Woken WaitObject::wait_on_futex(uint32_t seen, const timespec* limit) {
    sleepers_.fetch_add(1);
    const int error = futex_wait(generation_, seen, limit);
    sleepers_.fetch_sub(1);
    if (error == ETIMEDOUT) return generation() != seen ? Woken::Signal : Woken::Timeout;
    return error == EINTR ? Woken::Interrupted : Woken::Signal;
}

// The event is taken back only before the first thread polls, so that one signal wakes all that do.
WaitObject::Woken WaitObject::wait_on_descriptors(uint32_t seen, const Deadline& deadline) {
    {
        LockGuard guard(lock_);
        if (polling_++ == 0) event_.reset();
    }
    int ready = 1;
    int error = 0;
    if (generation() == seen) {
        pollfd sources[] = {{.fd = event_.descriptor(), .events = POLLIN, .revents = 0},
                            {.fd = group_.load(), .events = POLLIN, .revents = 0}};
        const timespec left = to_timespec(deadline.endless() ? 0 : deadline.remaining());
        ready = ppoll(sources, std::size(sources), deadline.endless() ? nullptr : &left, nullptr);
        error = errno;
    }
    {
        LockGuard guard(lock_);
        --polling_;
    }
    if (ready < 0 && error == EINTR) return Woken::Interrupted;
    return ready == 0 && generation() == seen ? Woken::Timeout : Woken::Signal;
}

void WaitObject::prepare_native() {
    LockGuard guard(lock_);
    if (!native_) want();
    native_ = true;
    if (gives_descriptor()) native_event_.reset();
}

int WaitObject::watch(int descriptor) {
    if (set_) return set_->wait.watch(descriptor);
    if (kind_ == FI_WAIT_NONE || kind_ == FI_WAIT_YIELD) return 0;
    int error;
    {
        LockGuard guard(lock_);
        error = group_.load() < 0 ? open_descriptors() : 0;
        if (!error) error = add_watched(descriptor);
    }
    signal();  // who sleeps on the futex, or without this descriptor
    return error;
}

int WaitObject::add_watched(int descriptor) {
    for (size_t i = 0; i < watched_count_; ++i) {
        if (watched_[i].descriptor != descriptor) continue;
        ++watched_[i].uses;
        return 0;
    }
    if (watched_count_ == watched_capacity_) {
        const size_t capacity = watched_capacity_ ? watched_capacity_ * 2 : 4;
        auto* larger = static_cast<Watched*>(realloc(watched_, capacity * sizeof *watched_));
        if (!larger) return -FI_ENOMEM;
        watched_ = larger;
        watched_capacity_ = capacity;
    }
    epoll_event interest{.events = EPOLLIN, .data = {.fd = descriptor}};
    if (epoll_ctl(group_.load(), EPOLL_CTL_ADD, descriptor, &interest)) return -errno;
    watched_[watched_count_++] = {.descriptor = descriptor, .uses = 1};
    return 0;
}

void WaitObject::unwatch(int descriptor) {
    if (set_) {
        set_->wait.unwatch(descriptor);
        return;
    }
    LockGuard guard(lock_);
    for (size_t i = 0; i < watched_count_; ++i) {
        if (watched_[i].descriptor != descriptor) continue;
        if (--watched_[i].uses) return;
        epoll_ctl(group_.load(), EPOLL_CTL_DEL, descriptor, nullptr);
        watched_[i] = watched_[--watched_count_];
        return;
    }
}

int WaitObject::get_wait(void* argument) {
    if (kind_ == FI_WAIT_FD) {
        *static_cast<int*>(argument) = native_epoll_;
        return 0;
    }
    if (kind_ == FI_WAIT_MUTEX_COND) {
        *static_cast<fi_mutex_cond*>(argument) = {.mutex = &mutex_, .cond = &condition_};
        return 0;
    }
    if (kind_ != FI_WAIT_POLLFD) return -FI_ENODATA;
    // One descriptor, for ever: the index never changes.
    auto* list = static_cast<fi_wait_pollfd*>(argument);
    list->change_index = 1;
    const size_t room = list->nfds;
    list->nfds = 1;
    if (room < 1) return -FI_ETOOSMALL;
    list->fd[0] = {.fd = native_epoll_, .events = POLLIN, .revents = 0};
    return 0;
}

int WaitObject::control(int command, void* argument) {
    if (command != FI_GETWAIT && command != FI_GETWAITOBJ) return without_command(command);
    if (!argument) return -FI_EINVAL;
    if (command == FI_GETWAIT) return get_wait(argument);
    *static_cast<fi_wait_obj*>(argument) = kind_;
    return 0;
}

}  // namespace selvage::impl
