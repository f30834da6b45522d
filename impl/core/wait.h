// Waiting: the wait object inside queues and counters, and the wait set.
//
// A waiter notes the generation, looks whether there is something to read, and sleeps only while the generation is
// still the one it noted; every signal starts a new generation. So no signal is lost, and signalling costs one atomic
// addition when nobody sleeps and no file descriptor is wanted.
#ifndef SELVAGE_IMPL_CORE_WAIT_H
#define SELVAGE_IMPL_CORE_WAIT_H

#include <atomic>

#include "impl/core/lock.h"
#include "impl/core/object.h"

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

private:
    bool endless_;
    int64_t at_ = 0;
};

// Something that a wait set watches: embedded in the queue or counter.
struct WaitMember {
    WaitMember* next = nullptr;
    void* object = nullptr;
    bool (*pending)(void* object) = nullptr;  // is there something to read?
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
    // May a thread block in a read of the owner?
    bool blocks() const { return kind_ != FI_WAIT_NONE && kind_ != FI_WAIT_SET; }

    void signal();
    uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    enum class Woken { kSignal, kTimeout, kInterrupted };
    Woken wait(uint32_t seen, const Deadline& deadline);
    // Makes the file descriptor unreadable. The caller looks for events again afterwards.
    void reset();

    // FI_GETWAIT and FI_GETWAITOBJ.
    int control(int command, void* argument);

private:
    int open_primitives();
    int get_wait(void* argument);

    fi_wait_obj kind_ = FI_WAIT_NONE;
    std::atomic<uint32_t> generation_{0};
    std::atomic<uint32_t> sleepers_{0};
    std::atomic<bool> raised_{false};
    int event_ = -1;
    bool has_condition_ = false;
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
    Mutex lock;  // protects members
    WaitMember* members = nullptr;

    bool pending();
};

}  // namespace selvage::impl

#endif
