// Counters that work names.
#pragma once

#include "impl/domain/work.h"
#include "impl/events/cntr.h"

namespace selvage::impl {

// Makes the counter ready to be named by work: reading it makes progress on all data paths of its domain from now on,
// since work for any of them may move it. 0, -FI_ENOMEM, or an errno for no descriptor or thread left.
int hold_for_work(Counter& counter);

inline bool CounterWork::is_reached() const {
    const uint64_t successes = counter->value.load();
    return successes >= next_successes.load() || successes + counter->errors.load() >= next_all.load();
}

}  // namespace selvage::impl
