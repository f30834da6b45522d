// The work of a domain that waits for counters (fi_trigger(3)): operations with FI_TRIGGER, and what FI_QUEUE_WORK
// queues. Defined in trigger/.
//
// Work goes through these states:
//     waiting    for its counter, in a list of that counter, sorted by threshold and then by posting
//     due        the counter has got there; one list for the domain, in the same order
//     starting   handed to its endpoint, or done if it moves a counter
//     under way  deferred work whose operation is not complete; the engine has it as the context
//
// Whoever moves a counter makes work due, whatever it has locked. run() starts what is due, with nothing locked but
// lists of what makes progress: who makes progress on a data path of the domain calls it, who changes a counter by
// fi_cntr_add and its kin, and who queues work. One thread at a time does, so the order is kept, and counters that move
// counters are a loop and no recursion. What an endpoint answers with -FI_EAGAIN stays due, and so does what comes
// after it for the same side of that endpoint; whoever makes progress tries again.
//
// Lock order: an engine's lock, then lock_, then that of a queue, a wait object or sleepers.
#pragma once

#include "impl/base/lock.h"
#include "impl/domain/work.h"
#include "impl/progress/progressive.h"

namespace selvage::impl {

struct Domain;

class WorkQueue final : public DueWork {
public:
    // What waits, is due or is under way in a domain.
    static constexpr size_t kMost = 16384;

    // The data path of an enabled endpoint. stop() takes it away.
    void add_path(Progressive& path);

    // FI_QUEUE_WORK, FI_CANCEL_WORK and FI_FLUSH_WORK (deferred.cc). What is to be cancelled is named by its address
    // alone. `trigger`: only what waits for this counter; nullptr: all.
    int queue(Domain& domain, const fi_deferred_work* request);
    int cancel(const fi_deferred_work* request);
    int flush(const fid_cntr* trigger);

    // Takes work that is complete but for its state: starts it at once if its threshold is reached, or keeps it. With
    // an error, -FI_EAGAIN among them, nothing of it is left.
    ssize_t submit(Work* work);
    void run() override;
    // Deferred work whose operation is over: its completion counter has one success or error more, and it is gone.
    void finish(Work* work, bool failed);

    // fi_cancel. False if no operation with FI_TRIGGER and this context waits for the endpoint.
    bool cancel_triggered(Endpoint& endpoint, const void* context);
    // Before the data path of an endpoint is closed: nothing is started on it any more. And after: nothing is left.
    void stop(Endpoint& endpoint);
    void forget(Endpoint& endpoint);

    // See cntr.h.
    void mark_reached(Counter& counter);
    bool release(Counter& counter);

private:
    bool admit(Work& work);
    void enqueue(Work& work);
    void drop(Work* work);
    Work* next_due() const;
    void start_due(Work* work);
    ssize_t start(Work* work);
    void move_counter(const Work& work);
    void moved(Counter& counter);
    void collect(CounterWork& waiting, const Counter& counter);
    void update(CounterWork& waiting, Counter& counter);
    void unlink(Work& work);
    void mark_paths();

    Mutex lock_;  // protects what follows
    List<Progressive, &Progressive::next_path, &Progressive::previous_path> paths_;
    List<Work, &Work::next_of_all, &Work::previous_of_all> all_;
    List<Work> due_;
    size_t count_ = 0;              // in all_
    uint64_t sequence_ = 0;         // of the last work
    uint64_t run_ = 0;              // the number of the run, in which an endpoint may have answered -FI_EAGAIN
    bool running_ = false;          // a thread starts work
    bool marked_ = false;           // the paths know that work is due
    Endpoint* starting_ = nullptr;  // on which work is being started
};

}  // namespace selvage::impl
