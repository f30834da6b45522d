// Whether the calling thread makes progress because it reads an event queue (eq.cc).
//
// Any thread may read an event queue at any time, whatever the threading level of a domain is: the queue belongs to the
// fabric, and "control interfaces are always considered thread safe" (fi_domain(3)). So such a thread
//   - moves a data path without locks for a join alone, and as one of those that share it (endpoint/datapath.h);
//   - starts no work that is due (domain/work_queue.h): that is for who reads a completion queue or a counter, and whom
//     the application serialises with the other users of the endpoint.
#pragma once

namespace selvage::impl {

class EventReading {
public:
    EventReading() { active_ = true; }
    ~EventReading() { active_ = false; }
    EventReading(const EventReading&) = delete;
    EventReading& operator=(const EventReading&) = delete;

    static bool is_active() { return active_; }

private:
    // A load and no call: data paths look at it whenever they are to make progress.
    [[gnu::tls_model("initial-exec")]] static constinit inline thread_local bool active_ = false;
};

}  // namespace selvage::impl
