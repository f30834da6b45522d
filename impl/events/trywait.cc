// fi_trywait: whether an application may sleep on the descriptors of queues, counters and wait sets.
#include "impl/events/cntr.h"
#include "impl/events/cq.h"
#include "impl/events/eq.h"
#include "impl/events/event_reading.h"
#include "impl/events/wait_members.h"
#include "impl/fabric/fabric.h"
#include "impl/progress/wait.h"

namespace selvage::impl {
namespace {

bool needs_descriptors(WaitSet& set) {
    LockGuard guard(set.lock);
    for (const WaitMember* member = set.members; member; member = member->next) {
        if (member->progress->has_descriptor()) return true;
    }
    return false;
}
bool needs_descriptors(ProgressList& list) { return list.has_descriptor(); }

// Disarmed first, since what is made progress on may signal, and nobody blocks on the object now.
template <typename Object, typename Progress>
int try_wait(Object* object, Progress& progress) {
    progress.disarm_native();
    progress.advance();
    if (object->pending()) return -FI_EAGAIN;
    // A condition variable is not woken by arrivals that nobody looks for.
    if (!object->wait.gives_descriptor() && needs_descriptors(progress)) return -FI_EAGAIN;
    object->wait.prepare_native();
    const bool armed = progress.arm_native();
    if (armed && !object->pending()) return 0;
    progress.disarm_native();
    return -FI_EAGAIN;
}

template <typename Object>
int try_wait(fid* descriptor) {
    auto* object = object_of<Object>(descriptor);
    return try_wait(object, object->progress);
}

int try_wait_any(fid* each) {
    switch (each->fclass) {
        case FI_CLASS_EQ: {
            EventReading reading;
            object_of<EventQueue>(each)->drop_ended_joins();
            return try_wait<EventQueue>(each);
        }
        case FI_CLASS_CQ:
            return try_wait<CompletionQueue>(each);
        case FI_CLASS_CNTR:
            return try_wait<Counter>(each);
        case FI_CLASS_WAIT: {
            auto* set = object_of<WaitSet>(each);
            if (!has_event_queues_alone(*set)) return try_wait(set, *set);
            EventReading reading;
            return try_wait(set, *set);
        }
        default:
            return -FI_EINVAL;
    }
}

}  // namespace

int fabric_trywait(fid_fabric*, fid** fids, int count) {
    if (count < 0 || (count && !fids)) return -FI_EINVAL;
    for (int i = 0; i < count; ++i) {
        if (!fids[i]) return -FI_EINVAL;
        const int result = try_wait_any(fids[i]);
        if (result) return result;
    }
    return 0;
}

}  // namespace selvage::impl
