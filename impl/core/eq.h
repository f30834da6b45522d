// The event queue: control events in the order they were written, errors beside them.
//
// Any thread may write and read. An event is allocated before the operation that it reports starts, so that reporting
// cannot fail.
#ifndef SELVAGE_IMPL_CORE_EQ_H
#define SELVAGE_IMPL_CORE_EQ_H

#include "impl/core/lock.h"
#include "impl/core/object.h"
#include "impl/core/wait.h"

namespace selvage::impl {

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

struct EventQueue {
    fid_eq descriptor{};
    UseCount uses;
    Fabric* fabric = nullptr;
    bool writable = false;  // opened with FI_WRITE
    WaitObject wait;
    WaitMember member;

    Mutex lock;  // protects what follows
    Event* first = nullptr;
    Event** last = &first;
    Event* first_error = nullptr;
    Event** last_error = &first_error;

    // Takes ownership.
    void push(Event* event);
    bool pending();
    ~EventQueue();

    static EventQueue* of(fid_eq* eq) { return object_of<EventQueue>(eq); }
};

// A completion of an asynchronous control operation, ready to be pushed; nullptr when memory is short.
Event* make_completion(uint32_t type, fid* object, void* context, uint64_t data);
Event* make_error(fid* object, void* context, uint64_t data, int error);

}  // namespace selvage::impl

#endif
