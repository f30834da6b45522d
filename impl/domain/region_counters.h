// Counters that are bound to memory regions, and the data paths of the domain whose progress they make.
//
// The counter where a completion is reported makes progress when it is read (fi_domain(3)); a write of a peer comes
// through any endpoint of the domain. So each such counter has every enabled endpoint attached, those that are enabled
// later, too. Control calls only. The lock is held while a path is attached: it comes before those of queues and
// endpoints, and is never taken by what makes progress.
#pragma once

#include <cstddef>

#include "impl/base/lock.h"
#include "impl/progress/progressive.h"

namespace selvage::impl {

struct Counter;

class RegionCounters {
public:
    RegionCounters() = default;
    ~RegionCounters();
    RegionCounters(const RegionCounters&) = delete;
    RegionCounters& operator=(const RegionCounters&) = delete;

    // 0, -FI_ENOMEM, or an errno for no descriptor or thread left; nothing has changed then.
    int add_path(Progressive* path);
    // After it no thread is inside the path on behalf of such a counter. Of a path that was not added: nothing.
    void remove_path(Progressive* path);
    // Counted: a counter may be bound to several regions.
    int add_counter(Counter* counter);
    void remove_counter(Counter* counter);

private:
    struct Path {
        Path* next;
        Progressive* path;
    };
    struct Bound {
        Bound* next;
        Counter* counter;
        size_t regions;
    };

    Bound** find(const Counter* counter);
    static int attach_all(Counter* counter, Path* paths);

    Mutex lock_;  // protects what follows
    Path* paths_ = nullptr;
    Bound* counters_ = nullptr;
};

}  // namespace selvage::impl
