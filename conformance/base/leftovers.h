// What a killed process left behind under a name that this process would use itself.
//
// libfabric's shm names a region after the process that owns it (`PID:domain:endpoint` in /dev/shm) and refuses to
// enable an endpoint with -FI_EBUSY where the name is taken and its owner lives.  Process ids come round again: once a
// killed process's id is given out a second time, its leftover seems to belong to the new process, which is alive.
// A process that is forked to use a library calls this first (begin_child), so that such a refusal is not taken for the
// library's answer; who waits for it removes what it left (child.cc), so that no program of somebody else meets it.
#pragma once

#include <sys/types.h>

namespace selvage::conformance {

/// Removes the regions in /dev/shm that bear this process's id, which it has not made yet.  Before the library under
/// test has opened an endpoint in this process; any thread.  Failures are left to show where the name is used.
void remove_leftovers_of_namesakes();
/// The same for a process that has not begun with the library, or has ended.
void remove_leftovers_of(pid_t process);

}  // namespace selvage::conformance
