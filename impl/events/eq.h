// The event queue: control events in the order they were written, errors beside them.
//
// Any thread may write and read. An event is allocated before the operation that it reports starts, so that reporting
// cannot fail; the queue has no bound but memory. Who learns of something that nobody started (a connection request)
// and has no memory to tell of it calls set_overrun(): fi_eq(3) says what that means.
//
// Reading makes progress on what is attached: listening sockets, connections, endpoints that wait for an event.
#pragma once

#include "impl/base/lock.h"
#include "impl/base/object.h"
#include "impl/progress/wait.h"

namespace selvage::impl {

struct DomainCore;
struct Fabric;

// One event. `size` bytes of payload follow, starting with the structure that the reader gets.
struct Event {
    Event* next;
    uint32_t type;
    bool is_error;  // the payload is an fi_eq_err_entry
    size_t size;

    unsigned char* payload() { return reinterpret_cast<unsigned char*>(this + 1); }
    static Event* allocate(uint32_t type, size_t size);
};

// A data path on which an event queue makes progress for a join, until that is over (collective/join.cc).
struct JoinDrive {
    JoinDrive* next = nullptr;
    Progressive* path = nullptr;
    DomainCore* domain = nullptr;
    bool over = false;  // protected by the queue's lock
};

struct EventQueue {
    fid_eq descriptor{};
    UseCount uses;
    Fabric* fabric = nullptr;
    bool writable = false;  // opened with FI_WRITE
    WaitObject wait;
    WaitMember member;
    ProgressList progress{wait};

    Mutex lock;  // protects what follows
    Event* first = nullptr;
    Event** last = &first;
    Event* first_error = nullptr;
    Event** last_error = &first_error;
    Event* read_error = nullptr;  // the one read last: its data is the reader's until the next read
    bool overrun = false;

    std::atomic<bool> joins_over{false};  // of some in `joins`; stored with the lock, and read without it for a guess
    Mutex joins_lock;                     // before those of `progress` and of the queue; protects what follows
    JoinDrive* joins = nullptr;           // that are attached

    // Takes ownership. Dropped when the queue is overrun.
    void push(Event* event);
    // An event could not be reported. What is in the queue stays readable; after it every read tells of the overrun.
    void set_overrun();
    // `domain`: of the endpoint that the object belongs to, if any; its thread makes progress on the object, too, when
    // control progress is automatic. 0 or a negative errno (memory, descriptors, threads). Without the object's lock
    // held; after detach no thread is inside the object on behalf of this queue or that thread.
    int attach(Progressive* object, DomainCore* domain = nullptr);
    void detach(Progressive* object, DomainCore* domain = nullptr);
    // The same for a join. end_join() may be called by any thread, whatever it holds of a data path: who reads the
    // queue next, or waits for it, detaches the path. To detach what is not attached any more does nothing.
    int attach_join(JoinDrive& drive);
    void detach_join(JoinDrive& drive);
    void end_join(JoinDrive& drive);
    void drop_ended_joins();
    bool pending();
    ~EventQueue();

    static EventQueue* of(fid_eq* eq) { return object_of<EventQueue>(eq); }
};

// A completion of an asynchronous control operation, ready to be pushed; nullptr when memory is short.
Event* make_completion(uint32_t type, fid* object, void* context, uint64_t data);
// `error` is a positive fabric errno, `provider_error` what fi_eq_strerror explains (0: the same); `details` are copied
// and given to the reader as err_data.
Event* make_error(fid* object, void* context, uint64_t data, int error, int provider_error = 0,
                  const void* details = nullptr, size_t details_size = 0);

}  // namespace selvage::impl
