// fi_wait_open, and what an application does with a wait set.
#include "impl/events/event_reading.h"
#include "impl/events/wait_members.h"
#include "impl/fabric/fabric.h"
#include "impl/progress/wait.h"
#include "impl/progress/wait_block.h"

namespace selvage::impl {
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

int wait_on(WaitSet* set, int timeout) {
    switch (block(set->wait, *set, Deadline(timeout), [set] { return set->pending(); })) {
        case Blocked::Ready:
            return 0;
        case Blocked::Timeout:
            return -FI_ETIMEDOUT;
        case Blocked::Interrupted:
            return -FI_EINTR;
    }
    return 0;
}

int wait_on_set(fid_wait* descriptor, int timeout) {
    auto* set = object_of<WaitSet>(descriptor);
    if (!has_event_queues_alone(*set)) return wait_on(set, timeout);
    EventReading reading;
    return wait_on(set, timeout);
}

constexpr fi_ops kFidOps = make_fid_ops(close_wait_set, kMissing<decltype(fi_ops::bind)>, control_wait_set);
constexpr fi_ops_wait kWaitOps = {.size = sizeof(fi_ops_wait), .wait = wait_on_set};

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

}  // namespace selvage::impl
