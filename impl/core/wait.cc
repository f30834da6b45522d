// See wait.h.
#include "impl/core/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "impl/core/cntr.h"
#include "impl/core/cq.h"
#include "impl/core/eq.h"
#include "impl/core/fabric.h"

namespace selvage::impl {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

// Returns 0 or the errno.
int futex_wait(std::atomic<uint32_t>& word, uint32_t expected, const timespec* timeout) {
    const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
    return result == 0 ? 0 : errno;
}

void futex_wake_all(std::atomic<uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

bool uses_descriptor(fi_wait_obj kind) { return kind == FI_WAIT_FD || kind == FI_WAIT_POLLFD; }

}  // namespace

Deadline::Deadline(int milliseconds) : endless_(milliseconds < 0) {
    if (!endless_) at_ = now() + static_cast<int64_t>(milliseconds) * (kSecond / 1000);
}

int64_t Deadline::remaining() const { return std::max<int64_t>(0, at_ - now()); }

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
            LockGuard guard(owner->lock);
            member->next = owner->members;
            owner->members = member;
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
    if (uses_descriptor(kind_)) {
        event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (event_ < 0) return -errno;
    }
    if (kind_ == FI_WAIT_MUTEX_COND) {
        pthread_mutex_init(&mutex_, nullptr);
        pthread_cond_init(&condition_, nullptr);
        has_condition_ = true;
    }
    return 0;
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
    if (event_ >= 0) ::close(event_);
    event_ = -1;
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
    // Sequentially consistent against the sleeper's count-then-check in wait().
    generation_.fetch_add(1);
    if (sleepers_.load()) futex_wake_all(generation_);
    if (event_ >= 0 && !raised_.exchange(true)) {
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(event_, &one, sizeof one);
    }
    if (has_condition_) {
        pthread_mutex_lock(&mutex_);
        pthread_cond_broadcast(&condition_);
        pthread_mutex_unlock(&mutex_);
    }
}

WaitObject::Woken WaitObject::wait(uint32_t seen, const Deadline& deadline) {
    if (generation() != seen) return Woken::kSignal;
    const int64_t left = deadline.endless() ? 0 : deadline.remaining();
    if (!deadline.endless() && left == 0) return Woken::kTimeout;
    if (kind_ == FI_WAIT_YIELD) {
        sched_yield();
        return Woken::kSignal;
    }
    const timespec time{.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
    sleepers_.fetch_add(1);
    const int error = futex_wait(generation_, seen, deadline.endless() ? nullptr : &time);
    sleepers_.fetch_sub(1);
    if (error == ETIMEDOUT) return generation() != seen ? Woken::kSignal : Woken::kTimeout;
    return error == EINTR ? Woken::kInterrupted : Woken::kSignal;
}

void WaitObject::reset() {
    if (event_ < 0 || !raised_.load()) return;
    uint64_t count;
    [[maybe_unused]] const ssize_t taken = read(event_, &count, sizeof count);
    raised_.store(false);
}

int WaitObject::get_wait(void* argument) {
    if (kind_ == FI_WAIT_FD) {
        *static_cast<int*>(argument) = event_;
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
    list->fd[0] = {.fd = event_, .events = POLLIN, .revents = 0};
    return 0;
}

int WaitObject::control(int command, void* argument) {
    if (command != FI_GETWAIT && command != FI_GETWAITOBJ) return -FI_ENOSYS;
    if (!argument) return -FI_EINVAL;
    if (command == FI_GETWAIT) return get_wait(argument);
    *static_cast<fi_wait_obj*>(argument) = kind_;
    return 0;
}

bool WaitSet::pending() {
    LockGuard guard(lock);
    for (const WaitMember* member = members; member; member = member->next) {
        if (member->pending(member->object)) return true;
    }
    return false;
}

namespace {

int close_wait_set(fid* descriptor) {
    auto* set = object_of<WaitSet>(descriptor);
    if (!set->uses.close()) return -FI_EBUSY;
    set->fabric->uses.release();
    destroy(set);
    return 0;
}

int control_wait_set(fid* descriptor, int command, void* argument) {
    return object_of<WaitSet>(descriptor)->wait.control(command, argument);
}

int wait_on_set(fid_wait* descriptor, int timeout) {
    auto* set = object_of<WaitSet>(descriptor);
    const Deadline deadline(timeout);
    for (;;) {
        const uint32_t seen = set->wait.generation();
        set->wait.reset();
        if (set->pending()) return 0;
        switch (set->wait.wait(seen, deadline)) {
            case WaitObject::Woken::kSignal:
                break;
            case WaitObject::Woken::kTimeout:
                return -FI_ETIMEDOUT;
            case WaitObject::Woken::kInterrupted:
                return -FI_EINTR;
        }
    }
}

constexpr fi_ops kFidOps = make_fid_ops(close_wait_set, kMissing<decltype(fi_ops::bind)>, control_wait_set);
constexpr fi_ops_wait kWaitOps = {.size = sizeof(fi_ops_wait), .wait = wait_on_set};

template <typename Object>
int try_wait(Object* object) {
    if (object->pending()) return -FI_EAGAIN;
    object->wait.reset();
    return object->pending() ? -FI_EAGAIN : 0;
}

int try_wait_any(fid* each) {
    switch (each->fclass) {
        case FI_CLASS_EQ:
            return try_wait(object_of<EventQueue>(each));
        case FI_CLASS_CQ:
            return try_wait(object_of<CompletionQueue>(each));
        case FI_CLASS_CNTR:
            return try_wait(object_of<Counter>(each));
        case FI_CLASS_WAIT:
            return try_wait(object_of<WaitSet>(each));
        default:
            return -FI_EINVAL;
    }
}

}  // namespace

int fabric_open_wait(fid_fabric* descriptor, fi_wait_attr* attr, fid_wait** result) {
    if (!descriptor || !attr || !result) return -FI_EINVAL;
    *result = nullptr;
    if (attr->flags) return -FI_EBADFLAGS;
    auto* fabric = Fabric::of(descriptor);
    Use use(fabric->uses);
    if (!use) return -FI_EINVAL;
    auto* set = create<WaitSet>();
    if (!set) return -FI_ENOMEM;
    const int error = set->wait.open_for_set(attr->wait_obj);
    if (error) {
        destroy(set);
        return error;
    }
    set->fabric = fabric;
    init_fid(set->descriptor.fid, FI_CLASS_WAIT, nullptr, kFidOps);
    set->descriptor.ops = const_cast<fi_ops_wait*>(&kWaitOps);
    use.keep();
    *result = &set->descriptor;
    return 0;
}

int fabric_trywait(fid_fabric*, fid** fids, int count) {
    if (count < 0 || (count && !fids)) return -FI_EINVAL;
    for (int i = 0; i < count; ++i) {
        if (!fids[i]) return -FI_EINVAL;
        const int result = try_wait_any(fids[i]);
        if (result) return result;
    }
    return 0;
}

}  // namespace selvage::impl
