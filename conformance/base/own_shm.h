// A /dev/shm of huge pages, for processes that drive a library and for nobody else.
//
// Debian's shm writes to all of a file of four megabytes there when it enables an endpoint: 1,024 page faults, or two
// with huge pages.  What a file holds, and how long, is the same with either.
#pragma once

#include <string_view>

namespace selvage::conformance {

/// Gives this process, and those that it starts from here on, a /dev/shm of their own, empty, in a mount namespace of
/// their own.  What they leave there is gone when the last of them ends.
/// REQUIRES: one thread; no process that shares memory with those here is outside.
/// @param library the path of the library that they drive
/// @return false if all is as before: it is not permitted, the kernel has no huge pages for files, or the library, the
/// environment or the current directory names something in /dev/shm that would be hidden.
bool use_own_shm(std::string_view library);

}  // namespace selvage::conformance
