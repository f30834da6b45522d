// The work of a domain that waits for counters (fi_trigger(3)): operations with FI_TRIGGER, and what FI_QUEUE_WORK
// queues. Defined in trigger/.
//
// Work goes through these states:
//     waiting    for its counter, in a list of that counter, sorted by threshold and then by posting
//     due        the counter has got there; one list for the domain, in the same order
//     starting   handed to its endpoint, or done if it moves a counter; in no list
//     under way  deferred work whose operation is not complete; the engine has it as the context
//
// Whoever moves a counter makes work due, whatever it has locked. run() starts what is due, with nothing locked but
// lists of what makes progress: who makes progress on a data path of the domain calls it, who changes a counter by
// fi_cntr_add and its kin, and who queues work; who reads an event queue calls it in vain, as it may hold no lock of an
// endpoint that has none (events/event_reading.h). One thread at a time does, so the order is kept, and counters that
// move counters are a loop and no recursion. Short sends that are posted one after another, with one threshold, are one
// piece of work until they are started (open_). Short sends of one counter to one endpoint that are due one after
// another are started together. What an endpoint answers with -FI_EAGAIN stays due, and so does what comes after it for
// the same side of that endpoint; whoever makes progress tries again.
//
// Lock order: an engine's lock, then lock_, then that of a queue, a wait object or sleepers.
#pragma once

#include "impl/base/spin_lock.h"
#include "impl/domain/work_pool.h"
#include "impl/progress/progressive.h"

namespace selvage::impl {

struct Domain;

// What short sends of one Work have in common.
struct ShortKey {
    Endpoint& endpoint;  // the base
    fid_cntr* trigger;   // as the application gave it: not looked at yet
    uint64_t threshold;
    fi_op_type type;
    uint64_t flags;  // for the endpoint
};
// A short send that is to be submitted.
struct ShortCall {
    ShortKey key;
    ShortSend send;  // with `next` nullptr
};

class WorkQueue final : public DueWork {
public:
    // What waits, is due or is under way in a domain.
    static constexpr size_t kMost = 16384;
    // Short sends that are started together.
    static constexpr size_t kTogether = 64;

    // The data path of an enabled endpoint. stop() takes it away.
    void add_path(Progressive& path);

    // FI_QUEUE_WORK, FI_CANCEL_WORK and FI_FLUSH_WORK (deferred.cc). What is to be cancelled is named by its address
    // alone. `trigger`: only what waits for this counter; nullptr: all.
    int queue(Domain& domain, const fi_deferred_work* request);
    int cancel(const fi_deferred_work* request);
    int flush(const fid_cntr* trigger);

    // Takes work that is complete but for its state: starts it at once if its threshold is reached, or keeps it. With
    // an error, -FI_EAGAIN among them, nothing of it is left.
    ssize_t submit(LongWork* work);
    // Keeps a record of a short send. 0, -FI_EAGAIN or -FI_ENOMEM; or nothing of it is left, and
    // kReached      its threshold is reached and nothing that is due comes before it: the caller is to post it now
    // kUnprepared   prepare() is to be called first
    ssize_t submit_short(const ShortCall& call);
    static constexpr ssize_t kReached = 1;
    static constexpr ssize_t kUnprepared = 2;
    // The same in the usual cases, which need little: there is a record, the threshold is not reached, and it is none
    // before those of work that waits; or, for add_to_open(), the send is as the last operation was that was posted,
    // and waits with it. `make` is called with its record. False, and nothing was done: submit_short() is to be called,
    // for a call that was checked.
    template <typename Make>
    bool submit_usual(const ShortKey& key, Make make);
    bool may_add_to_open() const { return open_.load(std::memory_order_relaxed) != nullptr; }
    template <typename Make>
    bool add_to_open(const ShortKey& key, Make make);
    // For work of an endpoint, or nullptr, that names the counter. 0, or a negative fabric errno.
    int prepare(Endpoint* endpoint, Counter& counter);
    void run() override;
    // Deferred work whose operation is over: its completion counter has one success or error more, and it is gone.
    void finish(LongWork* work, bool failed);

    // fi_cancel. False if no operation with FI_TRIGGER and this context waits for the endpoint.
    bool cancel_triggered(Endpoint& endpoint, const void* context);
    // Before the data path of an endpoint is closed: nothing is started on it any more. And after: nothing is left.
    void stop(Endpoint& endpoint);
    void forget(Endpoint& endpoint);

    // See cntr.h.
    void mark_reached(Counter& counter);
    void start_reached(Counter& counter);
    // True if the counter is ready to be named by work; false if another thread was first.
    bool adopt(Counter& counter, CounterWork& waiting);
    bool release(Counter& counter);

    size_t pool_size() const { return works_.size() + sends_.size(); }  // for tests

private:
    int prepare(const LongWork& work);
    int share_path(Endpoint& endpoint);
    void admit(Work& work);
    void enqueue(Work& work, CounterWork& waiting);
    void fill(Work& work, const ShortKey& key, CounterWork& waiting);
    bool continues_open(const ShortKey& key) const;
    void append(ShortSend& send);
    void start_missed(CounterWork& waiting);
    void drop(Work* work);
    void drop_short(Work* work);
    Work* next_due() const;
    ssize_t start(Work* work);
    void start_due(Work* work);
    // Short sends of one counter to one endpoint, in no other list.
    struct Batch {
        List<Work> works;
        size_t count;  // of works
    };
    static Batch take_together(List<Work>& list, uint64_t reached);
    void start_together(Batch batch);
    void start_alone(Work* work);
    void start_several(List<Work>& list, uint64_t reached);
    void finish_refused(Batch batch, size_t started, ssize_t error);
    bool start_first(CounterWork& waiting);
    ShortSend take_send(Work& work, ShortSend* before);
    void block(Work* work);
    void fail(Work* work, int error);
    void start_all();
    void move_counter(const LongWork& work);
    void moved(Counter& counter);
    void collect(CounterWork& waiting);
    void collect_successes(CounterWork& waiting, uint64_t successes);
    void update(CounterWork& waiting);
    void stop_signals(CounterWork& waiting);
    void unlink(Work& work);
    void mark_paths();
    // Calls with all that waits or is due. The call may unlink what it is called with.
    template <typename Visit>
    void for_each_not_started(Visit visit) {
        const auto visit_all = [&](const List<Work>& list) {
            for (Work *work = list.first(), *next; work; work = next) {
                next = work->next;
                visit(*work);
            }
        };
        for (const CounterWork* waiting = counters_.first(); waiting; waiting = waiting->next) {
            visit_all(waiting->for_successes);
            visit_all(waiting->for_all);
        }
        visit_all(due_);
    }

    SpinLock lock_;  // protects what follows
    List<Progressive, &Progressive::next_path, &Progressive::previous_path> paths_;
    List<CounterWork> counters_;
    List<Work> due_;
    List<Work> under_way_;
    WorkPool<Work> works_;
    WorkPool<ShortSend> sends_;
    // The last work that was queued, to which a send may be added: it waits for its counter, its endpoint has no
    // checks, and its threshold is published, unless an earlier one of its list is. Or nullptr. Stored with the lock,
    // and read without it only for a guess.
    std::atomic<Work*> open_{nullptr};
    size_t count_ = 0;                 // operations that were not dropped
    uint64_t sequence_ = 0;            // of the last work
    uint64_t run_ = 0;                 // the number of the run, in which an endpoint may have answered -FI_EAGAIN
    bool running_ = false;             // a thread starts work
    std::atomic<bool> marked_{false};  // the paths know that work is due; stored with the lock
    Endpoint* starting_ = nullptr;     // on which work is being started
};

}  // namespace selvage::impl
