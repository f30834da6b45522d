// Counters that work names.
#pragma once

#include "impl/events/cntr.h"

namespace selvage::impl {

// Makes the counter ready to be named by work: reading it makes progress on all data paths of its domain from now on,
// since work for any of them may move it. 0, -FI_ENOMEM, or an errno for no descriptor or thread left.
int hold_for_work(Counter& counter);

}  // namespace selvage::impl
