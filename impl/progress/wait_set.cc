// The wait set as its members see it; see wait.h.
#include "impl/progress/wait.h"

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
        if (armed == Armed::Armed) continue;
        for (const WaitMember* done = members; done != member; done = done->next) done->progress->disarm();
        return armed;
    }
    ++sleeping;
    return Armed::Armed;
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

}  // namespace selvage::impl
