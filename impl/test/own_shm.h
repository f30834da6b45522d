// A /dev/shm that belongs to a test alone: of another size, or without the processes of other tests, any of which may
// remove what dead processes have left there.
#pragma once

#include <sched.h>
#include <sys/mount.h>

namespace selvage::impl::test {

// For the calling process, which must have one thread, and its children, for good. `options` are those of tmpfs
// ("size=512k") or nullptr. False: it is not permitted here.
inline bool use_own_shm(const char* options) {
    if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) return false;
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr)) return false;
    return mount("tmpfs", "/dev/shm", "tmpfs", 0, options) == 0;
}

}  // namespace selvage::impl::test
