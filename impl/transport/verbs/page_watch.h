// Whether addresses still have the pages behind them that a device was given.
//
// A device goes on with the pages that it was given, whatever the process does to its addresses afterwards:
// munmap, mremap, madvise, a mapping on top. The kernel tells of these by a userfaultfd, on which ranges are put
// without any fault being asked for; whoever changes such a range waits until the event has been read. A thread reads,
// and holds a lock from before the event is read until it is noted. So a change that has returned is seen by every
// later holds().
//
// One for the process, since a page can be on one userfaultfd only. Any thread. The thread that reads allocates and
// releases no memory: it would wait for itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "impl/base/lock.h"

namespace selvage::impl::verbs {

class PageWatch {
public:
    static constexpr int kRanges = 1024;
    static constexpr int kNone = -1;

    // Opened for the first who holds it and closed with the last. nullptr: this system does not tell.
    static PageWatch* hold();
    static void let_go();

    PageWatch(const PageWatch&) = delete;
    PageWatch& operator=(const PageWatch&) = delete;

    // Watches every page of a range: its number, until remove(). kNone: there is no room, it is watched by somebody
    // else, or it is memory of which not every change is reported.
    int add(uintptr_t start, size_t length);
    void remove(int number);
    // Nothing has changed since add().
    bool holds(int number);
    // Changes so far, to compare with later.
    uint32_t changes() const { return changes_.load(std::memory_order_relaxed); }

    // Whether the pages of a range are the process's own. Files and memory that is shared can lose theirs from
    // elsewhere, of which nothing is reported. Pages that were never touched are nobody's: `all_there` asks for none of
    // these.
    bool is_private(uintptr_t start, size_t length, bool all_there) const;

private:
    PageWatch() = default;
    ~PageWatch() = default;
    friend struct PageWatchKeeper;

    struct Range {
        uintptr_t start = 0;  // of its first page
        uintptr_t end = 0;    // 0: this number is free
        bool changed = false;
    };

    bool open();
    void close();
    bool start();
    static void* enter(void* self);
    static void leave_to_parent();
    void run();
    void read_events();
    void note(uintptr_t start, uintptr_t end);
    int take_number(uintptr_t start, uintptr_t end);
    bool give_up(int number);

    // Protects ranges_. Held for no system call but the reading of events: whoever waits for a reader never has it.
    Mutex lock_;
    // Held while pages are put on the userfaultfd and taken off, so that this happens in the order of ranges_. Without
    // it nothing but `changed` is written there.
    Mutex changing_;
    Range ranges_[kRanges];
    int most_ = 0;  // numbers ever taken
    // Written under lock_; who reads it without may see it late, and looks at the ranges under the lock then.
    std::atomic<uint32_t> changes_{0};
    int faults_ = -1;  // the userfaultfd
    int stop_ = -1;
    int pages_ = -1;  // /proc/self/pagemap
    uintptr_t page_ = 0;
    pthread_t thread_{};
};

}  // namespace selvage::impl::verbs
