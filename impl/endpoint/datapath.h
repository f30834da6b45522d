// What the control side knows of the data path of an enabled endpoint: an Engine<Transport> behind a few virtual calls.
//
// Queues and counters use it to make progress and to sleep; the endpoint's control calls use the rest. Per call of the
// application it costs one indirect call at most; posting operations go through the tables of functions that start()
// put into the endpoint (fi_ops_msg and so on), chosen for its threading level, and never through here, apart from
// sends that waited for a counter.
#pragma once

#include "impl/base/rdma.h"
#include "impl/progress/progressive.h"

namespace selvage::impl {

class Collectives;
enum CounterSlot : uint8_t;
struct Counter;
struct Endpoint;
struct Work;

// progress() takes the endpoint's lock.
class DataPath : public Progressive {
public:
    virtual int cancel(void* context) = 0;
    // A counter that is bound while the endpoint is enabled counts from now on; nullptr: none does. The caller has
    // attached it, and close() detaches it with the others. Takes the endpoint's lock.
    virtual void set_counter(CounterSlot slot, Counter* counter) = 0;
    virtual size_t transmit_left() = 0;  // operations that can be posted now
    virtual size_t receive_left() = 0;

    // The transport inside, for the control calls of its own provider (connections); used with the lock held.
    virtual void* transport() = 0;
    virtual void lock() = 0;
    virtual void unlock() = 0;

    // Drops every pending operation without completions, closes the transport and destroys the object. No thread is
    // inside, and nothing that completed is still unwritten.
    virtual void close() = 0;

    // Of an endpoint with FI_COLLECTIVE; used with the lock held.
    virtual Collectives* collectives() { return nullptr; }
    // Of an endpoint with FI_MULTICAST: fi_join(3).
    virtual int join(const void*, uint64_t, fid_mc**, void*) { return -FI_ENOSYS; }
    // Of an endpoint with FI_TRIGGER: starts the short sends of as many as `count` pieces of work from `first` on,
    // linked by `next`, each as fi_send would. Returns how many sends were started; if not all were, `error` is what
    // the next one was answered with, and it is left as it is otherwise. Takes the endpoint's lock.
    virtual size_t start_sends(const Work&, size_t, ssize_t* error) {
        *error = -FI_ENOSYS;
        return 0;
    }

    // Sharing: threads use the path that the application does not serialise with its own. share() is called by a thread
    // of the application's, without the lock, before any of these comes, and unshare() with the lock, when one will
    // come no more. Counted. In a domain that is serialised, locks are taken from the first share() until the
    // application's next progress after the last unshare(): by the path, its queues and counters. Elsewhere they always
    // are, and these do nothing.
    //
    // Shared for joins, in which who reads an event queue makes progress, until they are over (collective/), and for
    // good where work waits for counters with FI_THREAD_COMPLETION, since who uses another queue may start it
    // (trigger/).
    virtual void share() {}
    virtual void unshare() {}

protected:
    ~DataPath() = default;
};

// Whether reading an event queue makes progress on the endpoint for as long as there is a connection. Such an endpoint
// has locks whatever the domain's threading level is, and so have its queues and counters: that level is about the data
// transfer interfaces and the domain's objects, and an event queue belongs to the fabric and may be read by any thread
// (fi_domain(3), "Control interfaces are always considered thread safe"). Endpoints on which it makes progress for a
// join are shared until that is over: with locks for good, a broadcast of 8 bytes takes 1.4 to 1.8 times as long.
bool is_driven_by_events(const Endpoint& endpoint);  // ep_bind.cc

// Whether work for the endpoint has to share its path (DataPath): with FI_THREAD_COMPLETION threads that use other
// queues, and that the application does not serialise with those of this endpoint, may start it.
bool is_shared_by_work(const Endpoint& endpoint);  // ep_bind.cc

// Whether a thread may close a region that peers access by the endpoint while another is inside: with
// FI_THREAD_COMPLETION, as a region is not among the objects of a completion structure (fi_domain(3)). Such an endpoint
// has a lock (region_users.h), its queues have none.
bool meets_closing_regions(const Endpoint& endpoint);  // ep_bind.cc

}  // namespace selvage::impl
