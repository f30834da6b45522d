// The wait set and fi_trywait (fi_poll(3)); see wait.h.
#include "impl/core/cntr.h"
#include "impl/core/cq.h"
#include "impl/core/eq.h"
#include "impl/core/fabric.h"
#include "impl/core/wait.h"
#include "impl/core/wait_block.h"

namespace selvage::impl {

bool WaitSet::pending() {
    LockGuard guard(lock);
    for (const WaitMember* member = members; member; member = member->next) {
        if (member->pending(member->object)) return true;
    }
    return false;
}

void WaitSet::advance() {
    LockGuard guard(lock);
    for (const WaitMember* member = members; member; member = member->next) member->progress->advance();
}

Armed WaitSet::arm() {
    LockGuard guard(lock);
    for (const WaitMember* member = members; member; member = member->next) {
        const Armed armed = member->progress->arm();
        if (armed == Armed::kArmed) continue;
        for (const WaitMember* done = members; done != member; done = done->next) done->progress->disarm();
        return armed;
    }
    ++sleeping;
    return Armed::kArmed;
}

void WaitSet::disarm() {
    LockGuard guard(lock);
    --sleeping;
    for (const WaitMember* member = members; member; member = member->next) member->progress->disarm();
}

bool WaitSet::arm_native() {
    LockGuard guard(lock);
    for (const WaitMember* member = members; member; member = member->next) {
        if (!member->progress->arm_native()) return false;
    }
    return true;
}

void WaitSet::disarm_native() {
    LockGuard guard(lock);
    for (const WaitMember* member = members; member; member = member->next) member->progress->disarm_native();
}

namespace {

int close_wait_set(fid* descriptor) {
    auto* set = object_of<WaitSet>(descriptor);
    if (!set->uses.close()) return -FI_EBUSY;
    set->fabric->uses.release();
    destroy(set);
    return 0;
}

int control_wait_set(fid* descriptor, int command, void* argument) {
    return object_of<WaitSet>(descriptor)->wait.control(command, argument);
}

int wait_on_set(fid_wait* descriptor, int timeout) {
    auto* set = object_of<WaitSet>(descriptor);
    switch (block(set->wait, *set, Deadline(timeout), [set] { return set->pending(); })) {
        case Blocked::kReady:
            return 0;
        case Blocked::kTimeout:
            return -FI_ETIMEDOUT;
        case Blocked::kInterrupted:
            return -FI_EINTR;
    }
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_wait_set, kMissing<decltype(fi_ops::bind)>, control_wait_set);
constexpr fi_ops_wait kWaitOps = {.size = sizeof(fi_ops_wait), .wait = wait_on_set};

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
        case FI_CLASS_EQ:
            return try_wait<EventQueue>(each);
        case FI_CLASS_CQ:
            return try_wait<CompletionQueue>(each);
        case FI_CLASS_CNTR:
            return try_wait<Counter>(each);
        case FI_CLASS_WAIT: {
            auto* set = object_of<WaitSet>(each);
            return try_wait(set, *set);
        }
        default:
            return -FI_EINVAL;
    }
}

}  // namespace

int fabric_open_wait(fid_fabric* descriptor, fi_wait_attr* attr, fid_wait** result) {
    if (!descriptor || !attr || !result) return -FI_EINVAL;
    *result = nullptr;
    if (attr->flags) return -FI_EBADFLAGS;
    auto* fabric = Fabric::of(descriptor);
    Use use(fabric->uses);
    if (!use) return -FI_EINVAL;
    auto* set = create<WaitSet>();
    if (!set) return -FI_ENOMEM;
    const int error = set->wait.open_for_set(attr->wait_obj);
    if (error) {
        destroy(set);
        return error;
    }
    set->fabric = fabric;
    init_fid(set->descriptor.fid, FI_CLASS_WAIT, nullptr, kFidOps);
    set->descriptor.ops = const_cast<fi_ops_wait*>(&kWaitOps);
    use.keep();
    *result = &set->descriptor;
    return 0;
}

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
