// Waiting for a sender that is in a system call that copies into this process's memory (shared_pull.h,
// shm_granted_write.cc). Called by the owner of the region, with the endpoint's lock held.
#pragma once

#include <sched.h>
#include <time.h>

#include "impl/base/spin_lock.h"
#include "impl/transport/shm/region.h"

namespace selvage::impl::shm {

// It ends soon, or when the sender has its processor again. It may also have been stopped, or have a lower priority
// than this thread. One that is gone holds no lock, and writes nothing any more: the kernel closes its files when its
// last thread has left its last system call. False: it is gone.
template <typename Done>
bool wait_for_sender(const OwnRegion& region, size_t slot, Done done) {
    constexpr uint32_t kSpins = 4096;
    constexpr uint32_t kYields = 64;
    constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 50'000};
    for (uint32_t turn = 0; !done(); ++turn) {
        if (turn < kSpins) {
            relax_processor();
        } else if (turn < kSpins + kYields) {
            sched_yield();
        } else if (region.slot_is_held(slot)) {
            turn = kSpins + kYields;
            nanosleep(&kNap, nullptr);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace selvage::impl::shm
