// Control over the C library's allocator, for tests that let the n-th allocation fail.
#pragma once

#include <cstddef>

namespace selvage::test {

// False where a sanitizer owns the allocator: such tests are skipped there.
bool allocation_control();
// Lets the n-th allocation of this thread from now on fail (1 is the next); 0 lets none fail.
void fail_allocation(size_t n);
// True when an allocation was made to fail since the last fail_allocation.
bool allocation_failed();
// Blocks allocated and not freed by this process.
long live_blocks();
// Bytes allocated and not freed by this process: nothing of /dev/shm or the kernel.
size_t bytes_in_use();
// Allocations that this thread has made.
unsigned long allocations();

}  // namespace selvage::test
