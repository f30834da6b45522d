// Which members of a wait set are event queues: who waits for no others is one that reads them (event_reading.h).
#pragma once

#include "impl/progress/wait.h"

namespace selvage::impl {

bool is_event_queue(const WaitMember& member);  // eq.cc

inline bool has_event_queues_alone(WaitSet& set) {
    LockGuard guard(set.lock);
    for (const WaitMember* member = set.members; member; member = member->next) {
        if (!is_event_queue(*member)) return false;
    }
    return true;
}

}  // namespace selvage::impl
