// The bounded delay: sends what was deferred to the next call of progress when that call does not come.
//
// One thread per process, which exists while a transport that has ever deferred anything is open and sleeps unless one
// has something deferred. It looks at each transport once per tick; a transport that still has something and was not
// called since the last tick is flushed, under the lock that guards its send buffers. So a deferred frame waits two
// ticks at most. The thread never calls an engine: what it completes is reported at the next progress.
#ifndef SELVAGE_IMPL_TRANSPORT_TCP_FLUSHER_H
#define SELVAGE_IMPL_TRANSPORT_TCP_FLUSHER_H

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
    bool join_flusher();
    // Afterwards the thread is not inside flush_deferred and does not come back.
    void leave_flusher();

    // Something is deferred now. Pairs with the flusher, which says that it sleeps and then looks whether anything is
    // deferred: one of the two sees the other, as both accesses on both sides are sequentially consistent.
    void note_deferred() {
        deferred_.store(true, std::memory_order_seq_cst);
        if (flusher_sleeps_.load(std::memory_order_seq_cst)) wake_flusher();
    }
    void note_flushed() { deferred_.store(false, std::memory_order_relaxed); }

protected:
    ~Deferring() = default;
    // In the flusher's thread: give the sockets what they take.
    virtual void flush_deferred() = 0;

private:
    friend class Flusher;
    static void wake_flusher();
    static std::atomic<bool> flusher_sleeps_;

    std::atomic<uint32_t> round_{0};
    std::atomic<bool> deferred_{false};
    bool joined_ = false;
    // The flusher's.
    Deferring* next_ = nullptr;
    uint32_t seen_round_ = 0;
    bool seen_ = false;
};

}  // namespace selvage::impl::tcp

#endif
