// Waiting: the wait object inside queues and counters, and the wait set.
//
// A thread that wants to sleep says so (want), notes the generation, looks whether there is something to read, and
// sleeps only while the generation is still the one it noted. A writer publishes first and then looks whether anybody
// wants to know (wanted): if so it signals, which starts a new generation. The two meet in the order
//     waiter: want, look          writer: publish, wanted
// and one of them sees the other: for queues because "look" and "publish" are made under the queue's lock, for counters
// because all four are sequentially consistent. So no signal is lost, and a writer pays one load when nobody sleeps.
//
// While nothing attached to the owner has a descriptor, threads sleep on a futex. From the first descriptor on (watch)
// they sleep on an event of theirs and on a group (epoll) of what is attached. An application gets for FI_WAIT_FD and
// FI_WAIT_POLLFD one descriptor, for ever: an epoll of the same group and of an event of the application's own. With
// one event for both, a thread of the library that waits for more than there is would take the application's wake-up
// back.
#pragma once

#include <atomic>

#include "impl/base/clock.h"
#include "impl/base/lock.h"
#include "impl/base/object.h"
#include "impl/progress/progress_list.h"
#include "impl/progress/wake_event.h"

namespace selvage::impl {

struct Fabric;
struct WaitSet;

// A point in time after which waiting is over. Negative milliseconds: never.
class Deadline {
public:
    explicit Deadline(int milliseconds);
    bool endless() const { return endless_; }
    // What is left, in nanoseconds; 0 when it has passed.
    int64_t remaining() const;
    bool passed() const { return !endless_ && remaining() == 0; }
    // At a time of monotonic_nanoseconds().
    bool passed_at(int64_t now) const { return !endless_ && now >= at_; }

private:
    bool endless_;
    int64_t at_ = 0;
};

// What a wait set knows of a member: embedded in the queue or counter.
struct WaitMember {
    WaitMember* next = nullptr;
    void* object = nullptr;
    bool (*pending)(void* object) = nullptr;  // is there something to read?
    ProgressList* progress = nullptr;
};

class WaitObject {
public:
    WaitObject() = default;
    ~WaitObject() { close(); }
    WaitObject(const WaitObject&) = delete;
    WaitObject& operator=(const WaitObject&) = delete;

    // `set` counts only for FI_WAIT_SET; `member` describes the owner to it and must outlive the wait object.
    int open(fi_wait_obj kind, fid_wait* set, const Fabric* fabric, WaitMember* member);
    int open_for_set(fi_wait_obj kind);
    void close();

    fi_wait_obj kind() const { return kind_; }
    // May a thread wait in a read of the owner? The pages have it that an owner without a wait object is not waited
    // on; who does all the same gets what the call is for, by polling.
    bool waits_here() const { return kind_ != FI_WAIT_SET; }
    // Nothing wakes who waits: it gives up its processor and looks again.
    bool polls() const { return kind_ == FI_WAIT_YIELD || kind_ == FI_WAIT_NONE; }

    // For writers, after publishing.
    bool wanted() const { return wanted_->load() != 0; }
    // By somebody who waits here; and for work that waits for the owner, a counter.
    bool wanted_by_waiter() const { return wanted_->load() % kOneForWork != 0; }
    bool wanted_for_work() const { return wanted_->load() >= kOneForWork; }
    void signal_if_wanted() {
        if (wanted()) [[unlikely]]
            signal();
    }
    void signal();

    // For waiters, in this order: want, generation, look, wait, unwant.
    void want() { wanted_->fetch_add(1); }
    void unwant() { wanted_->fetch_sub(1); }
    // For the work of a counter (trigger/), which does not sleep: the owner looks for it where it would signal.
    void want_for_work() { wanted_->fetch_add(kOneForWork); }
    void unwant_for_work() { wanted_->fetch_sub(kOneForWork); }
    uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    enum class Woken { Signal, Timeout, Interrupted };
    Woken wait(uint32_t seen, const Deadline& deadline);
    // The same for at most `nanoseconds`, and only signals end it: what is watched is not looked at.
    Woken nap(uint32_t seen, int64_t nanoseconds);
    // In place of wait() while there is no descriptor through which arrivals could wake (Armed::NoDescriptor): a nap
    // of at most a millisecond, after which the caller looks by itself. The first one is logged.
    Woken nap_undescribed(uint32_t seen, const Deadline& deadline);
    // The same before something is tried again (Armed::Later).
    Woken nap_briefly(uint32_t seen, const Deadline& deadline);

    // For an application that blocks outside the library: makes the descriptor unreadable, and from then on signals
    // are wanted. The caller looks for events afterwards.
    void prepare_native();
    bool gives_descriptor() const { return kind_ == FI_WAIT_FD || kind_ == FI_WAIT_POLLFD; }
    // How long a waiter looks by itself before it sleeps; see wait_block.h.
    std::atomic<uint32_t>& spin_budget() { return spin_budget_; }

    // Sleepers also wake when the descriptor is readable. Counted per descriptor. 0 or a negative errno.
    int watch(int descriptor);
    void unwatch(int descriptor);

    // FI_GETWAIT and FI_GETWAITOBJ.
    int control(int command, void* argument);

private:
    struct Watched {
        int descriptor;
        unsigned uses;
    };

    int open_primitives();
    int open_condition();
    int open_descriptors();
    int add_watched(int descriptor);
    int open_native(int group);
    void close_descriptors();
    void broadcast();
    Woken wait_on_futex(uint32_t seen, const timespec* limit);  // nullptr: none
    Woken wait_on_descriptors(uint32_t seen, const Deadline& deadline);
    int get_wait(void* argument);

    static constexpr uint32_t kOneForWork = 1 << 16;  // in wanted_, above what counts waiters

    fi_wait_obj kind_ = FI_WAIT_NONE;
    std::atomic<uint32_t>* wanted_ = &own_wanted_;  // the wait set's, for its members
    std::atomic<uint32_t> own_wanted_{0};
    std::atomic<uint32_t> generation_{0};
    std::atomic<uint32_t> sleepers_{0};  // on the futex
    std::atomic<bool> has_event_{false};
    std::atomic<bool> warned_{false};
    std::atomic<uint32_t> spin_budget_{10'000};  // nanoseconds
    bool has_condition_ = false;
    Mutex lock_;           // protects what follows
    bool native_ = false;  // counted in wanted_
    WakeEvent event_;
    WakeEvent native_event_;
    int native_epoll_ = -1;       // what the application has
    std::atomic<int> group_{-1};  // of what is watched
    unsigned polling_ = 0;        // threads in poll
    Watched* watched_ = nullptr;
    size_t watched_count_ = 0;
    size_t watched_capacity_ = 0;
    pthread_mutex_t mutex_{};
    pthread_cond_t condition_{};
    WaitSet* set_ = nullptr;
    WaitMember* member_ = nullptr;
};

struct WaitSet {
    fid_wait descriptor{};
    UseCount uses;
    Fabric* fabric = nullptr;
    WaitObject wait;
    Mutex lock;  // protects what follows
    WaitMember* members = nullptr;

    size_t sleeping = 0;  // arm() calls without their disarm()

    // Of all members; see ProgressList.
    bool pending();
    void advance();
    Armed arm();
    void disarm();
    bool arm_native();
    void disarm_native();
};

}  // namespace selvage::impl
