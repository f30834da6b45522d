// What goes on while the application does not call: sends what was deferred to the next call of progress, and sets up
// connections.
//
// One thread per process, which exists while a transport is open that listens or has ever deferred anything. It sleeps
// until one has something deferred, or a descriptor of connections that are being set up becomes readable. It looks at
// each transport once per tick; a transport that has something to do and was not called since the last tick is served,
// under locks of its own. So a deferred frame waits two ticks at most, and so does each step of a handshake. The thread
// never calls an engine: what it completes is reported at the next progress.
//
// To wake a thread takes longer than most steps of a handshake, whoever does it. So who defers something sets a timer
// of a tick, and the descriptor of a transport is watched only once its application has stopped calling: whether it has
// is looked at every kSetupTick.
//
// Locks: the flusher's own is held while a transport is served, so none of a transport's may be held by who calls
// join_flusher or leave_flusher. The other calls take no lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace selvage::impl::tcp {

// What the flusher knows of a transport; a member or base of it.
class Deferring {
public:
    // The owner's, at every progress. Relaxed: only whether it changed between two ticks matters.
    void count_round() { round_.store(round_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
    uint32_t round() const { return round_.load(std::memory_order_relaxed); }

    // True once the flusher knows this object; a frame is deferred only then. Fails when there can be no thread.
    // `setup` is a descriptor that is readable when advance_setup() has something to do, or -1: then it is never
    // called.
    bool join_flusher(int setup = -1);
    // Afterwards the thread is not inside flush_deferred or advance_setup and does not come back.
    void leave_flusher();

    // Something is deferred now. Pairs with the flusher, which says that it sleeps and then looks whether anything is
    // deferred: one of the two sees the other, as both accesses on both sides are sequentially consistent. What was
    // noted and not taken back the flusher has seen, or will.
    void note_deferred() {
        if (!deferred_.load(std::memory_order_relaxed)) note(deferred_);
    }
    void note_flushed() { deferred_.store(false, std::memory_order_relaxed); }
    // Something of the setup is due at some time, without anything arriving.
    void note_timed() {
        if (!timed()) note(timed_);
    }
    void note_untimed() { timed_.store(false, std::memory_order_relaxed); }
    bool timed() const { return timed_.load(std::memory_order_relaxed); }

protected:
    ~Deferring() = default;
    // In the flusher's thread: give the sockets what they take.
    virtual void flush_deferred() = 0;
    // In the flusher's thread: connections that are being set up.
    virtual void advance_setup() = 0;

private:
    friend class Flusher;
    void note(std::atomic<bool>& flag) {
        flag.store(true, std::memory_order_seq_cst);
        // In this order: the thread itself sees that it does not sleep, and `joined_` is the owner's. Of several owners
        // one sets the timer: others would put it off.
        if (flusher_sleeps_.load(std::memory_order_seq_cst) && joined_ &&
            flusher_sleeps_.exchange(false, std::memory_order_seq_cst)) {
            wake_flusher();
        }
    }
    static void wake_flusher();
    static std::atomic<bool> flusher_sleeps_;

    std::atomic<uint32_t> round_{0};
    std::atomic<bool> deferred_{false};
    std::atomic<bool> timed_{false};
    bool joined_ = false;
    // The flusher's.
    int setup_descriptor_ = -1;
    bool watched_ = false;  // the descriptor is, for one event
    Deferring* next_ = nullptr;
    uint32_t seen_round_ = 0;
    bool seen_ = false;
};

}  // namespace selvage::impl::tcp
